"""What a bet costs in the Redis ledger: CPU of client and server for hold and settle, by bets a script call.

    python -m bench.ledger_calls [--seconds 2] [--buckets 16]

`together`: holds and settlements of the same bets in one apply; `apart`: all holds, then all settlements.
The server's CPU is that of INFO cpu and includes reading and writing its socket; the append-only file is on.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import random
import time
from itertools import count
from typing import TYPE_CHECKING, NamedTuple

from redis.asyncio import Redis

from pokdeng.events.ids import AccountId, BetId, Currency, Minor, RoundId, TableId, TransferId
from pokdeng.events.reasons import TransferKind
from pokdeng.ledger.embedded import embedded_server
from pokdeng.ledger.port import Hold, Operation, Settle, Source, Status, Transfer
from pokdeng.ledger.redis_ledger import RedisLedger
from pokdeng.rules import Bet

if TYPE_CHECKING:
    from collections.abc import Iterator

ACCOUNTS = 20_000
TABLES = 64
BETS_A_ROUND = 50
THB = Currency("THB")
BETS = tuple(Bet)
BETS_A_CALL = (1, 8, 31, 62, 125, 250, 500)


class Cost(NamedTuple):
    """CPU in us a bet."""

    client: float
    server: float
    bytes_a_bet: float


def rounds_of_bets(generator: random.Random) -> Iterator[tuple[Hold, Settle]]:
    """Bets without end: each table plays round after round, tables by turns."""
    offsets = count()
    for round_number in count():
        for table_number in range(TABLES):
            table, round_ = TableId(f"T-{table_number}"), RoundId(f"R-{round_number}")
            source = Source(f"p{table_number % 4}")
            for number in range(BETS_A_ROUND):
                account = AccountId(f"A-{generator.randrange(ACCOUNTS)}")
                name = (account, table, round_, BetId(f"b{number}"))
                bet = BETS[number % 10]
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


async def measure(ledger: RedisLedger, redis: Redis, *, bets: int, are_together: bool, seconds: float) -> Cost:
    """Apply batches of `bets` for some seconds."""
    everything = rounds_of_bets(random.Random(bets))
    client_s, done = 0.0, 0
    memory = int((await redis.info("memory"))["used_memory"])
    server_s = await server_cpu_s(redis)
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        pairs = [next(everything) for _ in range(bets)]
        holds: list[Operation] = [hold for hold, _ in pairs]
        settles: list[Operation] = [settle for _, settle in pairs]
        applies = [[operation for pair in pairs for operation in pair]] if are_together else [holds, settles]
        for operations in applies:
            started = time.process_time()
            answers = await ledger.apply(operations)
            client_s += time.process_time() - started
            moved = sum(answer.status is Status.MOVED and answer.is_fresh for answer in answers)
            if moved != len(operations):
                raise SystemExit(f"{len(operations) - moved} of {len(operations)} operations did not move")
        done += bets
    server_s = await server_cpu_s(redis) - server_s
    memory = int((await redis.info("memory"))["used_memory"]) - memory
    return Cost(client_s * 1e6 / done, server_s * 1e6 / done, memory / done)


async def main(seconds: float, buckets: int) -> None:
    """Measure and print."""
    print(f"{buckets} buckets, {TABLES} tables, {BETS_A_ROUND} bets a round, {ACCOUNTS} accounts; us CPU a bet")
    print(f"{'bets a call':>11} {'':10} {'client':>8} {'server':>8} {'B a bet':>8}")
    for bets_a_call in BETS_A_CALL:
        for are_together in (True, False):
            async with embedded_server() as server:
                redis: Redis = Redis.from_url(server.url)
                ledger = RedisLedger(server.url, buckets=buckets)
                await ledger.open()
                await ledger.create()
                sources = [Source(f"p{partition}") for partition in range(4)]
                await ledger.acquire([*sources, Source("f0")], group="bench", generation=1)
                await ledger.apply(
                    [
                        Transfer(
                            Source("f0"),
                            number,
                            TransferKind.DEPOSIT,
                            AccountId(f"A-{number}"),
                            TransferId("D"),
                            Minor(10**9),
                            THB,
                        )
                        for number in range(ACCOUNTS)
                    ]
                )
                gc.collect()
                gc.freeze()
                bets = bets_a_call * buckets
                cost = await measure(ledger, redis, bets=bets, are_together=are_together, seconds=seconds)
                print(
                    f"{bets_a_call:>11} {'together' if are_together else 'apart':10} "
                    f"{cost.client:8.2f} {cost.server:8.2f} {cost.bytes_a_bet:8.0f}"
                )
                await ledger.close()
                await redis.aclose()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=2.0)
    parser.add_argument("--buckets", type=int, default=16)
    options = parser.parse_args()
    asyncio.run(main(options.seconds, options.buckets))
