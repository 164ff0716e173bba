"""Long stretches of a partition, read in bounded pieces."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, Final, TypeVar

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Coroutine, Iterable

    from pokdeng.stream.port import Log, Record, TopicPartition

_T = TypeVar("_T")

CHUNK_RECORDS: Final = 5_000
"""The most offsets that are asked for at once."""


async def all_of(looks: Iterable[Coroutine[Any, Any, _T]]) -> list[_T]:
    """What several looks into the log give, in their order, taken side by side: most of each is waiting.

    Raises what the first that failed raised; the others are cancelled then, and have ended.
    """
    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(look) for look in looks]
    except BaseExceptionGroup as failed:
        raise failed.exceptions[0] from None
    return [task.result() for task in tasks]


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
