"""Cards and how they are written (docs/rules.md, PD-1 and PD-6)."""

from __future__ import annotations

import copy
import pickle
from dataclasses import FrozenInstanceError

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pokdeng.rules import CARDS, Card, InvalidCardError, Rank, Suit

WRITTEN = {f"{rank}{suit}" for rank in "A23456789TJQK" for suit in "cdhs"}


def test_there_are_52_cards_each_found_at_its_face() -> None:
    """The index of a card is its face, and no card is there twice."""
    assert len(CARDS) == len(set(CARDS)) == 52
    assert [card.face for card in CARDS] == list(range(52))


def test_a_card_is_written_as_it_is_read() -> None:
    """All 52 texts round-trip, to the very same instance."""
    assert {str(card) for card in CARDS} == WRITTEN
    assert all(Card.parse(str(card)) is card for card in CARDS)


@pytest.mark.parametrize("suit", list("cdhs"))
def test_10_is_another_way_to_write_t(suit: str) -> None:
    """`10h` is read as `Th` and written as `Th`."""
    assert Card.parse(f"10{suit}") is Card.parse(f"T{suit}")
    assert str(Card.parse(f"10{suit}")) == f"T{suit}"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "T",
        "h",
        "th",
        "TH",
        "Thh",
        "1h",
        "0h",
        "11h",
        "10",
        "10H",
        "100h",
        "Tx",
        "hT",
        " Th",
        "Th ",
        "T h",
        "T\u2665",
        "Th\n",
    ],
)
def test_any_other_text_is_no_card_and_is_named(text: str) -> None:
    """Case, spaces and near misses are refused with the value in the message."""
    with pytest.raises(InvalidCardError) as refused:
        Card.parse(text)
    assert repr(text) in str(refused.value)


@pytest.mark.parametrize("value", [None, 10, True, ["Th"], b"Th"])
def test_what_is_no_text_is_no_card(value: object) -> None:
    """A value of another type is refused like a wrong text, not with a KeyError or TypeError."""
    with pytest.raises(InvalidCardError):
        Card.parse(value)  # type: ignore[arg-type]  # what the types forbid is tried


def test_a_long_text_is_shortened_in_the_message() -> None:
    """A refused megabyte does not become a message of a megabyte."""
    with pytest.raises(InvalidCardError) as refused:
        Card.parse("T" * 1_000_000)
    assert len(str(refused.value)) < 200


@given(st.text(max_size=4))
def test_exactly_56_texts_are_cards(text: str) -> None:
    """Whatever the text: it is one of the 52, or a 10 with a suit, or refused."""
    if text in WRITTEN or text in {"10c", "10d", "10h", "10s"}:
        assert str(Card.parse(text)) == text.replace("10", "T")
    else:
        with pytest.raises(InvalidCardError):
            Card.parse(text)


@pytest.mark.parametrize(
    ("rank", "points"),
    [("A", 1), *((str(points), points) for points in range(2, 10)), ("T", 0), ("J", 0), ("Q", 0), ("K", 0)],
)
def test_pd_6_points_of_a_card(rank: str, points: int) -> None:
    """Ace 1, 2 to 9 as they are, ten, jack, queen and king nothing, in every suit."""
    assert [Card.parse(rank + suit).points for suit in "cdhs"] == [points] * 4


def test_a_copied_or_pickled_card_is_the_same_instance() -> None:
    """There are never more than 52 cards, whichever way one travels."""
    for card in CARDS:
        assert copy.copy(card) is card
        assert copy.deepcopy(card) is card
        assert pickle.loads(pickle.dumps(card)) is card  # noqa: S301 - our own bytes


def test_a_card_cannot_be_changed() -> None:
    """A card is a value."""
    with pytest.raises(FrozenInstanceError):
        Card.parse("Th").points = 9  # type: ignore[misc]  # what the types forbid is tried


def test_a_card_made_by_hand_equals_the_one_of_the_deck() -> None:
    """Rank and suit say everything; the rest follows and cannot be given."""
    made = Card(rank=Rank.TEN, suit=Suit.HEARTS)
    assert made == Card.parse("Th")
    assert hash(made) == hash(Card.parse("Th"))
    assert repr(made) == "Card.parse('Th')"
