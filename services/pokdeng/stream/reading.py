"""Long stretches of a partition, read in bounded pieces."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from pokdeng.stream.port import Log, Record, TopicPartition

CHUNK_RECORDS: Final = 5_000
"""The most offsets that are asked for at once."""


async def read_on(
    log: Log, partition: TopicPartition, start: int, end: int, *, first: int = CHUNK_RECORDS
) -> AsyncIterator[Record]:
    """The records with start <= offset < end, in order, a piece at a time.

    `first` offsets are asked for at first, then ten times as many each time: few where one record is looked for.
    """
    size = first
    while start < end:
        until = min(start + size, end)
        for record in await log.read(partition, start, until):
            yield record
        start, size = until, min(10 * size, CHUNK_RECORDS)
