"""Many partitions read as one log in the order of time, within a bounded buffer.

Slices instead of single records: as far as every partition has been read, all their records up to that time, topic by
topic. Times of one partition that go backwards count as the latest before them.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping, Sequence

    from pokdeng.history.reading import Past
    from pokdeng.stream.port import Record, TopicPartition

BUFFER_RECORDS: Final = 120_000
"""About so many records are held at once, over all partitions."""
_LEAST: Final = 200
_MOST: Final = 20_000


class _Source:
    """One partition."""

    __slots__ = ("at", "buffer", "end", "partition", "times")

    def __init__(self, partition: TopicPartition, start: int, end: int) -> None:
        self.partition = partition
        self.at = start
        self.end = end
        self.buffer: list[Record] = []
        self.times: list[int] = []
        """The latest time up to each record of the buffer: rising."""

    @property
    def is_exhausted(self) -> bool:
        return self.at >= self.end

    async def fill(self, past: Past, limit: int) -> None:
        while not self.buffer and not self.is_exhausted:
            until = min(self.end, self.at + limit)
            self.buffer = await past.log.read(self.partition, self.at, until)
            past.progress.advance(until - self.at)
            self.at = until
        latest = 0
        self.times = [latest := max(latest, record.timestamp) for record in self.buffer]

    def take(self, until_ms: int) -> list[Record]:
        """The records up to a time; they leave the buffer."""
        if not self.times or self.times[0] > until_ms:
            return []
        if self.times[-1] <= until_ms:
            taken, self.buffer, self.times = self.buffer, [], []
            return taken
        count = next(place for place, at_ms in enumerate(self.times) if at_ms > until_ms)
        taken, self.buffer, self.times = self.buffer[:count], self.buffer[count:], self.times[count:]
        return taken


async def sweep(
    past: Past,
    topics: Sequence[str],
    spans: Mapping[TopicPartition, tuple[int, int]],
    *,
    buffer_records: int = BUFFER_RECORDS,
) -> AsyncIterator[tuple[int, list[Sequence[Record]]]]:
    """Slices of all partitions: the time they reach to, and the records by topic, in the order given, and partition."""
    order = {name: place for place, name in enumerate(topics)}
    sources = [_Source(partition, *span) for partition, span in spans.items()]
    sources.sort(key=lambda source: (order[source.partition.topic], source.partition.partition))
    limit = min(_MOST, max(_LEAST, buffer_records // max(1, len(sources))))
    while sources:
        await asyncio.gather(*(source.fill(past, limit) for source in sources if not source.buffer))
        sources = [source for source in sources if source.buffer]
        reach = [source.times[-1] for source in sources if not source.is_exhausted]
        until_ms = min(reach or [source.times[-1] for source in sources], default=None)
        if until_ms is None:
            return
        if not reach:
            until_ms = max(source.times[-1] for source in sources)
        yield until_ms, [records for source in sources if (records := source.take(until_ms))]
