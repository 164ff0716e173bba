"""What a table event does to a round that is going on: neither complete nor cancelled. Pure.

Each change gives the next round, the next shoe and a verdict. An event that counts or repeats is remembered by its
round; one that is refused is not, and each delivery of it is judged anew. Source: the contract, "Rounds".
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias, assert_never

from pokdeng.events.inputs import (
    BettingClosed,
    CardCorrected,
    CardDealt,
    CutCardDrawn,
    RoundCancelled,
    RoundPaused,
    RoundResumed,
)
from pokdeng.events.reasons import DeadLetterReason, HoldReason
from pokdeng.rounds.state import Cancelled, Completed, Round, Shoe, place_of
from pokdeng.rounds.verdicts import APPLIED, DUPLICATE, Refused, Verdict
from pokdeng.rules import SHOE_CARDS, CopiesError, with_card, without_card

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pokdeng.events.inputs import CardEvent
    from pokdeng.rounds.state import Mark, Place, Places, RoundEvent

Change: TypeAlias = tuple[Round, Shoe, Verdict]


def change(round_: Round, shoe: Shoe, event: RoundEvent, mark: Mark) -> Change:
    """What an event does to its round, and to the shoe of it."""
    changed: Change
    match event:
        case CardDealt():
            changed = _dealt(round_, shoe, event, mark)
        case CardCorrected():
            changed = _corrected(round_, shoe, event, mark)
        case BettingClosed():
            is_first = round_.closed_at_ms is None
            closed = heard(round_, event, mark, closed_at_ms=mark.at_ms if is_first else None)
            changed = closed, shoe, APPLIED if is_first else DUPLICATE
        case CutCardDrawn():
            changed = _cut(round_, shoe, event, mark)
        case RoundPaused() | RoundResumed():
            is_paused = isinstance(event, RoundPaused)
            turned = heard(round_, event, mark, is_paused=is_paused)
            changed = turned, shoe, DUPLICATE if is_paused is round_.is_paused else APPLIED
        case RoundCancelled():
            cancelled = Cancelled(mark, event.occurred_at, event.reason)
            changed = heard(round_, event, mark, cancelled=cancelled), shoe, APPLIED
        case _:
            assert_never(event)
    return changed


def heard(
    round_: Round,
    event: RoundEvent,
    mark: Mark,
    *,
    places: Places | None = None,
    disputes: Mapping[Place, HoldReason] | None = None,
    closed_at_ms: int | None = None,
    is_paused: bool | None = None,
    cancelled: Cancelled | None = None,
) -> Round:
    """The round that remembers the event, with what it changed (None: nothing); complete if nothing is missing now.

    The one place where a round is complete, and the one construction of the next round: it runs for each card.
    """
    (  # unpacked, for reading twelve fields by name costs as much as making the next round
        round_id,
        shoe_id,
        opened,
        first,
        _,
        was_closed_at_ms,
        was_paused,
        is_incomplete,
        places_before,
        disputes_before,
        was_cancelled,
        completed,
        seen,
    ) = round_
    if places is None:
        places = places_before
    if disputes is None:
        disputes = disputes_before
    if closed_at_ms is None:
        closed_at_ms = was_closed_at_ms
    if is_paused is None:
        is_paused = was_paused
    if cancelled is None:
        cancelled = was_cancelled
    is_going_on = completed is None and cancelled is None
    if is_going_on and closed_at_ms is not None and not is_paused and not disputes and all(places):
        completed, is_incomplete = Completed(mark, event.occurred_at), False
    return Round(
        round_id,
        shoe_id,
        opened,
        first,
        mark.offset,
        closed_at_ms,
        is_paused,
        is_incomplete,
        places,
        disputes,
        cancelled,
        completed,
        {**seen, (event.event_type, event.event_id): event},
    )


def refusal_of_shoe(round_: Round, event: CutCardDrawn) -> Refused | None:
    """Why a cut card cannot be that of the round's shoe, None where it is."""
    if event.shoe_id == round_.shoe_id:
        return None
    return Refused(
        DeadLetterReason.UNKNOWN_SHOE, f"round {round_.round_id} is of shoe {round_.shoe_id}, not {event.shoe_id}"
    )


def named(event: CardEvent) -> str:
    """Where an event's card lies, in words; not which."""
    return f"{event.seat} position {event.position}"


def _dealt(round_: Round, shoe: Shoe, event: CardDealt, mark: Mark) -> Change:
    place = place_of(event.seat, event.position)
    lies = round_.places[place]
    if lies is None and place not in round_.disputes:
        return _laid(round_, shoe, event, mark, place)
    if lies is event.card:
        return heard(round_, event, mark), shoe, DUPLICATE
    detail = f"{named(event)} is in dispute" if lies is None else f"{named(event)} has another card"
    return _disputed(round_, shoe, place, mark, why=HoldReason.SEAT_CONFLICT, detail=detail)


def _corrected(round_: Round, shoe: Shoe, event: CardCorrected, mark: Mark) -> Change:
    place = place_of(event.seat, event.position)
    if round_.places[place] is not event.card:
        return _laid(round_, shoe, event, mark, place, disputes=_without(round_.disputes, place))
    if place not in round_.disputes:
        return heard(round_, event, mark), shoe, DUPLICATE
    return heard(round_, event, mark, disputes=_without(round_.disputes, place)), shoe, APPLIED


def _laid(
    round_: Round,
    shoe: Shoe,
    event: CardEvent,
    mark: Mark,
    place: Place,
    *,
    disputes: Mapping[Place, HoldReason] | None = None,
) -> Change:
    """The event's card at its place, instead of what lies there, if its shoe can have that card.

    `disputes` are those that remain then (None: as they are).
    """
    lies = round_.places[place]
    cleared, gone = (shoe.copies, shoe.gone + 1) if lies is None else (without_card(shoe.copies, lies), shoe.gone)
    try:
        copies = with_card(cleared, event.card)
    except CopiesError:
        detail = f"the card for {named(event)} would be a ninth copy in shoe {shoe.shoe_id}"
        return _disputed(round_, shoe, place, mark, why=HoldReason.NINTH_COPY, detail=detail)
    if gone > SHOE_CARDS:
        detail = f"the card for {named(event)} would be one more than the {SHOE_CARDS} of shoe {shoe.shoe_id}"
        return _disputed(round_, shoe, place, mark, why=HoldReason.SHOE_EXHAUSTED, detail=detail)
    places = list(round_.places)
    places[place] = event.card
    return (
        heard(round_, event, mark, places=tuple(places), disputes=disputes),
        Shoe(shoe.shoe_id, shoe.decks, shoe.burn_card, gone, copies, shoe.last_round),
        APPLIED,
    )


def _disputed(round_: Round, shoe: Shoe, place: Place, mark: Mark, *, why: HoldReason, detail: str) -> Change:
    """An impossible card: refused, and its place is in dispute until it is corrected; the first cause stays."""
    refused = Refused(DeadLetterReason(why.value), detail, None if round_.is_held else (round_.round_id, why))
    if place not in round_.disputes:
        round_ = round_._replace(disputes={**round_.disputes, place: why}, last=mark.offset)
    return round_, shoe, refused


def _without(disputes: Mapping[Place, HoldReason], place: Place) -> Mapping[Place, HoldReason]:
    return {other: why for other, why in disputes.items() if other != place}


def _cut(round_: Round, shoe: Shoe, event: CutCardDrawn, mark: Mark) -> Change:
    refused = refusal_of_shoe(round_, event)
    if refused is not None:
        return round_, shoe, refused
    if shoe.last_round is None:
        return heard(round_, event, mark), shoe._replace(last_round=round_.round_id), APPLIED
    if shoe.last_round == round_.round_id:
        return heard(round_, event, mark), shoe, DUPLICATE
    detail = f"the cut card of shoe {shoe.shoe_id} came in round {shoe.last_round}"
    return round_, shoe, Refused(DeadLetterReason.ROUND_OUT_OF_ORDER, detail)
