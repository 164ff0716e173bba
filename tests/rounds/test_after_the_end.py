"""What becomes of events for a round that is over. Source: the contract, "Rounds" (cancellation, after settlement)."""

from __future__ import annotations

import pytest

from pokdeng.events.ids import Reason
from pokdeng.rounds import Cancelled, Mark
from tests.rounds.deals import IN_ORDER
from tests.rounds.playthrough import Play, opened

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
        ("corrected R-1 banker 1 4s", "refused correction_too_late"),
        ("cancelled R-1", "refused correction_too_late"),
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


@pytest.mark.parametrize("line", ["corrected R-1 banker 1 4s", "cancelled R-1"])
def test_corrections_after_settlement_say_honestly_why_they_are_refused(line: str) -> None:
    """This version does not serve them; nobody is told that the window has passed."""
    play: Play = opened(SETTLED).play(f"{line} -> refused correction_too_late")
    assert play.details == ["round R-1 is settled; corrections after settlement are not served by this version"]


def test_a_settled_round_is_not_held_by_the_next() -> None:
    """Nor by anything that comes for it."""
    play = opened(SETTLED).play("opened R-2 in S-1 -> applied\ndealt R-1 banker 1 4s -> refused seat_conflict")
    assert not play.round("R-1").is_held
