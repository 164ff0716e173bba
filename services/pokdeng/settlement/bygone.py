"""Rounds and shoes that left memory: what becomes of a table event about them, and a finished round as it was.

A finished round is folded again from the log, between the offsets of its note; what came for it later is on its page
(`late.py`). So nothing but its own few minutes of the log is read, however long ago it was; only where the ledger was
lost since then, the log is read up to that point.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from pokdeng.events.ids import Reason
from pokdeng.events.inputs import BettingClosed, CardCorrected, CardDealt, RoundCancelled, RoundOpened, ShoeStarted
from pokdeng.events.reasons import DeadLetterReason
from pokdeng.rounds import Cancelled, Completed, Duplicate, Mark, Refused, Round, Shoe, Table, evolve, place_of
from pokdeng.rules import NO_COPIES, Card, with_card, without_card
from pokdeng.settlement.full_shoe import without_room

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pokdeng.events.inputs import TableEvent
    from pokdeng.rounds import RoundEvent, Verdict
    from pokdeng.settlement.finished import Finished
    from pokdeng.settlement.late import LateEvent
    from pokdeng.settlement.memory import Recalled, RoundMemory
    from pokdeng.stream.port import Record


def revive(
    finished: Finished,
    events: Iterable[tuple[Record, TableEvent]],
    late: Iterable[LateEvent],
) -> Round | None:
    """A finished round as its latest revision left it; None if `events` do not open it.

    `late` came for it after its end; beside them are those events that brought a card which its shoe could not have:
    the shoe is not as it was then. Where that is not known completely `events` of a settled round go on beyond its end.
    Which cards stood in the end is said by `finished`.
    """
    late = list(late)
    since: list[tuple[Record, TableEvent]] = []
    impossible = {one.offset: one.impossible for one in late if one.impossible is not None}
    table: Table | None = None
    for record, event in events:
        if record.offset > finished.settled_event:
            since.append((record, event))
            continue
        if isinstance(event, RoundOpened):
            shoe_id = event.shoe_id
            shoe = Shoe(shoe_id, finished.shoe.decks, Card.parse(finished.shoe.burn_card), 0, NO_COPIES)
            table = table or Table(event.table_id, {shoe_id: shoe}, shoe_id)
        if table is None:
            continue
        before, why = table, impossible.get(record.offset)
        if why is not None and isinstance(event, CardDealt | CardCorrected):
            full = without_room(next(iter(table.shoes.values())), event.card, why)
            before = table._replace(shoes={full.shoe_id: full})
        after, _ = evolve(before, event, Mark(record.offset, record.timestamp))
        table = after if why is None else after._replace(shoes=table.shoes)
    folded = None if table is None else next(iter(table.rounds.values()), None)
    if folded is None:
        return None
    if since:
        folded = _repeated_since(folded, since, late)
    return _as_it_is(folded, finished, late)


def _repeated_since(folded: Round, since: Iterable[tuple[Record, TableEvent]], late: Sequence[LateEvent]) -> Round:
    """A round that remembers the cards and closes after its end that repeated what was so then.

    `since` are all its events after its end, `late` tells which corrections counted.
    """
    noted = {one.offset for one in late}
    places, seen = list(folded.places), dict(folded.seen)
    for record, event in since:
        if record.offset in noted:
            if isinstance(event, RoundCancelled):
                break  # nothing repeats what is cancelled
            if isinstance(event, CardCorrected):
                places[place_of(event.seat, event.position)] = event.card
        elif isinstance(event, BettingClosed) or (
            isinstance(event, CardDealt) and places[place_of(event.seat, event.position)] is event.card
        ):
            seen.setdefault((event.event_type, event.event_id), event)
    return folded._replace(seen=seen)


def _as_it_is(folded: Round, finished: Finished, late: Sequence[LateEvent]) -> Round:
    round_ = heard_late(folded, late)
    if not finished.was_settled:
        return round_
    completed = Completed(Mark(finished.settled_event, finished.settled_at_ms), "")
    places = finished.places or folded.places
    round_ = round_._replace(completed=completed, disputes={}, is_incomplete=False, places=places)
    if finished.cancelled_at_ms is None:
        return round_
    cancelled = Cancelled(Mark(finished.last_event, finished.cancelled_at_ms), "", Reason("-"))
    return round_._replace(cancelled=cancelled)


def heard_late(round_: Round, late: Iterable[LateEvent]) -> Round:
    """A round that remembers what came for it after its end, the ids of it that is."""
    seen = {(one.event.event_type, one.event.event_id): one.event for one in late if one.impossible is None}
    return round_._replace(seen={**seen, **round_.seen}) if seen else round_


class Dealt(NamedTuple):
    """A round and its shoe."""

    round: Round
    shoe: Shoe


class Past(NamedTuple):
    """What became of an event about something that left memory; of a round's, as it and its shoe were and are."""

    verdict: Verdict
    before: Dealt | None = None
    after: Dealt | None = None


def of_the_past(record: Record, event: TableEvent, table: Table, memory: Recalled, window_ms: int) -> Past | None:
    """What becomes of an event about a shoe or round that left memory; None where there is none such.

    A record at or below the last event of a finished round is read again: the caller passes over it before.
    """
    if isinstance(event, ShoeStarted):
        return _of_a_past_shoe(record, event, table, memory)
    if event.round_id in table.rounds:
        return None
    finished = memory.round(table.table_id, event.round_id).finished
    if isinstance(event, RoundOpened):
        return _opened_again(record, event, table, memory, finished)
    return None if finished is None else _after_its_end(record, event, table, memory, finished, window_ms)


def _after_its_end(
    record: Record, event: RoundEvent, table: Table, memory: Recalled, finished: Finished, window_ms: int
) -> Past:
    key = (table.table_id, event.round_id)
    round_ = memory.revived.get(key)
    if round_ is None:
        return Past(Refused(DeadLetterReason.UNKNOWN_ROUND, f"round {event.round_id} is no longer in the log"))
    shoe = table.shoes.get(round_.shoe_id) or memory.old_shoe(table.table_id, round_.shoe_id, record.offset)
    shoe = shoe or finished.shoe.shoe()
    alone = Table(table.table_id, {shoe.shoe_id: shoe}, shoe.shoe_id, round_.round_id, {round_.round_id: round_})
    after, verdict = evolve(alone, event, Mark(record.offset, record.timestamp), window_ms=window_ms)
    if after is alone:
        return Past(verdict)
    revived = memory.revived[key] = after.rounds[event.round_id]
    return Past(verdict, Dealt(round_, shoe), Dealt(revived, after.shoes[shoe.shoe_id]))


def counted_again(table: Table, event: TableEvent, offset: int, page: RoundMemory) -> Table:
    """A table after a record that is read again, of a round that it holds no more: a correction changed its shoe."""
    if page.finished is None:
        return table
    shoe = table.shoes.get(page.finished.shoe.shoe().shoe_id)
    replaced = next((one.replaced for one in page.late if one.offset == offset), None)
    if shoe is None or replaced is None or not isinstance(event, CardCorrected):
        return table
    copies = with_card(without_card(shoe.copies, Card.parse(replaced)), event.card)
    return table._replace(shoes={**table.shoes, shoe.shoe_id: shoe._replace(copies=copies)})


def _of_a_past_shoe(record: Record, event: ShoeStarted, table: Table, memory: Recalled) -> Past | None:
    mark = None if event.shoe_id in table.shoes else memory.shoe(table.table_id, event.shoe_id)
    if mark is None or mark.offset >= record.offset:
        return None
    if (mark.decks, mark.burn_card) == (event.decks, str(event.burn_card)):
        return Past(Duplicate())
    return Past(Refused(DeadLetterReason.ID_CONFLICT, f"shoe {event.shoe_id} was started with other content"))


def _opened_again(
    record: Record, event: RoundOpened, table: Table, memory: Recalled, finished: Finished | None
) -> Past | None:
    if finished is not None and record.offset <= finished.first_event:
        return None  # read again: folded anew for the sake of its shoe
    if finished is not None:
        if finished.shoe_id == event.shoe_id:
            return Past(Duplicate())
        detail = f"round {event.round_id} was opened in shoe {finished.shoe_id}"
        return Past(Refused(DeadLetterReason.ID_CONFLICT, detail))
    if event.shoe_id not in table.shoes and memory.shoe(table.table_id, event.shoe_id) is not None:
        return Past(Refused(DeadLetterReason.ROUND_OUT_OF_ORDER, f"shoe {event.shoe_id} is not the newest"))
    return None
