"""What settled bets return on average, and how much that varies: for the metrics, as floats.

Exact fractions of `pokdeng.rules`, rounded once. The ten options are of two kinds at five spots that share one banker,
so six numbers say all covariances. Source: docs/rules.md, PD-23.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from operator import mul
from typing import TYPE_CHECKING

from pokdeng.rules import PLAYER_SEATS, Bet, covariance, odds_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pokdeng.rules import Seat

_PLAYER_OF = {bet.seat: bet for bet in Bet if not bet.is_pair}
_PAIR_OF = {bet.seat: bet for bet in Bet if bet.is_pair}


@dataclass(frozen=True, slots=True)
class _Kinds:
    """Covariances of two bets of 1 staked: at one spot, and at two spots of a round."""

    at_one: float
    at_two: float

    def variance(self, own: Sequence[int], other: Sequence[int]) -> float:
        """Of two kinds, given the stakes by spot: the sum over all pairs of spots."""
        same_spot: int = sum(map(mul, own, other))
        return self.at_one * same_spot + self.at_two * (sum(own) * sum(other) - same_spot)


@dataclass(frozen=True, slots=True)
class Expectation:
    """Asked once a round and currency. Made by `expectation()`, which takes a second the first time."""

    player_return: float
    pair_return: float
    players: _Kinds
    pairs: _Kinds
    mixed: _Kinds

    def expected_return(self, bet: Bet, stake: int) -> float:
        """What a stake on an option returns on average, minor units."""
        return stake * (self.pair_return if bet.is_pair else self.player_return)

    def variances(self, players: Sequence[int], pairs: Sequence[int]) -> tuple[float, float, float]:
        """The variance of what a round returns on `player` bets, `pair` bets and `all`, minor units squared.

        The stakes are those of all accounts on each of the five spots, summed, in the order of the seats.
        """
        player, pair = self.players.variance(players, players), self.pairs.variance(pairs, pairs)
        return player, pair, player + pair + 2 * self.mixed.variance(players, pairs)


@cache
def expectation() -> Expectation:
    """The expectation by these rules. The first call counts, for about a second."""
    first, second = PLAYER_SEATS[0], PLAYER_SEATS[1]

    def kinds(one: Mapping[Seat, Bet], other: Mapping[Seat, Bet]) -> _Kinds:
        return _Kinds(float(covariance(one[first], other[first])), float(covariance(one[first], other[second])))

    return Expectation(
        player_return=float(odds_of(_PLAYER_OF[first]).expected_returned),
        pair_return=float(odds_of(_PAIR_OF[first]).expected_returned),
        players=kinds(_PLAYER_OF, _PLAYER_OF),
        pairs=kinds(_PAIR_OF, _PAIR_OF),
        mixed=kinds(_PLAYER_OF, _PAIR_OF),
    )
