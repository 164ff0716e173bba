"""What becomes of an event that comes for a round that is over: it never changes the deal. Pure.

A cancellation is final. A settlement stands: its corrections (a card, a late cancellation) are not served yet.
Source: the contract, "Rounds": "`round_cancelled` is final" and "After settlement".
"""

from __future__ import annotations

from typing import TYPE_CHECKING, assert_never

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
from pokdeng.rounds.changes import named, refusal_of_shoe
from pokdeng.rounds.state import place_of
from pokdeng.rounds.verdicts import DUPLICATE, Duplicate, Refused
from pokdeng.rules import COPIES_PER_FACE, copies_of

if TYPE_CHECKING:
    from pokdeng.events.inputs import CardEvent
    from pokdeng.rounds.state import Round, RoundEvent, Shoe

_NOT_SERVED = "corrections after settlement are not served by this version"


def after_the_end(round_: Round, shoe: Shoe, event: RoundEvent) -> Duplicate | Refused:
    """What becomes of an event that lies behind the record that completed or cancelled its round."""
    if isinstance(event, CutCardDrawn):
        refused = refusal_of_shoe(round_, event)
        if refused is not None:
            return refused
    if round_.cancelled is None:
        return _after_settlement(round_, shoe, event)
    if isinstance(event, RoundCancelled):
        return DUPLICATE
    return Refused(DeadLetterReason.ROUND_OUT_OF_ORDER, f"round {round_.round_id} was cancelled")


def _after_settlement(round_: Round, shoe: Shoe, event: RoundEvent) -> Duplicate | Refused:
    match event:
        case BettingClosed():
            return DUPLICATE
        case CardDealt() | CardCorrected():
            return _card_after_settlement(round_, shoe, event)
        case RoundCancelled():
            return Refused(DeadLetterReason.CORRECTION_TOO_LATE, f"round {round_.round_id} is settled; {_NOT_SERVED}")
        case RoundPaused() | RoundResumed() | CutCardDrawn():
            return Refused(DeadLetterReason.ROUND_OUT_OF_ORDER, f"round {round_.round_id} is settled")
        case _:
            assert_never(event)


def _card_after_settlement(round_: Round, shoe: Shoe, event: CardEvent) -> Duplicate | Refused:
    if round_.places[place_of(event.seat, event.position)] is event.card:
        return DUPLICATE
    if isinstance(event, CardDealt):
        return Refused(DeadLetterReason.SEAT_CONFLICT, f"{named(event)} has another card, and the round is settled")
    if copies_of(shoe.copies, event.card.face) >= COPIES_PER_FACE:
        detail = f"the card for {named(event)} would be a ninth copy in shoe {shoe.shoe_id}"
        return Refused(DeadLetterReason.NINTH_COPY, detail)
    return Refused(DeadLetterReason.CORRECTION_TOO_LATE, f"round {round_.round_id} is settled; {_NOT_SERVED}")
