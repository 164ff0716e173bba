"""The road map: one mark a round for each player spot, as players read it at the table. Pure.

What a mark looks like is said here in words and drawn elsewhere. Source: docs/rules.md, PD-20.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pokdeng.rules import PLAYER_SEATS, Bet, Outcome, Seat

if TYPE_CHECKING:
    from pokdeng.rounds.result import Result

_BET_ON = {seat: Bet(seat.value) for seat in PLAYER_SEATS}


@dataclass(frozen=True, slots=True, kw_only=True)
class RoadMark:
    """A spot's mark for one round.

    `result` is the circle, from the player's side: blue won, grey lost, green a tie. `is_pair` is the yellow dot,
    `is_flush` the outer ring; both are of the player's own two cards.
    """

    seat: Seat
    result: Outcome
    is_pair: bool
    is_flush: bool


def road_of(result: Result) -> tuple[RoadMark, ...]:
    """The five marks of a round, player 1 first.

    >>> from pokdeng.rounds.result import result_of
    >>> from pokdeng.rules import Card
    >>> deal = "9c Td 5s 3s 2c 5h Jc 2d 3c 3h 4h 3d"
    >>> [mark.result.value for mark in road_of(result_of(tuple(map(Card.parse, deal.split()))))]
    ['win', 'win', 'tie', 'lose', 'lose']
    """
    return tuple(
        RoadMark(
            seat=seat,
            result=result.verdicts[bet].outcome,
            is_pair=result.hands[seat].is_pair,
            is_flush=result.hands[seat].is_flush,
        )
        for seat, bet in _BET_ON.items()
    )
