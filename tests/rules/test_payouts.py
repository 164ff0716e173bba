"""What bets pay (docs/rules.md, PD-11 .. PD-16): the worked examples, whole deals, and what holds for every bet."""

from __future__ import annotations

from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pokdeng.rules import (
    CARDS,
    RULESET,
    STAKE_MAX,
    VERDICTS,
    Bet,
    Hand,
    InvalidStakeError,
    Odds,
    Outcome,
    PayLine,
    Seat,
    hand_of,
    settle,
    taken_for,
    verdict,
)

hands = st.builds(hand_of, st.sampled_from(CARDS), st.sampled_from(CARDS))
stakes = st.integers(1, STAKE_MAX)


class Example(NamedTuple):
    """A worked example of docs/rules.md: a bet of 100."""

    banker: str
    banker_value: str
    player: str
    player_value: str
    bet: Bet
    outcome: Outcome
    odds: Odds | None
    returned: int
    rule: PayLine


WORKED_EXAMPLES = {
    1: Example("4h 8c", "2", "6c 7s", "3", Bet.PLAYER_1, Outcome.WIN, Odds.SINGLE, 300, PayLine.PLAYER_WINS_PLAIN),
    2: Example("2c 3d", "5", "9c 2d", "1", Bet.PLAYER_1, Outcome.LOSE, Odds.SINGLE, 100, PayLine.BANKER_WINS_PLAIN),
    3: Example(
        "Qc 10c", "7.2", "Qc Jc", "7.3", Bet.PLAYER_1, Outcome.WIN, Odds.DOUBLE, 400, PayLine.PLAYER_WINS_SPECIAL
    ),
    4: Example("8c Jc", "8", "9d 6c", "5", Bet.PLAYER_1, Outcome.LOSE, Odds.DOUBLE, 0, PayLine.BANKER_WINS_SPECIAL),
    5: Example("6c 5c", "1", "Jd Ac", "1", Bet.PLAYER_1, Outcome.TIE, None, 200, PayLine.TIE),
    6: Example("Jc Kd", "7.3", "5s 9h", "4", Bet.PLAYER_1, Outcome.LOSE, Odds.DOUBLE, 0, PayLine.BANKER_WINS_SPECIAL),
    7: Example("6s 8s", "4", "10c 10h", "7.4", Bet.PLAYER_1_PAIR, Outcome.WIN, Odds.ELEVENFOLD, 1200, PayLine.PAIR),
    8: Example(
        "2h 4h", "6", "5c 5c", "7.4", Bet.PLAYER_1, Outcome.WIN, Odds.SINGLE, 300, PayLine.PLAYER_WINS_AGAINST_0_OR_6
    ),
    9: Example(
        "9d 7c", "6", "Kh 9h", "9", Bet.PLAYER_1, Outcome.WIN, Odds.DOUBLE, 400, PayLine.PLAYER_WINS_WITH_8_OR_9
    ),
}


@pytest.mark.parametrize("number", WORKED_EXAMPLES)
def test_worked_example(number: int) -> None:
    """The nine published examples, by number: values, result, odds, what goes back and why."""
    example = WORKED_EXAMPLES[number]
    player, banker = Hand.parse(example.player), Hand.parse(example.banker)
    payout = settle(example.bet, player, banker, 100)
    assert (player.value, banker.value) == (example.player_value, example.banker_value)
    assert (payout.outcome, payout.odds, payout.returned) == (example.outcome, example.odds, example.returned)
    assert payout.rule is example.rule


class Deal(NamedTuple):
    """A whole round: the hands by seat, and what a bet of 1000 gets back on each option."""

    hands: dict[Seat, tuple[str, str]]
    returned: dict[Bet, int]


def _deal(banker: tuple[str, str], *spots: tuple[str, str, int, int]) -> Deal:
    players = [seat for seat in Seat if seat is not Seat.BANKER]
    hands_by_seat = {Seat.BANKER: banker}
    returned = {}
    for seat, (cards, value, on_player, on_pair) in zip(players, spots, strict=True):
        hands_by_seat[seat] = (cards, value)
        returned[Bet(seat.value)] = on_player
        returned[Bet(f"{seat}_pair")] = on_pair
    return Deal(hands_by_seat, returned)


DEALS = {
    "W": _deal(
        ("4h 3d", "7"),
        ("9c Td", "9", 3000, 0),
        ("5s 3s", "8", 4000, 0),
        ("2c 5h", "7", 2000, 0),
        ("Jc 2d", "2", 1000, 0),
        ("3c 3h", "6", 1000, 12000),
    ),
    "L": _deal(
        ("Jc Kd", "7.3"),
        ("5s 9h", "4", 0, 0),
        ("Qh Kh", "7.3", 2000, 0),
        ("As Ks", "7.5", 4000, 0),
        ("4c 5d", "9", 3000, 0),
        ("Tc Jh", "7.2", 0, 0),
    ),
    "T": _deal(
        ("8s Ah", "9"),
        ("9c Td", "9", 2000, 0),
        ("6h 3h", "9", 2000, 0),
        ("4c 4d", "8", 1000, 12000),
        ("Kc 7d", "7", 1000, 0),
        ("Qs 9s", "9", 2000, 0),
    ),
    "W, player_1's first card corrected to 2c": _deal(
        ("4h 3d", "7"),
        ("2c Td", "2", 1000, 0),
        ("5s 3s", "8", 4000, 0),
        ("2c 5h", "7", 2000, 0),
        ("Jc 2d", "2", 1000, 0),
        ("3c 3h", "6", 1000, 12000),
    ),
    "L, the banker's second card corrected to 6d": _deal(
        ("Jc 6d", "6"),
        ("5s 9h", "4", 1000, 0),
        ("Qh Kh", "7.3", 3000, 0),
        ("As Ks", "7.5", 3000, 0),
        ("4c 5d", "9", 3000, 0),
        ("Tc Jh", "7.2", 3000, 0),
    ),
}


@pytest.mark.parametrize("name", DEALS)
def test_whole_deal(name: str) -> None:
    """Five players against one banker: every hand's value, and what all ten bets of 1000 get back."""
    deal = DEALS[name]
    dealt = {seat: Hand.parse(cards) for seat, (cards, _) in deal.hands.items()}
    assert {seat: hand.value for seat, hand in dealt.items()} == {
        seat: value for seat, (_, value) in deal.hands.items()
    }
    assert {bet: settle(bet, dealt[bet.seat], dealt[Seat.BANKER], 1000).returned for bet in Bet} == deal.returned


@pytest.mark.parametrize(
    ("name", "returned", "house_net"), [("W", 23000, -8000), ("L", 9000, 6000), ("T", 20000, -5000)]
)
def test_books_of_a_whole_deal(name: str, returned: int, house_net: int) -> None:
    """All ten bets at 1000: 15000 taken, and what the house is left with."""
    deal = DEALS[name]
    dealt = {seat: Hand.parse(cards) for seat, (cards, _) in deal.hands.items()}
    payouts = [settle(bet, dealt[bet.seat], dealt[Seat.BANKER], 1000) for bet in Bet]
    assert sum(payout.taken for payout in payouts) == 15000
    assert sum(payout.returned for payout in payouts) == returned
    assert -sum(payout.net for payout in payouts) == house_net


@pytest.mark.parametrize("banker", ["Tc Qh", "Jc Kd", "4c 6c", "5c 5d", "Th Ts"])
def test_pd_12_a_combination_whose_digits_add_to_0_is_not_0(banker: str) -> None:
    """Against a combination without points, a special pattern still wins 2:1."""
    assert Hand.parse(banker).points == 0
    decided = verdict(Bet.PLAYER_1, Hand.parse("As Ks"), Hand.parse(banker))
    assert decided.rule is PayLine.PLAYER_WINS_SPECIAL


@pytest.mark.parametrize("player", ["2c 2d", "As Ks", "5c 5d", "Jc Kd", "Th Js", "Ah 9h"])
def test_pd_12_a_special_pattern_wins_only_the_stake_against_0(player: str) -> None:
    """A banker's hand worth 0 takes the double off every special pattern below 8."""
    decided = verdict(Bet.PLAYER_1, Hand.parse(player), Hand.parse("4c 6h"))
    assert (decided.rule, decided.returned_units) == (PayLine.PLAYER_WINS_AGAINST_0_OR_6, 3)


@pytest.mark.parametrize("banker", ["4c 6h", "Kc 6h"])
@pytest.mark.parametrize("player", ["4c 4d", "9c 9d", "8c Kc", "9c Kc"])
def test_pd_13_a_pair_or_flush_of_8_or_9_wins_double_even_so(player: str, banker: str) -> None:
    """The exception to PD-12."""
    decided = verdict(Bet.PLAYER_1, Hand.parse(player), Hand.parse(banker))
    assert (decided.rule, decided.returned_units) == (PayLine.PLAYER_WINS_WITH_8_OR_9, 4)


@pytest.mark.parametrize("banker", ["4c 6h", "Kc 6h"])
def test_pd_11_a_plain_9_wins_the_stake_against_0_and_6(banker: str) -> None:
    """Nothing is taken off a plain win."""
    assert verdict(Bet.PLAYER_1, Hand.parse("9c Kd"), Hand.parse(banker)).rule is PayLine.PLAYER_WINS_PLAIN


@pytest.mark.parametrize("banker", ["Ac 5c", "3c 3d", "Tc 6c"])
def test_pd_12_does_not_touch_what_is_lost(banker: str) -> None:
    """A special banker's hand worth 6 still takes the double."""
    assert Hand.parse(banker).value == "6"
    assert verdict(Bet.PLAYER_1, Hand.parse("2c 3d"), Hand.parse(banker)).returned_units == 0


@given(hands, hands, st.sampled_from([bet for bet in Bet if bet.is_pair]))
def test_pd_16_a_pair_bet_looks_at_the_two_ranks_only(player: Hand, banker: Hand, bet: Bet) -> None:
    """Whatever the banker has: 12 stakes for a pair, nothing else, never a tie."""
    is_pair = player.cards[0].rank == player.cards[1].rank
    decided = verdict(bet, player, banker)
    assert decided.returned_units == (12 if is_pair else 0)
    assert decided.odds == ("11:1" if is_pair else "1:1")
    assert decided.outcome == ("win" if is_pair else "lose")


@given(hands, hands, st.sampled_from(Bet), stakes)
def test_a_payout_is_its_verdict_times_the_stake(player: Hand, banker: Hand, bet: Bet, stake: int) -> None:
    """For every stake there may be: exact integers, the same result, and net = returned - taken."""
    payout, decided = settle(bet, player, banker, stake), verdict(bet, player, banker)
    assert (payout.outcome, payout.odds, payout.rule) == (decided.outcome, decided.odds, decided.rule)
    assert payout.taken == taken_for(bet, stake)
    assert payout.returned == stake * decided.returned_units
    assert payout.net == payout.returned - payout.taken
    assert {type(amount) for amount in (payout.taken, payout.returned, payout.net)} == {int}


@given(hands, hands, st.sampled_from(Bet), stakes)
def test_the_sign_of_the_net_is_the_outcome(player: Hand, banker: Hand, bet: Bet, stake: int) -> None:
    """A win is above 0, a loss below but never more than was taken, a tie 0 and without odds."""
    payout = settle(bet, player, banker, stake)
    match payout.outcome:
        case Outcome.WIN:
            assert payout.net > 0
        case Outcome.LOSE:
            assert -payout.taken <= payout.net < 0
        case Outcome.TIE:
            assert payout.net == 0
    assert (payout.odds is None) is (payout.outcome is Outcome.TIE)


@given(hands, hands)
def test_what_one_wins_the_other_loses_but_for_pd_12(player: Hand, banker: Hand) -> None:
    """With the two hands swapped the net changes its sign, unless one side is kept to 1:1 by a 0 or 6."""
    there, back = (
        verdict(Bet.PLAYER_1, player, banker),
        verdict(Bet.PLAYER_1, banker, player),
    )
    if PayLine.PLAYER_WINS_AGAINST_0_OR_6 not in {there.rule, back.rule}:
        assert there.returned_units - 2 == 2 - back.returned_units


@pytest.mark.parametrize("stake", [0, -1, STAKE_MAX + 1, 2**63, -(2**63), 1.0, 1e3, "100", True, None])
def test_what_is_no_stake_is_refused(stake: object) -> None:
    """Below 1, above 10^12, or no integer: nothing is computed, and the message stays short."""
    with pytest.raises(InvalidStakeError) as refused:
        settle(Bet.PLAYER_1, Hand.parse("9c Td"), Hand.parse("4h 3d"), stake)  # type: ignore[arg-type]  # what the types forbid is tried
    assert len(str(refused.value)) < 200


def test_an_endless_number_is_refused_like_any_other() -> None:
    """Five thousand digits are no stake, and not printed."""
    with pytest.raises(InvalidStakeError, match=r"an integer of 16610 bits; write whole minor units, 1 \.\. 1,000,000"):
        taken_for(Bet.PLAYER_1, 10**5000)


def test_the_pay_table_has_one_verdict_a_line() -> None:
    """Nine lines in their order, each with its own sentence."""
    assert [line.rule for line in VERDICTS] == list(PayLine)


def test_the_sentences_of_pokdeng_1_are_these() -> None:
    """Sentences are part of settled facts: they change only with the name of the ruleset."""
    assert RULESET == "pokdeng-1"
    assert [line.value for line in PayLine] == [
        "The player's hand is higher and plain: the bet wins 1:1.",
        "The player's hand is higher and has a special pattern: the bet wins 2:1.",
        "The player's hand is higher and has a special pattern, but the banker has 0 or 6: the bet wins 1:1.",
        "The player's hand is higher, 8 or 9 with a flush or a pair: the bet wins 2:1, though the banker has 0 or 6.",
        "Both hands have the same value: the bet is a tie, and all that was taken is returned.",
        "The banker's hand is higher and plain: the bet loses 1:1.",
        "The banker's hand is higher and has a special pattern: the bet loses 2:1.",
        "The player's two cards have the same rank: the pair bet wins 11:1.",
        "The player's two cards have different ranks: the pair bet loses 1:1.",
    ]
