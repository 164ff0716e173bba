"""What the last look at the books found, said on the `checkpoints` topic under one key: for the workers' metrics.

A checkpoint is not written where the books do not balance; that they do not is said all the same.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import msgspec

from pokdeng.restore.stored import places_of
from pokdeng.stream.partitioner import partition_for
from pokdeng.stream.port import Message
from pokdeng.stream.reading import read_on

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pokdeng.stream.port import Log
    from pokdeng.wire import Topics

BOOKS: Final = b"books"
_A_FEW: Final = 20
"""Chunks of checkpoints lie between, and are large."""


class BooksSaid(msgspec.Struct, frozen=True):
    """By how much each currency's books were out of balance, minor units; 0 is right."""

    at_ms: int
    differences: dict[str, int]
    checkpoint_ms: int = 0
    """When the newest complete checkpoint was made; 0 where there is none."""


async def say_books(
    log: Log, topics: Topics, at_ms: int, differences: Mapping[str, int], *, checkpoint_ms: int
) -> None:
    """Say what a look at the books found. Raises LogUnavailableError."""
    places = await places_of(log, topics)
    said = msgspec.json.encode(BooksSaid(at_ms, dict(differences), checkpoint_ms))
    await log.publish({places[partition_for(BOOKS, len(places))]: [Message(BOOKS, said, [])]})


class BooksReader:
    """Reads what was said of the books; each time only what is new."""

    def __init__(self, log: Log, topics: Topics) -> None:
        """Nothing is read yet."""
        self._log = log
        self._topics = topics
        self._next = 0
        self._newest: BooksSaid | None = None

    async def newest(self) -> BooksSaid | None:
        """The newest that was said, None where nothing ever was. Raises LogUnavailableError."""
        places = await places_of(self._log, self._topics)
        if not places:
            return None
        place = places[partition_for(BOOKS, len(places))]
        start = max(self._next, (await self._log.beginning_offsets([place]))[place])
        end = (await self._log.end_offsets([place]))[place]
        while start < end:
            until = min(start + _A_FEW, end)
            async for record in read_on(self._log, place, start, until):
                if record.key == BOOKS and record.value is not None:
                    self._newest = msgspec.json.decode(record.value, type=BooksSaid)
            start = self._next = until
        return self._newest
