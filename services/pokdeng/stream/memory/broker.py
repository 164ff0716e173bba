"""Topics in memory: partitions, offsets, append times, and the groups that read them. No threads, no randomness."""

from __future__ import annotations

import asyncio
from bisect import bisect_left
from enum import StrEnum
from typing import TYPE_CHECKING

from pokdeng.stream.memory.group import Group
from pokdeng.stream.partitioner import partition_for
from pokdeng.stream.port import LogRecord, LogUnavailableError, TopicPartition

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping, Sequence

_RECORD_OVERHEAD_BYTES = 70


class Point(StrEnum):
    """Where `MemoryBroker.intercept` is asked, so that a test can make things fail there."""

    APPEND = "append"
    """Before each message of a publish is appended."""
    ACKNOWLEDGE = "acknowledge"
    """After all messages of a publish were appended, before the publisher knows."""
    COMMIT = "commit"
    """Before offsets are committed."""
    COMMITTED = "committed"
    """After they were, before the committer knows."""
    ANSWER = "answer"
    """Before anything else that is asked is answered; only `MemoryBroker.linger` is asked here."""


async def at_once(_point: Point, _member: str) -> None:
    """What takes a round trip elsewhere lets others run here, and no more."""
    await asyncio.sleep(0)


class Partition:
    """The records of one partition, oldest first."""

    def __init__(self, topic: str, number: int) -> None:
        """Empty, beginning at offset 0."""
        self.topic = topic
        self.number = number
        self.records: list[LogRecord] = []
        self.beginning = 0
        self.end = 0
        self.shown: int | None = None
        """Readers see nothing from this offset on; None: they see all."""

    def append(
        self, timestamp: int, key: bytes | None, value: bytes | None, headers: Sequence[tuple[str, bytes]]
    ) -> LogRecord:
        """Add a record at the end."""
        record = LogRecord(self.topic, self.number, self.end, timestamp, key, value, tuple(headers))
        self.records.append(record)
        self.end += 1
        return record

    def slice(self, start: int, end: int, limit: int | None = None) -> list[LogRecord]:
        """Records with start <= offset < end, at most `limit`."""
        first = bisect_left(self.records, start, key=lambda record: record.offset)
        last = bisect_left(self.records, end, key=lambda record: record.offset)
        return self.records[first : last if limit is None else min(last, first + limit)]

    def trim(self, before: int) -> None:
        """Drop the records below an offset, as retention does."""
        self.beginning = max(self.beginning, min(before, self.end))
        del self.records[: bisect_left(self.records, self.beginning, key=lambda record: record.offset)]

    @property
    def readable_end(self) -> int:
        """The offset below which readers see records."""
        return self.end if self.shown is None else self.shown


class MemoryBroker:
    """A log in memory that stamps each record with `clock_ms()` as it is appended.

    `is_down`: nothing can be reached. `intercept(point, member, partition)` is called where things may fail; what it
    raises is raised there. `linger(point, member)` is awaited where a member waits for an answer, behind `intercept`.
    """

    def __init__(self, clock_ms: Callable[[], int]) -> None:
        """No topics yet."""
        self._clock_ms = clock_ms
        self._topics: dict[str, list[Partition]] = {}
        self._limits: dict[str, int] = {}
        self._groups: dict[str, Group] = {}
        self._watchers: dict[TopicPartition, dict[Callable[[], None], None]] = {}
        self.is_down = False
        self.intercept: Callable[[Point, str, TopicPartition | None], None] | None = None
        self.linger: Callable[[Point, str], Awaitable[None]] = at_once

    def create_topic(self, name: str, partitions: int, *, max_message_bytes: int = 1_048_588) -> None:
        """Create a topic. Raises ValueError where it exists."""
        if name in self._topics:
            raise ValueError(f"topic {name} exists")
        self._topics[name] = [Partition(name, number) for number in range(partitions)]
        self._limits[name] = max_message_bytes

    def append(
        self,
        topic: str,
        key: bytes | None,
        value: bytes | None,
        headers: Sequence[tuple[str, bytes]] = (),
        partition: int | None = None,
        timestamp: int | None = None,
    ) -> LogRecord:
        """Append a record for a producer: to the key's partition unless one is named, at the clock's time likewise."""
        if partition is None:
            if key is None:
                raise ValueError("a record without a key needs a partition")
            partition = partition_for(key, len(self._topics[topic]))
        when = self._clock_ms() if timestamp is None else timestamp
        record = self.partition(TopicPartition(topic, partition)).append(when, key, value, headers)
        self._wake(TopicPartition(topic, partition))
        return record

    def skip(self, partition: TopicPartition, count: int) -> None:
        """Use up offsets without a record, as transaction markers and compaction do."""
        self.partition(partition).end += count
        self._wake(partition)

    def trim(self, partition: TopicPartition, before: int) -> None:
        """Drop the records below an offset, as retention does."""
        self.partition(partition).trim(before)
        self._wake(partition)

    def hide(self, partition: TopicPartition) -> None:
        """Show readers nothing that is appended from now on, as if it was not replicated yet; ends count it."""
        log = self.partition(partition)
        log.shown = log.readable_end

    def show(self, partition: TopicPartition) -> None:
        """End `hide`."""
        self.partition(partition).shown = None
        self._wake(partition)

    def records(self, partition: TopicPartition) -> Sequence[LogRecord]:
        """All records that are kept, oldest first, shown or not."""
        return tuple(self.partition(partition).records)

    def committed(self, group: str) -> Mapping[TopicPartition, int]:
        """What a group has committed."""
        return dict(self.group(group).committed)

    def topics(self) -> Mapping[str, int]:
        """The number of partitions of each topic."""
        return {name: len(partitions) for name, partitions in self._topics.items()}

    def partition(self, partition: TopicPartition) -> Partition:
        """The partition itself. Raises KeyError where there is none."""
        partitions = self._topics.get(partition.topic, [])
        if not 0 <= partition.partition < len(partitions):
            raise KeyError(partition)
        return partitions[partition.partition]

    def group(self, name: str) -> Group:
        """The group of that name, made on first use."""
        return self._groups.setdefault(name, Group(self.topics))

    def refuses(
        self, topic: str, key: bytes | None, value: bytes | None, headers: Sequence[tuple[str, bytes]]
    ) -> str | None:
        """Why a record of this size is refused for ever, None where it is not."""
        size = len(key or b"") + len(value or b"") + sum(len(name) + len(text) for name, text in headers)
        size += _RECORD_OVERHEAD_BYTES
        return f"{size} bytes, limit {self._limits[topic]}" if size > self._limits[topic] else None

    def reach(self, point: Point | None = None, member: str = "", partition: TopicPartition | None = None) -> None:
        """Raise LogUnavailableError while the broker is down; then ask `intercept` about `point`."""
        if self.is_down:
            raise LogUnavailableError("the broker is down")
        if point is not None and self.intercept is not None:
            self.intercept(point, member, partition)

    def watch(self, partition: TopicPartition, wake: Callable[[], None]) -> None:
        """Call `wake` whenever something of that partition changes."""
        self._watchers.setdefault(partition, {})[wake] = None

    def unwatch(self, partition: TopicPartition, wake: Callable[[], None]) -> None:
        """End `watch`."""
        self._watchers.get(partition, {}).pop(wake, None)

    def _wake(self, partition: TopicPartition) -> None:
        for wake in self._watchers.get(partition, ()):
            wake()
