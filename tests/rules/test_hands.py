"""What a hand is worth (docs/rules.md, PD-6 .. PD-10), by examples; all hands are in test_every_hand."""

from __future__ import annotations

import copy
import itertools
from dataclasses import FrozenInstanceError

import pytest

from pokdeng.rules import CARDS, VALUES, Card, Combination, Hand, InvalidCardError, InvalidHandError, hand_of

LOWEST_TO_HIGHEST = [
    ("Tc Qh", "7.2"),  # digits add to 0, and yet not the lowest
    ("4c 6h", "0"),
    ("Tc Ah", "1"),
    ("Tc 2h", "2"),
    ("Jc 3h", "3"),
    ("Ac 3h", "4"),
    ("2c 3h", "5"),
    ("9c 7h", "6"),
    ("3c 4h", "7"),
    ("4c 6c", "7.1"),
    ("Tc Kc", "7.2"),
    ("Jc Qh", "7.3"),
    ("Ac Ah", "7.4"),
    ("Ac Kc", "7.5"),
    ("4c 4h", "8"),
    ("Kc 9h", "9"),
]


@pytest.mark.parametrize(("cards", "value"), LOWEST_TO_HIGHEST)
def test_pd_9_each_of_the_fifteen_values_is_reached(cards: str, value: str) -> None:
    """One example a step."""
    assert Hand.parse(cards).value == value


def test_pd_9_the_order_is_the_published_one() -> None:
    """The fifteen examples rank 0 .. 14, none equal and none out of order."""
    assert [Hand.parse(cards).rank for cards, _ in LOWEST_TO_HIGHEST[1:]] == list(range(15))
    assert [value for _, value in LOWEST_TO_HIGHEST[1:]] == list(VALUES)


def test_pd_9_values_rise_with_ranks() -> None:
    """Read as numbers, the values of the fifteen ranks only go up."""
    numbers = [float(value) for value in VALUES]
    assert numbers == sorted(set(numbers))


@pytest.mark.parametrize(
    "cards",
    ["4c 4h", "4c 4c", "9c 9h", "9s 9s", "7h Ah", "7h Ad", "Td 8d", "Kd 9d", "3s 5s", "3s 6s"],
)
def test_pd_7_eight_and_nine_stand_whatever_the_cards(cards: str) -> None:
    """A pair or flush of 8 or 9 points is worth its points, and has no combination."""
    hand = Hand.parse(cards)
    assert hand.value == str(hand.points)
    assert hand.points in {8, 9}
    assert hand.combination is None


@pytest.mark.parametrize(
    ("cards", "combination"),
    [
        ("As Ks", Combination.AK_FLUSH),
        ("Kd Ad", Combination.AK_FLUSH),
        ("As Kh", None),
        ("Ac Ac", Combination.SPECIAL_PAIR),
        ("5c 5d", Combination.SPECIAL_PAIR),
        ("5c 5c", Combination.SPECIAL_PAIR),  # suited and without points, but the pair counts more
        ("6h 6s", Combination.SPECIAL_PAIR),
        ("Th Ts", Combination.SPECIAL_PAIR),
        ("Th Th", Combination.SPECIAL_PAIR),
        ("2c 2d", None),
        ("3c 3c", None),
        ("7c 7d", None),
        ("8c 8d", None),
        ("Jc Jd", Combination.FACE_CARDS),  # a pair, but not one of the special pairs
        ("Kc Kc", Combination.FACE_CARDS),
        ("Jc Qc", Combination.FACE_CARDS),
        ("Th Js", Combination.TEN_AND_FACE),
        ("Kh Th", Combination.TEN_AND_FACE),
        ("Ah 9h", Combination.NO_POINT_FLUSH),
        ("8d 2d", Combination.NO_POINT_FLUSH),
        ("3s 7s", Combination.NO_POINT_FLUSH),
        ("6c 4c", Combination.NO_POINT_FLUSH),
        ("6c 4d", None),
        ("Ac Tc", None),
        ("9c Ah", None),
    ],
)
def test_pd_8_combinations(cards: str, combination: Combination | None) -> None:
    """Each combination, in both orders of its cards, and the hands that just miss one."""
    hand = Hand.parse(cards)
    assert hand.combination is combination
    assert hand_of(hand.cards[1], hand.cards[0]).combination is combination


@pytest.mark.parametrize(
    ("cards", "is_special"),
    [
        ("4h 8c", False),
        ("Jd Ac", False),
        ("6c 5c", True),  # a flush and nothing else
        ("2c 2d", True),  # a pair that is no special pair
        ("Jc Kd", True),  # neither flush nor pair, but a combination
        ("Tc Jh", True),
        ("8c Jc", True),  # 8 points, and a flush
        ("4c 4d", True),  # 8 points, and a pair
        ("9c Td", False),
    ],
)
def test_pd_10_special_patterns(cards: str, *, is_special: bool) -> None:
    """A flush, any pair or a combination is special, at 8 and 9 points too."""
    assert Hand.parse(cards).is_special is is_special


def test_position_is_kept_and_changes_nothing_else() -> None:
    """All hands: the cards stay where they were dealt, and swapped they are worth the same."""
    for first, second in itertools.product(CARDS, CARDS):
        hand, swapped = hand_of(first, second), hand_of(second, first)
        assert hand.cards == (first, second)
        assert (hand.value, hand.rank, hand.combination) == (swapped.value, swapped.rank, swapped.combination)
        assert (hand.is_pair, hand.is_flush, hand.is_special) == (swapped.is_pair, swapped.is_flush, swapped.is_special)


def test_hands_are_equal_by_their_cards_not_by_their_value() -> None:
    """Two hands of value 9 tie, yet are different hands."""
    nine, other_nine = Hand.parse("9c Td"), Hand.parse("9c Kd")
    assert nine.rank == other_nine.rank
    assert nine != other_nine
    assert nine == Hand(cards=(Card.parse("9c"), Card.parse("Td")))
    assert nine is Hand.parse("9c 10d")


def test_a_hand_cannot_be_changed_and_can_be_copied() -> None:
    """A hand is a value."""
    hand = Hand.parse("9c Td")
    with pytest.raises(FrozenInstanceError):
        hand.rank = 0  # type: ignore[misc]  # what the types forbid is tried
    assert copy.deepcopy(hand) == hand
    assert repr(hand) == "Hand.parse('9c Td')"


@pytest.mark.parametrize("text", ["", "9c", "9c Td 2h", "9cTd", "9c,Td"])
def test_a_text_of_other_than_two_cards_is_no_hand_and_is_named(text: str) -> None:
    """The message repeats what was written."""
    with pytest.raises((InvalidHandError, InvalidCardError)) as refused:
        Hand.parse(text)
    assert repr(text) in str(refused.value)


def test_a_hand_with_a_wrong_card_names_that_card() -> None:
    """The message is about the card, not about the hand."""
    with pytest.raises(InvalidCardError, match="'9x'"):
        Hand.parse("9x Td")
