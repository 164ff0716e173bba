"""Cards at their places: repeats, conflicts, corrections, disputes. Source: the contract, "Rounds"."""

from __future__ import annotations

import pytest

from pokdeng.events.reasons import HoldReason
from pokdeng.rounds import NOTHING_DEALT, PLACES, SEATS, place_of
from pokdeng.rules import Card, Seat
from tests.rounds.deals import IN_ORDER
from tests.rounds.playthrough import opened


def test_there_are_twelve_places_in_the_order_of_the_seats() -> None:
    """Two of each seat, the banker's last."""
    assert [place_of(seat, position) for seat in SEATS for position in (1, 2)] == list(range(PLACES))
    assert NOTHING_DEALT == (None,) * 12


@pytest.mark.parametrize(("seat", "position"), IN_ORDER)
def test_a_card_lies_where_it_was_dealt_and_nowhere_else(seat: Seat, position: int) -> None:
    """At every place."""
    play = opened(f"dealt R-1 {seat} {position} Th -> applied")
    lying = [(s, p) for s, p in IN_ORDER if play.card("R-1", s, p) is not None]
    assert lying == [(seat, position)]
    assert play.card("R-1", seat, position) == "Th"


def test_ten_is_written_in_two_ways_and_is_one_card() -> None:
    """`10h` repeats `Th`."""
    opened("dealt R-1 banker 1 Th -> applied\ndealt R-1 banker 1 10h -> duplicate")


def test_a_card_that_repeats_what_lies_there_is_a_duplicate() -> None:
    """Whatever its event id, and the shoe counts it once."""
    play = opened("""
        dealt R-1 banker 2 3d #e1 -> applied
        dealt R-1 banker 2 3d #e2 -> duplicate
        dealt R-1 banker 2 3d #e3 -> duplicate
        """)
    assert play.shoe("S-1").gone == 5


def test_another_card_for_a_taken_place_holds_the_round() -> None:
    """`seat_conflict`; what lies there stays, and the shoe does not count the other."""
    play = opened("""
        dealt R-1 banker 2 5h     -> applied
        dealt R-1 banker 2 3d     -> refused seat_conflict, holds R-1 seat_conflict
        """)
    assert play.card("R-1", "banker", 2) == "5h"
    assert play.round("R-1").disputes == {11: HoldReason.SEAT_CONFLICT}
    assert play.shoe("S-1").gone == 5


def test_the_same_face_may_lie_at_two_places() -> None:
    """A shoe has eight of each."""
    opened("dealt R-1 banker 1 5h -> applied\ndealt R-1 banker 2 5h -> applied")


def test_a_disputed_place_takes_only_what_lies_there() -> None:
    """A repeat is a duplicate and lifts nothing; any other card is `seat_conflict`."""
    play = opened("""
        dealt R-1 banker 2 5h     -> applied
        dealt R-1 banker 2 3d     -> refused seat_conflict, holds R-1 seat_conflict
        dealt R-1 banker 2 5h     -> duplicate
        dealt R-1 banker 2 3d     -> refused seat_conflict
        dealt R-1 banker 2 Ks     -> refused seat_conflict
        """)
    assert play.round("R-1").is_held


def test_other_places_of_a_held_round_take_cards() -> None:
    """The dispute is about one place."""
    opened("""
        dealt R-1 banker 2 5h     -> applied
        dealt R-1 banker 2 3d     -> refused seat_conflict, holds R-1 seat_conflict
        dealt R-1 banker 1 3d     -> applied
        """)


@pytest.mark.parametrize(("card", "gone"), [("5h", 5), ("3d", 5), ("Ks", 5)])
def test_a_correction_settles_the_dispute_whichever_card_it_names(card: str, gone: int) -> None:
    """The first card, the second or a third: it lies there then, and the hold is over."""
    play = opened(f"""
        dealt R-1 banker 2 5h          -> applied
        dealt R-1 banker 2 3d          -> refused seat_conflict, holds R-1 seat_conflict
        corrected R-1 banker 2 {card}  -> applied
        """)
    assert play.card("R-1", "banker", 2) == card
    assert not play.round("R-1").is_held
    assert play.shoe("S-1").gone == gone


def test_a_correction_replaces_the_card() -> None:
    """Without a dispute too; the number of cards gone stays."""
    play = opened("dealt R-1 banker 2 5h -> applied\ncorrected R-1 banker 2 3d -> applied")
    assert play.card("R-1", "banker", 2) == "3d"
    assert play.shoe("S-1").gone == 5


def test_a_correction_fills_an_empty_place() -> None:
    """It is a card like another, and may be the one that completes the round."""
    opened("""
        deal R-1 W but banker 2     -> applied
        closed R-1                  -> applied
        corrected R-1 banker 2 3d   -> ends R-1
        """)


def test_a_correction_to_the_card_that_lies_there_is_a_duplicate() -> None:
    """Where nothing is in dispute."""
    opened("dealt R-1 banker 2 3d -> applied\ncorrected R-1 banker 2 3d -> duplicate")


def test_a_corrected_away_card_is_refused_when_it_comes_anew() -> None:
    """It is another card for a taken place."""
    opened("""
        dealt R-1 banker 2 5h       -> applied
        corrected R-1 banker 2 3d   -> applied
        dealt R-1 banker 2 5h       -> refused seat_conflict, holds R-1 seat_conflict
        """)


def test_a_refusal_names_the_place_and_not_the_card() -> None:
    """No card is shown before its round is closed, nor after: details say which place it is about."""
    play = opened("""
        dealt R-1 banker 2 5h       -> applied
        dealt R-1 banker 2 3d       -> refused seat_conflict, holds R-1 seat_conflict
        """)
    assert play.details == ["banker position 2 has another card"]


def test_cards_are_known_by_identity_however_they_came() -> None:
    """One instance a face: parsing gives the same card each time."""
    assert Card.parse("10s") is Card.parse("Ts")
