"""Notices a source that stands still although its log has more: each one is judged alone.

A consumer may go on with some partitions and have forgotten others, and the loop turns all the same. No clock is
compared with another: what counts is that there is more to do, and that nothing has moved for so long. The two topics
of a co-partition are one source, for one of them may rightly wait long for the other.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

from pokdeng.stream.port import TopicPartition

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from pokdeng.ledger.values import Source
    from pokdeng.settlement.cashier import Cashier
    from pokdeng.settlement.desk import Desk
    from pokdeng.stream.port import Log
    from pokdeng.wire import Topics

Places: TypeAlias = "Mapping[Source, Place]"


@dataclass(frozen=True, slots=True)
class Place:
    """Where a source stands."""

    at: tuple[int, ...]
    """How far each of its partitions was delivered and is acknowledged: any change is progress."""
    has_more: bool
    """Whether records wait here, or lie in the log undelivered."""
    ends: Mapping[TopicPartition, int] = field(default_factory=dict, compare=False)
    """Where each of its partitions ends, as it was asked for that: nobody need ask again. No part of where it is."""


class Watchdog:
    """Looked at again and again with what is so now; remembers since when nothing has moved."""

    def __init__(self, after_s: float) -> None:
        """A source with more to do that has not moved for `after_s` seconds is stuck."""
        self._after_s = after_s
        self._watched: dict[Source, tuple[Place, float]] = {}

    def look(self, places: Places, now: float) -> None:
        """Take note. `now` is monotonic, in seconds; a source that is not among `places` is forgotten."""
        watched: dict[Source, tuple[Place, float]] = {}
        for source, place in places.items():
            before = self._watched.get(source)
            is_still = before is not None and before[0].at == place.at and place.has_more and before[0].has_more
            watched[source] = (place, before[1] if before is not None and is_still else now)
        self._watched = watched

    def why_stuck(self, now: float) -> list[str]:
        """One sentence for each source that stands still."""
        return [
            f"{source} has more to read, and has not moved from {list(place.at)} for {now - since:.0f} s"
            for source, (place, since) in sorted(self._watched.items())
            if place.has_more and now - since > self._after_s
        ]


async def places_of(
    log: Log, topics: Topics, desks: Iterable[Desk], cashiers: Iterable[Cashier]
) -> dict[Source, Place]:
    """Where each source stands, and whether it has more to read.

    Raises:
        LogUnavailableError: where the ends of its partitions cannot be asked.
        KeyError: where one is not owned any more.
    """
    owned: dict[Source, tuple[list[TopicPartition], list[int], int]] = {}
    for desk in desks:
        parts = [TopicPartition(topics.table_events, desk.partition), TopicPartition(topics.bets, desk.partition)]
        owned[desk.source] = (parts, [desk.next_event, desk.next_bet], desk.waiting)
    for cashier in cashiers:
        part = TopicPartition(topics.funds, cashier.partition)
        owned[cashier.source] = ([part], [cashier.next_transfer], cashier.waiting)
    delivered = {part: log.position(part) for parts, _, _ in owned.values() for part in parts}
    ends = await log.end_offsets(list(delivered))
    return {
        source: Place(
            (*(delivered[part] for part in parts), *done),
            waiting > 0 or any(ends[part] > delivered[part] for part in parts),
            {part: ends[part] for part in parts},
        )
        for source, (parts, done, waiting) in owned.items()
    }
