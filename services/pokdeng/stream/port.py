"""The log as the worker sees it: partitions to read, ends to ask for, records to publish, progress to commit.

Knows no Pok Deng. Two sides implement it with one contract test: Apache Kafka through Faust (`kafka/`) and an
in-memory twin (`memory/`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence
    from contextlib import AbstractAsyncContextManager


class TopicPartition(NamedTuple):
    """One partition of one topic."""

    topic: str
    partition: int


class Record(Protocol):
    """A record as it lies in the log; `LogRecord` is one."""

    @property
    def topic(self) -> str:
        """The topic's name."""

    @property
    def partition(self) -> int:
        """Its partition."""

    @property
    def offset(self) -> int:
        """Its offset there."""

    @property
    def timestamp(self) -> int:
        """Broker time, milliseconds since the epoch."""

    @property
    def key(self) -> bytes | None:
        """None where there is none."""

    @property
    def value(self) -> bytes | None:
        """None for a tombstone."""

    @property
    def headers(self) -> Sequence[tuple[str, bytes]]:
        """In their order."""


class LogRecord(NamedTuple):
    """`Record` as the logs give it."""

    topic: str
    partition: int
    offset: int
    timestamp: int
    key: bytes | None
    value: bytes | None
    headers: Sequence[tuple[str, bytes]]


class Message(NamedTuple):
    """A record to publish; its partition is named beside it, by the caller."""

    key: bytes | None
    value: bytes | None
    headers: Sequence[tuple[str, bytes]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Assignment:
    """What a member of the group owns until the next `revoked`."""

    partitions: frozenset[TopicPartition]
    generation: int
    """Rises with each rebalance of the group."""


class Listener(Protocol):
    """The reading side's client. All three are called in the worker's event loop; none may be called concurrently."""

    async def assigned(self, assignment: Assignment) -> None:
        """Partitions are owned from now on. Reading starts at the committed offset, else at the earliest record.

        Called also with no partitions (a standby). No record arrives before this returns.
        """

    async def revoked(self) -> None:
        """Everything owned is about to go (every rebalance revokes all). Finish, commit, forget; at most 3 s.

        Commits still work inside. No record of the old assignment arrives after this was called.
        """

    def arrived(self, partition: TopicPartition, records: Sequence[Record]) -> None:
        """Records of one partition, in offset order, each once per assignment. Must not block."""


class Stretches(Protocol):
    """Long stretches of partitions, each read on from where it was left."""

    async def read(self, partition: TopicPartition, most: int) -> Sequence[Record]:
        """The next records of a partition, at most `most`, in order; none when its end is reached."""


class Log(Protocol):
    """A partitioned log with consumer groups.

    Errors: `LogUnavailableError` where the log cannot be reached after bounded retries (the worker stops);
    anything else is a defect. Nothing is retried for ever.
    """

    async def start(self, listener: Listener) -> None:
        """Join the group and deliver to `listener` until `stop`. Returns once joining has begun."""

    async def stop(self) -> None:
        """Call `listener.revoked()` if something is assigned, then leave the group and close. Idempotent."""

    async def rejoin(self) -> None:
        """Give everything owned back and be assigned anew, soon: reading begins again at what is committed.

        The listener is told as in any rebalance: `revoked`, then `assigned`. Returns at once.
        """

    async def end_offsets(self, partitions: Collection[TopicPartition]) -> dict[TopicPartition, int]:
        """The log's end of each partition as of an instant after this was called (the offset the next record gets).

        Over a connection of its own, so that it never waits behind the reader's long poll. The log's end, not the
        replicated end: a record that is stamped but not yet shown to readers counts.
        """

    async def beginning_offsets(self, partitions: Collection[TopicPartition]) -> dict[TopicPartition, int]:
        """The first offset still kept of each partition."""

    def position(self, partition: TopicPartition) -> int:
        """All records below this offset have been given to `arrived`, or never will be (gaps, trimmed records).

        Raises KeyError for a partition that is not assigned.
        """

    def done(self, count: int, partition: TopicPartition | None = None) -> None:
        """Say that `count` delivered records were dealt with: the credits that bound what is read ahead.

        Name the partition, so that one which runs ahead cannot use up the credits of those it waits for.
        """

    async def committed(self, partitions: Collection[TopicPartition]) -> dict[TopicPartition, int | None]:
        """The group's committed offsets (the next to read), None where there is none."""

    async def commit(self, offsets: Mapping[TopicPartition, int]) -> bool:
        """Commit the next offset to read of assigned partitions. False: the group rebalanced, nothing counts."""

    async def publish(self, batches: Mapping[TopicPartition, Sequence[Message]], *, compressed: bool = False) -> None:
        """Append messages, per partition in order, and return when all are acknowledged (acks=all, idempotent).

        Raises `RecordRefusedError` (naming one partition and the index of the message in its batch) where the broker
        refuses a record for ever, e.g. too large; `LogUnavailableError` where it does not answer within its timeout.
        After an error any subset may have been appended; sending the same again is the caller's way out.
        """

    async def read(self, partition: TopicPartition, start: int, end: int) -> list[Record]:
        """The records with start <= offset < end, in order, outside of the group and of `arrived`."""

    def open_stretches(
        self, starts: Mapping[TopicPartition, int], ends: Mapping[TopicPartition, int]
    ) -> AbstractAsyncContextManager[Stretches]:
        """Read start <= offset < end of many partitions by turns, outside of the group; 0 where no start is named."""

    async def offset_for_time(self, partition: TopicPartition, timestamp_ms: int) -> int:
        """The offset of the first record with a broker time not before `timestamp_ms`; the log's end if none."""

    async def partition_counts(self, topics: Collection[str]) -> dict[str, int]:
        """How many partitions each topic has; a topic that does not exist is absent."""


class LogError(Exception):
    """Something about the log."""


class LogUnavailableError(LogError):
    """The log did not answer within bounded retries: stop, commit nothing, be started again."""


class RecordRefusedError(LogError):
    """The broker refuses one record for ever."""

    def __init__(self, partition: TopicPartition, index: int, why: str) -> None:
        """Name the record by its partition and its index in the published batch."""
        super().__init__(f"{partition.topic}[{partition.partition}] refuses message {index}: {why}")
        self.partition = partition
        self.index = index
