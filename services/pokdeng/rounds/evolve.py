"""What a table event does to a table: `evolve(table, event, mark)` gives the next table and a verdict on the event.

Pure and total: every event of the contract ends as applied, duplicate or refused. Source: the contract, "Rounds" and
"Duplicates and conflicts". Remembered rounds and shoes that are not in the table must be put there by the caller first.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias, assert_never

from pokdeng.events.ids import RoundId
from pokdeng.events.inputs import (
    BettingClosed,
    CardCorrected,
    CardDealt,
    CardEvent,
    CutCardDrawn,
    RoundCancelled,
    RoundOpened,
    RoundPaused,
    RoundResumed,
    ShoeStarted,
    TableEvent,
)
from pokdeng.events.reasons import DeadLetterReason, HoldReason
from pokdeng.rounds.state import Cancelled, Completed, Mark, Place, Round, Shoe, Table, new_shoe, place_of
from pokdeng.rules import COPIES_PER_FACE, SHOE_CARDS, Card, copies_of, with_card, without_card


@dataclass(frozen=True, slots=True)
class Applied:
    """The event counts. `held` names a round that became held by it, and why; `over` one that it ended."""

    held: tuple[RoundId, HoldReason] | None = None
    over: RoundId | None = None


@dataclass(frozen=True, slots=True)
class Duplicate:
    """The event says what is known already: counted, nothing changes."""


@dataclass(frozen=True, slots=True)
class Refused:
    """The event cannot be used: a dead letter. It may have made its round held all the same."""

    reason: DeadLetterReason
    detail: str
    held: tuple[RoundId, HoldReason] | None = None


Verdict: TypeAlias = Applied | Duplicate | Refused
RoundEvent: TypeAlias = (
    BettingClosed | CardDealt | CardCorrected | CutCardDrawn | RoundPaused | RoundResumed | RoundCancelled
)

_APPLIED = Applied()
_DUPLICATE = Duplicate()


def evolve(table: Table, event: TableEvent, mark: Mark) -> tuple[Table, Verdict]:
    """The table after `event`, which lies at `mark`, and what became of the event."""
    if isinstance(event, CardDealt):
        return _of_round(table, event, mark)
    if isinstance(event, ShoeStarted):
        return _shoe_started(table, event)
    if isinstance(event, RoundOpened):
        return _round_opened(table, event, mark)
    return _of_round(table, event, mark)


def _shoe_started(table: Table, event: ShoeStarted) -> tuple[Table, Verdict]:
    known = table.shoes.get(event.shoe_id)
    if known is not None:
        if (known.decks, known.burn_card) == (event.decks, event.burn_card):
            return table, _DUPLICATE
        return table, _refuse(DeadLetterReason.ID_CONFLICT, f"shoe {event.shoe_id} was started with other content")
    shoe = new_shoe(event.shoe_id, event.decks, event.burn_card)
    needed = {round_.shoe_id for round_ in table.rounds.values()}
    if table.newest_shoe is not None:
        needed.add(table.newest_shoe)
    shoes = {shoe_id: kept for shoe_id, kept in table.shoes.items() if shoe_id in needed}
    return table._replace(shoes={**shoes, event.shoe_id: shoe}, newest_shoe=event.shoe_id), _APPLIED


def _round_opened(table: Table, event: RoundOpened, mark: Mark) -> tuple[Table, Verdict]:
    known = table.rounds.get(event.round_id)
    if known is not None:
        if known.shoe_id == event.shoe_id:
            return table, _DUPLICATE
        return table, _refuse(
            DeadLetterReason.ID_CONFLICT, f"round {event.round_id} was opened in shoe {known.shoe_id}"
        )
    shoe = table.shoes.get(event.shoe_id)
    if shoe is None:
        return table, _refuse(DeadLetterReason.UNKNOWN_SHOE, f"shoe {event.shoe_id} was never started")
    if event.shoe_id != table.newest_shoe:
        return table, _refuse(
            DeadLetterReason.ROUND_OUT_OF_ORDER, f"shoe {event.shoe_id} is not the newest, {table.newest_shoe} is"
        )
    if shoe.last_round is not None:
        return table, _refuse(
            DeadLetterReason.ROUND_OUT_OF_ORDER, f"round {shoe.last_round} was the last of shoe {event.shoe_id}"
        )
    if shoe.gone >= SHOE_CARDS:
        return table, _refuse(DeadLetterReason.SHOE_EXHAUSTED, f"all {SHOE_CARDS} cards of the shoe are gone")
    opened = Round(event.round_id, event.shoe_id, mark, mark.offset, mark.offset)
    rounds = dict(table.rounds)
    held: tuple[RoundId, HoldReason] | None = None
    previous = rounds.get(table.newest_round) if table.newest_round is not None else None
    if previous is not None and not previous.is_over and not previous.is_incomplete:
        rounds[previous.round_id] = previous._replace(is_incomplete=True)
        if not previous.is_held:
            held = (previous.round_id, HoldReason.INCOMPLETE)
    rounds[event.round_id] = opened
    shoes = {**table.shoes, shoe.shoe_id: shoe._replace(gone=shoe.gone + 1)}
    after = Table(table.table_id, shoes, table.newest_shoe, event.round_id, rounds)
    return after, _APPLIED if held is None else Applied(held=held)


def _of_round(table: Table, event: RoundEvent, mark: Mark) -> tuple[Table, Verdict]:
    round_ = table.rounds.get(event.round_id)
    if round_ is None:
        return table, _refuse(DeadLetterReason.UNKNOWN_ROUND, f"round {event.round_id} was not opened")
    name = f"{event.event_type}\n{event.event_id}"
    content = _content(event)
    seen = round_.seen.get(name)
    if seen is not None:
        if seen == content:
            return table, _DUPLICATE
        return table, _refuse(DeadLetterReason.ID_CONFLICT, f"event {event.event_id} came with other content")
    shoe = table.shoes[round_.shoe_id]
    if isinstance(event, CutCardDrawn) and event.shoe_id != round_.shoe_id:
        return table, _refuse(
            DeadLetterReason.UNKNOWN_SHOE, f"shoe {event.shoe_id} is not that of the round, {round_.shoe_id} is"
        )
    next_round, next_shoe = round_, shoe
    verdict: Verdict
    if round_.cancelled is not None:
        if not isinstance(event, RoundCancelled):
            return table, _refuse(DeadLetterReason.ROUND_OUT_OF_ORDER, f"round {event.round_id} was cancelled")
        verdict = _DUPLICATE
    elif round_.completed is not None:
        verdict = _after_settlement(round_, shoe, event)
    else:
        next_round, next_shoe, verdict = _change(round_, shoe, event, mark)
    if not isinstance(verdict, Refused):
        next_round = _seen(next_round, name, content, mark)
    if next_round is round_:
        return table, verdict
    if isinstance(verdict, Applied) and (over := _ending(next_round, event, mark)) is not None:
        next_round, verdict = over, Applied(over=round_.round_id)
    rounds = {**table.rounds, round_.round_id: next_round}
    shoes = table.shoes if next_shoe is shoe else {**table.shoes, shoe.shoe_id: next_shoe}
    return Table(table.table_id, shoes, table.newest_shoe, table.newest_round, rounds), verdict


def _change(round_: Round, shoe: Shoe, event: RoundEvent, mark: Mark) -> tuple[Round, Shoe, Verdict]:
    """What an event does to a round that is neither complete nor cancelled."""
    match event:
        case CardDealt():
            return _dealt(round_, shoe, event)
        case CardCorrected():
            return _corrected(round_, shoe, event)
        case BettingClosed():
            if round_.closed_at_ms is not None:
                return round_, shoe, _DUPLICATE
            return round_._replace(closed_at_ms=mark.at_ms), shoe, _APPLIED
        case CutCardDrawn():
            if shoe.last_round is None:
                return round_, shoe._replace(last_round=round_.round_id), _APPLIED
            if shoe.last_round == round_.round_id:
                return round_, shoe, _DUPLICATE
            return round_, shoe, _refuse(
                DeadLetterReason.ROUND_OUT_OF_ORDER, f"the cut card of shoe {shoe.shoe_id} came in {shoe.last_round}"
            )
        case RoundPaused():
            return (round_, shoe, _DUPLICATE) if round_.is_paused else (round_._replace(is_paused=True), shoe, _APPLIED)
        case RoundResumed():
            return (round_._replace(is_paused=False), shoe, _APPLIED) if round_.is_paused else (round_, shoe, _DUPLICATE)
        case RoundCancelled():
            return round_._replace(cancelled=Cancelled(mark, event.occurred_at, event.reason)), shoe, _APPLIED
        case _:
            assert_never(event)


def _dealt(round_: Round, shoe: Shoe, event: CardDealt) -> tuple[Round, Shoe, Verdict]:
    place = place_of(event.seat, event.position)
    lies = round_.places[place]
    if lies is event.card:
        return round_, shoe, _DUPLICATE
    if lies is not None or place in round_.disputes:
        return _dispute(round_, shoe, place, HoldReason.SEAT_CONFLICT, f"{_named(event)} is taken or in dispute")
    impossible = _impossible(shoe, event.card, added=1)
    if impossible is not None:
        return _dispute(round_, shoe, place, impossible, f"the card for {_named(event)} cannot be in this shoe")
    places = (*round_.places[:place], event.card, *round_.places[place + 1 :])
    return _with_places(round_, places), _counted(shoe, event.card), _APPLIED


def _corrected(round_: Round, shoe: Shoe, event: CardCorrected) -> tuple[Round, Shoe, Verdict]:
    place = place_of(event.seat, event.position)
    lies = round_.places[place]
    if lies is event.card:
        if place not in round_.disputes:
            return round_, shoe, _DUPLICATE
        return _without_dispute(round_, place), shoe, _APPLIED
    cleared = shoe if lies is None else shoe._replace(copies=without_card(shoe.copies, lies), gone=shoe.gone - 1)
    impossible = _impossible(cleared, event.card, added=1)
    if impossible is not None:
        return _dispute(round_, shoe, place, impossible, f"the card for {_named(event)} cannot be in this shoe")
    places = (*round_.places[:place], event.card, *round_.places[place + 1 :])
    return _without_dispute(_with_places(round_, places), place), _counted(cleared, event.card), _APPLIED


def _after_settlement(round_: Round, shoe: Shoe, event: RoundEvent) -> Verdict:
    """What becomes of an event that lies behind the record that completed its round. The settlement stands."""
    match event:
        case BettingClosed():
            return _DUPLICATE
        case CardDealt():
            if round_.places[place_of(event.seat, event.position)] is event.card:
                return _DUPLICATE
            return _refuse(DeadLetterReason.SEAT_CONFLICT, f"{_named(event)} is taken; the round is settled")
        case CardCorrected():
            lies = round_.places[place_of(event.seat, event.position)]
            if lies is event.card:
                return _DUPLICATE
            if copies_of(shoe.copies, event.card.face) >= COPIES_PER_FACE:
                return _refuse(DeadLetterReason.NINTH_COPY, f"the card for {_named(event)} cannot be in this shoe")
            return _refuse(DeadLetterReason.CORRECTION_TOO_LATE, "the round is settled")
        case RoundCancelled():
            return _refuse(DeadLetterReason.CORRECTION_TOO_LATE, "the round is settled")
        case RoundPaused() | RoundResumed() | CutCardDrawn():
            return _refuse(DeadLetterReason.ROUND_OUT_OF_ORDER, f"round {round_.round_id} is settled")
        case _:
            assert_never(event)


def _ending(round_: Round, event: RoundEvent, mark: Mark) -> Round | None:
    """The round as it ended by this event, None if it goes on. Only `incomplete` among the holds ends thereby."""
    if round_.cancelled is not None:
        return round_
    if round_.completed is not None or round_.closed_at_ms is None or round_.is_paused or round_.disputes:
        return None
    if None in round_.places:
        return None
    return round_._replace(completed=Completed(mark, event.occurred_at), is_incomplete=False)


def _dispute(
    round_: Round, shoe: Shoe, place: Place, why: HoldReason, detail: str
) -> tuple[Round, Shoe, Verdict]:
    held = None if round_.is_held else (round_.round_id, why)
    if place not in round_.disputes:
        round_ = round_._replace(disputes={**round_.disputes, place: why})
    return round_, shoe, Refused(DeadLetterReason(why.value), detail, held)


def _impossible(shoe: Shoe, card: Card, *, added: int) -> HoldReason | None:
    if copies_of(shoe.copies, card.face) >= COPIES_PER_FACE:
        return HoldReason.NINTH_COPY
    if shoe.gone + added > SHOE_CARDS:
        return HoldReason.SHOE_EXHAUSTED
    return None


def _counted(shoe: Shoe, card: Card) -> Shoe:
    return Shoe(
        shoe.shoe_id, shoe.decks, shoe.burn_card, shoe.gone + 1, with_card(shoe.copies, card), shoe.last_round
    )


def _with_places(round_: Round, places: tuple[Card | None, ...]) -> Round:
    return round_._replace(places=places)


def _without_dispute(round_: Round, place: Place) -> Round:
    return round_._replace(disputes={other: why for other, why in round_.disputes.items() if other != place})


def _seen(round_: Round, name: str, content: object, mark: Mark) -> Round:
    return round_._replace(seen={**round_.seen, name: content}, last=max(round_.last, mark.offset))


def _content(event: RoundEvent) -> tuple[object, ...]:
    """What an event says, but for its names: what a repeat must say too."""
    match event:
        case CardDealt():
            return (event.seat, event.position, event.card)
        case CardCorrected():
            return (event.seat, event.position, event.card, event.reason)
        case CutCardDrawn():
            return (event.shoe_id,)
        case RoundPaused() | RoundResumed() | RoundCancelled():
            return (event.reason,)
        case BettingClosed():
            return ()
        case _:
            assert_never(event)


def _named(event: CardEvent) -> str:
    return f"{event.seat} position {event.position}"


def _refuse(reason: DeadLetterReason, detail: str) -> Refused:
    return Refused(reason, detail)
