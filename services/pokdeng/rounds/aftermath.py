"""What becomes of an event that comes for a round that is over. Pure.

A cancellation is final. A settled round takes corrections of its cards and a cancellation within the correction window;
each gives the next revision. It is never held, paused or disputed again: what cannot be is refused, and it stands.
Source: the contract, "Rounds": "`round_cancelled` is final" and "After settlement".
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, assert_never

from pokdeng.events.inputs import (
    BettingClosed,
    CardCorrected,
    CardDealt,
    CutCardDrawn,
    RoundCancelled,
    RoundPaused,
    RoundResumed,
)
from pokdeng.events.reasons import DeadLetterReason
from pokdeng.rounds.changes import Change, heard, named, refusal_of_shoe
from pokdeng.rounds.state import Cancelled, place_of
from pokdeng.rounds.verdicts import DUPLICATE, Applied, Refused
from pokdeng.rules import CopiesError, with_card, without_card

if TYPE_CHECKING:
    from pokdeng.rounds.state import Completed, Mark, Round, RoundEvent, Shoe

CORRECTION_WINDOW_MS: Final = 24 * 3_600_000
"""How long after the record that caused revision 1 a round is corrected, by broker time, unless it is configured."""


def after_the_end(round_: Round, shoe: Shoe, event: RoundEvent, mark: Mark, window_ms: int) -> Change:
    """What an event does that lies behind the record that completed or cancelled its round; unchanged: the very same.

    `Applied` names the round as `revised`: its settlement is to be reversed and made anew, in the order of the events.
    """
    if isinstance(event, CutCardDrawn):
        refused = refusal_of_shoe(round_, event)
        if refused is not None:
            return round_, shoe, refused
    completed = round_.completed
    if round_.cancelled is None and completed is not None:
        return _after_settlement(round_, completed, shoe, event, mark, window_ms)
    if isinstance(event, RoundCancelled):
        return heard(round_, event, mark), shoe, DUPLICATE
    refused = Refused(DeadLetterReason.ROUND_OUT_OF_ORDER, f"round {round_.round_id} was cancelled")
    return round_, shoe, refused


def _after_settlement(
    round_: Round, completed: Completed, shoe: Shoe, event: RoundEvent, mark: Mark, window_ms: int
) -> Change:
    changed: Change
    match event:
        case BettingClosed():
            changed = heard(round_, event, mark), shoe, DUPLICATE
        case CardDealt():
            changed = _dealt(round_, shoe, event, mark)
        case CardCorrected():
            changed = _corrected(round_, completed, shoe, event, mark, window_ms)
        case RoundCancelled():
            refused = _too_late(round_, completed, mark, window_ms)
            if refused is None:
                cancelled = Cancelled(mark, event.occurred_at, event.reason)
                changed = heard(round_, event, mark, cancelled=cancelled), shoe, Applied(revised=round_.round_id)
            else:
                changed = round_, shoe, refused
        case RoundPaused() | RoundResumed() | CutCardDrawn():
            refused = Refused(DeadLetterReason.ROUND_OUT_OF_ORDER, f"round {round_.round_id} is settled")
            changed = round_, shoe, refused
        case _:
            assert_never(event)
    return changed


def _dealt(round_: Round, shoe: Shoe, event: CardDealt, mark: Mark) -> Change:
    if round_.places[place_of(event.seat, event.position)] is event.card:
        return heard(round_, event, mark), shoe, DUPLICATE
    detail = f"{named(event)} has another card, and the round is settled"
    return round_, shoe, Refused(DeadLetterReason.SEAT_CONFLICT, detail)


def _corrected(
    round_: Round, completed: Completed, shoe: Shoe, event: CardCorrected, mark: Mark, window_ms: int
) -> Change:
    place = place_of(event.seat, event.position)
    lies = round_.places[place]
    if lies is event.card:
        return heard(round_, event, mark), shoe, DUPLICATE
    refused = _too_late(round_, completed, mark, window_ms)
    if refused is not None:
        return round_, shoe, refused
    try:
        copies = with_card(shoe.copies if lies is None else without_card(shoe.copies, lies), event.card)
    except CopiesError:
        detail = f"the card for {named(event)} would be a ninth copy in shoe {shoe.shoe_id}"
        return round_, shoe, Refused(DeadLetterReason.NINTH_COPY, detail)
    places = list(round_.places)
    places[place] = event.card
    revised = heard(round_, event, mark, places=tuple(places))
    return revised, shoe._replace(copies=copies), Applied(revised=round_.round_id)


def _too_late(round_: Round, completed: Completed, mark: Mark, window_ms: int) -> Refused | None:
    late_ms = mark.at_ms - completed.mark.at_ms - window_ms
    if late_ms <= 0:
        return None
    detail = f"round {round_.round_id} was settled {window_ms + late_ms} ms before, it is corrected within {window_ms}"
    return Refused(DeadLetterReason.CORRECTION_TOO_LATE, detail)
