"""Odds: the exact chances of each bet over a full shoe, by enumeration.

Exact means fractions. Which cards are burned or dealt elsewhere does not matter, as long as they are not known.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from functools import cache

from pokdeng.rules.bets import Bet
from pokdeng.rules.deals import BANKER_HANDS, PLAYER_HANDS, banker_kinds, hands_left
from pokdeng.rules.payouts import VERDICTS, Odds, Outcome, PayLine, Verdict, verdict


@dataclass(frozen=True, slots=True, kw_only=True)
class Chance:
    """How likely a line of the pay table is to decide, 0 .. 1."""

    verdict: Verdict
    probability: Fraction


@dataclass(frozen=True, slots=True, kw_only=True)
class BetOdds:
    """What a bet can get, and how likely.

    `chances` are the lines of the pay table that can decide it, in their order; their probabilities add to 1.
    `units_taken` is how many stakes are taken for it.
    """

    units_taken: int
    chances: tuple[Chance, ...]

    @property
    def distribution(self) -> dict[tuple[Outcome, Odds | None, int], Fraction]:
        """The probability of each (outcome, odds, returned units); two lines of the pay table may share one."""
        summed: dict[tuple[Outcome, Odds | None, int], Fraction] = {}
        for chance in self.chances:
            key = (chance.verdict.outcome, chance.verdict.odds, chance.verdict.returned_units)
            summed[key] = summed.get(key, Fraction()) + chance.probability
        return summed

    @property
    def expected_returned(self) -> Fraction:
        """What goes back to the balance on average, per 1 staked: 0 .. 12."""
        return sum((chance.probability * chance.verdict.returned_units for chance in self.chances), Fraction())

    @property
    def expected_net(self) -> Fraction:
        """What is won on average, per 1 staked; below 0, as the house has the edge."""
        return self.expected_returned - self.units_taken

    @property
    def rtp_of_stake(self) -> Fraction:
        """1 + the expected net: the part of the stake that comes back on average."""
        return 1 + self.expected_net

    @property
    def rtp_of_taken(self) -> Fraction:
        """The part of the amount taken that comes back on average; the published figure."""
        return self.expected_returned / self.units_taken

    @property
    def variance(self) -> Fraction:
        """The variance of what goes back, per 1 staked: multiply by the square of the stake."""
        squares = (chance.probability * chance.verdict.returned_units**2 for chance in self.chances)
        return sum(squares, Fraction()) - self.expected_returned**2


def odds_of(bet: Bet) -> BetOdds:
    """The exact odds of a bet over a full 8-deck shoe. Takes tenths of a second once, then nothing.

    The five players have the same odds, and so have the five pairs.
    Source: docs/rules.md, PD-21 and PD-22.

    >>> odds_of(Bet.PLAYER_4_PAIR).chances[0].probability
    Fraction(31, 415)
    >>> round(float(odds_of(Bet.PLAYER_4).expected_net), 10)
    -0.0250018589
    """
    return _pair_odds() if bet.is_pair else _player_odds()


@cache
def _player_odds() -> BetOdds:
    return _enumerate(Bet.PLAYER_1)


@cache
def _pair_odds() -> BetOdds:
    return _enumerate(Bet.PLAYER_1_PAIR)


def _enumerate(bet: Bet) -> BetOdds:
    ways_of: Counter[PayLine] = Counter()
    for banker in banker_kinds():
        for player, ways in hands_left(banker.hand):
            ways_of[verdict(bet, player, banker.hand).rule] += banker.ways * ways
    deals = BANKER_HANDS * PLAYER_HANDS
    return BetOdds(
        units_taken=bet.units_taken,
        chances=tuple(
            Chance(verdict=line, probability=Fraction(ways_of[line.rule], deals))
            for line in VERDICTS
            if line.rule in ways_of
        ),
    )
