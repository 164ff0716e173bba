"""The port's promises about membership, over the in-memory log and over Apache Kafka."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from pokdeng.stream.port import Assignment, LogError, TopicPartition
from tests.stream.recorder import Recorder
from tests.stream.scenario import numbered, played, started

if TYPE_CHECKING:
    from tests.stream.worlds import OpenWorld, World


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
        await recorder.until(lambda: len(recorder.assignments) >= 2)
        await heir.until(lambda: bool(heir.owned))
        assert [call for call in recorder.calls if call != "arrived"][:3] == ["assigned", "revoked", "assigned"]
        assert recorder.commits[0]
        assert recorder.assignments[1].generation > recorder.assignments[0].generation
        assert len(recorder.owned) == len(heir.owned) == 1
        for member in (recorder, heir):
            (partition,) = member.owned
            committed = {zero: 1, one: 2}[partition]
            await member.until(lambda member=member, committed=committed: member.count == 3 - committed)  # type: ignore[misc]  # mypy infers no type of a default in a lambda
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
        await owner.until(lambda: len(owner.assignments) >= 2)
        idle, busy = (other, owner) if not other.owned else (owner, other)
        assert not idle.owned
        assert len(busy.owned) == 1
        await busy.log.stop()
        await idle.until(lambda: idle.count == 1)

    played(open_world, scenario)


def test_unequal_copartitions_are_refused_at_the_start(open_world: OpenWorld) -> None:
    """Co-partitioned topics have as many partitions each, and every topic exists."""

    async def scenario(world: World) -> None:
        await world.create(tables=2, bets=3)
        for log in (world.log("tables", "bets"), world.log("tables", others=("none",))):
            with pytest.raises(LogError):
                await log.start(Recorder(log))

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
