"""Topics that were made anew while the ledger kept what it knew: noticed, not passed over in silence."""

from __future__ import annotations

import asyncio

import pytest

from pokdeng.settlement.another_log import AnotherLogError
from pokdeng.simulator import MemorySender, Play, perform, script
from pokdeng.wire import TopicKind
from tests.support.line import Line

PLAY = Play(tables=2, rounds=3, accounts=20, bets_per_round=5, seed=5)


async def settled(line: Line) -> None:
    """A play, settled by a worker that stops in order."""
    async with line.worker() as worker:
        await worker.owns()
        await perform(script(PLAY), MemorySender(line.broker, line.topics), opened=worker.caught_up)
        await worker.caught_up()
        await asyncio.sleep(0.6)  # a commit's time, so that tables are noted


@pytest.mark.parametrize("refilled", [(), (TopicKind.FUNDS,)], ids=["all topics empty", "funds as they were"])
def test_a_log_that_ends_before_what_was_applied_stops_the_worker(refilled: tuple[TopicKind, ...]) -> None:
    """Whether transfers or tables give it away: the worker names the place and takes nothing."""

    async def go() -> None:
        line, anew = Line(), Line()
        await settled(line)
        anew.store = line.store
        for record in line.records(*refilled):
            place = (record.partition, record.timestamp)
            anew.broker.append(record.topic, record.key, record.value, (), *place)
        worker = await anew.start_worker()
        with pytest.raises(AnotherLogError, match="is not in the log"):
            raise await worker.failure()

    asyncio.run(go())


def test_a_log_made_anew_that_is_longer_stops_the_worker_too() -> None:
    """Other records lie where the ledger has read: their broker times give it away, and nothing is swallowed."""

    async def go() -> None:
        line, anew = Line(), Line()
        await settled(line)
        anew.store = line.store
        other = Play(tables=2, rounds=6, accounts=40, bets_per_round=5, seed=6, starts_at_ms=PLAY.starts_at_ms + 77)
        await perform(script(other), MemorySender(anew.broker, anew.topics))
        worker = await anew.start_worker()
        with pytest.raises(AnotherLogError, match="not those that the ledger was filled from"):
            raise await worker.failure()

    asyncio.run(go())


def test_the_same_log_is_taken_by_whoever_comes_next() -> None:
    """What is noted of it is found again."""

    async def go() -> None:
        line = Line()
        await settled(line)
        async with line.worker(group="another") as worker:
            await worker.owns()
            await worker.caught_up()

    asyncio.run(go())
