"""What a worker waits for before it takes a record is said to people, with the address."""

from __future__ import annotations

import asyncio
import socket
from functools import partial

from pokdeng.cli.failures import of_redis
from pokdeng.ledger.redis_ledger import RedisLedger
from pokdeng.ledger.redis_settings import RedisSettings
from pokdeng.metrics import Metrics
from pokdeng.settlement.limits import Limits
from pokdeng.settlement.worker import Worker, WorkerSettings
from pokdeng.stream.memory import MemoryBroker, MemoryLog
from pokdeng.wire import Topics


async def nothing_wrong() -> list[str]:
    """The topics are as they must be."""
    return []


def test_a_redis_that_does_not_answer_is_named_with_what_to_do() -> None:
    """Not ready, with the address, how long it was tried, why, and what to look at."""

    async def scenario() -> None:
        with socket.socket() as nobody:
            nobody.bind(("127.0.0.1", 0))
            redis = RedisSettings(url=f"redis://127.0.0.1:{nobody.getsockname()[1]}/0")
            log = MemoryLog(MemoryBroker(lambda: 0), "group", copartitioned=())
            worker = Worker(
                WorkerSettings(topics=Topics(), limits=Limits()),
                log,
                RedisLedger(redis, prefix="pokdeng", retry_budget_ms=50),
                Metrics(),
                check_topics=nothing_wrong,
                run_log=log.run_until_failed,
                no_ledger=partial(of_redis, redis=redis),
            )
            (said,) = await worker._why_unsound()
            why = f"Redis at {redis}: no answer within 50 ms (connection refused)"
            assert said == f"{why}: does it run there, and is --redis right?"

    asyncio.run(scenario())
