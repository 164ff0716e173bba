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
from pokdeng.wire import TopicKind
from tests.settlement.scene import scene

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


def test_who_is_fenced_says_no_snapshot_of_a_table_any_more() -> None:
    """It would take the place of what the next owner has said, and a ledger that is lost be restored from it."""

    async def play() -> None:
        async with scene() as played:
            await played.play("shoe S-1 2h")
            assert played.worker is not None
            engine = played.worker.engine
            said = len(played.line.records(TopicKind.CHECKPOINTS))
            tick = engine._progress.tick
            engine._progress.tick = _nothing  # type: ignore[method-assign, assignment]
            played.say("shoe S-2 3h")
            (desk,) = engine.owned.desks
            await played.worker.until(lambda: desk.next_event == 2)
            other = played.line.new_ledger()
            await other.open()
            await other.acquire(engine.owned.sources, group=played.worker.group, generation=1)
            with pytest.raises(FencedError):
                await tick(engine.owned.desks, engine.owned.cashiers)
            assert len(played.line.records(TopicKind.CHECKPOINTS)) == said
            await played.worker.kill()
            await played.start()

    asyncio.run(play())


async def _nothing(*_: object) -> None:
    """Progress waits."""
