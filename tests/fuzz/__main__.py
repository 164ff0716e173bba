"""`python -m tests.fuzz`: bad input by the million, on all cores. Exit 1 where anything ends as it must not."""

from __future__ import annotations

import argparse
import os
import secrets
import sys
import time
from collections import Counter
from multiprocessing import get_context

from tests.fuzz.runs import RECORDS_A_RUN, WAYS, fuzz


def main(arguments: list[str] | None = None) -> int:
    """Fuzz, and say what the records ended as."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--records", type=int, default=1_000_000, help="through the decoder, and as many of the worker")
    parser.add_argument("--seed", type=int, default=None, help="of the first run; each next one has the next seed")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    options = parser.parse_args(arguments)
    first = secrets.randbelow(10**9) if options.seed is None else options.seed
    runs = -(-options.records // RECORDS_A_RUN)
    sys.stdout.write(f"seeds {first} .. {first + runs - 1}, {RECORDS_A_RUN:,} records each\n")
    sys.stdout.flush()
    failed = 0
    for way in WAYS:
        ends: Counter[str] = Counter()
        began = time.monotonic()
        tasks = [(way, seed, RECORDS_A_RUN) for seed in range(first, first + runs)]
        # Not an executor: that of Python 3.11 waits for ever once its processes have had their share of tasks.
        with get_context("spawn").Pool(options.jobs, maxtasksperchild=20) as pool:
            for _, seed, fuzzed in pool.imap(fuzz, tasks):
                ends += fuzzed.ends
                failed += bool(fuzzed.findings)
                for finding in fuzzed.findings[:5]:
                    sys.stdout.write(f"{way}, seed {seed}: {finding}\n")
        lasted = time.monotonic() - began
        count = runs * RECORDS_A_RUN
        sys.stdout.write(f"{way}: {count:,} records in {lasted:,.0f} s, {count / lasted:,.0f} a second\n")
        for name, number in ends.most_common():
            sys.stdout.write(f"  {number:>12,}  {name}\n")
        sys.stdout.flush()
    sys.stdout.write(f"{failed} runs found something\n" if failed else "nothing was found\n")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
