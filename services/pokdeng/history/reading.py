"""How the past is read: partitions by key, offsets by time, long stretches in bounded pieces, with progress told."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Protocol

from pokdeng.stream.partitioner import partition_for
from pokdeng.stream.port import TopicPartition
from pokdeng.stream.reading import read_on

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Collection, Mapping

    from pokdeng.stream.port import Log, Record
    from pokdeng.wire import TopicKind, Topics

_LAST: Final = 100
"""So many offsets are looked at for a partition's last record: the newest may be markers of transactions."""
_TELL_EVERY: Final = 500


class MissingTopicsError(Exception):
    """Topics of this prefix do not exist. The message names them."""


class Progress(Protocol):
    """Who is told how far a long reading has come."""

    def begin(self, what: str, total: int) -> None:
        """`total` more offsets will be read, for the sake of `what`."""

    def advance(self, count: int) -> None:
        """So many of them were read."""


class Silence:
    """Tells nobody."""

    def begin(self, what: str, total: int) -> None:
        """See `Progress`."""

    def advance(self, count: int) -> None:
        """See `Progress`."""


class Past:
    """The topics of one prefix, to be read."""

    def __init__(self, log: Log, topics: Topics, counts: Mapping[str, int], progress: Progress | None = None) -> None:
        """`counts` are the numbers of partitions by topic name; see `open_past`."""
        self.log = log
        self.topics = topics
        self.progress: Progress = progress or Silence()
        self._counts = counts

    def count(self, kind: TopicKind) -> int:
        """How many partitions a topic has."""
        return self._counts[self.topics.name(kind)]

    def place(self, kind: TopicKind, key: str) -> TopicPartition:
        """Where the records of a table or an account lie in a topic."""
        return TopicPartition(self.topics.name(kind), partition_for(key.encode(), self.count(kind)))

    def places(self, kind: TopicKind) -> list[TopicPartition]:
        """All partitions of a topic."""
        return [TopicPartition(self.topics.name(kind), number) for number in range(self.count(kind))]

    async def beginning(self, place: TopicPartition) -> int:
        """The first offset still kept."""
        return (await self.log.beginning_offsets([place]))[place]

    async def end(self, place: TopicPartition) -> int:
        """The log's end."""
        return (await self.log.end_offsets([place]))[place]

    async def between(self, place: TopicPartition, from_ms: int, until_ms: int | None) -> tuple[int, int]:
        """The offsets of a stretch of broker time: from_ms <= time < until_ms, None: up to the log's end."""
        start = await self.log.offset_for_time(place, max(0, from_ms))
        end = await (self.end(place) if until_ms is None else self.log.offset_for_time(place, max(0, until_ms)))
        return start, max(start, end)

    async def last(self, place: TopicPartition) -> Record | None:
        """The newest record of a partition, None where nothing is kept."""
        end = await self.end(place)
        records = await self.log.read(place, max(await self.beginning(place), end - _LAST), end)
        return records[-1] if records else None

    async def records(
        self, place: TopicPartition, start: int, end: int, *, containing: bytes = b""
    ) -> AsyncIterator[Record]:
        """The records with start <= offset < end whose value contains some bytes, in order."""
        told = start
        async for record in read_on(self.log, place, start, end):
            if record.offset - told >= _TELL_EVERY:
                self.progress.advance(record.offset - told)
                told = record.offset
            if not containing or (record.value is not None and containing in record.value):
                yield record
        self.progress.advance(end - told)


async def open_past(log: Log, topics: Topics, kinds: Collection[TopicKind], progress: Progress | None = None) -> Past:
    """The topics that a command needs.

    Raises:
        MissingTopicsError: when one does not exist.
        LogUnavailableError: when the log does not answer.
    """
    names = [topics.name(kind) for kind in kinds]
    counts = await log.partition_counts(names)
    missing = sorted(set(names) - counts.keys())
    if missing:
        raise MissingTopicsError(f"{', '.join(missing)}: no such topic; is the prefix right? `pokdeng topics check`")
    return Past(log, topics, counts, progress)
