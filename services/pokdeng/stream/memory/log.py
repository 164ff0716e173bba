"""A member of a group on the in-memory broker: the port's twin, driven by one asyncio task and no timer."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from pokdeng.stream.credits import Credits
from pokdeng.stream.guard import Guard
from pokdeng.stream.memory.broker import Point
from pokdeng.stream.memory.group import Member
from pokdeng.stream.port import LogError, LogUnavailableError, RecordRefusedError, TopicPartition

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Collection, Mapping, Sequence

    from pokdeng.stream.memory.broker import MemoryBroker
    from pokdeng.stream.port import Assignment, Listener, Message, Record, Stretches


class MemoryLog:
    """`port.Log` in memory.

    Args:
        broker: where the records lie.
        group: the consumer group's name.
        copartitioned: topics of which partitions with the same number go to the same member.
        others: topics read besides.
        name: the member's name, for `MemoryBroker.intercept`.
        credit_records: how many delivered records may be unfinished.
        slice_records: the most records of one partition in one delivery.
    """

    def __init__(
        self,
        broker: MemoryBroker,
        group: str,
        *,
        copartitioned: Sequence[str],
        others: Sequence[str] = (),
        name: str = "member",
        credit_records: int = 100_000,
        slice_records: int = 1000,
    ) -> None:
        """Not joined yet."""
        self._broker = broker
        self._group = broker.group(group)
        self._wake = asyncio.Event()
        self._member = Member(name, tuple(copartitioned), tuple(others), self._wake.set)
        self._credits = Credits(credit_records)
        self._slice_records = slice_records
        self._positions: dict[TopicPartition, int] = {}
        self._guard: Guard | None = None
        self._task: asyncio.Task[None] | None = None
        self._is_stopping = False
        self._is_killed = False
        self._has_lost_group = False
        self._knows_loss = False

    async def start(self, listener: Listener) -> None:
        """Join the group and deliver to `listener` until `stop`."""
        self._reach()
        if self._guard is not None:
            raise LogError("a log is started once")
        topics = self._broker.topics()
        if missing := {*self._member.copartitioned, *self._member.others} - topics.keys():
            raise LogError(f"topics that do not exist: {sorted(missing)}")
        counts = {name: topics[name] for name in self._member.copartitioned}
        if len(set(counts.values())) > 1:
            raise LogError(f"co-partitioned topics differ in their number of partitions: {counts}")
        self._guard = Guard(listener, self._wake.set)
        self._task = asyncio.get_running_loop().create_task(self._run(self._guard))
        self._group.join(self._member)

    async def stop(self) -> None:
        """Have the listener finish if it owns something, leave the group, and let `run_until_failed` return."""
        guard = self._guard
        if guard is None or self._is_killed:
            return
        self._is_stopping = True
        self._wake.set()
        if self._task is not None:
            await asyncio.wait([self._task])
        had_failed = guard.has_failed
        await guard.revoke()
        self._disown()
        self._group.leave(self._member)
        guard.close()
        if guard.has_failed and not had_failed:
            await guard.wait()

    async def run_until_failed(self) -> None:
        """Return when the log was stopped; raise what the listener raised."""
        if self._guard is None:
            raise LogError("not started")
        await self._guard.wait()

    async def rejoin(self) -> None:
        """Give everything back and be assigned anew."""
        self._reach()
        if self._guard is not None and not (self._guard.is_over or self._is_stopping):
            self._group.join(self._member)

    async def end_offsets(self, partitions: Collection[TopicPartition]) -> dict[TopicPartition, int]:
        """The log's end of each partition."""
        await self._answer()
        return {tp: self._broker.partition(tp).end for tp in partitions}

    async def beginning_offsets(self, partitions: Collection[TopicPartition]) -> dict[TopicPartition, int]:
        """The first offset still kept of each partition."""
        await self._answer()
        return {tp: self._broker.partition(tp).beginning for tp in partitions}

    def position(self, partition: TopicPartition) -> int:
        """All records below this offset were delivered or never will be. KeyError where it is not assigned."""
        return self._positions[partition]

    def done(self, count: int, partition: TopicPartition | None = None) -> None:
        """Give credits back."""
        self._credits.done(count, partition)
        self._wake.set()

    async def committed(self, partitions: Collection[TopicPartition]) -> dict[TopicPartition, int | None]:
        """The group's committed offsets."""
        await self._answer()
        return {tp: self._group.committed.get(tp) for tp in partitions}

    async def commit(self, offsets: Mapping[TopicPartition, int]) -> bool:
        """Commit the next offset to read of assigned partitions; False where the group rebalanced."""
        self._reach(Point.COMMIT)
        if self._guard is None or self._guard.has_failed:
            return False
        is_committed = self._group.commit(self._member, offsets)
        await self._answer(Point.COMMITTED)
        return is_committed

    async def publish(self, batches: Mapping[TopicPartition, Sequence[Message]], *, compressed: bool = False) -> None:  # noqa: ARG002 - memory is not compressed
        """Append messages, per partition in order."""
        await self._answer()
        for partition, messages in batches.items():
            self._broker.partition(partition)
            for index, message in enumerate(messages):
                self._reach(Point.APPEND, partition)
                why = self._broker.refuses(partition.topic, *message)
                if why is not None:
                    raise RecordRefusedError(partition, index, why)
                self._broker.append(partition.topic, *message, partition=partition.partition)
        await self._answer(Point.ACKNOWLEDGE)

    async def read(self, partition: TopicPartition, start: int, end: int) -> list[Record]:
        """The records with start <= offset < end that are still kept."""
        await self._answer()
        return list(self._broker.partition(partition).slice(start, end))

    @asynccontextmanager
    async def open_stretches(
        self, starts: Mapping[TopicPartition, int], ends: Mapping[TopicPartition, int]
    ) -> AsyncIterator[Stretches]:
        """Read stretches of many partitions by turns."""
        yield _Stretches(self, {partition: starts.get(partition, 0) for partition in ends}, ends)

    async def offset_for_time(self, partition: TopicPartition, timestamp_ms: int) -> int:
        """The offset of the first record with a broker time not before `timestamp_ms`; the log's end if none."""
        await self._answer()
        log = self._broker.partition(partition)
        return next((record.offset for record in log.records if record.timestamp >= timestamp_ms), log.end)

    async def partition_counts(self, topics: Collection[str]) -> dict[str, int]:
        """How many partitions each of these topics has; one that does not exist is absent."""
        await self._answer()
        return {name: count for name, count in self._broker.topics().items() if name in topics}

    def kill(self) -> None:
        """Die as a process does: nothing is called or sent any more. The group learns of it by `expire`."""
        self._is_killed = True
        if self._task is not None:
            self._task.cancel()
        self._forget()

    def expire(self) -> None:
        """Have the group throw this member out, as when its session times out. It does not know until `heartbeat`."""
        self._group.leave(self._member)
        self._has_lost_group = not self._is_killed

    def heartbeat(self) -> None:
        """Let a member that was thrown out notice: it lets go of everything and joins anew."""
        self._knows_loss = self._has_lost_group
        self._wake.set()

    async def _run(self, guard: Guard) -> None:
        while not (self._is_stopping or guard.is_over):
            await self._wake.wait()
            self._wake.clear()
            if self._member.must_revoke or self._knows_loss:
                await guard.revoke()
                self._disown()
                if self._knows_loss:
                    self._has_lost_group = self._knows_loss = False
                    self._group.join(self._member)
            offered = self._group.accept(self._member)
            if offered is not None:
                self._own(offered)
                guard.assign(offered)
            if guard.ready.is_set() and self._deliver(guard):
                self._wake.set()
                await asyncio.sleep(0)

    def _deliver(self, guard: Guard) -> bool:
        """Deliver one slice of each partition that has something and room; True: there is more."""
        is_more = False
        for partition, position in self._positions.items():
            log = self._broker.partition(partition)
            end = log.readable_end
            limit = self._slice_records
            if not self._credits.is_soft:
                limit = min(limit, self._credits.room(partition))
            if position >= end or limit <= 0 or self._broker.is_down:
                continue
            records = log.slice(position, end, limit)
            after = records[-1].offset + 1 if records else end
            self._positions[partition] = after
            self._credits.give(partition, len(records))
            guard.arrive(partition, records)
            if guard.is_over:
                return False
            is_more |= after < end
        return is_more

    def _own(self, assignment: Assignment) -> None:
        for partition in sorted(assignment.partitions):
            log = self._broker.partition(partition)
            start = self._group.committed.get(partition, log.beginning)
            self._positions[partition] = start if log.beginning <= start <= log.end else log.beginning
            self._broker.watch(partition, self._wake.set)
        self._credits.reset(assignment.partitions)

    def _disown(self) -> None:
        self._forget()
        self._group.released(self._member)

    def _forget(self) -> None:
        for partition in self._positions:
            self._broker.unwatch(partition, self._wake.set)
        self._positions.clear()
        self._credits.reset(())

    def _reach(self, point: Point | None = None, partition: TopicPartition | None = None) -> None:
        if self._is_killed:
            raise LogUnavailableError(f"{self._member.name} was killed")
        self._broker.reach(point, self._member.name, partition)

    async def _answer(self, point: Point = Point.ANSWER) -> None:
        """What takes a round trip elsewhere lets others run here."""
        self._reach(None if point is Point.ANSWER else point)
        await self._broker.linger(point, self._member.name)
        self._reach()


class _Stretches:
    """`Stretches` of what is kept in memory."""

    def __init__(self, log: MemoryLog, starts: dict[TopicPartition, int], ends: Mapping[TopicPartition, int]) -> None:
        self._log = log
        self._at = starts
        self._ends = ends

    async def read(self, partition: TopicPartition, most: int) -> Sequence[Record]:
        at, end = self._at[partition], self._ends[partition]
        while at < end:
            records = await self._log.read(partition, at, min(at + most, end))
            at = self._at[partition] = min(at + most, end)
            if records:
                return records
        return []
