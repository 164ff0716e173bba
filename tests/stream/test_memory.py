"""What the in-memory broker can do that a real one does only when things go wrong."""

from __future__ import annotations

import asyncio
import itertools

import pytest

from pokdeng.stream.memory import MemoryBroker, MemoryLog, Point
from pokdeng.stream.port import LogUnavailableError, Message, TopicPartition
from tests.stream.recorder import Recorder

BETS = TopicPartition("bets", 0)


def broker_of(**topics: int) -> MemoryBroker:
    """A broker whose clock moves ten milliseconds a reading."""
    ticks = itertools.count(1000, 10)
    broker = MemoryBroker(lambda: next(ticks))
    for name, partitions in topics.items():
        broker.create_topic(name, partitions)
    return broker


async def joined(broker: MemoryBroker, name: str) -> tuple[MemoryLog, Recorder]:
    """A member that was assigned something, if only nothing."""
    log = MemoryLog(broker, "g", copartitioned=["bets"], name=name)
    recorder = Recorder(log)
    await log.start(recorder)
    await recorder.until(lambda: bool(recorder.assignments))
    return log, recorder


def test_a_record_is_stamped_as_it_is_appended() -> None:
    """By the broker's clock, in the key's partition, unless the producer says otherwise."""
    broker = broker_of(bets=12)
    stamped = broker.append("bets", b"T-1", b"v", [("h", b"1")])
    assert (stamped.timestamp, stamped.partition, stamped.offset, stamped.headers) == (1000, 8, 0, (("h", b"1"),))
    placed = broker.append("bets", b"T-1", b"v", partition=3, timestamp=5)
    assert (placed.timestamp, placed.partition) == (5, 3)
    with pytest.raises(ValueError, match="without a key"):
        broker.append("bets", None, b"v")
    with pytest.raises(ValueError, match="exists"):
        broker.create_topic("bets", 1)


def test_a_member_that_was_thrown_out_does_not_know() -> None:
    """A paused process still reads and publishes, but commits nothing; when it notices it joins anew."""

    async def scenario() -> None:
        broker = broker_of(bets=1)
        zombie, first = await joined(broker, "zombie")
        zombie.expire()
        _, second = await joined(broker, "heir")
        assert first.calls == ["assigned"]
        await zombie.publish({BETS: [Message(b"k", b"late", [])]})
        await first.until(lambda: first.count == 1)
        await second.until(lambda: second.count == 1)
        assert not await zombie.commit({BETS: 1})
        first.to_commit_when_revoked = {BETS: 1}
        zombie.heartbeat()
        await first.until(lambda: len(first.assignments) == 2)
        assert first.commits == [False]
        assert broker.committed("g") == {}
        assert first.assignments[-1].generation > first.assignments[0].generation

    asyncio.run(scenario())


def test_what_is_not_shown_yet_counts_for_the_end() -> None:
    """A record that is stamped but not replicated moves the end and arrives later."""

    async def scenario() -> None:
        broker = broker_of(bets=1)
        log, recorder = await joined(broker, "m")
        broker.hide(BETS)
        broker.append("bets", b"k", b"hidden", partition=0)
        assert await log.end_offsets([BETS]) == {BETS: 1}
        await asyncio.sleep(0)
        assert (log.position(BETS), recorder.count) == (0, 0)
        broker.show(BETS)
        await recorder.until(lambda: recorder.count == 1)

    asyncio.run(scenario())


def test_a_publish_can_fail_anywhere() -> None:
    """Before a message, or after the last one and before anybody knows."""

    async def scenario() -> None:
        broker = broker_of(bets=1)
        log = MemoryLog(broker, "g", copartitioned=["bets"], name="m")
        seen: list[tuple[Point, str, TopicPartition | None]] = []

        def fail_at(point: Point, member: str, partition: TopicPartition | None) -> None:
            seen.append((point, member, partition))
            if len(seen) in {2, 5}:
                raise LogUnavailableError("cut")

        broker.intercept = fail_at
        for _ in range(2):
            with pytest.raises(LogUnavailableError):
                await log.publish({BETS: [Message(b"k", b"a", []), Message(b"k", b"b", [])]})
        assert [record.value for record in broker.records(BETS)] == [b"a", b"a", b"b"]
        assert [point for point, _, _ in seen] == [Point.APPEND] * 4 + [Point.ACKNOWLEDGE]
        assert seen[0] == (Point.APPEND, "m", BETS)

    asyncio.run(scenario())


def test_a_commit_can_be_made_without_being_heard_of() -> None:
    """The offsets count although the member is told that the log is away."""

    async def scenario() -> None:
        broker = broker_of(bets=1)
        log, _ = await joined(broker, "m")

        def fail_after(point: Point, _: str, __: TopicPartition | None) -> None:
            if point is Point.COMMITTED:
                raise LogUnavailableError("cut")

        broker.intercept = fail_after
        with pytest.raises(LogUnavailableError):
            await log.commit({BETS: 0})
        assert broker.committed("g") == {BETS: 0}

    asyncio.run(scenario())


def test_nothing_can_be_reached_while_the_broker_is_down() -> None:
    """Every question fails, nothing is delivered, and all goes on when it is back."""

    async def scenario() -> None:
        broker = broker_of(bets=1)
        log, recorder = await joined(broker, "m")
        broker.is_down = True
        broker.append("bets", b"k", b"v", partition=0)
        for question in (log.end_offsets([BETS]), log.read(BETS, 0, 1), log.commit({BETS: 0}), log.committed([BETS])):
            with pytest.raises(LogUnavailableError):
                await question
        assert recorder.count == 0
        broker.is_down = False
        log.heartbeat()
        await recorder.until(lambda: recorder.count == 1)

    asyncio.run(scenario())


def test_a_killed_member_does_nothing_any_more() -> None:
    """It is not called, and what its tasks still try fails."""

    async def scenario() -> None:
        broker = broker_of(bets=1)
        log, recorder = await joined(broker, "m")
        log.kill()
        broker.append("bets", b"k", b"v", partition=0)
        with pytest.raises(LogUnavailableError):
            await log.publish({BETS: []})
        await log.stop()
        assert recorder.calls == ["assigned"]
        log.expire()
        _, heir = await joined(broker, "heir")
        await heir.until(lambda: heir.count == 1)

    asyncio.run(scenario())


def test_the_same_schedule_gives_the_same_calls() -> None:
    """Nothing depends on chance or on time."""

    async def once() -> list[str]:
        broker = broker_of(bets=3)
        log, recorder = await joined(broker, "a")
        for number in range(6):
            broker.append("bets", b"k%d" % number, b"v")
        _, other = await joined(broker, "b")
        await recorder.until(lambda: len(recorder.assignments) == 2)
        await log.stop()
        await other.until(lambda: other.count == 6)
        return recorder.calls + other.calls

    assert asyncio.run(once()) == asyncio.run(once())
