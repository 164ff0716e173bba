"""How bets of one round vary together (docs/rules.md, PD-23)."""

from __future__ import annotations

import itertools
from fractions import Fraction
from math import comb

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pokdeng.rules import CARDS, Bet, Hand, covariance, hand_of, odds_of, variance_of_round, verdict
from pokdeng.rules.covariances import ReturnsAgainst, returns_against

BETS = st.sampled_from(Bet)
STAKES = st.dictionaries(BETS, st.integers(0, 10**12))


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        (Bet.PLAYER_1, Bet.PLAYER_1, "2.0250998811"),
        (Bet.PLAYER_1_PAIR, Bet.PLAYER_1_PAIR, "9.9531194658"),
        (Bet.PLAYER_1, Bet.PLAYER_2, "0.7381931177"),
        (Bet.PLAYER_1, Bet.PLAYER_1_PAIR, "0.7783870424"),
        (Bet.PLAYER_1, Bet.PLAYER_2_PAIR, "-0.0000004463"),
        (Bet.PLAYER_1_PAIR, Bet.PLAYER_2_PAIR, "0.0001164230"),
    ],
)
def test_pd_23_the_covariances_are_those_of_the_docs(one: Bet, other: Bet, expected: str) -> None:
    """The six numbers, to ten decimals."""
    assert f"{float(covariance(one, other)):.10f}" == expected


@pytest.mark.parametrize("bet", Bet)
def test_a_bet_varies_with_itself_as_it_varies(bet: Bet) -> None:
    """The covariance with itself is the variance of the odds."""
    assert covariance(bet, bet) == odds_of(bet).variance


def test_two_pairs_vary_together_as_a_formula_says() -> None:
    """The chance that two spots have a pair each, by choosing cards of a rank: of one rank or of two."""
    both = 13 * comb(32, 2) * (comb(30, 2) + 12 * comb(32, 2))
    chance = Fraction(both, comb(416, 2) * comb(414, 2))
    assert covariance(Bet.PLAYER_1_PAIR, Bet.PLAYER_2_PAIR) == 144 * (chance - Fraction(31, 415) ** 2)


@given(BETS, BETS)
def test_only_the_kinds_of_bets_and_whether_they_share_a_spot_matter(one: Bet, other: Bet) -> None:
    """Symmetric, and the same for every two spots."""
    assert covariance(one, other) == covariance(other, one)
    if one.seat is not other.seat:
        first = Bet.PLAYER_1_PAIR if one.is_pair else Bet.PLAYER_1
        second = Bet.PLAYER_5_PAIR if other.is_pair else Bet.PLAYER_5
        assert covariance(one, other) == covariance(first, second)


@st.composite
def small_shoes(draw: st.DrawFn) -> tuple[list[int], list[dict[tuple[int, int], int]]]:
    """A few faces with a few copies each, and what two invented bets return with each hand of them."""
    copies = draw(st.lists(st.integers(1, 3), min_size=2, max_size=4))
    pairs = list(itertools.combinations_with_replacement(range(len(copies)), 2))
    returned = st.fixed_dictionaries({pair: st.integers(0, 4) for pair in pairs})
    return copies, [draw(returned), draw(returned)]


@given(small_shoes())
def test_two_spots_are_summed_as_if_every_deal_were_listed(
    shoe: tuple[list[int], list[dict[tuple[int, int], int]]],
) -> None:
    """On a shoe small enough to list: the sums over one spot and over two spots without a common card."""
    copies, (one, other) = shoe
    cards = [(face, copy) for face, number in enumerate(copies) for copy in range(number)]
    hands = list(itertools.combinations(cards, 2))

    def of_hand(returned: dict[tuple[int, int], int], hand: tuple[tuple[int, int], ...]) -> int:
        return returned[hand[0][0], hand[1][0]]

    def summed(returned: dict[tuple[int, int], int]) -> ReturnsAgainst:
        ways = {
            (low, high): copies[low] * copies[high] if low != high else comb(copies[low], 2) for low, high in returned
        }
        by_face = [
            sum(of_hand(returned, tuple(sorted(((face, 0), card)))) for card in cards if card != (face, 0))
            for face in range(len(copies))
        ]
        by_hand = tuple((units, ways[pair]) for pair, units in sorted(returned.items()))
        return ReturnsAgainst(copies=tuple(copies), by_hand=by_hand, by_face=tuple(by_face))

    assert summed(one).of_same_hand(summed(other)) == sum(of_hand(one, hand) * of_hand(other, hand) for hand in hands)
    assert summed(one).of_separate_hands(summed(other)) == sum(
        of_hand(one, first) * of_hand(other, second)
        for first, second in itertools.product(hands, hands)
        if not {*first} & {*second}
    )


@pytest.mark.parametrize("cards", ["4h 8c", "Jc Kd", "5c 5c", "Kh 6h"])
@pytest.mark.parametrize("bet", [Bet.PLAYER_1, Bet.PLAYER_1_PAIR])
def test_the_sums_against_a_banker_are_those_of_the_cards_left(cards: str, bet: Bet) -> None:
    """One card after another of the 414 that a real shoe has left: by hand and by face."""
    banker = Hand.parse(cards)
    left = list(CARDS * 8)
    for card in banker.cards:
        left.remove(card)
    summed = returns_against(banker, bet)
    for card in CARDS:
        others = list(left)
        others.remove(card)
        assert summed.by_face[card.face] == sum(
            verdict(bet, hand_of(card, other), banker).returned_units for other in others
        )
        assert summed.copies[card.face] == left.count(card)
    each_card_of_each_hand = sum(
        copies * returned for copies, returned in zip(summed.copies, summed.by_face, strict=True)
    )
    assert each_card_of_each_hand == 2 * sum(units * ways for units, ways in summed.by_hand)


@given(STAKES)
def test_the_variance_of_a_round_is_the_sum_over_all_two_bets(stakes: dict[Bet, int]) -> None:
    """Any stakes on any bets: what the short formula gives is the double sum of covariances, exactly."""
    assert variance_of_round(stakes) == sum(
        stake * other_stake * covariance(bet, other)
        for (bet, stake), (other, other_stake) in itertools.product(stakes.items(), stakes.items())
    )


@given(STAKES)
def test_the_variance_of_a_round_is_never_below_0(stakes: dict[Bet, int]) -> None:
    """Covariances that fit together give no negative variance, and only nothing staked gives none."""
    assert (variance_of_round(stakes) > 0) is any(stakes.values())
