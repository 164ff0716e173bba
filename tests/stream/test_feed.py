"""Between the consumer's thread and the listener: positions never run ahead, nothing stale is delivered."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from pokdeng.stream.credits import Credits
from pokdeng.stream.guard import Guard
from pokdeng.stream.kafka.feed import Feed, Fetched
from pokdeng.stream.port import Assignment, LogError, LogRecord, TopicPartition

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pokdeng.stream.port import Record

BETS = TopicPartition("bets", 0)
TABLES = TopicPartition("tables", 0)
OTHER_TABLES = TopicPartition("tables", 1)


class Arrivals:
    """A listener that keeps what arrived."""

    def __init__(self) -> None:
        """Nothing has."""
        self.offsets: list[int] = []

    async def assigned(self, assignment: Assignment) -> None:
        """Nothing to prepare."""

    async def revoked(self) -> None:
        """Nothing to finish."""

    def arrived(self, partition: TopicPartition, records: Sequence[Record]) -> None:  # noqa: ARG002 - one partition
        """Keep the offsets."""
        self.offsets += [record.offset for record in records]


def fetched(generation: int, start: int, end: int) -> Fetched:
    """A fetch that brought the bets from `start` to `end`."""
    records = [LogRecord("bets", 0, offset, 1, None, None, ()) for offset in range(start, end)]
    return Fetched(generation=generation, records={BETS: records}, before={BETS: start}, after={BETS: end})


async def assigned(*partitions: TopicPartition, credit_records: int = 100) -> tuple[Feed, Arrivals]:
    """A feed whose listener owns these partitions in generation 1."""
    arrivals = Arrivals()
    feed = Feed(Guard(arrivals), ("bets",), credit_records)
    feed.assign(Assignment(partitions=frozenset(partitions), generation=1))
    await feed.guard.ready.wait()
    return feed, arrivals


def test_the_position_moves_when_records_are_given_not_when_they_are_fetched() -> None:
    """Slices on their way between the thread and the listener do not count as read."""

    async def scenario() -> None:
        feed, arrivals = await assigned(BETS)
        first, second = [*feed.slices(fetched(1, 0, 3)), *feed.slices(fetched(1, 3, 5))]
        assert feed.position(BETS) == 0
        feed.deliver(first)
        assert (feed.position(BETS), arrivals.offsets) == (3, [0, 1, 2])
        feed.deliver(second)
        assert (feed.position(BETS), arrivals.offsets) == (5, [0, 1, 2, 3, 4])

    asyncio.run(scenario())


def test_a_slice_of_an_earlier_assignment_is_dropped() -> None:
    """Neither one on its way nor a fetch that ends after the rebalance is delivered."""

    async def scenario() -> None:
        feed, arrivals = await assigned(BETS)
        (stale,) = feed.slices(fetched(1, 0, 3))
        await feed.revoke()
        with pytest.raises(KeyError):
            feed.position(BETS)
        feed.deliver(stale)
        assert feed.slices(fetched(1, 3, 5)) == []
        feed.assign(Assignment(partitions=frozenset([BETS]), generation=2))
        await feed.guard.ready.wait()
        feed.deliver(stale)
        assert feed.slices(fetched(1, 3, 5)) == []
        assert (arrivals.offsets, feed.position(BETS)) == ([], 0)
        for one in feed.slices(fetched(2, 0, 2)):
            feed.deliver(one)
        assert arrivals.offsets == [0, 1]

    asyncio.run(scenario())


def test_records_that_would_be_skipped_end_the_log() -> None:
    """A fetch begins where the last one of its assignment ended; anything else is a loss that nobody would see."""

    async def scenario() -> None:
        feed, arrivals = await assigned(BETS)
        feed.slices(fetched(1, 0, 3))
        assert feed.slices(fetched(1, 4, 5)) == []
        with pytest.raises(LogError, match=r"bets\[0\] was read up to 3, the next fetch began at 4"):
            await feed.guard.wait()
        assert arrivals.offsets == []

    asyncio.run(scenario())


def test_different_partitions_of_copartitioned_topics_end_the_log() -> None:
    """Round robin in silence is what Faust does where its own assignor is lost."""

    async def scenario() -> None:
        feed = Feed(Guard(Arrivals()), ("bets", "tables"), 100)
        feed.assign(Assignment(partitions=frozenset([BETS, TABLES]), generation=1))
        await feed.guard.ready.wait()
        await feed.revoke()
        feed.assign(Assignment(partitions=frozenset([BETS, OTHER_TABLES]), generation=2))
        with pytest.raises(LogError, match="different partitions"):
            await feed.guard.wait()

    asyncio.run(scenario())


def test_a_partition_without_credits_is_not_fetched() -> None:
    """It is again when its own records are done; another's records are none of its business."""

    async def scenario() -> None:
        feed, _ = await assigned(BETS, TABLES, credit_records=6)
        feed.slices(fetched(1, 0, 3))
        assert feed.open(has_waited=True) == {TABLES}
        feed.done(3, TABLES)
        assert feed.open(has_waited=False) == {TABLES}
        feed.done(1, BETS)
        assert feed.open(has_waited=False) == {BETS, TABLES}

    asyncio.run(scenario())


def test_unnamed_work_makes_the_limit_soft() -> None:
    """The total holds, but after a while without progress everything is fetched all the same."""
    credits_left = Credits(10)
    credits_left.reset([BETS, TABLES])
    credits_left.give(TABLES, 11)
    credits_left.done(1)
    assert credits_left.is_soft
    assert credits_left.room(BETS) == 0
    credits_left.done(50)
    assert credits_left.outstanding == 0

    async def scenario() -> None:
        feed, _ = await assigned(BETS, TABLES, credit_records=2)
        feed.done(0, None)
        feed.slices(fetched(1, 0, 3))
        assert feed.open(has_waited=False) == set()
        assert feed.open(has_waited=True) == {BETS, TABLES}

    asyncio.run(scenario())


def test_what_is_assigned_while_something_is_revoked_keeps_its_positions() -> None:
    """The end of the revocation is that of the earlier assignment."""

    async def scenario() -> None:
        feed, arrivals = await assigned(BETS)
        may_go = asyncio.Event()

        async def revoked() -> None:
            await may_go.wait()

        arrivals.revoked = revoked  # type: ignore[method-assign]  # a slow one
        revoking = asyncio.create_task(feed.revoke())
        await asyncio.sleep(0.01)
        feed.assign(Assignment(partitions=frozenset([BETS]), generation=2))
        may_go.set()
        await revoking
        await feed.guard.ready.wait()
        assert feed.is_assigned([BETS])
        for one in feed.slices(fetched(2, 0, 3)):
            feed.deliver(one)
        assert arrivals.offsets == [0, 1, 2]

    asyncio.run(scenario())
