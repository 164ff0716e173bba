"""What does not fit together is asked about before it is called corrupt: the sources may be another's by now."""

from __future__ import annotations

import asyncio

import pytest

from pokdeng.ledger.memory import MemoryLedger
from pokdeng.ledger.memory_store import MemoryStore
from pokdeng.ledger.port import FencedError, LedgerCorruptError
from pokdeng.ledger.values import Source
from pokdeng.settlement.another_log import AnotherLogError
from pokdeng.settlement.fenced import ours

OURS = [Source("p0")]


@pytest.mark.parametrize("error", [LedgerCorruptError("a table"), AnotherLogError("a table", 7)])
@pytest.mark.parametrize("is_fenced", [False, True])
def test_who_is_fenced_hears_that_and_nothing_else(error: Exception, *, is_fenced: bool) -> None:
    """A worker that was stopped for long reads what the next owner noted; it is not the ledger that is wrong."""

    async def play() -> None:
        store = MemoryStore()
        ledger = MemoryLedger(store)
        await ledger.create()
        await ledger.acquire(OURS, group="g", generation=1)
        if is_fenced:
            other = MemoryLedger(store)
            await other.open()
            await other.acquire(OURS, group="g", generation=2)
        with pytest.raises(FencedError if is_fenced else type(error)):
            async with ours(ledger, OURS):
                raise error

    asyncio.run(play())
