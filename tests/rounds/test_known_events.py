"""Repeats and conflicts of ids. Source: the contract, "Duplicates and conflicts"."""

from __future__ import annotations

import pytest

from pokdeng.rounds import Refused
from tests.rounds.playthrough import opened, play, shows_a_card

ONE_OF_EACH = {
    "closed": "closed R-1 #e",
    "dealt": "dealt R-1 banker 1 4h #e",
    "corrected": "corrected R-1 banker 1 4h #e",
    "cut": "cut R-1 in S-1 #e",
    "paused": "paused R-1 wait #e",
    "resumed": "resumed R-1 go #e",
    "cancelled": "cancelled R-1 fire #e",
}
OTHER_CONTENT = {
    "dealt": ["dealt R-1 banker 1 4s #e", "dealt R-1 banker 2 4h #e", "dealt R-1 player_1 1 4h #e"],
    "corrected": ["corrected R-1 banker 1 4s #e", "corrected R-1 banker 2 4h #e", "corrected R-1 player_1 1 4h #e"],
    "cut": ["cut R-1 in S-2 #e"],
    "paused": ["paused R-1 stop #e"],
    "resumed": ["resumed R-1 on #e"],
    "cancelled": ["cancelled R-1 flood #e"],
}


@pytest.mark.parametrize("name", ONE_OF_EACH)
def test_the_same_event_again_changes_nothing(name: str) -> None:
    """It is a duplicate, and the very same table comes back."""
    first = "paused R-1 -> applied" if name == "resumed" else ""
    ends = "ends R-1" if name == "cancelled" else "applied"
    game = opened(first).play(f"{ONE_OF_EACH[name]} -> {ends}")
    before = game.table
    game.play("again #e -> duplicate\nagain #e -> duplicate")
    assert game.table == before


@pytest.mark.parametrize(
    ("name", "other"), [(name, other) for name, others in OTHER_CONTENT.items() for other in others]
)
def test_the_same_event_id_with_other_content_is_a_conflict(name: str, other: str) -> None:
    """Before anything else is asked, and nothing changes: no hold either."""
    first = "paused R-1 -> applied" if name == "resumed" else ""
    ends = "ends R-1" if name == "cancelled" else "applied"
    game = opened(first).play(f"{ONE_OF_EACH[name]} -> {ends}")
    before = game.table
    game.play(f"{other} -> refused id_conflict")
    assert game.table == before


def test_an_event_id_is_one_within_its_type() -> None:
    """Two types may use the same."""
    opened("""
        dealt R-1 banker 1 4h #e        -> applied
        corrected R-1 banker 1 4s #e    -> applied
        paused R-1 #e                   -> applied
        resumed R-1 #e                  -> applied
        closed R-1 #e                   -> applied
        cut R-1 in S-1 #e               -> applied
        cancelled R-1 #e                -> ends R-1
        """)


def test_an_event_id_is_one_within_its_round() -> None:
    """Two rounds may use the same."""
    opened("""
        dealt R-1 banker 1 4h #e        -> applied
        opened R-2 in S-1               -> applied, holds R-1 incomplete
        dealt R-2 banker 1 4s #e        -> applied
        """)


def test_a_repeat_is_a_duplicate_whatever_has_happened_since() -> None:
    """A card that was corrected away, a pause that is over, in a round that is settled by now."""
    opened("""
        dealt R-1 banker 2 5h #card     -> applied
        paused R-1 #pause               -> applied
        corrected R-1 banker 2 3d #fix  -> applied
        again #card                     -> duplicate
        resumed R-1 #go                 -> applied
        again #pause                    -> duplicate
        closed R-1 #close               -> applied
        deal R-1 W but banker 2         -> applied; last ends R-1
        again #card #pause #fix #go #close -> duplicate
        """)


def test_a_duplicate_is_remembered_too() -> None:
    """A repeat under another event id: that id is known from then on."""
    opened("""
        dealt R-1 banker 2 5h #e1       -> applied
        dealt R-1 banker 2 5h #e2       -> duplicate
        corrected R-1 banker 2 3d       -> applied
        again #e2                       -> duplicate
        dealt R-1 banker 2 Ks #e2       -> refused id_conflict
        """)


def test_a_duplicate_that_comes_after_the_end_is_remembered_too() -> None:
    """As long as its round is."""
    opened("""
        closed R-1                      -> applied
        deal R-1 W                      -> applied; last ends R-1
        dealt R-1 banker 2 3d #late     -> duplicate
        dealt R-1 banker 2 Ks #late     -> refused id_conflict
        """)


def test_what_was_refused_is_not_remembered() -> None:
    """Each delivery is judged anew: when the place was corrected, the once refused card repeats what lies there."""
    opened("""
        dealt R-1 banker 2 5h           -> applied
        dealt R-1 banker 2 3d #e        -> refused seat_conflict, holds R-1 seat_conflict
        again #e                        -> refused seat_conflict
        corrected R-1 banker 2 3d       -> applied
        again #e                        -> duplicate
        """)


def test_an_event_that_came_before_its_round_can_come_again() -> None:
    """It was `unknown_round`, and nothing is remembered of that."""
    play("""
        started S-1 2h                  -> applied
        dealt R-1 banker 1 4h #e        -> refused unknown_round
        opened R-1 in S-1               -> applied
        again #e                        -> applied
        """)


@pytest.mark.parametrize("line", [line for name, line in ONE_OF_EACH.items() if name != "cut"])
def test_an_event_of_a_round_not_opened_is_unknown_round(line: str) -> None:
    """Of whatever type."""
    play(f"{line} -> refused unknown_round")


def test_a_cut_card_of_a_round_not_opened_is_unknown_round() -> None:
    """That reason comes before the shoe's."""
    play("cut R-1 in S-1 -> refused unknown_round")


def test_a_shoe_is_started_once() -> None:
    """The same content again is a duplicate, another burn card a conflict; played on or not, the newest or not."""
    opened("""
        started S-1 2h                  -> duplicate
        started S-1 2s                  -> refused id_conflict
        started S-2 Kh                  -> applied
        started S-1 2h                  -> duplicate
        started S-1 2s                  -> refused id_conflict
        """)


def test_a_shoe_that_repeats_is_not_the_newest_again() -> None:
    """Rounds go on in the one that was started last."""
    play("""
        started S-1 2h                  -> applied
        started S-2 2h                  -> applied
        started S-1 2h                  -> duplicate
        opened R-1 in S-2               -> applied
        """)


def test_a_round_is_opened_once() -> None:
    """In the same shoe it is a duplicate, in another a conflict, whether that one exists or not."""
    opened("""
        opened R-1 in S-1               -> duplicate
        opened R-1 in S-2               -> refused id_conflict
        started S-2 2h                  -> applied
        opened R-1 in S-1               -> duplicate
        opened R-1 in S-2               -> refused id_conflict
        """)


def test_an_opening_that_repeats_does_not_make_the_round_the_last_opened() -> None:
    """R-2 is the one that R-3 finds incomplete."""
    opened("""
        opened R-2 in S-1               -> applied, holds R-1 incomplete
        opened R-1 in S-1               -> duplicate
        opened R-3 in S-1               -> applied, holds R-2 incomplete
        """)


@pytest.mark.parametrize("event_id", ["R-1:player_1:1:4h", "4h", "T-1.R-1.banker-10h"])
def test_an_event_id_made_of_the_card_is_never_repeated(event_id: str) -> None:
    """Details name the place or the type: whoever writes the events may have made their ids of the cards."""
    game = opened(f"dealt R-1 banker 1 4h #{event_id} -> applied")
    verdict = game.take(next(game._events_of("dealt", ["R-1", "banker", "1", "4s"], event_id)))
    assert isinstance(verdict, Refused)
    assert verdict.reason == "id_conflict"
    assert event_id not in verdict.detail
    assert not shows_a_card(verdict.detail)


def test_when_it_occurred_is_no_content() -> None:
    """It is for people: each line here has another `occurred_at`, and that makes no conflict."""
    opened("""
        paused R-1 fire #e          -> applied
        paused R-1 fire #e          -> duplicate
        """)


def test_the_last_event_of_a_round_is_known() -> None:
    """A replay needs all that changed it or repeats it, disputes too, and nothing that was refused without effect."""
    game = opened("dealt R-1 banker 2 5h -> applied")
    lasts = [game.round("R-1").last]
    for line in (
        "dealt R-1 banker 2 5h -> duplicate",
        "dealt R-1 banker 2 3d -> refused seat_conflict, holds R-1 seat_conflict",
        "dealt R-1 banker 2 3d -> refused seat_conflict",
        "cut R-1 in S-9 -> refused unknown_shoe",
        "corrected R-1 banker 2 3d -> applied",
    ):
        game.play(line)
        lasts.append(game.round("R-1").last)
    assert lasts == [3, 4, 5, 5, 5, 8]
    assert game.round("R-1").first == 2
