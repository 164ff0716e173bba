"""What a bet costs in the Redis ledger: CPU of client and server for hold and settle, by bets a script call.

    python -m bench.ledger_calls [--batches 30] [--buckets 16]

`together`: holds and settlements of the same bets in one apply; `apart`: all holds, then all settlements. Each number
is the median of the batches. The server's CPU is that of INFO cpu: it includes its socket and its append-only file.
Since machines differ, and this one may be busy, a uuid5 is timed between the batches: the goals (2.5 us client, 4 us
server at 125 bets a call, together) were set where one takes 3.4 us; the last two columns are the costs at that speed.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import random
import time
import uuid
from itertools import count
from statistics import median
from typing import TYPE_CHECKING, NamedTuple

from redis.asyncio import Redis

from pokdeng.events.ids import AccountId, BetId, Currency, Minor, RoundId, TableId, TransferId
from pokdeng.events.reasons import TransferKind
from pokdeng.ledger.embedded import embedded_server
from pokdeng.ledger.redis_ledger import RedisLedger
from pokdeng.ledger.values import Hold, Operation, Settle, Source, Status, Transfer
from pokdeng.rules import Bet

if TYPE_CHECKING:
    from collections.abc import Iterator

ACCOUNTS = 20_000
TABLES = 64
BETS_A_ROUND = 50
SOURCES = [Source(f"p{partition}") for partition in range(4)]
FUNDS = Source("f0")
THB = Currency("THB")
BETS = tuple(Bet)
BETS_A_CALL = (1, 8, 31, 62, 125, 250)
REFERENCE_US = 3.4


class Cost(NamedTuple):
    """CPU in us a bet, and in us of a uuid5 at the same time."""

    client: float
    server: float
    uuid5: float


def rounds_of_bets(generator: random.Random) -> Iterator[tuple[Hold, Settle]]:
    """Bets without end: each table plays round after round, tables by turns."""
    offsets = count()
    for round_number in count():
        for table_number in range(TABLES):
            table, round_ = TableId(f"T-{table_number}"), RoundId(f"R-{round_number}")
            source = SOURCES[table_number % len(SOURCES)]
            for number in range(BETS_A_ROUND):
                account = AccountId(f"A-{generator.randrange(ACCOUNTS)}")
                name = (account, table, round_, BetId(f"b{number}"))
                bet = BETS[number % len(BETS)]
                stake = Minor(generator.randrange(1, 100) * 100)
                taken = Minor(stake * bet.units_taken)
                yield (
                    Hold(source, next(offsets), *name, bet, stake, THB, taken),
                    Settle(source, *name, Minor(generator.choice((0, taken, taken + stake))), 1),
                )


async def server_cpu_s(redis: Redis) -> float:
    """CPU seconds that the server has used."""
    info = await redis.info("cpu")
    return float(info["used_cpu_user"]) + float(info["used_cpu_sys"])


def uuid5_us() -> float:
    """What a uuid5 takes now."""
    started = time.process_time()
    for _ in range(300):
        uuid.uuid5(uuid.NAMESPACE_OID, "T-1\nR-1\nb1")
    return (time.process_time() - started) * 1e6 / 300


async def fill(ledger: RedisLedger) -> None:
    """Create the ledger and give every account money."""
    await ledger.open()
    await ledger.create()
    await ledger.acquire([*SOURCES, FUNDS], group="bench", generation=1)
    await ledger.apply(
        [
            Transfer(FUNDS, at, TransferKind.DEPOSIT, AccountId(f"A-{at}"), TransferId("D"), Minor(10**9), THB)
            for at in range(ACCOUNTS)
        ]
    )


async def measure(ledger: RedisLedger, redis: Redis, *, bets: int, are_together: bool, batches: int) -> list[Cost]:
    """Apply batches of `bets`."""
    everything = rounds_of_bets(random.Random(bets))
    costs = []
    for _ in range(batches):
        pairs = [next(everything) for _ in range(bets)]
        holds: list[Operation] = [hold for hold, _ in pairs]
        settles: list[Operation] = [settle for _, settle in pairs]
        applies = [[operation for pair in pairs for operation in pair]] if are_together else [holds, settles]
        uuid5 = uuid5_us()
        client_s, server_s = 0.0, await server_cpu_s(redis)
        for operations in applies:
            started = time.process_time()
            answers = await ledger.apply(operations)
            client_s += time.process_time() - started
            if not all(answer.status is Status.MOVED and answer.is_fresh for answer in answers):
                raise SystemExit("an operation did not move")
        server_s = await server_cpu_s(redis) - server_s
        costs.append(Cost(client_s * 1e6 / bets, server_s * 1e6 / bets, uuid5))
    return costs


async def main(batches: int, buckets: int) -> None:
    """Measure and print."""
    print(f"{buckets} buckets, {TABLES} tables, {BETS_A_ROUND} bets a round, {ACCOUNTS} accounts; us CPU a bet")
    print("bets a call              client   server    uuid5 | client   server  where uuid5 is 3.4 us")
    for bets_a_call in BETS_A_CALL:
        for are_together in (True, False):
            async with embedded_server() as server:
                redis: Redis = Redis.from_url(server.url)
                ledger = RedisLedger(server.url, buckets=buckets)
                await fill(ledger)
                gc.collect()
                gc.freeze()
                bets = bets_a_call * buckets
                costs = await measure(ledger, redis, bets=bets, are_together=are_together, batches=batches)
                client, server_cpu, uuid5 = (median(column) for column in zip(*costs, strict=True))
                print(
                    f"{bets_a_call:>11} {'together' if are_together else 'apart':9} "
                    f"{client:8.2f} {server_cpu:8.2f} {uuid5:8.2f} | "
                    f"{median(cost.client / cost.uuid5 for cost in costs) * REFERENCE_US:6.2f} "
                    f"{median(cost.server / cost.uuid5 for cost in costs) * REFERENCE_US:8.2f}"
                )
                await ledger.close()
                await redis.aclose()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--batches", type=int, default=30)
    parser.add_argument("--buckets", type=int, default=16)
    options = parser.parse_args()
    asyncio.run(main(options.batches, options.buckets))
