"""What is kept of a round that is over and said: in a header of its `rounds` record, and in a note of the ledger.

It bounds what a replay may touch (offsets of its bets and table events), and knows the table's shoe after it, so that
a recovering worker need not read a shoe from its beginning. The bytes are the same in both places.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from pokdeng.events.ids import RoundId
from pokdeng.rounds import Places, Round, Shoe, Table
from pokdeng.rules import Card, parse_copies, without_card

if TYPE_CHECKING:
    from pokdeng.events.ids import ShoeId, TableId
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


class HeldNote(msgspec.Struct, frozen=True, array_like=True):
    """A round that was put aside: held for long, so that its table's snapshot was taken over its head.

    No card is told, for its betting may be open: its events are read again. Offsets are of `table-events` and `bets`.
    """

    round_id: str
    shoe_id: str
    events: tuple[int, ...]
    """Those that changed it, its opening first."""
    impossible: dict[int, str]
    """Which of them were no cards of its shoe, and why: another time its shoe is another."""
    is_incomplete: bool
    opened_ms: int
    closed_ms: int | None
    held_ms: int
    """The broker time of what made it held."""
    first_bet: int | None
    bets_below: int
    """All its bets and cancels below are decided and said."""
    seal: int | None
    """Where its betting was sealed, if that lies below, too."""
    bets: int
    """How many of those bets stood."""
    taken: dict[str, int]
    """What they took, by currency, minor units."""


class TableNote(msgspec.Struct, frozen=True, omit_defaults=True):
    """A table when no round of it was going on: all its events up to `as_of` are absorbed in this.

    Rounds that are put aside are named in `held`; their cards are not counted in `shoes`.
    """

    as_of: int
    newest_shoe: str | None
    newest_round: str | None
    shoes: tuple[ShoeNote, ...]
    held: tuple[HeldNote, ...] = ()

    @property
    def point(self) -> tuple[int, int]:
        """Of two notes of a table that with the later point is the newer."""
        return self.as_of, max((held.bets_below for held in self.held), default=0)

    def table(self, table_id: TableId) -> Table:
        """The table as rounds know it, but for what is put aside."""
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


def note_of_table(table: Table, as_of: int, held: tuple[HeldNote, ...] = ()) -> TableNote:
    """A table without open rounds, to be kept: its newest shoe is all it needs to go on; besides those of `held`."""
    needed = dict.fromkeys([table.newest_shoe, *(_shoe_id(note.shoe_id) for note in held)])
    shoes = {shoe_id: table.shoes[shoe_id] for shoe_id in needed if shoe_id is not None}
    for note in held:
        round_ = table.rounds[RoundId(note.round_id)]
        shoe = shoes[round_.shoe_id]
        for card in round_.places:
            if card is not None:
                shoe = shoe._replace(gone=shoe.gone - 1, copies=without_card(shoe.copies, card))
        shoes[round_.shoe_id] = shoe
    notes = tuple(note_of_shoe(shoe) for shoe in shoes.values())
    return TableNote(as_of, table.newest_shoe, table.newest_round, notes, held)


def newer_of(one: TableNote, other: TableNote) -> TableNote:
    """The newer of two notes of a table.

    What either says of the bets of a round that both put aside is true for good: the most of it is kept.
    """
    newer, older = (one, other) if one.point >= other.point else (other, one)
    known = {held.round_id: held for held in older.held}
    held = tuple(_said_more(held, known.get(held.round_id)) for held in newer.held)
    return newer if held == newer.held else msgspec.structs.replace(newer, held=held)


def _said_more(held: HeldNote, other: HeldNote | None) -> HeldNote:
    if other is None:
        return held
    most = max(held, other, key=lambda note: note.bets_below)
    seals = [note.seal for note in (held, other) if note.seal is not None]
    return msgspec.structs.replace(
        held, bets_below=most.bets_below, bets=most.bets, taken=most.taken, seal=min(seals, default=None)
    )


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
