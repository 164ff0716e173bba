"""The port's promises about what arrives, over the in-memory log and over Apache Kafka."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from pokdeng.stream.port import Assignment, Message, Record, TopicPartition
from tests.stream.recorder import Recorder
from tests.stream.scenario import numbered, played, started

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.stream.worlds import OpenWorld, RunningLog, World


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
            while await log.end_offsets([partition]) != {partition: 2}:
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
