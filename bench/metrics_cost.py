"""What the metrics cost: microseconds of one core per bet, of everything that is done for them alone. No I/O.

Run: `python -m bench.metrics_cost [batches]`. A batch is what the worker makes of 2,000 bets and 40 rounds of 50 bets:
the times kept for the latencies, what each round adds up (expectation and variance included), and the observer's work
when it is acknowledged. CPU time, each line the least of several runs, since a shared machine only adds.
"""

from __future__ import annotations

import random
import sys
import time
import timeit
import uuid
from typing import TYPE_CHECKING

from pokdeng.metrics import Metrics
from pokdeng.rules import Bet
from pokdeng.settlement import tally
from pokdeng.settlement.batch import Batch
from pokdeng.settlement.closing import Closing, Option
from pokdeng.settlement.expectation import expectation
from pokdeng.settlement.reporting import MetricsObserver
from pokdeng.settlement.voice import Voice
from pokdeng.wire import Topics

if TYPE_CHECKING:
    from collections.abc import Callable

BETS = 2_000
ROUNDS = 40
GOAL_US = 0.5
RUNS = 15


def a_batch(voice: Voice) -> Batch:
    """What the worker counts of 2,000 decisions and 2,000 settlements in 40 rounds."""
    batch = Batch(voice)
    for at_ms in TIMES_MS:
        batch.decided_at_ms.append(at_ms)
    batch.tally[tally.ACCEPTED] += BETS
    for number in range(ROUNDS):
        count_round(batch, SUMS[number])
        batch.caused_at_ms.append((TIMES_MS[number], BETS // ROUNDS))
    return batch


def count_round(batch: Batch, options: dict[Bet, Option]) -> None:
    """What a round adds to the counts when it ends."""
    closing = Closing.__new__(Closing)
    closing._batch, closing._options = batch, options  # noqa: SLF001 - of a round's end, the counting alone
    closing._count(is_refund=False)  # noqa: SLF001 - what is measured


def sums_of_round(seed: int) -> dict[Bet, Option]:
    """Fifty bets on all ten options, in one currency."""
    rng, sums = random.Random(seed), {bet: [0, 0, 0] for bet in Bet}
    for _ in range(BETS // ROUNDS):
        bet = rng.choice(list(Bet))
        taken = rng.randrange(1, 100) * 100 * bet.units_taken
        row = sums[bet]
        row[0], row[1], row[2] = row[0] + 1, row[1] + taken, row[2] + rng.choice((0, taken, 2 * taken))
    options = {bet: Option(bet, "win", 0, bytes) for bet, row in sums.items() if row[0]}
    for bet, option in options.items():
        option.sums["THB"] = sums[bet]
    return options


def name_one() -> uuid.UUID:
    """What the machine's speed is told by."""
    return uuid.uuid5(uuid.NAMESPACE_URL, "bet")


TIMES_MS = [time.time_ns() // 1_000_000 - number % 40 for number in range(BETS)]
SUMS = [sums_of_round(seed) for seed in range(ROUNDS)]


def main() -> int:
    """Print a line for each part (CPU time); exit status 1 where the whole is beyond the goal."""
    calls = int(sys.argv[1]) if len(sys.argv) > 1 else 20
    topics = Topics()
    voice = Voice(topics, dict.fromkeys(topics.names, 12))
    metrics = Metrics()
    observer = MetricsObserver(metrics)
    expectation()
    batch = a_batch(voice)

    def told() -> None:
        observer.ledger_called(0.004)
        observer.decisions_said(batch)
        observer.settlements_said(batch)
        observer.batch_said(batch)

    lines: tuple[tuple[str, Callable[[], object]], ...] = (
        ("kept and added up while folding and settling", lambda: a_batch(voice)),
        ("told to the metrics when acknowledged", told),
    )
    whole = 0.0
    for what, call in lines:
        cost = min(timeit.repeat(call, number=calls, repeat=RUNS, timer=time.process_time)) / calls / BETS * 1e6
        whole += cost
        print(f"{what:48} {cost:6.3f} us a bet")
    print(f"{'all of it (goal: below 0.5)':48} {whole:6.3f} us a bet")
    yardstick = min(timeit.repeat(name_one, number=2_000, repeat=RUNS, timer=time.process_time)) / 2_000 * 1e6
    print(f"{'yardstick: uuid.uuid5 (3.4 where the goal was set)':48} {yardstick:6.2f} us")
    page = min(timeit.repeat(metrics.page, number=5, repeat=5, timer=time.process_time)) / 5 * 1e3
    print(f"{'/metrics':48} {page:6.1f} ms, {len(metrics.page()) / 1024:.0f} KiB")
    return int(whole >= GOAL_US)


if __name__ == "__main__":
    sys.exit(main())
