"""The count of a shoe (docs/rules.md, PD-1, PD-2, PD-17 and PD-18)."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pokdeng.rules import (
    CARDS,
    COPIES_PER_FACE,
    DECKS,
    NO_COPIES,
    SHOE_CARDS,
    Card,
    CopiesError,
    burned_by,
    copies_of,
    gone_from_shoe,
    parse_copies,
    total_copies,
    with_card,
    without_card,
)


def test_pd_1_a_shoe_is_eight_decks() -> None:
    """416 cards, each face eight times."""
    assert (DECKS, COPIES_PER_FACE, SHOE_CARDS) == (8, 8, 416)
    assert len(CARDS) * COPIES_PER_FACE == SHOE_CARDS


@pytest.mark.parametrize(
    ("rank", "burned"),
    [("A", 1), *((str(number), number) for number in range(2, 10)), ("T", 10), ("J", 10), ("Q", 10), ("K", 10)],
)
def test_pd_2_the_first_card_says_how_many_are_burned(rank: str, burned: int) -> None:
    """Its value; a ten and the face cards burn ten, though they have no points. In every suit."""
    assert [burned_by(Card.parse(rank + suit)) for suit in "cdhs"] == [burned] * 4


@pytest.mark.parametrize(
    ("burn_card", "rounds_opened", "standing_cards", "gone"),
    [
        ("2h", 0, 0, 3),
        ("Ah", 0, 0, 2),
        ("Kh", 0, 0, 11),
        ("2h", 1, 0, 4),
        ("2h", 1, 12, 16),
        ("2h", 31, 372, 406),
        ("9h", 31, 375, 416),
    ],
)
def test_pd_17_cards_gone(burn_card: str, rounds_opened: int, standing_cards: int, gone: int) -> None:
    """The first card, what it burned, one a round, and the standing cards."""
    burn = Card.parse(burn_card)
    assert gone_from_shoe(burn_card=burn, rounds_opened=rounds_opened, standing_cards=standing_cards) == gone


@pytest.mark.parametrize(("rounds_opened", "standing_cards"), [(-1, 0), (0, -1)])
def test_pd_17_nothing_is_counted_below_0(rounds_opened: int, standing_cards: int) -> None:
    """A negative count is a defect of the caller and is named."""
    with pytest.raises(ValueError, match="-1"):
        gone_from_shoe(burn_card=CARDS[0], rounds_opened=rounds_opened, standing_cards=standing_cards)


@given(st.lists(st.sampled_from(CARDS), max_size=60))
def test_pd_18_a_packed_count_counts_like_a_dictionary(seen: list[Card]) -> None:
    """Any cards in any order, the ninth copies refused: each face has its number and the total is right."""
    copies, expected = NO_COPIES, Counter[Card]()
    for card in seen:
        if expected[card] == COPIES_PER_FACE:
            continue
        copies = with_card(copies, card)
        expected[card] += 1
    assert [copies_of(copies, card.face) for card in CARDS] == [expected[card] for card in CARDS]
    assert total_copies(copies) == expected.total()
    assert parse_copies(int(copies)) == copies


@given(st.lists(st.sampled_from(CARDS), max_size=7), st.sampled_from(CARDS))
def test_pd_18_a_corrected_card_leaves_no_trace(seen: list[Card], wrong: Card) -> None:
    """Adding a card and taking it away gives the count from before, and the order of cards does not matter."""
    copies = NO_COPIES
    for card in seen:
        copies = with_card(copies, card)
    assert without_card(with_card(copies, wrong), wrong) == copies
    again = NO_COPIES
    for card in reversed(seen):
        again = with_card(again, card)
    assert again == copies


@pytest.mark.parametrize("card", CARDS, ids=str)
def test_pd_18_eight_copies_of_a_face_fit_and_a_ninth_does_not(card: Card) -> None:
    """For each face: the count goes to 8, then refuses, and its neighbours stay at 0."""
    copies = NO_COPIES
    for _ in range(COPIES_PER_FACE):
        copies = with_card(copies, card)
    assert {other.face: copies_of(copies, other.face) for other in CARDS if copies_of(copies, other.face)} == {
        card.face: 8
    }
    with pytest.raises(CopiesError, match=f"ninth copy of {card}"):
        with_card(copies, card)


def test_pd_18_a_whole_shoe_can_be_counted() -> None:
    """416 cards, and not one more of any face."""
    copies = NO_COPIES
    for card in CARDS * COPIES_PER_FACE:
        copies = with_card(copies, card)
    assert total_copies(copies) == SHOE_CARDS
    for card in CARDS:
        with pytest.raises(CopiesError):
            with_card(copies, card)


def test_pd_18_a_card_never_seen_cannot_be_taken_away() -> None:
    """A count never borrows from its neighbour."""
    only_the_next = with_card(NO_COPIES, CARDS[1])
    with pytest.raises(CopiesError, match="no copy of Ac"):
        without_card(only_the_next, CARDS[0])


@pytest.mark.parametrize("face", [-1, 52, 1000])
def test_there_are_no_other_faces(face: int) -> None:
    """A face outside 0 .. 51 is refused, not read as 0."""
    with pytest.raises(CopiesError, match=f"no face {face}:"):
        copies_of(NO_COPIES, face)


@pytest.mark.parametrize("packed", [-1, 9, 15, 9 << 100, 1 << 208, 9 << 204])
def test_a_stored_number_that_no_shoe_can_have_is_refused(packed: int) -> None:
    """Below 0, a face above 8, or bits beyond the 52 faces."""
    with pytest.raises(CopiesError):
        parse_copies(packed)
