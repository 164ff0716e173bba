"""What becomes of events for a round that is over. Source: the contract, "Rounds" (cancellation, after settlement)."""

from __future__ import annotations

import pytest

from pokdeng.events.ids import Reason
from pokdeng.rounds import Cancelled, Mark
from pokdeng.rules import Card, copies_of
from tests.rounds.deals import IN_ORDER
from tests.rounds.playthrough import opened

SETTLED = "closed R-1 #close -> applied\ndeal R-1 W -> applied; last ends R-1\n"
CANCELLED = "dealt R-1 banker 1 4h #card -> applied\ncancelled R-1 -> ends R-1\n"


@pytest.mark.parametrize(
    "line",
    [
        "closed R-1",
        "dealt R-1 banker 1 4h",
        "dealt R-1 banker 1 4s",
        "dealt R-1 banker 2 3d",
        "corrected R-1 banker 1 4h",
        "corrected R-1 banker 1 4s",
        "corrected R-1 banker 2 3d",
        "cut R-1 in S-1",
        "paused R-1",
        "resumed R-1",
    ],
)
def test_a_cancellation_is_final(line: str) -> None:
    """Any other new event of the round is out of order, one that repeats a card or a close too; nothing changes."""
    play = opened(CANCELLED)
    before = play.table
    play.play(f"{line} -> refused round_out_of_order")
    assert play.table == before


def test_a_cancelled_round_is_cancelled_once() -> None:
    """A further cancellation is a duplicate, whatever its reason; the first one's reason and record stand."""
    play = opened("cancelled R-1 cards fell #x1 @2000 -> ends R-1")
    play.play("cancelled R-1 cards fell #x2 @3000 -> duplicate\ncancelled R-1 power cut #x3 @4000 -> duplicate")
    assert play.round("R-1").cancelled == Cancelled(Mark(3, 2000), "occurred-3", Reason("cards fell"))


def test_what_a_cancelled_round_knows_stays_known() -> None:
    """The same event again is a duplicate whatever has happened since; so is its opening."""
    opened(CANCELLED).play("again #card -> duplicate\nopened R-1 in S-1 -> duplicate")


@pytest.mark.parametrize(
    "lines",
    [
        "closed R-1 -> applied",
        "paused R-1 -> applied",
        "deal R-1 W -> applied",
        "opened R-2 in S-1 -> applied, holds R-1 incomplete",
        "dealt R-1 banker 1 4h -> applied\ndealt R-1 banker 1 4s -> refused seat_conflict, holds R-1 seat_conflict",
    ],
)
def test_a_round_can_be_cancelled_in_every_state_before_settlement(lines: str) -> None:
    """Open, closed, paused, dealt, held: it is over at once."""
    play = opened(lines).play("cancelled R-1 -> ends R-1")
    assert play.round("R-1").is_over
    assert play.round("R-1").completed is None


def test_a_cancelled_round_keeps_its_close() -> None:
    """What was in time is judged by it."""
    play = opened("closed R-1 @2000 -> applied\ncancelled R-1 @3000 -> ends R-1")
    assert play.round("R-1").closed_at_ms == 2000


@pytest.mark.parametrize(
    ("line", "verdict"),
    [
        ("closed R-1", "duplicate"),
        ("again #close", "duplicate"),
        ("opened R-1 in S-1", "duplicate"),
        ("dealt R-1 banker 1 4h", "duplicate"),
        ("dealt R-1 banker 1 4s", "refused seat_conflict"),
        ("corrected R-1 banker 1 4h", "duplicate"),
        ("paused R-1", "refused round_out_of_order"),
        ("resumed R-1", "refused round_out_of_order"),
        ("cut R-1 in S-1", "refused round_out_of_order"),
        ("cut R-1 in S-2", "refused unknown_shoe"),
    ],
)
def test_a_settlement_stands(line: str, verdict: str) -> None:
    """Whatever comes, the round stays complete with the same cards, is not held, and its shoe counts the same."""
    play = opened(SETTLED)
    before, shoes = play.round("R-1"), play.table.shoes
    play.play(f"{line} -> {verdict}")
    after = play.round("R-1")
    assert after._replace(seen=before.seen, last=before.last) == before
    assert not after.is_held
    assert play.table.shoes == shoes


@pytest.mark.parametrize(("seat", "position"), IN_ORDER)
def test_each_place_of_a_settled_round_is_taken(seat: str, position: int) -> None:
    """Another card for it is `seat_conflict`, and holds nothing."""
    play = opened(SETTLED).play(f"dealt R-1 {seat} {position} 8c -> refused seat_conflict")
    assert not play.round("R-1").is_held


def test_a_correction_after_settlement_that_cannot_be_is_a_ninth_copy() -> None:
    """Eight copies stand in the shoe."""
    play = opened(SETTLED).play("opened R-2 in S-1 -> applied")
    for seat, position in IN_ORDER[:8]:
        play.play(f"dealt R-2 {seat} {position} 8c -> applied")
    play.play("corrected R-1 banker 1 8c -> refused ninth_copy")
    assert not play.round("R-1").is_held


WINDOW_MS = 24 * 3_600_000


@pytest.mark.parametrize("line", ["corrected R-1 banker 1 4s", "cancelled R-1"])
def test_a_settled_round_is_revised_within_the_window(line: str) -> None:
    """To its last millisecond, by broker time from the record that completed the round; then it is too late."""
    for late_ms, verdict in ((WINDOW_MS, "revises R-1"), (WINDOW_MS + 1, "refused correction_too_late")):
        play = opened(SETTLED)
        completed = play.round("R-1").completed
        assert completed is not None
        play.play(f"{line} @{completed.mark.at_ms + late_ms} -> {verdict}")


def test_each_correction_is_a_revision_and_the_window_stays() -> None:
    """It begins with the record that caused revision 1, whatever was corrected since."""
    play = opened(SETTLED)
    at_ms = play.round("R-1").last + WINDOW_MS
    play.play(f"""
        corrected R-1 banker 1 4s #c1 @{at_ms}     -> revises R-1
        corrected R-1 banker 1 4s                  -> duplicate
        again #c1 @{10 * at_ms}                    -> duplicate
        corrected R-1 banker 1 4s @{10 * at_ms}    -> duplicate            ;; to the card that lies there, whenever
        corrected R-1 banker 1 4h                  -> refused correction_too_late
        """)
    assert play.card("R-1", "banker", 1) == "4s"


def test_a_corrected_away_card_is_no_copy_any_more() -> None:
    """The place has another card, as many are gone, and the one that lay there may come again."""
    play = opened(SETTLED)
    before = play.shoe("S-1")
    play.play("corrected R-1 banker 1 4s -> revises R-1")
    after = play.shoe("S-1")
    assert after.gone == before.gone
    assert copies_of(after.copies, Card.parse("4h").face) == copies_of(before.copies, Card.parse("4h").face) - 1
    assert copies_of(after.copies, Card.parse("4s").face) == copies_of(before.copies, Card.parse("4s").face) + 1


def test_a_cancelled_settlement_is_final_and_its_cards_count() -> None:
    """Then everything but a repeat is out of order; the shoe keeps the round's cards."""
    play = opened(SETTLED)
    shoe = play.shoe("S-1")
    play.play("""
        corrected R-1 banker 1 4s #c1   -> revises R-1
        corrected R-1 banker 1 4h       -> revises R-1
        cancelled R-1 #x1               -> revises R-1
        cancelled R-1                   -> duplicate
        again #c1 #x1 #close            -> duplicate
        closed R-1                      -> refused round_out_of_order
        corrected R-1 banker 1 4s       -> refused round_out_of_order
        dealt R-1 banker 1 4h           -> refused round_out_of_order
        """)
    assert play.shoe("S-1") == shoe


def test_a_correction_with_a_known_id_and_other_content_is_a_conflict() -> None:
    """Before anything else is asked."""
    opened(SETTLED).play("""
        corrected R-1 banker 1 4s #c1   -> revises R-1
        corrected R-1 banker 1 4d #c1   -> refused id_conflict
        """)


def test_a_settled_round_is_not_held_by_the_next() -> None:
    """Nor by anything that comes for it."""
    play = opened(SETTLED).play("opened R-2 in S-1 -> applied\ndealt R-1 banker 1 4s -> refused seat_conflict")
    assert not play.round("R-1").is_held
