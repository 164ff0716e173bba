"""What is kept of a round that is over and said: in a header of its `rounds` record, and in a note of the ledger.

It bounds what a replay may touch (offsets of its bets and table events), and knows the table's shoe after it, so that
a recovering worker need not read a shoe from its beginning. The bytes are the same in both places.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from pokdeng.rounds import Places, Round, Shoe, Table
from pokdeng.rules import Card, parse_copies

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pokdeng.events.ids import RoundId, ShoeId, TableId
    from pokdeng.rounds import Mark

HEADER = "pokdeng-resume"
"""The header of a `rounds` record that holds a `Finished`, as JSON."""


class ShoeNote(msgspec.Struct, frozen=True, array_like=True):
    """A shoe: its id, decks, burn card, cards gone, copies of the faces (hexadecimal), and its last round if known."""

    shoe_id: str
    decks: int
    burn_card: str
    gone: int
    copies: str
    last_round: str | None

    def shoe(self) -> Shoe:
        """The shoe as rounds know it."""
        return Shoe(
            shoe_id=_shoe_id(self.shoe_id),
            decks=self.decks,
            burn_card=Card.parse(self.burn_card),
            gone=self.gone,
            copies=parse_copies(int(self.copies, 16)),
            last_round=_round_id(self.last_round),
        )


class TableNote(msgspec.Struct, frozen=True):
    """A table at a point where none of its rounds was open: all its events up to `as_of` are absorbed in this."""

    as_of: int
    newest_shoe: str | None
    newest_round: str | None
    shoes: tuple[ShoeNote, ...]

    def table(self, table_id: TableId) -> Table:
        """The table as rounds know it."""
        shoes = {_shoe_id(note.shoe_id): note.shoe() for note in self.shoes}
        newest = None if self.newest_shoe is None else _shoe_id(self.newest_shoe)
        return Table(table_id, shoes, newest, _round_id(self.newest_round), {})


class Finished(msgspec.Struct, frozen=True):
    """A round that was settled or refunded. Offsets are of `table-events` (first, last) and of `bets` (up to seal)."""

    shoe_id: str
    first_event: int
    last_event: int
    first_bet: int | None
    seal: int
    closed_at_ms: int | None
    cancelled_at_ms: int | None
    caused_at_ms: int
    """The broker time of the record that caused this revision."""
    revision: int
    settled_event: int
    """The last event of revision 1: what was dealt, closed and paused lies up to here."""
    settled_at_ms: int
    """The broker time of the record that caused revision 1: the correction window begins."""
    bets: int
    """How many stood."""
    totals: dict[str, tuple[int, int]]
    """What they took and got back in this revision, by currency, minor units."""
    deal: str | None
    """The twelve cards of a settled round, by place; None where it is refunded (it may not have been closed)."""
    shoe: ShoeNote
    table: TableNote | None
    """The table right after the record that caused this, if no other round of it was open then."""

    @property
    def was_settled(self) -> bool:
        """Whether it was settled by its cards, if cancelled since; not, where it was cancelled before."""
        return self.deal is not None or self.revision > 1

    @property
    def places(self) -> Places | None:
        """The cards of a settled round, by place."""
        if self.deal is None:
            return None
        return tuple(Card.parse(self.deal[start : start + 2]) for start in range(0, len(self.deal), 2))

    def was_cancelled_by(self, at_ms: int) -> bool:
        """Whether a bet of that broker time, too late for the seal, finds the round cancelled and not closed."""
        if self.cancelled_at_ms is None:
            return False
        return at_ms >= self.cancelled_at_ms or self.closed_at_ms is None

    def is_in_time(self, at_ms: int) -> bool:
        """Whether a broker time alone would be in time: not after the close, before a cancellation."""
        if self.cancelled_at_ms is not None and at_ms >= self.cancelled_at_ms:
            return False
        return self.closed_at_ms is None or at_ms <= self.closed_at_ms


def note_of_shoe(shoe: Shoe) -> ShoeNote:
    """A shoe, to be kept."""
    return ShoeNote(shoe.shoe_id, shoe.decks, str(shoe.burn_card), shoe.gone, f"{shoe.copies:x}", shoe.last_round)


def note_of_table(table: Table, as_of: int) -> TableNote:
    """A table without open rounds, to be kept: its newest shoe is all it needs to go on."""
    shoes: Iterable[Shoe] = () if table.newest_shoe is None else (table.shoes[table.newest_shoe],)
    return TableNote(as_of, table.newest_shoe, table.newest_round, tuple(note_of_shoe(shoe) for shoe in shoes))


def revised_note(
    finished: Finished,
    round_: Round,
    cause: Mark,
    *,
    totals: dict[str, tuple[int, int]],
    shoe: ShoeNote,
    table: TableNote | None,
) -> Finished:
    """A settled round after one more revision; `round_` is as it is then, `cause` what corrected or cancelled it."""
    cancelled = round_.cancelled
    return msgspec.structs.replace(
        finished,
        last_event=cause.offset,
        cancelled_at_ms=None if cancelled is None else cancelled.mark.at_ms,
        caused_at_ms=cause.at_ms,
        revision=finished.revision + 1,
        totals=totals,
        deal=None if cancelled is not None else "".join(str(card) for card in round_.places),
        shoe=shoe,
        table=table,
    )


def encode_note(note: Finished | TableNote | ShoeNote) -> bytes:
    """The bytes of a note, the same for the same note."""
    return msgspec.json.encode(note)


def decode_finished(raw: bytes) -> Finished:
    """A finished round from its bytes.

    Raises:
        msgspec.DecodeError: when they are none (another writer's, or a later version's).
    """
    return msgspec.json.decode(raw, type=Finished)


def decode_table(raw: bytes) -> TableNote:
    """A table from its bytes; errors as `decode_finished`."""
    return msgspec.json.decode(raw, type=TableNote)


def decode_shoe(raw: bytes) -> ShoeNote:
    """A shoe from its bytes; errors as `decode_finished`."""
    return msgspec.json.decode(raw, type=ShoeNote)


def _shoe_id(text: str) -> ShoeId:
    return text  # type: ignore[return-value]  # a NewType of str; the note was written from one


def _round_id(text: str | None) -> RoundId | None:
    return text  # type: ignore[return-value]  # as above
