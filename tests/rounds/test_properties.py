"""What holds of every sequence of table events, sound or not."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from hypothesis import given, settings
from hypothesis import strategies as st

from pokdeng.events.ids import EventId, RoundId
from pokdeng.events.inputs import CardCorrected, CardDealt, TableEvent
from pokdeng.rounds import (
    Applied,
    Completed,
    Duplicate,
    Mark,
    Refused,
    Round,
    Table,
    Verdict,
    evolve,
    place_of,
)
from pokdeng.rules import CARDS, Card, copies_of, total_copies
from tests.rounds.deals import IN_ORDER
from tests.rounds.playthrough import TABLE, frozen, opened, said, shows_a_card
from tests.rounds.recount import Recount
from tests.rounds.sequences import FEW_CARDS, ROUNDS, SHOES, a_close, a_deal, any_event, sequences
from tests.rounds.test_shoes import nearly_empty

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from random import Random

R1 = ROUNDS[0]

QUICK = settings(max_examples=40, deadline=None)


def steps(
    events: Iterable[TableEvent], table: Table | None = None
) -> Iterator[tuple[Table, TableEvent, Mark, Table, Verdict]]:
    """Play events, several of one millisecond: the table before, the event, its mark, the table after, the verdict."""
    table = table or Table(TABLE)
    for offset, event in enumerate(events, start=10_000):
        mark = Mark(offset, 1000 + offset // 3)
        after, verdict = evolve(table, event, mark)
        yield table, event, mark, after, verdict
        table = after


def end_of(events: Iterable[TableEvent], table: Table | None = None) -> Table:
    """The table after events."""
    end = table or Table(TABLE)
    for *_, after, _verdict in steps(events, table):
        end = after
    return end


def facts(table: Table) -> object:
    """A table without what only says which records told of it: offsets, and ids of events that were heard."""
    return (
        table.shoes,
        table.newest_shoe,
        table.newest_round,
        {
            name: (
                round_.places,
                round_.disputes,
                round_.is_paused,
                round_.is_incomplete,
                round_.closed_at_ms is None,
                round_.completed is None,
                None if round_.cancelled is None else round_.cancelled.reason,
            )
            for name, round_ in table.rounds.items()
        },
    )


def held_by(verdict: Verdict) -> RoundId | None:
    """The round that a verdict says became held."""
    return None if isinstance(verdict, Duplicate) or verdict.held is None else verdict.held[0]


def an_open_round() -> Table:
    """R-1 was opened in S-1, burn card 2h."""
    return opened().table


@QUICK
@given(st.permutations([*range(12), 12]), st.lists(st.sampled_from(CARDS), min_size=12, max_size=12))
def test_any_order_of_cards_and_close_gives_the_same_deal(order: list[int], cards: list[Card]) -> None:
    """Completion comes with the last record and not before; the same places, the same count of the shoe."""
    records = [*a_deal(R1, cards), a_close(R1)]
    in_order = end_of(records, an_open_round())
    *firsts, last = steps((records[index] for index in order), an_open_round())
    if in_order.rounds[R1].disputes:
        return  # a ninth copy: which one is the ninth depends on the order
    assert all(verdict == Applied() for *_, verdict in firsts)
    *_, mark, after, verdict = last
    assert verdict == Applied(over=R1)
    assert after.rounds[R1].completed == replace(_completed(in_order.rounds[R1]), mark=mark)
    assert after.rounds[R1].places == in_order.rounds[R1].places == _by_place(cards)
    assert after.shoes == in_order.shoes


@QUICK
@given(
    st.lists(st.sampled_from(CARDS), min_size=12, max_size=12, unique=True),
    st.lists(st.tuples(st.integers(0, 12), st.integers(0, 10**6), st.booleans()), max_size=20),
    st.randoms(use_true_random=False),
)
def test_any_duplication_of_a_rounds_events_changes_nothing(
    cards: list[Card], again: list[tuple[int, int, bool]], random: Random
) -> None:
    """The same event id, or the same card or close under another: places, counts and verdicts are as without it."""
    records: list[TableEvent] = [*a_deal(R1, cards), a_close(R1)]
    random.shuffle(records)
    copied = list(records)
    for number, (which, where, is_renamed) in enumerate(again):
        known = records[which]
        copy = replace(known, event_id=EventId(f"copy-{number}")) if is_renamed else known
        copied.insert(copied.index(known) + 1 + where % (len(copied) - copied.index(known)), copy)
    plain, told = list(steps(records, an_open_round())), list(steps(copied, an_open_round()))
    assert [verdict for *_, verdict in told if not isinstance(verdict, Duplicate)] == [verdict for *_, verdict in plain]
    assert sum(isinstance(verdict, Duplicate) for *_, verdict in told) == len(again)
    assert facts(told[-1][3]) == facts(plain[-1][3])


@QUICK
@given(sequences())
def test_an_event_again_at_once_changes_nothing(events: list[TableEvent]) -> None:
    """What counted or repeated is a duplicate then; what was refused is refused again, and holds nothing anew."""
    for _, event, mark, after, verdict in steps(events):
        again, second = evolve(after, event, mark)
        assert facts(again) == facts(after)
        if isinstance(verdict, Refused):
            assert isinstance(second, Refused)
            assert second.held is None
        else:
            assert second == Duplicate()
            assert again is after


@QUICK
@given(sequences())
def test_every_sequence_delivered_twice_ends_the_same(events: list[TableEvent]) -> None:
    """Of what counted, nothing counts a second time, whenever the copies come."""
    table = Table(TABLE)
    counted: list[TableEvent] = []
    for _, event, _, after, verdict in steps(events):
        table = after
        if not isinstance(verdict, Refused):
            counted.append(event)
    for *_, after, verdict in steps(counted, table):
        assert verdict == Duplicate()
        assert after is table


@QUICK
@given(sequences())
def test_the_shoe_is_what_a_recount_says(events: list[TableEvent]) -> None:
    """Gone and copies, at each step: corrections, cancelled rounds, ninth copies and refusals included."""
    recount = Recount()
    for _, event, _, after, verdict in steps(events):
        recount.follow(event, verdict)
        _same_count(after, recount)


@QUICK
@given(sequences())
def test_a_card_is_refused_for_its_shoe_just_when_it_is_impossible(events: list[TableEvent]) -> None:
    """By the recount: none that can be is refused as a ninth copy or one too many, none that cannot is laid."""
    recount = Recount()
    for before, event, _, _, verdict in steps(events):
        if isinstance(event, (CardDealt, CardCorrected)) and event.round_id in before.rounds:
            impossible = recount.impossible(event)
            if isinstance(verdict, Applied):
                assert impossible is None
            elif isinstance(verdict, Refused) and verdict.reason in {"ninth_copy", "shoe_exhausted"}:
                assert impossible == verdict.reason
        recount.follow(event, verdict)


@QUICK
@given(st.lists(any_event((RoundId("R-32"), RoundId("R-33")), CARDS), max_size=25))
def test_an_exhausted_shoe_is_what_a_recount_says(events: list[TableEvent]) -> None:
    """With one card left: never more than 416 are gone, never more than 8 of a face, however events go on."""
    start = nearly_empty()
    standing = {
        (name, place): card for name, round_ in start.rounds.items() for place, card in enumerate(round_.places) if card
    }
    for _, event, _, after, verdict in steps(events, start):
        if isinstance(verdict, Applied) and isinstance(event, (CardDealt, CardCorrected)):
            standing[event.round_id, place_of(event.seat, event.position)] = event.card
        opened_here = {name for name, round_ in after.rounds.items() if round_.shoe_id == SHOES[0]}
        counted = [card for (name, _), card in standing.items() if name in opened_here]
        shoe = after.shoes[SHOES[0]]
        assert shoe.gone == 1 + 10 + len(opened_here) + len(counted) <= 416
        assert total_copies(shoe.copies) == 1 + len(counted)
        assert all(copies_of(shoe.copies, card.face) == counted.count(card) + (card.code == "Kh") for card in FEW_CARDS)


@QUICK
@given(sequences(is_started=False) | sequences())
def test_evolve_is_total_and_changes_nothing_in_place(events: list[TableEvent]) -> None:
    """Every event gets a verdict; a table in which nothing can be set gives the same next one."""
    table = Table(TABLE)
    for offset, event in enumerate(events):
        before, mark = repr(table), Mark(offset, offset)
        after, verdict = evolve(frozen(table), event, mark)
        assert repr(table) == before
        assert (after, verdict) == evolve(table, event, mark)
        table = after


@QUICK
@given(sequences())
def test_a_round_that_is_over_changes_by_revisions_only(events: list[TableEvent]) -> None:
    """Its end, its close, its disputes stay; it is never over a second time, nor held. A revision is a card or the end.

    Once it is cancelled nothing changes any more.
    """
    for before, event, mark, after, verdict in steps(events):
        for name, round_ in before.rounds.items():
            if not round_.is_over:
                continue
            now = after.rounds[name]._replace(seen=round_.seen, last=round_.last)
            assert verdict != Applied(over=name)
            assert held_by(verdict) != name
            if verdict != Applied(revised=name):
                assert now == round_
                continue
            assert round_.cancelled is None
            if isinstance(event, CardCorrected):
                changed = [place for place in range(12) if now.places[place] is not round_.places[place]]
                assert changed == [place_of(event.seat, event.position)]
                assert now == round_._replace(places=now.places)
            else:
                assert now.cancelled is not None
                assert now.cancelled.mark == mark
                assert now == round_._replace(cancelled=now.cancelled)


@QUICK
@given(sequences())
def test_a_round_is_complete_just_when_nothing_is_missing(events: list[TableEvent]) -> None:
    """Close, twelve cards, no pause, no dispute; and the verdict of the last of these says so."""
    for before, _, mark, after, verdict in steps(events):
        for name, round_ in after.rounds.items():
            lacks = round_.closed_at_ms is None or None in round_.places or round_.is_paused or bool(round_.disputes)
            if round_.cancelled is None:
                assert (round_.completed is not None) == (not lacks)
            assert round_.completed is None or not round_.is_held
            was_over = name in before.rounds and before.rounds[name].is_over
            if round_.is_over and not was_over:
                assert verdict == Applied(over=name)
                ended = round_.completed or round_.cancelled
                assert ended is not None
                assert ended.mark == mark
            elif isinstance(verdict, Applied):
                assert verdict.over != name


@QUICK
@given(sequences())
def test_a_hold_is_said_when_it_begins_and_only_then(events: list[TableEvent]) -> None:
    """Of the one round that became held by the event."""
    for before, _, _, after, verdict in steps(events):
        began = {
            name
            for name, round_ in after.rounds.items()
            if round_.is_held and not (name in before.rounds and before.rounds[name].is_held)
        }
        assert began == {held_by(verdict)} - {None}


@QUICK
@given(sequences())
def test_a_refusal_changes_nothing_but_a_dispute(events: list[TableEvent]) -> None:
    """And no duplicate changes anything that counts; where nothing changed, the very same table comes back."""
    for before, event, _, after, verdict in steps(events):
        if isinstance(verdict, Applied):
            continue
        if isinstance(verdict, Duplicate):
            assert facts(after) == facts(before)
        elif after is not before:
            assert isinstance(event, (CardDealt, CardCorrected))
            changed, was = after.rounds[event.round_id], before.rounds[event.round_id]
            assert changed._replace(disputes=was.disputes, last=was.last) == was
            assert set(changed.disputes) == {*was.disputes, place_of(event.seat, event.position)}
            assert after._replace(rounds=before.rounds) == before


@QUICK
@given(sequences())
def test_no_detail_shows_a_card(events: list[TableEvent]) -> None:
    """Whatever is refused, and at most 1 KiB of it."""
    for *_, verdict in steps(events):
        if isinstance(verdict, Refused):
            assert verdict.detail
            assert not shows_a_card(verdict.detail)
            assert len(verdict.detail.encode()) <= 1024


@QUICK
@given(sequences())
def test_tables_are_folded_alike_wherever_they_lie_in_the_log(events: list[TableEvent]) -> None:
    """Offsets and times decide nothing here: other marks give the same facts and verdicts."""
    one, other = Table(TABLE), Table(TABLE)
    for number, event in enumerate(events):
        one, first = evolve(one, event, Mark(number, number))
        other, second = evolve(other, event, Mark(77 + 5 * number, 10**12 + number // 4))
        assert first == second
        assert facts(one) == facts(other)


def test_random_sequences_get_everywhere() -> None:
    """A check of the strategy itself: it reaches every verdict there is."""
    reached: set[str] = set()

    @settings(max_examples=150, deadline=None, database=None, derandomize=True)
    @given(sequences() | sequences(is_started=False))
    def explore(events: list[TableEvent]) -> None:
        reached.update(said(verdict).partition(",")[0].split(" R-")[0] for *_, verdict in steps(events))

    explore()
    reasons = {
        "id_conflict",
        "unknown_round",
        "unknown_shoe",
        "round_out_of_order",
        "seat_conflict",
        "ninth_copy",
    }
    assert reached == {"applied", "duplicate", "ends", "revises", *(f"refused {reason}" for reason in reasons)}


def _same_count(table: Table, recount: Recount) -> None:
    for shoe_id, shoe in table.shoes.items():
        assert shoe.gone == recount.gone(shoe_id)
        counted = recount.copies(shoe_id)
        copies = {card.code: copies_of(shoe.copies, card.face) for card in CARDS}
        assert {code: number for code, number in copies.items() if number} == counted


def _completed(round_: Round) -> Completed:
    assert round_.completed is not None
    return round_.completed


def _by_place(cards: list[Card]) -> tuple[Card | None, ...]:
    """Cards in the order of the deal, by place."""
    places: list[Card | None] = [None] * 12
    for (seat, position), card in zip(IN_ORDER, cards, strict=True):
        places[place_of(seat, position)] = card
    return tuple(places)
