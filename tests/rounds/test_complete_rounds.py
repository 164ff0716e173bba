"""When a round is complete, and what holds or stops it. Source: the contract, "Rounds"."""

from __future__ import annotations

from itertools import permutations
from typing import TYPE_CHECKING

import pytest

from pokdeng.rounds import Completed, Mark, result_of
from tests.rounds.deals import DEALS, IN_ORDER, card_of
from tests.rounds.playthrough import Play, opened, said

if TYPE_CHECKING:
    from pokdeng.rules import Seat


def test_a_whole_round() -> None:
    """Open, the cards face down, close, the last card: it is complete with that record, and its cards lie."""
    play = opened("""
        deal R-1 W but banker 2     -> applied
        closed R-1                  -> applied
        dealt R-1 banker 2 3d       -> ends R-1
        """)
    assert play.round("R-1").places == DEALS["W"]
    assert play.round("R-1").is_over


def test_cards_may_all_come_before_the_close() -> None:
    """Then the close completes the round."""
    opened("""
        deal R-1 W                  -> applied
        closed R-1                  -> ends R-1
        """)


def test_cards_may_all_come_after_the_close() -> None:
    """Then the twelfth card completes the round."""
    opened("""
        closed R-1                  -> applied
        deal R-1 W                  -> applied; last ends R-1
        """)


@pytest.mark.parametrize(("seat", "position"), IN_ORDER)
def test_any_place_may_be_the_last_one_filled(seat: Seat, position: int) -> None:
    """Eleven cards and a close settle nothing, whichever is missing; the twelfth completes the round."""
    play = opened(f"deal R-1 W but {seat} {position} -> applied\nclosed R-1 -> applied")
    assert not play.round("R-1").is_over
    play.play(f"dealt R-1 {seat} {position} {card_of('W', seat, position)} -> ends R-1")


@pytest.mark.parametrize("before", range(12))
def test_the_close_may_come_between_any_two_cards(before: int) -> None:
    """The last card completes the round, and the close is known by its broker time."""
    play = opened()
    for place, (seat, position) in enumerate(IN_ORDER):
        if place == before:
            play.play("closed R-1 @5000 -> applied")
        last = "ends R-1" if place == 11 else "applied"
        play.play(f"dealt R-1 {seat} {position} {card_of('W', seat, position)} -> {last}")
    assert play.round("R-1").closed_at_ms == 5000


@pytest.mark.parametrize("order", list(permutations(("close", "card", "resume", "correction", "next"))))
def test_the_last_of_what_was_missing_completes_the_round(order: tuple[str, ...]) -> None:
    """Close, card, end of the pause, end of the dispute, in any order; a next round hinders nothing."""
    play = opened("""
        deal R-1 W but player_2 1     -> applied
        dealt R-1 banker 2 5h         -> refused seat_conflict, holds R-1 seat_conflict
        paused R-1                    -> applied
        """)
    lines = {
        "close": "closed R-1",
        "card": "dealt R-1 player_2 1 5s",
        "resume": "resumed R-1",
        "correction": "corrected R-1 banker 2 3d",
        "next": "opened R-2 in S-1",
    }
    last = [what for what in order if what != "next"][-1]
    is_held_already = order.index("next") < order.index("correction")
    for what in order:
        expected = "applied"
        if what == last:
            expected = "ends R-1"
        elif what == "next" and not is_held_already and not play.round("R-1").is_over:
            expected = "applied, holds R-1 incomplete"
        play.play(f"{lines[what]} -> {expected}")
    assert play.round("R-1").places == DEALS["W"]
    assert not play.round("R-1").is_held


def test_the_completing_record_is_known() -> None:
    """Its offset, broker time and `occurred_at`, for it is the cause of what follows."""
    play = opened("""
        deal R-1 W but banker 2         -> applied
        closed R-1 @2000                -> applied
        dealt R-1 banker 2 3d @2500     -> ends R-1
        """)
    assert play.round("R-1").completed == Completed(Mark(15, 2500), "occurred-15")
    assert (play.round("R-1").first, play.round("R-1").last) == (2, 15)


def test_the_end_of_a_pause_may_complete_a_round() -> None:
    """Nothing settles while paused; then `round_resumed` is the completing record."""
    play = opened("""
        closed R-1                      -> applied
        paused R-1                      -> applied
        deal R-1 W                      -> applied
        resumed R-1 @9000               -> ends R-1
        """)
    completed = play.round("R-1").completed
    assert completed is not None
    assert completed.mark.at_ms == 9000


def test_the_end_of_a_pause_lifts_no_dispute() -> None:
    """Only a correction of that place or a cancellation does."""
    play = opened("""
        closed R-1                      -> applied
        deal R-1 W                      -> applied; last ends R-1
        opened R-2 in S-1               -> applied
        deal R-2 T but banker 1         -> applied
        dealt R-2 player_1 1 2s         -> refused seat_conflict, holds R-2 seat_conflict
        closed R-2                      -> applied
        dealt R-2 banker 1 8s           -> applied
        paused R-2                      -> applied
        resumed R-2                     -> applied
        """)
    assert play.round("R-2").is_held
    assert not play.round("R-2").is_over
    play.play("corrected R-2 player_1 1 9c -> ends R-2")


def test_a_correction_of_another_place_lifts_no_dispute() -> None:
    """Each disputed place is corrected for itself, and the round waits for the last of them."""
    opened("""
        deal R-1 W                      -> applied
        dealt R-1 player_1 1 2s         -> refused seat_conflict, holds R-1 seat_conflict
        dealt R-1 player_3 2 2s         -> refused seat_conflict
        closed R-1                      -> applied
        corrected R-1 banker 1 4s       -> applied
        corrected R-1 player_3 2 5h     -> applied
        corrected R-1 player_1 1 2s     -> ends R-1
        """)


def test_a_second_pause_and_a_second_end_of_it_say_nothing_new() -> None:
    """They change nothing."""
    opened("""
        resumed R-1 -> duplicate
        paused R-1  -> applied
        paused R-1  -> duplicate
        resumed R-1 -> applied
        resumed R-1 -> duplicate
        """)


def test_the_first_close_counts() -> None:
    """Others are duplicates, before the round is complete and after."""
    play = opened("""
        closed R-1 @2000 -> applied
        closed R-1 @3000 -> duplicate
        deal R-1 W       -> applied; last ends R-1
        closed R-1 @4000 -> duplicate
        """)
    assert play.round("R-1").closed_at_ms == 2000


@pytest.mark.parametrize("lines", ["", "deal R-1 W -> applied", "closed R-1 -> applied", "paused R-1 -> applied"])
def test_a_next_round_holds_one_that_is_not_complete(lines: str) -> None:
    """Whatever it lacks; this is said once, and not of rounds before it."""
    play = opened(lines).play("""
        opened R-2 in S-1   -> applied, holds R-1 incomplete
        opened R-3 in S-1   -> applied, holds R-2 incomplete
        """)
    assert [play.round(name).is_held for name in ("R-1", "R-2", "R-3")] == [True, True, False]


def test_a_next_round_in_a_next_shoe_holds_it_too() -> None:
    """The table goes on, and the last round is not complete; it still counts in its own shoe."""
    play = opened("""
        started S-2 Kh          -> applied
        opened R-2 in S-2       -> applied, holds R-1 incomplete
        deal R-1 W              -> applied
        closed R-1              -> ends R-1
        """)
    assert (play.shoe("S-1").gone, play.shoe("S-2").gone) == (3 + 1 + 12, 11 + 1)


def test_a_hold_for_incompleteness_ends_when_the_round_is_complete() -> None:
    """With the record that completes it."""
    play = opened("""
        opened R-2 in S-1       -> applied, holds R-1 incomplete
        closed R-1              -> applied
        deal R-1 W              -> applied; last ends R-1
        """)
    assert not play.round("R-1").is_held


def test_a_next_round_holds_none_that_is_over() -> None:
    """Neither a complete one nor a cancelled one."""
    opened("""
        closed R-1              -> applied
        deal R-1 W              -> applied; last ends R-1
        opened R-2 in S-1       -> applied
        cancelled R-2           -> ends R-2
        opened R-3 in S-1       -> applied
        """)


def test_a_round_held_for_a_dispute_is_not_said_to_be_held_again() -> None:
    """Said when it becomes held, not again while it is; it then waits for both."""
    opened("""
        dealt R-1 banker 2 5h       -> applied
        dealt R-1 banker 2 3d       -> refused seat_conflict, holds R-1 seat_conflict
        dealt R-1 banker 2 3d       -> refused seat_conflict
        opened R-2 in S-1           -> applied
        corrected R-1 banker 2 3d   -> applied
        dealt R-1 banker 2 5h       -> refused seat_conflict     ;; held still: incomplete
        corrected R-1 banker 2 3d   -> applied
        deal R-1 W but banker 2     -> applied
        closed R-1                  -> ends R-1
        """)


def test_a_hold_that_comes_back_is_said_again() -> None:
    """It was lifted between."""
    opened("""
        dealt R-1 banker 2 5h       -> applied
        dealt R-1 banker 2 3d       -> refused seat_conflict, holds R-1 seat_conflict
        corrected R-1 banker 2 5h   -> applied
        dealt R-1 banker 2 3d       -> refused seat_conflict, holds R-1 seat_conflict
        """)


def test_a_complete_round_has_a_result() -> None:
    """Completion means twelve cards."""
    play = opened("closed R-1 -> applied\ndeal R-1 L -> applied; last ends R-1")
    assert str(result_of(play.round("R-1").places).banker) == "Jc Kd"


def test_verdicts_are_told_apart() -> None:
    """The arrow's words are those of the verdict: a line that expects another one fails."""
    with pytest.raises(AssertionError, match="got \\['applied'\\]"):
        opened("closed R-1 -> duplicate")
    with pytest.raises(AssertionError, match="no arrow"):
        Play().play("closed R-1")
    assert said(Play().take(next(iter(Play()._events_of("closed", ["R-1"], None))))) == "refused unknown_round"
