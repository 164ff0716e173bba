"""`make faults`: plays worlds from seeds, and says how many faults fell and what was found; or one world, in full."""

from __future__ import annotations

import argparse
import random
import sys
import time

from tests.simulation.runs import Tally, explain, run_many

_EXPLAINED = 3


def main() -> int:
    """Exit status 1 where something was found."""
    parser = argparse.ArgumentParser(prog="make faults", description=__doc__)
    parser.add_argument("--seed", type=int, help="play this world only, and tell it")
    parser.add_argument("--runs", type=int, default=2000, help="how many worlds (2000)")
    parser.add_argument("--first", type=int, help="the first seed; fresh ones otherwise")
    parser.add_argument("--processes", type=int, default=2, help="on so many processes (2)")
    options = parser.parse_args()
    if options.seed is not None:
        told = explain(options.seed)
        print(told)  # noqa: T201 - a command
        return int("found:" in told)
    first = random.SystemRandom().randrange(1_000_000, 2**31) if options.first is None else options.first
    began = time.monotonic()
    tally = Tally()
    for tally in run_many(range(first, first + options.runs), processes=options.processes):
        if sys.stderr.isatty():
            print(f"\r{tally.runs} worlds, {len(tally.failed)} failed", end="", file=sys.stderr)  # noqa: T201 - a program
    print(report(tally, first, time.monotonic() - began))  # noqa: T201 - a program
    for outcome in tally.failed[:_EXPLAINED]:
        print(explain(outcome.seed))  # noqa: T201 - a program
    return int(bool(tally.failed))


def report(tally: Tally, first: int, seconds: float) -> str:
    """The figures as text."""
    faults = tally.faults.total()
    lines = [
        f"seeds {first} .. {first + tally.runs - 1}",
        f"{tally.runs:,} worlds in {seconds:.1f} s ({tally.runs / seconds * 60:,.0f} a minute)",
        f"{tally.steps:,} steps, {tally.records:,} records said, {faults:,} faults",
        *(f"{count:8,}  {kind}" for kind, count in tally.faults.most_common()),
        f"{len(tally.failed):8,}  worlds in which something was found",
        *(f"          seed {outcome.seed}: {outcome.findings[0]:.160}" for outcome in tally.failed[:20]),
    ]
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
