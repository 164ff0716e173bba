"""The script: what a play is made of, and what can be relied on in its order."""

from __future__ import annotations

import hashlib
import json
import random
from collections import Counter
from dataclasses import replace
from itertools import islice
from typing import Any

import pytest

from pokdeng.simulator import Beat, Kind, Mischief, Play, Step, script
from pokdeng.simulator.crowd import player
from pokdeng.simulator.shoe import Shoe
from pokdeng.wire import TopicKind

QUIET = Play(tables=3, rounds=40, accounts=30, bets_per_round=8)
WILD = Play(tables=4, rounds=40, accounts=30, bets_per_round=12, mischief=Mischief.at(1.0))


def steps_of(play: Play) -> list[Step]:
    """All steps of a play."""
    return [step for beat in script(play) for step in beat.steps]


def digest(play: Play) -> str:
    """A fingerprint of every byte and moment of a play."""
    made = hashlib.sha256()
    for step in steps_of(play):
        made.update(repr(step).encode())
    return made.hexdigest()


def event(step: Step) -> dict[str, Any]:
    """What a step says."""
    return dict(json.loads(step.value or b""))


def test_the_same_play_makes_the_same_bytes() -> None:
    """A play depends on nothing but its parameters."""
    assert digest(WILD) == digest(WILD)


def test_another_seed_makes_another_play_with_ids_of_its_own() -> None:
    """Plays of two seeds can follow each other on the same topics without one id in common."""
    plays = [Play(tables=2, rounds=3, accounts=10, bets_per_round=5, seed=seed) for seed in (1, 2)]
    names = [
        {
            (said.get("table_id"), said.get("account_id"), said.get("round_id"), said.get("transfer_id"))
            for said in map(event, steps_of(play))
            if "round_id" in said or "transfer_id" in said
        }
        for play in plays
    ]
    assert not names[0] & names[1]


def test_an_account_has_one_currency_in_every_play() -> None:
    """Currencies go by the account's number: a later play does not contradict an earlier deposit."""
    assert [player(number).money.currency for number in (1, 7, 13, 27, 33)] == ["THB", "EUR", "JPY", "EUR", "JPY"]


def test_a_script_is_made_as_it_is_read() -> None:
    """A play of a billion rounds begins at once."""
    beats = list(islice(script(Play(tables=2, rounds=10**9, accounts=2)), 20))
    assert [beat.number for beat in beats] == list(range(20))


@pytest.mark.parametrize("play", [QUIET, WILD], ids=["quiet", "wild"])
def test_beats_follow_each_other_and_hold_their_steps_in_order(play: Play) -> None:
    """Each beat begins where the last one ended, and its steps lie in it by time."""
    ends_at = play.starts_at_ms
    for beat in script(play):
        assert beat.starts_at_ms == ends_at
        moments = [step.at_ms for step in beat.steps]
        assert moments == sorted(moments)
        assert all(beat.starts_at_ms <= moment < beat.starts_at_ms + beat.lasts_ms for moment in moments)
        ends_at += beat.lasts_ms


def beats_by_round(play: Play, kinds: set[Kind]) -> dict[tuple[str, str], list[int]]:
    """In which beats the steps of some kinds are, by table and round."""
    found: dict[tuple[str, str], list[int]] = {}
    for beat in script(play):
        for step in beat.steps:
            if step.kind in kinds:
                said = event(step)
                found.setdefault((said["table_id"], said["round_id"]), []).append(beat.number)
    return found


def test_a_barrier_lies_between_a_rounds_opening_its_bets_and_its_close() -> None:
    """Bets are in beats after their round was opened and before it is closed."""
    opened, closed = beats_by_round(WILD, {Kind.ROUND}), beats_by_round(WILD, {Kind.CLOSE})
    bets = beats_by_round(WILD, {Kind.BET, Kind.CANCEL})
    assert bets.keys() <= opened.keys()
    first_bets = beats_by_round(WILD, {Kind.BET})
    for name, beats in first_bets.items():
        assert max(opened[name]) < min(beats)
        assert name not in closed or max(beats) < min(closed[name])


def test_a_barrier_lies_between_a_rounds_close_and_its_late_bets() -> None:
    """Late bets and cancels are in beats after the close."""
    closed = beats_by_round(WILD, {Kind.CLOSE})
    late = beats_by_round(WILD, {Kind.LATE_BET, Kind.LATE_CANCEL})
    assert late
    assert all(max(closed[name]) < min(beats) for name, beats in late.items() if name in closed)


def test_money_comes_first() -> None:
    """The first beat holds a deposit for every account, and says that it is the opening."""
    first, second = islice(script(QUIET), 2)
    assert first.is_opening
    assert not second.is_opening
    assert [event(step)["account_id"] for step in first.steps] == [f"A-{number:06d}" for number in range(1, 31)]


def test_a_play_can_do_without_deposits() -> None:
    """A play that follows another need not put money in."""
    play = Play(tables=1, rounds=1, accounts=5, puts_money_in=False)
    assert not any(beat.is_opening for beat in script(play))


def test_tables_that_are_not_staggered_close_in_one_beat() -> None:
    """A play can have all its tables close at once: the hardest burst."""
    play = Play(tables=5, rounds=2, accounts=10, bets_per_round=2, is_staggered=False)
    closes = [sum(step.kind is Kind.CLOSE for step in beat.steps) for beat in script(play)]
    assert [count for count in closes if count] == [5, 5]


def test_every_kind_of_step_is_played() -> None:
    """At full mischief each kind of the summary is there."""
    wild = Play(tables=6, rounds=60, accounts=30, bets_per_round=12, mischief=Mischief.at(1.0))
    assert {step.kind for step in steps_of(wild)} == set(Kind)


def test_nothing_is_delivered_twice_without_mischief() -> None:
    """A quiet play has no two records alike."""
    values = [(step.topic, step.value) for step in steps_of(QUIET)]
    assert len(set(values)) == len(values)


def test_a_redelivery_has_the_very_bytes_of_an_earlier_step() -> None:
    """What is delivered again was delivered before, under the same key."""
    seen: set[tuple[str, bytes | None, bytes | None]] = set()
    count = 0
    for step in steps_of(WILD):
        record = (step.topic, step.key, step.value)
        if step.kind is Kind.REDELIVERY:
            assert record in seen
            count += 1
        seen.add(record)
    assert count


def test_a_round_has_about_as_many_bets_as_asked_for() -> None:
    """The bets of a round are those asked for, give or take one for each phase of betting."""
    counts = Counter(event(step)["round_id"] for step in steps_of(QUIET) if step.kind is Kind.BET)
    assert len(counts) == QUIET.rounds
    assert all(abs(count / QUIET.tables - QUIET.bets_per_round) <= 4 for count in counts.values())


def test_a_shoe_holds_each_face_eight_times_and_ends_by_its_cut_card() -> None:
    """What is dealt from a shoe is what eight decks hold; no round follows the one of the cut card."""
    faces: dict[tuple[str, str], Counter[str]] = {}
    shoe_of: dict[str, str] = {}
    cut: set[tuple[str, str]] = set()
    for step in steps_of(QUIET):
        said = event(step)
        table = said.get("table_id", "")
        if said["type"] == "shoe_started":
            shoe_of[table] = said["shoe_id"]
            faces[table, said["shoe_id"]] = Counter([said["burn_card"]])
        elif said["type"] == "round_opened":
            assert (table, said["shoe_id"]) not in cut
        elif said["type"] == "card_dealt":
            faces[table, shoe_of[table]][said["card"]] += 1
        elif said["type"] == "cut_card_drawn":
            cut.add((table, said["shoe_id"]))
    assert len(cut) == QUIET.tables
    assert all(max(copies.values()) <= 8 for copies in faces.values())


def test_a_shoe_is_cut_where_rounds_still_fit() -> None:
    """The cut card comes 60 to 75 cards before the end: between 25 and 28 rounds."""
    for seed in range(50):
        shoe = Shoe("S", random.Random(seed))
        rounds = 0
        while not shoe.is_cut:
            shoe.burn()
            for _ in range(12):
                shoe.draw()
            rounds += 1
        assert 25 <= rounds <= 28
        assert not shoe.is_empty


@pytest.mark.parametrize(
    ("field", "value"), [("tables", 0), ("rounds", 0), ("accounts", 1), ("bets_per_round", -1), ("seed", -1)]
)
def test_what_cannot_be_played_is_refused(field: str, value: int) -> None:
    """A play without tables, rounds or people is an error that names the number."""
    change: dict[str, Any] = {field: value}
    with pytest.raises(ValueError, match=f"{field} is {value}, it must be"):
        replace(QUIET, **change)


@pytest.mark.parametrize("rate", [-0.1, 1.1, float("nan")])
def test_what_is_no_rate_is_refused(rate: float) -> None:
    """Rates are 0 .. 1."""
    with pytest.raises(ValueError, match="a rate is"):
        Mischief(late_bets=rate)
    with pytest.raises(ValueError, match="mischief is"):
        Mischief.at(rate)


def test_a_beat_knows_how_long_it_lasts() -> None:
    """The length of a beat is the play's to choose."""
    beats: list[Beat] = list(script(Play(tables=1, rounds=1, accounts=2, beat_ms=500)))
    assert {beat.lasts_ms for beat in beats} == {500}


def test_a_share_of_the_rounds_is_corrected_after_its_settlement() -> None:
    """About so many of them, some twice, some cancelled: all when the twelve cards and the close were said."""
    play = replace(QUIET, rounds=200, bets_per_round=0, mischief=Mischief().with_corrections(0.3))
    said = [event(step) for step in steps_of(play) if step.key is not None and step.topic is TopicKind.TABLE_EVENTS]
    late: Counter[tuple[str, str]] = Counter()
    before: Counter[tuple[str, str]] = Counter()
    for one in said:
        name = (one["table_id"], one.get("round_id", ""))
        if one["type"] in {"card_corrected", "round_cancelled"}:
            assert before[name] == 13
            late[name] += 1
        elif one["type"] in {"card_dealt", "betting_closed"}:
            before[name] += 1
    assert 0.2 * 600 < len(late) < 0.4 * 600
    assert max(late.values()) == 2
    kinds = Counter(one["type"] for one in said)
    assert kinds["card_corrected"] > kinds["round_cancelled"] > 40


def test_before_some_corrections_those_who_bet_draw_out_all_they_have() -> None:
    """By halves, from more than they can have to a few coins, while the round is settled and not corrected yet."""
    play = replace(QUIET, mischief=Mischief().with_corrections(0.3))
    drawn: dict[str, list[int]] = {}
    for step in steps_of(play):
        if step.kind is Kind.WITHDRAWAL:
            drawn.setdefault((step.key or b"").decode(), []).append(event(step)["amount"])
    assert len(drawn) > 5
    for amounts in drawn.values():
        assert min(amounts) < 1_000
        assert all(later <= max(amounts) for later in amounts)
    assert not any(step.kind is Kind.WITHDRAWAL for step in steps_of(QUIET))
