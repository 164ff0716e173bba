"""What rounds add to the counts: settled, corrected, cancelled after their settlement, refunded."""

from __future__ import annotations

from pokdeng.rules import Bet, odds_of, variance_of_round
from pokdeng.settlement.counting import count_refunds, count_reversed, count_round
from pokdeng.settlement.tally import new_tally

PLAYER, PAIR = Bet.PLAYER_2, Bet.PLAYER_4_PAIR
STAKES = {PLAYER: 1000, PAIR: 70}
ROUND = [(PLAYER, "win", {"THB": [3, 2000, 4000], "EUR": [1, 20, 40]}), (PAIR, "lose", {"THB": [2, 70, 0]})]


def test_a_settled_round_counts_amounts_expectation_and_variance() -> None:
    """By option and currency; the stakes of all accounts on an option together."""
    counts = new_tally()
    count_round(counts, ROUND)
    assert counts["settled", "player_2", "win"] == 4
    assert counts["settled", "player_4_pair", "lose"] == 2
    assert (counts["taken", "player_2", "THB"], counts["returned", "player_2", "THB"]) == (2000, 4000)
    assert (counts["taken", "player_2", "EUR"], counts["returned", "player_4_pair", "THB"]) == (20, 0)
    expected = float(1000 * odds_of(PLAYER).expected_returned)
    assert abs(counts["expected", "player_2", "THB"] - expected) < 1e-9 * expected
    for option, stakes in (("all", STAKES), ("player", {PLAYER: 1000}), ("pair", {PAIR: 70})):
        exact = float(variance_of_round(stakes))
        assert abs(counts["variance", option, "THB"] - exact) < 1e-9 * exact
    assert counts["variance", "pair", "EUR"] == 0


def test_a_later_revision_counts_amounts_alone() -> None:
    """Expectation and variance are counted once a bet."""
    counts = new_tally()
    count_round(counts, ROUND, is_first=False)
    assert counts["taken", "player_2", "THB"] == 2000
    assert not {key[0] for key in counts} & {"expected", "variance"}


def test_a_correction_takes_back_amounts_and_keeps_the_expectation() -> None:
    """What is reversed and settled anew was played once."""
    counts = new_tally()
    count_reversed(counts, ROUND, is_cancelled=False)
    assert counts["settled", "player_2", "reversed"] == 4
    assert (counts["reversed_taken", "player_2", "THB"], counts["reversed_returned", "player_2", "THB"]) == (2000, 4000)
    assert {key[0] for key in counts} == {"settled", "reversed_taken", "reversed_returned"}


def test_a_round_that_is_cancelled_after_its_settlement_leaves_no_deviation() -> None:
    """All that it had counted is taken back: ratio and z-score are as if it had not been played."""
    counts = new_tally()
    count_round(counts, ROUND)
    count_reversed(counts, ROUND, is_cancelled=True)
    for name in ("taken", "returned", "expected", "variance"):
        there = {key[1:]: amount for key, amount in counts.items() if key[0] == name}
        back = {key[1:]: amount for key, amount in counts.items() if key[0] == f"reversed_{name}"}
        assert there
        assert there == back


def test_a_refund_counts_no_amounts() -> None:
    """The payout ratio knows nothing of it."""
    counts = new_tally()
    count_refunds(counts, ROUND)
    assert dict(counts) == {("settled", "player_2", "refunded"): 4, ("settled", "player_4_pair", "refunded"): 2}
