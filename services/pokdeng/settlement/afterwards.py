"""What came for rounds after their end, told again by the log: for a ledger that is restored.

A correction or cancellation delivered again must be known, whatever has happened since, and a later correction must be
judged by the shoe as it is. What the worker noted of that (`aftermath.py`) is made anew from the `rounds` records, and
from the corrections and cancellations in `table-events`: which of them counted is told by the revisions that they
caused. What only repeated what was known by another event id counts if it names the card that lay there then.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from pokdeng.events.ids import RoundId, TableId
from pokdeng.events.inputs import CardCorrected, RoundCancelled
from pokdeng.rounds import Mark, Shoe, new_shoe, place_of
from pokdeng.rules import NO_COPIES, with_card
from pokdeng.settlement.anchors import NOBODY
from pokdeng.settlement.keys import KeyCheck
from pokdeng.settlement.late import late_event
from pokdeng.settlement.memory import change_note, counts_note, late_note
from pokdeng.stream.port import TopicPartition
from pokdeng.stream.reading import read_on
from pokdeng.wire import MalformedRecordError, decode_table_event

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from pokdeng.ledger.values import Note
    from pokdeng.rules import Card
    from pokdeng.settlement.finished import Finished, ShoeNote, TableNote
    from pokdeng.stream.port import Log, Record
    from pokdeng.wire import Topics

Key = tuple[str, str]
_TYPES: Final = (CardCorrected.event_type.encode(), RoundCancelled.event_type.encode())


class Asked(NamedTuple):
    """A correction or cancellation in the log, and whether the worker was done with it when it committed last."""

    mark: Mark
    event: CardCorrected | RoundCancelled
    is_committed: bool


async def read_asked(log: Log, topics: Topics, *, since_ms: int) -> dict[Key, list[Asked]]:
    """The corrections and cancellations in `table-events` since a broker time, by table and round."""
    count = (await log.partition_counts([topics.table_events])).get(topics.table_events, 0)
    places = [TopicPartition(topics.table_events, number) for number in range(count)]
    committed = await log.committed(places)
    ends = await log.end_offsets(places)
    asked: dict[Key, list[Asked]] = {}
    for place in places:
        keys = KeyCheck(count)
        start = await log.offset_for_time(place, max(0, since_ms))
        async for record in read_on(log, place, start, ends[place]):
            event = _asked(record, keys)
            if event is not None:
                mark = Mark(record.offset, record.timestamp)
                one = Asked(mark, event, record.offset < (committed[place] or 0))
                asked.setdefault((event.table_id, event.round_id), []).append(one)
    return asked


def _asked(record: Record, keys: KeyCheck) -> CardCorrected | RoundCancelled | None:
    """Such an event; None of any other, most of which are not even decoded (text may hide behind a backslash)."""
    value = record.value
    if value is None or not (any(name in value for name in _TYPES) or b"\\" in value):
        return None
    try:
        event = decode_table_event(value, record.key)
        keys.check(record, event.table_id)
    except MalformedRecordError:
        return None
    return event if isinstance(event, CardCorrected | RoundCancelled) else None


class _Ended:
    """How a round was said, revision by revision, and how long it is remembered."""

    __slots__ = ("revisions", "ttl_ms")

    def __init__(self) -> None:
        self.revisions: dict[int, Finished] = {}
        self.ttl_ms = 0

    def before(self, offset: int) -> Finished | None:
        """As it stood before the event at this offset, the first time at least; None where that is not known."""
        known = [one for one in self.revisions.values() if one.last_event < offset or one.revision == 1]
        return max(known, key=lambda one: one.revision, default=None)

    @property
    def newest(self) -> Finished:
        """As it was said last."""
        return self.revisions[max(self.revisions)]

    def is_cause(self, mark: Mark) -> bool:
        """Whether the event there gave it a revision after the first."""
        return any(one.revision > 1 and one.last_event == mark.offset for one in self.revisions.values())


class _Shoe(NamedTuple):
    """The counts of a shoe when its rounds told them last."""

    first_event: int
    """Of the rounds that are known of it."""
    as_of: int
    """The event after which they were so; -1: never told."""
    counts: ShoeNote
    ttl_ms: int


class Afterwards:
    """Told of each finished round that is still remembered, in any order and any number of times."""

    def __init__(self, asked: Mapping[Key, list[Asked]]) -> None:
        """`asked`: what may have come for them after their end."""
        self._asked = asked
        self._ended: dict[Key, _Ended] = {}
        self._shoes: dict[Key, _Shoe] = {}

    def ended(self, key: Key, finished: Finished, ttl_ms: int) -> None:
        """A revision of a round was said."""
        if key in self._asked:
            ended = self._ended.setdefault(key, _Ended())
            ended.revisions[finished.revision] = finished
            if max(ended.revisions) == finished.revision:
                ended.ttl_ms = ttl_ms
        if finished.revision == 1:
            self._tell_shoe(key[0], finished, ttl_ms)

    def _tell_shoe(self, table_id: str, finished: Finished, ttl_ms: int) -> None:
        """What the first record of a round tells of its shoe; later ones may count a correction that is not said yet.

        A shoe that is not in use has all its rounds said: a table's snapshot knows the next one only then.
        """
        shoe = finished.shoe.shoe()
        as_of = finished.last_event if shoe.gone > _as_begun(shoe).gone else -1  # told as it began: not its counts
        told = _Shoe(finished.first_event, as_of, finished.shoe, ttl_ms)
        known = self._shoes.setdefault((table_id, shoe.shoe_id), told)
        self._shoes[table_id, shoe.shoe_id] = max(known, told, key=lambda one: one.as_of)._replace(
            first_event=min(known.first_event, told.first_event), ttl_ms=max(known.ttl_ms, told.ttl_ms)
        )

    def notes(self, tables: Mapping[str, TableNote]) -> Iterator[Note]:
        """All that is to be noted; `tables` are the newest snapshots."""
        for (table_id, shoe_id), shoe in self._shoes.items():
            table = tables.get(table_id)
            if table is None or shoe.as_of < 0 or shoe.first_event > table.as_of or _is_in_use(shoe_id, table):
                continue  # in use, or begun since: its counts are kept when the next one is begun
            yield counts_note(NOBODY, TableId(table_id), shoe.counts.shoe(), shoe.as_of, shoe.ttl_ms)
        for key, ended in self._ended.items():
            yield from self._of_round(key, ended)

    def _of_round(self, key: Key, ended: _Ended) -> Iterator[Note]:
        table_id, round_id = TableId(key[0]), RoundId(key[1])
        known: set[tuple[str, str]] = set()
        for mark, event, is_committed in self._asked[key]:
            before, name = ended.before(mark.offset), (event.event_type, event.event_id)
            if before is None or mark.offset <= before.settled_event or name in known:
                continue
            lay = _lay(before, event)
            is_done = is_committed or mark.offset <= ended.newest.last_event
            if ended.is_cause(mark):
                late = late_event(mark, event, lay)
                if lay is not None and isinstance(event, CardCorrected):
                    yield _change(table_id, before.shoe.shoe(), lay, event.card, mark, ended.ttl_ms)
            elif is_done and _repeats(event, before, lay):
                late = late_event(mark, event)
            else:
                continue  # it was refused, and is judged anew each time; or it is not dealt with yet
            known.add(name)
            yield late_note(NOBODY, table_id, round_id, late, event, ended.ttl_ms)


def _is_in_use(shoe_id: str, table: TableNote) -> bool:
    return any(shoe.shoe_id == shoe_id for shoe in table.shoes)


def _as_begun(shoe: Shoe) -> Shoe:
    return new_shoe(shoe.shoe_id, shoe.decks, shoe.burn_card)


def _lay(before: Finished, event: CardCorrected | RoundCancelled) -> Card | None:
    """The card at the place that is corrected; None of a cancelled round."""
    places = before.places
    if places is None or not isinstance(event, CardCorrected):
        return None
    return places[place_of(event.seat, event.position)]


def _repeats(event: CardCorrected | RoundCancelled, before: Finished, lay: Card | None) -> bool:
    if isinstance(event, RoundCancelled):
        return before.cancelled_at_ms is not None
    return lay is event.card


def _change(table_id: TableId, shoe: Shoe, lay: Card, lies: Card, mark: Mark, ttl_ms: int) -> Note:
    were, are = (shoe._replace(copies=with_card(NO_COPIES, card)) for card in (lay, lies))
    return change_note(NOBODY, table_id, were, are, mark.offset, ttl_ms)
