"""Covariances: how much what the bets of one round return varies together.

The spots of a round share the banker's hand and the shoe, so their returns are not independent. For the metrics that
ask whether what was paid can be chance.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

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
from pokdeng.rules.odds import odds_of
from pokdeng.rules.payouts import verdict

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pokdeng.rules.hands import Hand


def covariance(one: Bet, other: Bet) -> Fraction:
    """The covariance of what two bets of one round return, per 1 staked on each; of a bet with itself, its variance.

    Takes about a second once, then nothing. Source: docs/rules.md, PD-23.

    >>> covariance(Bet.PLAYER_1_PAIR, Bet.PLAYER_1_PAIR) == odds_of(Bet.PLAYER_1_PAIR).variance
    True
    >>> covariance(Bet.PLAYER_1, Bet.PLAYER_2) > 0
    True
    """
    tables = _covariances()
    table = tables.of_one_spot if one.seat is other.seat else tables.of_two_spots
    return table[one.is_pair, other.is_pair]


def variance_of_round(stakes: Mapping[Bet, int]) -> Fraction:
    """The variance of what a round returns in all, in minor units squared, given what was staked on each of its bets.

    `stakes` are minor units of one currency, those of all accounts on a bet summed first; bets left out have none.
    Takes about a second once, then some ten microseconds.

    >>> variance_of_round({Bet.PLAYER_1: 100}) == 100**2 * covariance(Bet.PLAYER_1, Bet.PLAYER_1)
    True
    """
    one, two = _covariances()
    variance = Fraction()
    for one_kind, other_kind in one:
        on_one = [stakes.get(bet, 0) for bet in _BETS[one_kind]]
        on_other = [stakes.get(bet, 0) for bet in _BETS[other_kind]]
        same_spot = sum(first * second for first, second in zip(on_one, on_other, strict=True))
        variance += one[one_kind, other_kind] * same_spot
        variance += two[one_kind, other_kind] * (sum(on_one) * sum(on_other) - same_spot)
    return variance


_Kinds = tuple[bool, bool]
"""Two bets by their `is_pair`: all that matters of them besides whether they are on one spot."""

_BETS = {is_pair: tuple(bet for bet in Bet if bet.is_pair is is_pair) for is_pair in (False, True)}
_KINDS: tuple[_Kinds, ...] = tuple((one, other) for one in _BETS for other in _BETS)


class _Covariances(NamedTuple):
    of_one_spot: dict[_Kinds, Fraction]
    of_two_spots: dict[_Kinds, Fraction]


@cache
def _covariances() -> _Covariances:
    one_spot = dict.fromkeys(_KINDS, 0)
    two_spots = dict.fromkeys(_KINDS, 0)
    for banker in banker_kinds():
        sums = {is_pair: returns_against(banker.hand, bets[0]) for is_pair, bets in _BETS.items()}
        for one, other in _KINDS:
            one_spot[one, other] += banker.ways * sums[one].of_same_hand(sums[other])
            two_spots[one, other] += banker.ways * sums[one].of_separate_hands(sums[other])
    deals = BANKER_HANDS * PLAYER_HANDS
    expected = {is_pair: odds_of(bets[0]).expected_returned for is_pair, bets in _BETS.items()}
    return _Covariances(
        of_one_spot={
            kinds: Fraction(one_spot[kinds], deals) - expected[kinds[0]] * expected[kinds[1]] for kinds in _KINDS
        },
        of_two_spots={
            kinds: Fraction(two_spots[kinds], deals * SECOND_PLAYER_HANDS) - expected[kinds[0]] * expected[kinds[1]]
            for kinds in _KINDS
        },
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class ReturnsAgainst:
    """What a bet returns, in stakes, with each hand that the shoe has left against one banker's hand.

    `copies` are those left of each face, `by_hand` pairs (returned units, ways) in the order of `hands_left`, and
    `by_face` sums what it returns with one given copy of a face and any other card.
    """

    copies: tuple[int, ...]
    by_hand: tuple[tuple[int, int], ...]
    by_face: tuple[int, ...]

    def of_same_hand(self, other: ReturnsAgainst) -> int:
        """The sum over all hands of what both return with it, multiplied."""
        return sum(
            ways * units * other_units
            for (units, ways), (other_units, _) in zip(self.by_hand, other.by_hand, strict=True)
            if units and other_units
        )

    def of_separate_hands(self, other: ReturnsAgainst) -> int:
        """The sum over all two hands without a common card of what this returns with one and `other` with the other.

        All pairs of hands, less those that share a given card, plus those that share both and were taken off twice.
        """
        every = sum(units * ways for units, ways in self.by_hand) * sum(units * ways for units, ways in other.by_hand)
        sharing = sum(
            copies * mine * its for copies, mine, its in zip(self.copies, self.by_face, other.by_face, strict=True)
        )
        return every - sharing + self.of_same_hand(other)


def returns_against(banker: Hand, bet: Bet) -> ReturnsAgainst:
    """What `bet` returns against one banker's hand, summed so that two spots need not be listed to be multiplied."""
    copies = copies_left(banker)
    by_hand: list[tuple[int, int]] = []
    by_face = [0] * len(CARDS)
    for hand, ways in hands_left(banker):
        units = verdict(bet, hand, banker).returned_units
        by_hand.append((units, ways))
        low, high = hand.cards[0].face, hand.cards[1].face
        if low == high:
            by_face[low] += units * (copies[low] - 1)
        else:
            by_face[low] += units * copies[high]
            by_face[high] += units * copies[low]
    return ReturnsAgainst(copies=tuple(copies), by_hand=tuple(by_hand), by_face=tuple(by_face))
