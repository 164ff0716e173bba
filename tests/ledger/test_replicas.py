"""Where replicas must have what was decided, nothing is answered before they do."""

from __future__ import annotations

import asyncio
import shutil
import tempfile
import time
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from redis.asyncio import Redis

from pokdeng.ledger.embedded import EmbeddedServer
from pokdeng.ledger.port import LedgerUnavailableError
from pokdeng.ledger.redis_ledger import RedisLedger
from pokdeng.ledger.values import Status
from tests.ledger.world import FUNDS, deposit
from tests.support.kafka import free_port

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

WITHIN_S = 20.0


@asynccontextmanager
async def a_pair() -> AsyncIterator[tuple[EmbeddedServer, EmbeddedServer]]:
    """A server, and a replica of it that has caught up."""
    homes = [Path(tempfile.mkdtemp(prefix="pokdeng-redis-")) for _ in range(2)]
    port = free_port()
    master = EmbeddedServer(homes[0], {"port": str(port), "bind": "127.0.0.1"})
    replica = EmbeddedServer(homes[1], {"replicaof": f"127.0.0.1 {port}"})
    try:
        await master.start()
        await replica.start()
        client: Redis = Redis.from_url(replica.url)
        deadline = time.monotonic() + WITHIN_S
        while (await client.info("replication")).get("master_link_status") != "up":
            assert time.monotonic() < deadline, "the replica has not caught up"
            await asyncio.sleep(0.02)
        await client.aclose()
        yield master, replica
    finally:
        for server, home in zip((replica, master), reversed(homes), strict=True):
            await server.kill()
            shutil.rmtree(home, ignore_errors=True)


def test_what_was_applied_lies_on_the_replica_when_it_is_answered() -> None:
    """And while no replica is there, nothing is answered: so nothing is said that a failover would lose."""

    async def go() -> None:
        async with a_pair() as (master, replica):
            ledger = RedisLedger(master.url, replicas=1, timeout_ms=400, retry_budget_ms=1_500)
            await ledger.open()
            await ledger.create()
            await ledger.acquire([FUNDS], group="test", generation=1)
            (answer,) = await ledger.apply([deposit(0)])
            assert answer.status is Status.MOVED
            copy: Redis = Redis.from_url(replica.url)
            accounts = [await copy.hlen(f"pokdeng:{{{bucket}}}a") for bucket in range(4)]
            await copy.aclose()
            assert sum(accounts) == 1
            await replica.kill()
            with pytest.raises(LedgerUnavailableError, match="0 of 1 replicas"):
                await ledger.apply([deposit(1)])
            await ledger.close()

    asyncio.run(go())
