"""What is to be kept or done of events that come for rounds that are over, and for old shoes: of one co-partition.

A correction is queued (`revisions.py`), and everything that a later event must be judged by is noted in the ledger,
before the record that brought it is acknowledged.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from pokdeng.events.inputs import CardCorrected, RoundCancelled
from pokdeng.ledger.values import FOR_EVER
from pokdeng.rounds import new_shoe
from pokdeng.settlement.book import Ending
from pokdeng.settlement.memory import change_note, counts_note, impossible_note, late_note, mark_note, round_page
from pokdeng.settlement.revisions import Correction, Revisions

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pokdeng.events.ids import RoundId, TableId
    from pokdeng.ledger.values import Source
    from pokdeng.rounds import Round, RoundEvent, Shoe, Table
    from pokdeng.settlement.batch import Batch
    from pokdeng.settlement.book import Book
    from pokdeng.settlement.bygone import Dealt
    from pokdeng.settlement.finished import Finished
    from pokdeng.settlement.late import LateEvent
    from pokdeng.settlement.memory import Recalled
    from pokdeng.stream.port import Record


class Aftermath:
    """Told by the floor. `batch` and `memory` are those of the fold that goes on, set anew for each."""

    def __init__(
        self,
        source: Source,
        books: Mapping[tuple[TableId, RoundId], Book],
        finished: Mapping[tuple[TableId, RoundId], Finished],
        *,
        remember_ms: int,
    ) -> None:
        """`books` and `finished` are the desk's."""
        self._source = source
        self._books = books
        self._finished = finished
        self._remember_ms = remember_ms
        self.revisions = Revisions()
        self.batch: Batch
        self.memory: Recalled

    def heard(self, event: RoundEvent, late: LateEvent) -> None:
        """A repeat under another event id came after its round's end: it is remembered, as the round is."""
        key = (event.table_id, event.round_id)
        ttl_ms = None if key in self.revisions else self._remember_ms
        self.batch.notes.append(late_note(self._source, *key, late, event, ttl_ms))

    def revised(self, event: RoundEvent, late: LateEvent, dealt: Dealt, table: Table) -> None:
        """A settled round is to be settled anew, when what was said of it before is acknowledged.

        `dealt` and `table` are as they are after the event. The round's page lives on until it is said.
        """
        key = (event.table_id, event.round_id)
        book = self._books.get(key)
        if book is not None:
            book.table_round = dealt.round
        finished = self._finished.get(key) or self.memory.round(*key).finished
        if finished is not None and late.offset <= finished.last_event:
            return  # read again: said before
        if not isinstance(event, CardCorrected | RoundCancelled):
            raise TypeError(f"{event.event_type} corrects nothing")
        self.revisions.ask(key, Correction(late.mark, event, ending_of(table, *dealt)), finished)
        notes = self.batch.notes
        notes.append(late_note(self._source, *key, late, event, FOR_EVER))
        if finished is not None:
            notes.append(mark_note(self._source, round_page(*key), finished, FOR_EVER))

    def impossible(self, record: Record, event: RoundEvent, why: str) -> None:
        """An event of a round that goes on was refused, for its shoe has no such card: it is not heard of later."""
        self.batch.notes.append(impossible_note(self._source, event.table_id, event.round_id, record.offset, why))

    def shoe_left(self, record: Record, table_id: TableId, shoe: Shoe) -> None:
        """Another shoe is the table's newest now: the counts of the one before are kept for corrections."""
        self.memory.shoe_left(table_id, shoe, record.offset)
        self.batch.notes.append(counts_note(self._source, table_id, shoe, record.offset, self._remember_ms))

    def old_shoe_ended(self, record: Record, table_id: TableId, shoe: Shoe) -> None:
        """A round ended whose shoe is not the table's newest: its counts are kept, unless they are.

        They are not where the ledger was restored since the next shoe was started: no fact tells a round's cards that
        is held, nor when the shoe was left.
        """
        self.batch.notes.append(counts_note(self._source, table_id, shoe, record.offset, self._remember_ms))

    def old_shoe_changed(self, record: Record, table_id: TableId, before: Shoe, after: Shoe) -> None:
        """The counts of a shoe changed that is not the table's newest."""
        self.memory.shoe_changed(table_id, before, after, record.offset)
        note = change_note(self._source, table_id, before, after, record.offset, self._remember_ms)
        self.batch.notes.append(note)

    def how_it_ended(self, key: tuple[TableId, RoundId]) -> Finished | None:
        """A finished round as it was said; or as cancelled since, if that is not said yet."""
        finished = self._finished.get(key) or self.memory.round(*key).finished
        if finished is None or key not in self.revisions:
            return finished
        cancelled_at_ms = self.revisions.cancelled_at_ms(key)
        return finished if cancelled_at_ms is None else replace(finished, cancelled_at_ms=cancelled_at_ms)


def ending_of(table: Table, round_: Round, shoe: Shoe) -> Ending:
    """How a round ended. While another of its shoe goes on, that is told as it began: the counts would tell its cards.

    The table is given where the others are over or held: a snapshot may be taken if those are put aside.
    """
    others = [other for other in table.rounds.values() if not other.is_over]
    if any(other.shoe_id == shoe.shoe_id for other in others):
        shoe = new_shoe(shoe.shoe_id, shoe.decks, shoe.burn_card)
    return Ending(round_, shoe, table if all(other.is_held for other in others) else None)
