"""What a complete round comes to: six hands and a verdict on each of the ten options. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pokdeng.rules import Bet, Hand, Seat, Verdict, hand_of, verdict

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pokdeng.rounds.state import Places


@dataclass(frozen=True, slots=True)
class Result:
    """The hands of a round, by seat, and what a bet on each option gets, whatever its stake."""

    hands: Mapping[Seat, Hand]
    verdicts: Mapping[Bet, Verdict]

    @property
    def banker(self) -> Hand:
        """The hand every player's is compared with."""
        return self.hands[Seat.BANKER]


class IncompleteDealError(ValueError):
    """A place without a card: the round has no result."""


def result_of(places: Places) -> Result:
    """The result of twelve cards.

    Raises:
        IncompleteDealError: when a place is empty.
    """
    hands: dict[Seat, Hand] = {}
    for seat, first, second in zip(Seat, places[::2], places[1::2], strict=True):
        if first is None or second is None:
            raise IncompleteDealError(f"{seat} has not both cards")
        hands[seat] = hand_of(first, second)
    banker = hands[Seat.BANKER]
    return Result(hands, {bet: verdict(bet, hands[bet.seat], banker) for bet in Bet})
