"""`python -m tests.chaos`: a storm over real workers, brokers and stores; at its end the checker's judgement.

Exit status 0: nothing lost, nothing double, nothing wrong, books balanced. 1: something was. 2: it could not be run.
"""

from __future__ import annotations

import argparse
import asyncio
import secrets
import sys
import tempfile
from pathlib import Path

from tests.chaos.run import Plan, run


def main(arguments: list[str] | None = None) -> int:
    """Run one storm, and print its report."""
    parser = argparse.ArgumentParser(prog="python -m tests.chaos", description=__doc__)
    parser.add_argument("--seed", type=int, default=None, help="of the traffic and of the storm; else by chance")
    parser.add_argument("--bets", type=int, default=50_000)
    parser.add_argument("--kills", type=int, default=20, help="faults with a kill -9 in them; others come besides")
    parser.add_argument("--seconds", type=int, default=240, help="how long the traffic lasts")
    parser.add_argument("--workers", type=int, default=3)
    parser.add_argument("--brokers", type=int, default=3, choices=(1, 3))
    parser.add_argument("--keeps", action="store_true", help="no fault by which Redis loses what it acknowledged")
    parser.add_argument("--folder", type=Path, default=None, help="where logs and files are kept; else a passing one")
    options = parser.parse_args(arguments)
    plan = Plan(
        seed=secrets.randbelow(10**9) if options.seed is None else options.seed,
        bets=options.bets,
        kills=options.kills,
        seconds=options.seconds,
        workers=options.workers,
        brokers=options.brokers,
        is_lossy=not options.keeps,
    )

    def say(line: str) -> None:
        sys.stdout.write(line + "\n")
        sys.stdout.flush()

    with tempfile.TemporaryDirectory(prefix="pokdeng-chaos-") as passing:
        folder = options.folder or Path(passing)
        folder.mkdir(parents=True, exist_ok=True)
        try:
            report = asyncio.run(run(plan, folder, say))
        except RuntimeError as error:
            say(f"could not be run: {error}")
            return 2
    say(str(report))
    return 0 if report.is_clean else 1


if __name__ == "__main__":
    sys.exit(main())
