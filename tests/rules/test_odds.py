"""The exact odds (docs/rules.md, PD-21 and PD-22). test_every_hand counts them a second time in another way."""

from __future__ import annotations

import time
from fractions import Fraction
from math import comb

import pytest

from pokdeng.rules import Bet, Odds, Outcome, PayLine, odds_of
from pokdeng.rules.deals import BANKER_HANDS, PLAYER_HANDS, banker_kinds, hands_left

PLAYER_BETS = [bet for bet in Bet if not bet.is_pair]
PAIR_BETS = [bet for bet in Bet if bet.is_pair]


@pytest.mark.parametrize("bet", PLAYER_BETS)
def test_pd_21_a_player_bet_returns_the_published_part_of_what_is_taken(bet: Bet) -> None:
    """-0.0250018589 of the stake, 97.4998 % of it back, 98.7499 % of the amount taken."""
    odds = odds_of(bet)
    assert f"{float(odds.expected_net):.10f}" == "-0.0250018589"
    assert f"{float(odds.rtp_of_stake):.4%}" == "97.4998%"
    assert f"{float(odds.rtp_of_taken):.4%}" == "98.7499%"


@pytest.mark.parametrize("bet", PAIR_BETS)
def test_pd_22_a_pair_bet_wins_31_times_in_415(bet: Bet) -> None:
    """The chance is exact, and 89.6386 % comes back."""
    odds = odds_of(bet)
    assert odds.distribution == {
        (Outcome.WIN, Odds.ELEVENFOLD, 12): Fraction(31, 415),
        (Outcome.LOSE, Odds.SINGLE, 0): Fraction(384, 415),
    }
    assert f"{float(odds.rtp_of_taken):.4%}" == f"{float(odds.rtp_of_stake):.4%}" == "89.6386%"
    assert odds.variance == 144 * Fraction(31, 415) * Fraction(384, 415)


def test_pd_21_the_chances_are_those_of_the_docs() -> None:
    """Five results of a player bet, as percentages with four decimals."""
    assert {
        (outcome.value, odds and odds.value, units): f"{float(chance):.4%}"
        for (outcome, odds, units), chance in odds_of(Bet.PLAYER_1).distribution.items()
    } == {
        ("win", "1:1", 3): "28.5744%",
        ("win", "2:1", 4): "17.2404%",
        ("tie", None, 2): "8.3705%",
        ("lose", "1:1", 1): "26.0742%",
        ("lose", "2:1", 0): "19.7406%",
    }


def test_pd_21_the_edge_of_the_house_is_the_chance_of_pd_12() -> None:
    """Both sides draw and pay alike but for the 0-or-6 rule, so the two numbers are the same fraction."""
    odds = odds_of(Bet.PLAYER_1)
    chance_of = {chance.verdict.rule: chance.probability for chance in odds.chances}
    assert odds.expected_net == -chance_of[PayLine.PLAYER_WINS_AGAINST_0_OR_6]
    assert chance_of[PayLine.PLAYER_WINS_PLAIN] == chance_of[PayLine.BANKER_WINS_PLAIN]


@pytest.mark.parametrize("bet", Bet)
def test_the_chances_of_a_bet_add_to_one(bet: Bet) -> None:
    """Every deal is decided by exactly one line of the pay table."""
    odds = odds_of(bet)
    assert sum(chance.probability for chance in odds.chances) == 1
    assert sum(odds.distribution.values()) == 1
    assert odds.units_taken == bet.units_taken


def test_the_variance_is_the_mean_square_less_the_square_of_the_mean() -> None:
    """Counted once more from the distribution, around the mean."""
    odds = odds_of(Bet.PLAYER_1)
    mean = odds.expected_returned
    assert odds.variance == sum(chance * (units - mean) ** 2 for (_, _, units), chance in odds.distribution.items())
    assert f"{float(odds.variance):.10f}" == "2.0250998811"


def test_all_bankers_hands_are_counted() -> None:
    """The kinds of banker's hands stand for every pair of cards of a full shoe."""
    assert sum(kind.ways for kind in banker_kinds()) == BANKER_HANDS == comb(416, 2)


def test_all_players_hands_are_counted_against_every_banker() -> None:
    """Whatever the banker holds, 414 cards are left to make a hand of."""
    for kind in banker_kinds():
        assert sum(ways for _, ways in hands_left(kind.hand)) == PLAYER_HANDS == comb(414, 2)


def test_the_odds_are_counted_within_three_seconds() -> None:
    """Enumeration is quick enough for a command that people wait for."""
    from pokdeng.rules import odds as module  # noqa: PLC0415 - the uncached counting is no public name

    started = time.process_time()
    module._enumerate(Bet.PLAYER_1)
    module._enumerate(Bet.PLAYER_1_PAIR)
    assert time.process_time() - started < 3
