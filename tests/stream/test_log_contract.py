"""The port's promises, over the in-memory log and over Apache Kafka."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from pokdeng.stream.port import Assignment, LogError, Message, Record, RecordRefusedError, TopicPartition
from tests.stream.recorder import Recorder

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from tests.stream.worlds import OpenWorld, RunningLog, World


def played(open_world: OpenWorld, scenario: Callable[[World], Awaitable[None]]) -> None:
    """Run a scenario in a fresh world and a fresh event loop."""

    async def run() -> None:
        async with open_world() as world:
            await scenario(world)

    asyncio.run(run())


def numbered(count: int, first: int = 0) -> list[bytes]:
    """So many values, each another."""
    return [b"%d" % number for number in range(first, first + count)]


async def started(log: RunningLog, recorder: Recorder | None = None) -> Recorder:
    """Start a log with a listener that writes down what it is told."""
    recorder = recorder or Recorder(log)
    await log.start(recorder)
    return recorder


def test_records_arrive_in_offset_order_each_once(open_world: OpenWorld) -> None:
    """What was there before and what comes later arrives in one unbroken row a partition."""

    async def scenario(world: World) -> None:
        await world.create(bets=2)
        await world.append("bets", 0, *numbered(2500))
        log = world.log("bets")
        recorder = await started(log)
        await recorder.until(lambda: recorder.count == 2500)
        await world.append("bets", 0, *numbered(5, 2500))
        await world.append("bets", 1, *numbered(3))
        await recorder.until(lambda: recorder.count == 2508)
        assert recorder.values(world.topic("bets"), 0) == numbered(2505)
        assert recorder.values(world.topic("bets"), 1) == numbered(3)
        offsets = [record.offset for record in recorder.records[TopicPartition(world.topic("bets"), 0)]]
        assert offsets == list(range(2505))
        assert recorder.calls[0] == "assigned"

    played(open_world, scenario)


def test_a_record_bears_its_key_headers_and_broker_time(open_world: OpenWorld) -> None:
    """A record is what was published, with the time of its append."""

    async def scenario(world: World) -> None:
        await world.create(bets=1)
        log = world.log("bets")
        recorder = await started(log)
        partition = TopicPartition(world.topic("bets"), 0)
        headers = [("ce_id", b"1"), ("ce_id", b"2"), ("empty", b"")]
        await log.publish({partition: [Message(b"key", b"value", headers), Message(None, None, [])]})
        await recorder.until(lambda: recorder.count == 2)
        first, second = recorder.records[partition]
        assert (first.topic, first.partition, first.offset) == (*partition, 0)
        assert (first.key, first.value, list(first.headers)) == (b"key", b"value", headers)
        assert (second.key, second.value, list(second.headers)) == (None, None, [])
        assert 0 < first.timestamp <= second.timestamp

    played(open_world, scenario)


def test_the_position_passes_a_gap_without_a_record(open_world: OpenWorld) -> None:
    """Offsets that are never delivered (transaction markers) do not hold the position back."""

    async def scenario(world: World) -> None:
        await world.create(bets=1)
        partition = TopicPartition(world.topic("bets"), 0)
        log = world.log("bets")
        recorder = await started(log)
        await world.append_with_gap("bets", 0, b"a")
        async with asyncio.timeout(25):  # the marker is written soon after the transaction's end is acknowledged
            while await log.end_offsets([partition]) != {partition: 2}:  # noqa: ASYNC110
                await asyncio.sleep(0.01)  # the broker's own doing: nothing to wait on
        await recorder.until(lambda: log.position(partition) == 2)
        assert recorder.values(*partition) == [b"a"]
        await world.append("bets", 0, b"b")
        await recorder.until(lambda: recorder.count == 2)
        assert recorder.records[partition][-1].offset == 2

    played(open_world, scenario)


def test_the_position_of_an_empty_or_trimmed_partition_reaches_its_end(open_world: OpenWorld) -> None:
    """Where nothing is kept nothing arrives, and the position says so."""

    async def scenario(world: World) -> None:
        await world.create(bets=2)
        await world.append("bets", 1, *numbered(4))
        await world.trim("bets", 1, 4)
        log = world.log("bets")
        recorder = await started(log)
        partitions = [TopicPartition(world.topic("bets"), number) for number in (0, 1)]
        assert await log.end_offsets(partitions) == dict(zip(partitions, (0, 4), strict=True))
        assert (await log.beginning_offsets(partitions))[partitions[1]] == 4
        await recorder.until(lambda: bool(recorder.assignments) and log.position(partitions[1]) == 4)
        assert recorder.count == 0

    played(open_world, scenario)


def test_a_position_is_that_of_an_assigned_partition(open_world: OpenWorld) -> None:
    """Asking for another is a KeyError."""

    async def scenario(world: World) -> None:
        await world.create(bets=1)
        log = world.log("bets")
        with pytest.raises(KeyError):
            log.position(TopicPartition(world.topic("bets"), 0))
        recorder = await started(log)
        await recorder.until(lambda: bool(recorder.assignments))
        with pytest.raises(KeyError):
            log.position(TopicPartition(world.topic("bets"), 1))

    played(open_world, scenario)


def test_reading_resumes_at_the_committed_offset(open_world: OpenWorld) -> None:
    """The next owner begins where the last one committed, and where nothing is committed at the first record."""

    async def scenario(world: World) -> None:
        await world.create(bets=2)
        zero, one = (TopicPartition(world.topic("bets"), number) for number in (0, 1))
        await world.append("bets", 0, *numbered(10))
        await world.append("bets", 1, *numbered(10))
        first = world.log("bets")
        recorder = await started(first)
        await recorder.until(lambda: recorder.count == 20)
        assert await first.commit({zero: 7})
        assert await first.committed([zero, one]) == {zero: 7, one: None}
        await first.stop()
        second = world.log("bets")
        recorder = await started(second)
        await recorder.until(lambda: recorder.count == 13)
        assert recorder.values(*zero) == numbered(3, 7)
        assert recorder.values(*one) == numbered(10)

    played(open_world, scenario)


def test_stop_lets_the_owner_finish_and_hands_over(open_world: OpenWorld) -> None:
    """`revoked` is called once, commits work inside, the next member owns everything, and stopping again is nothing."""

    async def scenario(world: World) -> None:
        await world.create(bets=1)
        partition = TopicPartition(world.topic("bets"), 0)
        await world.append("bets", 0, *numbered(4))
        log = world.log("bets")
        recorder = await started(log)
        await recorder.until(lambda: recorder.count == 4)
        recorder.to_commit_when_revoked = {partition: 4}
        await log.stop()
        await log.stop()
        assert recorder.calls.count("revoked") == 1
        assert recorder.commits == [True]
        await log.run_until_failed()
        await world.append("bets", 0, b"next")
        successor = world.log("bets")
        heir = await started(successor)
        await heir.until(lambda: heir.count == 1)
        assert heir.values(*partition) == [b"next"]

    played(open_world, scenario)


def test_two_members_share_copartitions(open_world: OpenWorld) -> None:
    """Partitions with the same number of co-partitioned topics go to the same member; each partition has one owner."""

    async def scenario(world: World) -> None:
        await world.create(tables=4, bets=4, funds=3)
        first, second = (world.log("tables", "bets", others=("funds",)) for _ in range(2))
        one = await started(first)
        await one.until(lambda: len(one.owned) == 11)
        two = await started(second)
        await one.until(lambda: 0 < len(one.owned) < 11)
        await two.until(lambda: 0 < len(two.owned) < 11)
        assert one.owned | two.owned == {
            TopicPartition(world.topic(name), number)
            for name, count in (("tables", 4), ("bets", 4), ("funds", 3))
            for number in range(count)
        }
        assert not one.owned & two.owned
        for member in (one, two):
            numbers = [{p.partition for p in member.owned if p.topic == world.topic(n)} for n in ("tables", "bets")]
            assert numbers[0] == numbers[1] != set()

    played(open_world, scenario)


def test_everything_is_revoked_before_it_is_assigned_anew(open_world: OpenWorld) -> None:
    """Each rebalance revokes all, lets the owner commit, and assigns in a later generation."""

    async def scenario(world: World) -> None:
        await world.create(bets=2)
        zero, one = (TopicPartition(world.topic("bets"), number) for number in (0, 1))
        await world.append("bets", 0, *numbered(3))
        await world.append("bets", 1, *numbered(3))
        log = world.log("bets")
        recorder = await started(log)
        await recorder.until(lambda: recorder.count == 6)
        recorder.to_commit_when_revoked = {zero: 1, one: 2}
        joined = world.log("bets")
        heir = await started(joined)
        await recorder.until(lambda: len(recorder.assignments) == 2)
        await heir.until(lambda: bool(heir.owned))
        assert [call for call in recorder.calls if call != "arrived"][:3] == ["assigned", "revoked", "assigned"]
        assert recorder.commits[0]
        assert recorder.assignments[1].generation > recorder.assignments[0].generation
        assert len(recorder.owned) == len(heir.owned) == 1
        for member in (recorder, heir):
            (partition,) = member.owned
            committed = {zero: 1, one: 2}[partition]
            await member.until(lambda member=member, committed=committed: member.count == 3 - committed)  # type: ignore[misc]
            assert member.values(*partition) == numbered(3 - committed, committed)

    played(open_world, scenario)


def test_a_commit_of_what_was_lost_is_refused(open_world: OpenWorld) -> None:
    """After a rebalance a commit of a partition that went elsewhere is False, and nothing of it counts."""

    async def scenario(world: World) -> None:
        await world.create(bets=2)
        log, joined = world.log("bets"), world.log("bets")
        recorder = await started(log)
        await recorder.until(lambda: len(recorder.owned) == 2)
        heir = await started(joined)
        await recorder.until(lambda: len(recorder.owned) == 1)
        await heir.until(lambda: len(heir.owned) == 1)
        (lost,), (kept,) = heir.owned, recorder.owned
        assert not await log.commit({lost: 0})
        assert not await log.commit({lost: 0, kept: 0})
        assert await log.committed([lost, kept]) == {lost: None, kept: None}
        assert await log.commit({kept: 0})
        await log.stop()
        assert not await log.commit({kept: 1})

    played(open_world, scenario)


def test_a_member_without_partitions_stands_by(open_world: OpenWorld) -> None:
    """One too many is assigned nothing, and takes over when the owner leaves."""

    async def scenario(world: World) -> None:
        await world.create(bets=1)
        await world.append("bets", 0, b"a")
        log, standby = world.log("bets"), world.log("bets")
        owner = await started(log)
        await owner.until(lambda: owner.count == 1)
        other = await started(standby)
        await other.until(lambda: bool(other.assignments))
        await owner.until(lambda: len(owner.assignments) == 2)
        idle, busy = (other, owner) if not other.owned else (owner, other)
        assert not idle.owned
        assert len(busy.owned) == 1
        await busy.log.stop()
        await idle.until(lambda: idle.count == 1)

    played(open_world, scenario)


def test_publish_returns_when_the_log_has_it(open_world: OpenWorld) -> None:
    """The end has moved by then; order within a partition is kept, also over several batches and compressed."""

    async def scenario(world: World) -> None:
        await world.create(rounds=2)
        zero, one = (TopicPartition(world.topic("rounds"), number) for number in (0, 1))
        log = world.log("rounds")
        large = [Message(b"k", b"%06d" % number + b"x" * 1000, [("n", b"1")]) for number in range(2000)]
        await log.publish({zero: large, one: []})
        await log.publish({one: large[:10]}, compressed=True)
        assert await log.end_offsets([zero, one]) == {zero: 2000, one: 10}
        assert [record.value for record in await log.read(zero, 0, 2000)] == [message.value for message in large]
        assert [record.value for record in await log.read(one, 0, 10)] == [message.value for message in large[:10]]

    played(open_world, scenario)


def test_a_refused_message_is_named(open_world: OpenWorld) -> None:
    """A message above the topic's limit is found by partition and index; batches above it are none."""

    async def scenario(world: World) -> None:
        await world.create(letters=1, max_message_bytes=5000)
        partition = TopicPartition(world.topic("letters"), 0)
        log = world.log("letters")
        small = [Message(b"k", b"%06d" % number + b"x" * 1000, []) for number in range(20)]
        await log.publish({partition: small})
        assert [record.value for record in await log.read(partition, 0, 20)] == [message.value for message in small]
        with pytest.raises(RecordRefusedError) as refused:
            await log.publish({partition: [*small[:7], Message(b"k", b"x" * 6000, []), *small[7:]]})
        assert (refused.value.partition, refused.value.index) == (partition, 7)
        await log.publish({partition: [Message(b"k", b"after", [])]})
        end = (await log.end_offsets([partition]))[partition]
        assert (await log.read(partition, end - 1, end))[0].value == b"after"

    played(open_world, scenario)


def test_a_range_is_read_outside_of_the_group(open_world: OpenWorld) -> None:
    """Exactly the offsets asked for that are still kept, whatever the group does."""

    async def scenario(world: World) -> None:
        await world.create(rounds=1)
        partition = TopicPartition(world.topic("rounds"), 0)
        log = world.log("rounds")
        await world.append("rounds", 0, *numbered(3000))
        assert [record.offset for record in await log.read(partition, 10, 2500)] == list(range(10, 2500))
        assert await log.read(partition, 5, 5) == []
        assert [record.offset for record in await log.read(partition, 2998, 9999)] == [2998, 2999]
        await world.trim("rounds", 0, 2000)
        assert [record.offset for record in await log.read(partition, 10, 2002)] == [2000, 2001]
        assert await log.beginning_offsets([partition]) == {partition: 2000}
        both = await asyncio.gather(log.read(partition, 2000, 2500), log.read(partition, 2500, 3000))
        assert list(map(len, both)) == [500, 500]

    played(open_world, scenario)


def test_an_offset_is_found_by_time(open_world: OpenWorld) -> None:
    """The first record not older than a broker time; the end where all are older."""

    async def scenario(world: World) -> None:
        await world.create(rounds=1)
        partition = TopicPartition(world.topic("rounds"), 0)
        log = world.log("rounds")
        assert await log.offset_for_time(partition, 5) == 0
        for value in numbered(4):
            await world.append("rounds", 0, value)
        records = await log.read(partition, 0, 4)
        for record in records:
            expected = min(other.offset for other in records if other.timestamp >= record.timestamp)
            assert await log.offset_for_time(partition, record.timestamp) == expected
        assert await log.offset_for_time(partition, 0) == 0
        assert await log.offset_for_time(partition, records[-1].timestamp + 10_000) == 4

    played(open_world, scenario)


def test_partitions_are_counted(open_world: OpenWorld) -> None:
    """A topic that does not exist is absent, and stays so."""

    async def scenario(world: World) -> None:
        await world.create(bets=3, funds=1)
        log = world.log("bets")
        names = [world.topic(name) for name in ("bets", "funds", "none")]
        for _ in range(2):
            assert await log.partition_counts(names) == {world.topic("bets"): 3, world.topic("funds"): 1}

    played(open_world, scenario)


def test_unequal_copartitions_are_refused_at_the_start(open_world: OpenWorld) -> None:
    """Co-partitioned topics have as many partitions each, and every topic exists."""

    async def scenario(world: World) -> None:
        await world.create(tables=2, bets=3)
        for log in (world.log("tables", "bets"), world.log("tables", others=("none",))):
            with pytest.raises(LogError):
                await log.start(Recorder(log))

    played(open_world, scenario)


class _Failing(Recorder):
    """Raises in one of the three calls."""

    def __init__(self, log: RunningLog, where: str) -> None:
        super().__init__(log)
        self.where = where

    async def assigned(self, assignment: Assignment) -> None:
        await super().assigned(assignment)
        self._maybe_fail("assigned")

    async def revoked(self) -> None:
        await super().revoked()
        self._maybe_fail("revoked")

    def arrived(self, partition: TopicPartition, records: Sequence[Record]) -> None:
        super().arrived(partition, records)
        if records:
            self._maybe_fail("arrived")

    def _maybe_fail(self, where: str) -> None:
        if where == self.where:
            raise ZeroDivisionError(where)


@pytest.mark.parametrize("where", ["assigned", "arrived"])
def test_an_exception_of_the_listener_ends_the_log(open_world: OpenWorld, where: str) -> None:
    """It is raised where the log is awaited; nothing is called or committed after it."""

    async def scenario(world: World) -> None:
        await world.create(bets=2)
        zero, one = (TopicPartition(world.topic("bets"), number) for number in (0, 1))
        await world.append("bets", 0, *numbered(3))
        await world.append("bets", 1, *numbered(3))
        log = world.log("bets")
        recorder = await started(log, _Failing(log, where))
        with pytest.raises(ZeroDivisionError):
            await asyncio.wait_for(log.run_until_failed(), 25)
        assert not await log.commit({zero: 1})
        calls = list(recorder.calls)
        await world.append("bets", 0, b"more")
        await log.stop()
        assert recorder.calls == calls
        assert await world.log("bets").committed([zero, one]) == {zero: None, one: None}

    played(open_world, scenario)


def test_an_exception_while_revoked_ends_the_log(open_world: OpenWorld) -> None:
    """Where stopping calls `revoked`, stopping raises it."""

    async def scenario(world: World) -> None:
        await world.create(bets=1)
        log = world.log("bets")
        recorder = await started(log, _Failing(log, "revoked"))
        await recorder.until(lambda: bool(recorder.assignments))
        with pytest.raises(ZeroDivisionError):
            await log.stop()
        with pytest.raises(ZeroDivisionError):
            await log.run_until_failed()

    played(open_world, scenario)


def test_a_killed_members_partitions_are_read_again_from_its_commit(open_world: OpenWorld) -> None:
    """A process that dies without a word loses nothing that it had not committed."""

    async def scenario(world: World) -> None:
        await world.create(bets=1)
        await world.append("bets", 0, *numbered(8))
        await world.live_and_die("bets", commit=5)
        log = world.log("bets")
        recorder = await started(log)
        await recorder.until(lambda: recorder.count == 3)
        assert recorder.values(world.topic("bets"), 0) == numbered(3, 5)

    played(open_world, scenario)


def test_records_wait_until_assigned_has_returned(open_world: OpenWorld) -> None:
    """Reading back what is needed may take as long as it takes."""

    async def scenario(world: World) -> None:
        await world.create(bets=1)
        await world.append("bets", 0, *numbered(3))
        log = world.log("bets")
        partition = TopicPartition(world.topic("bets"), 0)

        class Slow(Recorder):
            async def assigned(self, assignment: Assignment) -> None:
                for _ in range(5):
                    assert len(await log.read(partition, 0, 3)) == 3
                    assert await log.committed([partition]) == {partition: None}
                await super().assigned(assignment)

        recorder = await started(log, Slow(log))
        await recorder.until(lambda: recorder.count == 3)
        assert recorder.calls[0] == "assigned"

    played(open_world, scenario)


def test_a_rebalance_cancels_a_slow_assigned(open_world: OpenWorld) -> None:
    """A member that is still reading back does not hold up the group; it is told `revoked` and assigned anew."""

    async def scenario(world: World) -> None:
        await world.create(bets=2)
        log, joined = world.log("bets"), world.log("bets")

        class Stuck(Recorder):
            async def assigned(self, assignment: Assignment) -> None:
                await super().assigned(assignment)
                if len(assignment.partitions) == 2:
                    try:
                        await asyncio.Event().wait()
                    finally:
                        self.calls.append("cancelled")

        recorder = await started(log, Stuck(log))
        await recorder.until(lambda: len(recorder.owned) == 2)
        heir = await started(joined)
        await recorder.until(lambda: len(recorder.owned) == 1)
        await heir.until(lambda: len(heir.owned) == 1)
        assert recorder.calls == ["assigned", "cancelled", "revoked", "assigned"]

    played(open_world, scenario)


def test_credits_bound_what_is_read_ahead_of_each_partition(open_world: OpenWorld) -> None:
    """A partition whose records are not done is read no further; another one is, and so is this one when they are."""

    async def scenario(world: World) -> None:
        await world.create(tables=1, bets=1)
        tables, bets = (TopicPartition(world.topic(name), 0) for name in ("tables", "bets"))
        await world.append("tables", 0, *numbered(6000))
        log = world.log("tables", "bets", credit_records=2000)
        recorder = await started(log, Recorder(log, keeps_credits=True))
        await recorder.until(lambda: len(recorder.records[tables]) >= 1000)
        await world.append("bets", 0, b"a")
        await recorder.until(lambda: len(recorder.records[bets]) == 1)
        ahead = len(recorder.records[tables])
        assert 1000 <= ahead <= 2000
        recorder.keeps_credits = False
        log.done(ahead, tables)
        await recorder.until(lambda: len(recorder.records[tables]) == 6000)
        assert recorder.values(*tables) == numbered(6000)

    played(open_world, scenario)
