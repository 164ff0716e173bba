"""Seats and the ten bets: who can be bet on, and what a bet takes.

What a bet pays is in `payouts`.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Self


class Seat(StrEnum):
    """Where hands are dealt, in the order of dealing and revealing: players 1 .. 5, the banker last.

    Source: docs/rules.md, PD-3.

    >>> [seat.value for seat in Seat][-2:]
    ['player_5', 'banker']
    """

    PLAYER_1 = "player_1"
    PLAYER_2 = "player_2"
    PLAYER_3 = "player_3"
    PLAYER_4 = "player_4"
    PLAYER_5 = "player_5"
    BANKER = "banker"


PLAYER_SEATS: tuple[Seat, ...] = tuple(seat for seat in Seat if seat is not Seat.BANKER)
"""The five seats that can be bet on, in order."""

_PAIR_SUFFIX = "_pair"


class Bet(StrEnum):
    """The ten options. The value is the code in events.

    `seat` is the player spot; `is_pair` says whether the bet is on its two cards having one rank; `units_taken` is how
    many stakes are taken from the balance when the bet is placed: 2 on a player (the stake and as much withheld, since
    it can lose double), 1 on a pair. All three are fixed when the class is made.
    Source: docs/rules.md, PD-5.

    >>> Bet("player_3_pair").seat, Bet.PLAYER_3_PAIR.is_pair, Bet.PLAYER_3_PAIR.units_taken
    (<Seat.PLAYER_3: 'player_3'>, True, 1)
    >>> Bet("banker")
    Traceback (most recent call last):
    ValueError: 'banker' is not a valid Bet
    """

    seat: Seat
    is_pair: bool
    units_taken: int

    PLAYER_1 = "player_1"
    PLAYER_2 = "player_2"
    PLAYER_3 = "player_3"
    PLAYER_4 = "player_4"
    PLAYER_5 = "player_5"
    PLAYER_1_PAIR = "player_1_pair"
    PLAYER_2_PAIR = "player_2_pair"
    PLAYER_3_PAIR = "player_3_pair"
    PLAYER_4_PAIR = "player_4_pair"
    PLAYER_5_PAIR = "player_5_pair"

    def __new__(cls, code: str) -> Self:
        """Make the member and what can be asked of it, once."""
        member = str.__new__(cls, code)
        member._value_ = code
        member.seat = Seat(code.removesuffix(_PAIR_SUFFIX))
        member.is_pair = code.endswith(_PAIR_SUFFIX)
        member.units_taken = 1 if member.is_pair else 2
        return member
