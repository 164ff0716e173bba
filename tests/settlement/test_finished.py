"""What is kept of finished rounds and quiet tables: it comes back as it was, and answers for late bets."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pokdeng.events.ids import RoundId, ShoeId, TableId
from pokdeng.rounds import Shoe, Table, new_shoe
from pokdeng.rules import CARDS, Card, with_card
from pokdeng.settlement.finished import (
    Finished,
    ShoeNote,
    decode_finished,
    decode_shoe,
    decode_table,
    encode_note,
    note_of_shoe,
    note_of_table,
)
from tests.rounds.deals import DEALS

TABLE = TableId("T-1")
texts = st.text(st.characters(min_codepoint=33, max_codepoint=126), min_size=1, max_size=64)
offsets = st.integers(0, 2**62)
times = st.integers(0, 2**45)


@st.composite
def shoes(draw: st.DrawFn) -> Shoe:
    """A shoe of which some cards are seen."""
    shoe = new_shoe(ShoeId(draw(texts)), 8, draw(st.sampled_from(CARDS)))
    copies = shoe.copies
    seen = draw(st.lists(st.sampled_from(CARDS), max_size=40, unique=True))
    for card in seen:
        if card is not shoe.burn_card:
            copies = with_card(copies, card)
    last = draw(st.none() | texts.map(RoundId))
    return shoe._replace(copies=copies, gone=shoe.gone + len(seen), last_round=last)


@st.composite
def finished_rounds(draw: st.DrawFn) -> Finished:
    """Any finished round."""
    shoe = draw(shoes())
    table = Table(TABLE, {shoe.shoe_id: shoe}, shoe.shoe_id, RoundId(draw(texts)))
    deal = "".join(str(card) for card in DEALS[draw(st.sampled_from("WLT"))])
    return Finished(
        shoe_id=draw(texts),
        first_event=draw(offsets),
        last_event=draw(offsets),
        first_bet=draw(st.none() | offsets),
        seal=draw(offsets),
        closed_at_ms=draw(st.none() | times),
        cancelled_at_ms=draw(st.none() | times),
        caused_at_ms=draw(times),
        revision=draw(st.integers(1, 1000)),
        settled_event=draw(offsets),
        settled_at_ms=draw(times),
        bets=draw(st.integers(0, 10**6)),
        totals=draw(st.dictionaries(st.sampled_from(("THB", "EUR")), st.tuples(offsets, offsets))),
        deal=draw(st.none() | st.just(deal)),
        shoe=note_of_shoe(shoe),
        table=draw(st.none() | st.just(note_of_table(table, draw(offsets)))),
    )


@given(shoes())
def test_a_shoe_comes_back_as_it_was(shoe: Shoe) -> None:
    """Decks, burn card, cards gone, copies of each face, last round."""
    assert decode_shoe(encode_note(note_of_shoe(shoe))).shoe() == shoe


@given(finished_rounds())
def test_a_finished_round_comes_back_as_it_was(finished: Finished) -> None:
    """Every field; and the same note is the same bytes."""
    raw = encode_note(finished)
    assert decode_finished(raw) == finished
    assert encode_note(decode_finished(raw)) == raw


@given(shoes(), offsets)
def test_a_quiet_table_comes_back_with_its_newest_shoe(shoe: Shoe, as_of: int) -> None:
    """Its finished rounds and older shoes are needed no more."""
    older = shoe._replace(shoe_id=ShoeId(f"{shoe.shoe_id}-older"[-64:]))
    table = Table(TABLE, {older.shoe_id: older, shoe.shoe_id: shoe}, shoe.shoe_id, RoundId("R-1"))
    note = decode_table(encode_note(note_of_table(table, as_of)))
    assert note.as_of == as_of
    assert note.table(TABLE) == table._replace(shoes={shoe.shoe_id: shoe}, rounds={})


def test_a_table_without_a_shoe_comes_back() -> None:
    """Nothing is known of it, and that is kept."""
    assert decode_table(encode_note(note_of_table(Table(TABLE), 7))).table(TABLE) == Table(TABLE)


def test_the_deal_of_a_settled_round_comes_back() -> None:
    """By place; a refunded round has none."""
    finished = a_round(deal="".join(str(card) for card in DEALS["W"]))
    assert finished.places == DEALS["W"]
    assert a_round(deal=None).places is None


@pytest.mark.parametrize("raw", [b"", b"{}", b"[]", b'{"shoe_id":1}', b"\xff"])
def test_other_bytes_are_refused(raw: bytes) -> None:
    """A header of another writer is an error, not a guess."""
    with pytest.raises(msgspec.DecodeError):
        decode_finished(raw)


@pytest.mark.parametrize(
    ("closed_at", "cancelled_at", "at_ms", "is_cancelled", "is_in_time"),
    [
        (100, None, 100, False, True),
        (100, None, 101, False, False),
        (None, 100, 99, True, True),
        (None, 100, 100, True, False),
        (100, 200, 100, False, True),
        (100, 200, 150, False, False),
        (100, 200, 200, True, False),
    ],
)
def test_what_a_late_bet_finds(
    closed_at: int | None, cancelled_at: int | None, at_ms: int, *, is_cancelled: bool, is_in_time: bool
) -> None:
    """Closed, or cancelled before it closed; and whether its stamp alone was in time."""
    finished = a_round(closed_at=closed_at, cancelled_at=cancelled_at)
    assert (finished.was_cancelled_by(at_ms), finished.is_in_time(at_ms)) == (is_cancelled, is_in_time)


def a_round(*, closed_at: int | None = 100, cancelled_at: int | None = None, deal: str | None = None) -> Finished:
    """A finished round."""
    shoe: ShoeNote = note_of_shoe(new_shoe(ShoeId("S-1"), 8, Card.parse("2h")))
    return Finished("S-1", 1, 15, 0, 1, closed_at, cancelled_at, 200, 1, 15, 200, 0, {}, deal, shoe, None)
