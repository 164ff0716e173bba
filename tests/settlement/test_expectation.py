"""What the metrics expect is what the rules say exactly."""

from __future__ import annotations

import random

from pokdeng.rules import Bet, odds_of, variance_of_round
from pokdeng.settlement.expectation import expectation


def test_the_variance_of_a_round_is_that_of_the_exact_enumeration() -> None:
    """For players, pairs and all together, spots that share the banker included."""
    rng = random.Random(1)
    for _ in range(20):
        stakes = {bet: rng.randrange(1, 10**6) for bet in rng.sample(list(Bet), 6)}
        on_spots = [[stakes.get(Bet(f"player_{spot}{kind}"), 0) for spot in range(1, 6)] for kind in ("", "_pair")]
        found = dict(zip(("player", "pair", "all"), expectation().variances(*on_spots), strict=True))
        of_players = {bet: stake for bet, stake in stakes.items() if not bet.is_pair}
        of_pairs = {bet: stake for bet, stake in stakes.items() if bet.is_pair}
        for name, chosen in (("player", of_players), ("pair", of_pairs), ("all", stakes)):
            exact = float(variance_of_round(chosen))
            assert abs(found[name] - exact) <= 1e-9 * max(1.0, exact)


def test_the_expected_return_is_that_of_the_exact_odds() -> None:
    """For each option."""
    for bet in Bet:
        assert expectation().expected_return(bet, 1000) == float(odds_of(bet).expected_returned) * 1000
