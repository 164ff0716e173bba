"""Covariances: how much what the bets of one round return varies together.

The spots of a round share the banker's hand and the shoe, so their returns are not independent. For the metrics that ask
whether what was paid can be chance.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cache

from pokdeng.rules.bets import Bet
from pokdeng.rules.cards import CARDS
from pokdeng.rules.deals import (
    BANKER_HANDS,
    PLAYER_HANDS,
    SECOND_PLAYER_HANDS,
    banker_kinds,
    copies_left,
    hands_left,
)
from pokdeng.rules.hands import Hand
from pokdeng.rules.odds import odds_of
from pokdeng.rules.payouts import verdict


def covariance(one: Bet, other: Bet) -> Fraction:
    """The covariance of what two bets of one round return, per 1 staked on each; of a bet with itself, its variance.

    Takes about a second once, then nothing.

    >>> covariance(Bet.PLAYER_1_PAIR, Bet.PLAYER_1_PAIR) == odds_of(Bet.PLAYER_1_PAIR).variance
    True
    >>> covariance(Bet.PLAYER_1, Bet.PLAYER_2) > 0
    True
    """
    if one.seat is not other.seat:
        product = _products().of_two_spots(one.is_pair, other.is_pair)
    else:
        product = _products().of_one_spot(one.is_pair, other.is_pair)
    return product - odds_of(one).expected_returned * odds_of(other).expected_returned
