"""What lies between Faust's consumer and the listener: credits, positions, and which slices still count."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, NamedTuple

from pokdeng.stream.credits import Credits
from pokdeng.stream.port import Assignment, LogError, TopicPartition

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from pokdeng.stream.guard import Guard
    from pokdeng.stream.port import Record


class Fetched(NamedTuple):
    """What one fetch brought, and where it left each partition. Made in the consumer's thread, all at one instant."""

    generation: int
    records: Mapping[TopicPartition, Sequence[Record]]
    before: Mapping[TopicPartition, int]
    """Positions before the fetch, of every partition that had one."""
    after: Mapping[TopicPartition, int]
    """Positions after it, of every partition that has one."""


NOTHING = Fetched(generation=-1, records={}, before={}, after={})
"""A fetch that brought nothing and left everything as it was."""


class Slice(NamedTuple):
    """Records of one partition on their way to the listener. Without records: the position passed a gap."""

    partition: TopicPartition
    records: Sequence[Record]
    after: int
    epoch: int


class Feed:
    """Lives in the worker's event loop. An epoch ends with each assignment and each revocation."""

    def __init__(self, guard: Guard, copartitioned: tuple[str, ...], credit_records: int) -> None:
        """Nothing is assigned yet."""
        self.guard = guard
        self.room = asyncio.Event()
        """Set when credits came back."""
        self.settled = asyncio.Event()
        """Set while no rebalance is under way. Faust seeks and empties its queues up to the very end of one."""
        self.epoch = 0
        self.is_closing = False
        """Nothing is assigned any more."""
        self._copartitioned = copartitioned
        self._credits = Credits(credit_records)
        self._positions: dict[TopicPartition, int] = {}
        self._fetched: dict[TopicPartition, int] = {}

    def assign(self, assignment: Assignment) -> None:
        """Begin an epoch. A broken co-partition ends everything."""
        if self.is_closing:
            return
        self._begin(assignment.partitions)
        parts = {
            topic: {partition.partition for partition in assignment.partitions if partition.topic == topic}
            for topic in self._copartitioned
        }
        if len({frozenset(numbers) for numbers in parts.values()}) > 1:
            named = {topic: sorted(numbers) for topic, numbers in parts.items()}
            self.guard.fail(LogError(f"co-partitioned topics were assigned different partitions: {named}"))
            return
        self.guard.assign(assignment)

    async def revoke(self) -> None:
        """End the epoch: the listener finishes and forgets."""
        self.epoch += 1
        epoch = self.epoch
        await self.guard.revoke()
        if self.epoch == epoch:  # nothing was assigned meanwhile
            self._begin(())

    def position(self, partition: TopicPartition) -> int:
        """Everything below was given to the listener or never will be; 0 until the first fetch."""
        return self._positions[partition]

    def is_assigned(self, partitions: Collection[TopicPartition]) -> bool:
        """Whether all of them are owned."""
        return self._positions.keys() >= set(partitions)

    def done(self, count: int, partition: TopicPartition | None) -> None:
        """Give credits back."""
        self._credits.done(count, partition)
        self.room.set()

    def open(self, *, has_waited: bool) -> set[TopicPartition]:
        """The partitions that may be fetched from; all of them where a soft limit has been waited for long enough."""
        if has_waited and self._credits.is_soft:
            return set(self._positions)
        return {partition for partition in self._positions if self._credits.room(partition) > 0}

    def slices(self, fetched: Fetched) -> list[Slice]:
        """What is to be delivered of a fetch; a record that would be skipped in silence ends everything."""
        owned = self.guard.owned
        if owned is None or fetched.generation != owned.generation:
            return []
        slices = []
        for partition, after in fetched.after.items():
            if partition not in self._positions:
                continue
            records = fetched.records.get(partition, ())
            last = self._fetched.get(partition)
            before = fetched.before.get(partition)
            if last is not None and before is not None and before != last:
                name = f"{partition.topic}[{partition.partition}]"
                self.guard.fail(LogError(f"{name} was read up to {last}, the next fetch began at {before}"))
                return []
            if records or after != last:
                self._fetched[partition] = after
                self._credits.give(partition, len(records))
                slices.append(Slice(partition, records, after, self.epoch))
        return slices

    def deliver(self, one: Slice) -> None:
        """Give a slice to the listener, unless its epoch is over."""
        if one.epoch == self.epoch and self.guard.ready.is_set():
            self._positions[one.partition] = one.after
            self.guard.arrive(one.partition, one.records)

    def _begin(self, partitions: Collection[TopicPartition]) -> None:
        self.epoch += 1
        self._positions = dict.fromkeys(partitions, 0)
        self._fetched = {}
        self._credits.reset(partitions)
        self.room.set()
