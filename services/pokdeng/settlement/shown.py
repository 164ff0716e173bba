"""Hands and results as others see them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pokdeng.events.outputs import HandShown, SeatResult
from pokdeng.rules import PLAYER_SEATS, Bet

if TYPE_CHECKING:
    from pokdeng.rounds import Result
    from pokdeng.rules import Hand


def shown(hand: Hand) -> HandShown:
    """A hand. Remembered: there are 2,704 of two cards by position."""
    name = (hand.cards[0].face, hand.cards[1].face)
    known = _SHOWN.get(name)
    if known is not None:
        return known
    said = _SHOWN[name] = HandShown(
        cards=(str(hand.cards[0]), str(hand.cards[1])),
        value=hand.value,
        points=hand.points,
        combination=hand.combination,
        pair=hand.is_pair,
        flush=hand.is_flush,
    )
    return said


_SHOWN: dict[tuple[int, int], HandShown] = {}


def players_of(result: Result) -> tuple[SeatResult, ...]:
    """The five spots of a settled round, in seat order."""
    players = []
    for seat in PLAYER_SEATS:
        hand = shown(result.hands[seat])
        players.append(
            SeatResult(
                seat=seat,
                result=result.verdicts[Bet(seat.value)].outcome,
                cards=hand.cards,
                value=hand.value,
                points=hand.points,
                combination=hand.combination,
                pair=hand.pair,
                flush=hand.flush,
            )
        )
    return tuple(players)
