"""The desk: one co-partition of bets and table events, folded in the order of broker time into batches.

Synchronous and without I/O: `read` takes what may be processed, `recall.py` fetches what the ledger remembers for it,
`fold` does the rest. The floor knows the tables; the desk keeps the books of open rounds, seals them and ends them,
and knows which part of the log a replay would need.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from pokdeng.events.ids import Cause
from pokdeng.events.inputs import BetCancelled, BetPlaced, BettingClosed, RoundOpened, ShoeStarted
from pokdeng.events.reasons import BetReason, CancelReason
from pokdeng.ledger.values import Source
from pokdeng.settlement.aftermath import Aftermath, ending_of
from pokdeng.settlement.aside import Aside, impossible_by
from pokdeng.settlement.betting import Betting
from pokdeng.settlement.book import Book, Ending
from pokdeng.settlement.closing import Closing
from pokdeng.settlement.floor import Floor
from pokdeng.settlement.keys import KeyCheck
from pokdeng.settlement.memory import Recalled, mark_note, round_page, shoe_note, table_note
from pokdeng.stream.merge import FIRST, SECOND, Merge
from pokdeng.stream.port import TopicPartition
from pokdeng.wire import MalformedRecordError, decode_bet_event, decode_table_event

if TYPE_CHECKING:
    from pokdeng.events.ids import RoundId, TableId
    from pokdeng.events.inputs import BetEvent, TableEvent
    from pokdeng.events.reasons import HoldReason
    from pokdeng.ledger.values import Note
    from pokdeng.rounds import Applied, Mark, Refused, RoundEvent, Table, Verdict
    from pokdeng.settlement.batch import Batch
    from pokdeng.settlement.finished import Finished, TableNote
    from pokdeng.settlement.house import House
    from pokdeng.stream.port import Record

Key: TypeAlias = "tuple[TableId, RoundId]"
Read: TypeAlias = "tuple[int, Record, TableEvent | BetEvent | MalformedRecordError]"
"""A side of the merge, its record, and what it says or why it cannot be used."""


OPERATIONS_ENOUGH = 1_000
"""With so many in a batch no further round is ended in it: tables often close together, and the first need not wait."""


class Desk:
    """One co-partition of a worker, from its assignment to its revocation."""

    def __init__(self, partition: int, house: House, merge: Merge, *, next_event: int, next_bet: int) -> None:
        """The offsets are where reading begins."""
        self.partition = partition
        self.source = Source(f"p{partition}")
        self.merge = merge
        self.books: dict[Key, Book] = {}
        """Rounds that are not said yet."""
        self.finished: dict[Key, Finished] = {}
        """Rounds that are said, but not yet below what is committed, or not yet noted."""
        self._aftermath = Aftermath(self.source, self.books, self.finished, remember_ms=house.remember_ms)
        self.revisions = self._aftermath.revisions
        """Corrections of settled rounds that are not said yet."""
        self.floor = Floor(self, self._aftermath, window_ms=house.correction_window_ms)
        self.event_end = 0
        """Where `table-events` ended when the partition was assigned."""
        self.untold_below = 0
        """Not all that came below this offset for rounds that were over is noted: the ledger was lost since."""
        self.next_event = next_event
        self.next_bet = next_bet
        """What is acknowledged up to; reading is ahead of it."""
        self.newest: list[tuple[int, int] | None] = [None, None]
        """Offset and broker time of the newest acknowledged record of each side."""
        self.aside = Aside(self, self.books, held_ms=house.held_ms)
        self._house = house
        self._waiting: list[Book] = []
        """Rounds whose betting is over, but not sealed."""
        self._betting = Betting(self.source, house)
        self._keys = KeyCheck(house.table_partitions)
        self._memory = Recalled()
        self._idle: dict[TableId, TableNote] = {}
        self._batch: Batch

    def said_before(self, *, bets: int, events: int) -> None:
        """Below these offsets everything was acknowledged by an earlier owner, of events corrections included."""
        self._betting.said_below = bets
        self.floor.said_below = events

    @property
    def waiting(self) -> int:
        """How many records of both sides are queued."""
        return self.merge.waiting(FIRST) + self.merge.waiting(SECOND)

    def read(self, limit: int) -> list[Read]:
        """Take up to `limit` records that may be processed now, decoded."""
        out: list[Read] = []
        check, known = self._keys.check, self._keys.known
        for side, record in self.merge.take(limit):
            event: TableEvent | BetEvent | MalformedRecordError
            try:
                event = (decode_bet_event if side else decode_table_event)(record.value, record.key)
                if known.get(record.key) != event.table_id:
                    check(record, event.table_id)
            except MalformedRecordError as error:
                event = error
            out.append((side, record, event))
        return out

    def fold(self, batch: Batch, reads: list[Read], memory: Recalled, now: float) -> None:
        """Fold records, and end the rounds that are sealed thereby. `now` is the merge's monotonic clock."""
        self._batch = self._betting.batch = self._aftermath.batch = batch
        self._memory = self._aftermath.memory = memory
        self._count(batch, reads)
        books, betting = self.books, self._betting
        newest: list[Record | None] = [None, None]
        for side, record, event in reads:
            newest[side] = record
            if side and self._waiting:
                self._seal_before(record)
            if isinstance(event, BetPlaced):
                book = books.get((event.table_id, event.round_id))
                if book is not None:
                    betting.place(record, event, book)
                else:
                    self._without_book(record, event)
            elif isinstance(event, MalformedRecordError):
                batch.dead_letter(record, event.reason, event.detail)
            elif isinstance(event, BetCancelled):
                book = books.get((event.table_id, event.round_id))
                if book is not None:
                    betting.cancel(record, event, book)
                else:
                    self._without_book(record, event)
            else:
                self.floor.fold(record, event, memory)
        if self._waiting:
            self._seal_past(now)
        batch.acknowledged.append(lambda: self._advance(newest))

    def _count(self, batch: Batch, reads: list[Read]) -> None:
        bets = sum([side for side, _, _ in reads])
        topics = self._house.topics
        for topic, count in ((topics.table_events, len(reads) - bets), (topics.bets, bets)):
            if count:
                batch.records[TopicPartition(topic, self.partition)] = count

    def _advance(self, newest: list[Record | None]) -> None:
        for side, record in enumerate(newest):
            if record is not None:
                self.newest[side] = (record.offset, record.timestamp)
        event, bet = self.newest
        self.next_event = max(self.next_event, 0 if event is None else event[0] + 1)
        self.next_bet = max(self.next_bet, 0 if bet is None else bet[0] + 1)

    # What the floor tells

    def applied(self, record: Record, event: TableEvent, table: Table, verdict: Applied) -> None:
        """An event counts: open, close, seal or end a book."""
        if isinstance(event, ShoeStarted):
            shoe = table.shoes[event.shoe_id]
            self._memory.shoe_started(table.table_id, shoe, record.offset)
            self._batch.notes.append(
                shoe_note(self.source, table.table_id, shoe, record.offset, self._house.remember_ms)
            )
            return
        if verdict.held is not None:
            self._held(record, event, table, verdict.held)
        key = (table.table_id, event.round_id)
        if isinstance(event, RoundOpened):
            if key not in self.finished and self._memory.round(*key).finished is None:
                book = self.books[key] = Book(table.table_id, table.rounds[event.round_id])
                self._memory.seed(book)
            return
        known = self.books.get(key)
        if known is None:
            return  # finished: folded again for the sake of its shoe
        round_ = known.table_round = table.rounds[event.round_id]
        if known.wait_ms is None and (isinstance(event, BettingClosed) or round_.cancelled is not None):
            known.wait_ms = record.timestamp
            self._waiting.append(known)
        if verdict.over is not None:
            known.ending = ending_of(table, round_, table.shoes[round_.shoe_id])
            if known.seal is not None:
                self._close(known)

    def refused(self, record: Record, event: TableEvent, table: Table, verdict: Refused) -> None:
        """An event cannot be used."""
        self._batch.dead_letter(record, verdict.reason, verdict.detail)
        if verdict.held is not None:
            self._held(record, event, table, verdict.held)

    def changed(self, offset: int, event: RoundEvent, verdict: Verdict) -> None:
        """An event changed its round: a round that is put aside is folded again from these."""
        book = self.books.get((event.table_id, event.round_id))
        if book is not None:
            book.changed_by(offset, impossible_by(verdict))

    def repeated(self, record: Record) -> None:
        """An event says what is known."""
        self._batch.duplicate(record)

    def _held(self, record: Record, event: TableEvent, table: Table, held: tuple[RoundId, HoldReason]) -> None:
        round_id, reason = held
        round_ = table.rounds[round_id]
        self._house.voice.round_held(self._batch, record, event.occurred_at, table.table_id, round_, reason)
        book = self.books.get((table.table_id, round_id))
        if book is not None:
            book.table_round = round_
            book.held_ms = record.timestamp

    # Bets on rounds that are not open here

    def _without_book(self, record: Record, event: BetPlaced | BetCancelled) -> None:
        key = (event.table_id, event.round_id)
        finished = self._aftermath.how_it_ended(key)
        at_ms = record.timestamp
        if finished is not None and record.offset < finished.seal:
            return  # read again: decided before the round was said, with it
        memory = self._memory.round(*key)
        if memory.finished is None:
            memory.finished = finished
        if finished is None:
            bet_reason, cancel_reason = BetReason.ROUND_UNKNOWN, CancelReason.ROUND_UNKNOWN
        elif finished.was_cancelled_by(at_ms):
            bet_reason, cancel_reason = BetReason.ROUND_CANCELLED, CancelReason.ROUND_CANCELLED
        else:
            bet_reason, cancel_reason = BetReason.BETTING_CLOSED, CancelReason.BETTING_CLOSED
        if isinstance(event, BetPlaced):
            is_in_time = finished is not None and finished.is_in_time(at_ms)
            self._betting.place_without_book(record, event, memory, bet_reason, is_in_time=is_in_time)
        else:
            self._betting.cancel_without_book(record, event, memory, cancel_reason)

    # Sealing and ending

    def _seal_before(self, record: Record) -> None:
        """The next record of `bets` is later than some closes: it is their seal."""
        later = [book for book in self._waiting if book.wait_ms is not None and book.wait_ms < record.timestamp]
        if later:
            self._waiting = [book for book in self._waiting if book not in later]
            for book in later:
                book.cap(record.offset)
                if book.ending is not None:
                    self._close(book)

    def _seal_past(self, now: float) -> None:
        """Seal at the log's end what has ended and has every bet up to its close read."""
        still: list[Book] = []
        for book in tuple(self._waiting):  # a copy: what is closed leaves the list
            if book.ending is None or book.wait_ms is None or len(self._batch.operations) >= OPERATIONS_ENOUGH:
                still.append(book)
            elif self.merge.is_past(book.wait_ms):
                book.cap(self.merge.next_offset(SECOND))
                self._close(book)
            else:
                self.merge.want_past(book.wait_ms, now)
                still.append(book)
        self._waiting = still

    def _close(self, book: Book) -> None:
        ending = book.ending
        if ending is None:
            raise ValueError(f"round {book.round_id} of {book.table_id} has not ended")
        if book in self._waiting:
            self._waiting.remove(book)
        book.is_closing = True
        if self._is_before_another(book, ending.at.mark.offset):
            ending = Ending(ending.round, ending.shoe, None)
        Closing(
            self._batch, self._house, self.source, self.partition, book, ending, self._said, self.aside.snapshot
        ).begin()

    def _is_before_another(self, book: Book, ended_at: int) -> bool:
        """Whether another round of the table, or a correction, will be said after it: no snapshot may absorb that.

        A round that was opened after the event at which this one ended is not in the table as it was then: while a
        backlog is read there is always one, for a round is sealed by the bets of the next.
        """
        if self.revisions and self.revisions.has_table(book.table_id):
            return True
        return self.aside.is_going_on(book.table_id, up_to=ended_at)

    def _said(self, book: Book, finished: Finished) -> None:
        key = (book.table_id, book.round_id)
        del self.books[key]
        self.revisions.said(key, finished)
        self.finished[key] = finished
        self._house.voice.forget_round(*key)
        self._table_said(book.table_id, finished.table)

    def revision_said(self, key: Key, finished: Finished) -> None:
        """A revision of a settled round is acknowledged."""
        self.revisions.said(key, finished)
        self.finished[key] = finished
        self._table_said(key[0], finished.table)

    def _table_said(self, table_id: TableId, snapshot: TableNote | None) -> None:
        if snapshot is not None:
            self.floor.said(table_id, snapshot)
            self.aside.said(table_id, snapshot)

    def put_back(self, book: Book) -> None:
        """A round that was put aside is known again."""
        self.books[book.table_id, book.round_id] = book
        if book.wait_ms is not None and book.seal is None:
            self._waiting.append(book)

    def may_absorb(self, key: Key) -> bool:
        """Whether a snapshot of the table may be said with a revision of this round, or before it."""
        table_id = key[0]
        return not self.aside.is_going_on(table_id) and not self.revisions.has_table(table_id, but=key)

    def cause(self, mark: Mark) -> Cause:
        """A table event as the cause of facts."""
        return Cause(self._house.topics.table_events, self.partition, mark.offset)

    # Progress

    @property
    def log_time_ms(self) -> int:
        """The newest broker time that is acknowledged; 0 before the first."""
        return max((place[1] for place in self.newest if place is not None), default=0)

    @property
    def is_ending(self) -> bool:
        """Whether a round is over, or corrected, but that is not said yet."""
        return self.revisions.are_under_way or any(book.ending is not None for book in self.books.values())

    @property
    def watermarks(self) -> tuple[int, int]:
        """The next offsets to commit, of table events and of bets: nothing below is needed by a replay."""
        oldest = (self.floor.oldest_needed, self.revisions.oldest_needed)
        next_event = min([self.next_event, *(mark.offset for mark in oldest if mark is not None)])
        needed = [book.oldest_needed for book in self.books.values()]
        return next_event, min([self.next_bet, *(oldest for oldest in needed if oldest is not None)])

    @property
    def needed_since_ms(self) -> tuple[int | None, int | None]:
        """The broker times since when a replay needs table events, and bets (no later than these); None where none."""
        marks = (self.floor.oldest_needed, self.revisions.oldest_needed)
        event = min((mark for mark in marks if mark is not None), default=None)
        rounds = [
            book.table_round.opened.at_ms if book.absorbed_ms is None else book.absorbed_ms
            for book in self.books.values()
            if book.oldest_needed is not None
        ]
        return (None if event is None else event.at_ms), min(rounds, default=None)

    def idle_notes(self) -> list[Note]:
        """Notes of tables where nothing is going on, that would keep the log for nothing. Then call `noted_idle`."""
        self._idle = {}
        for table, as_of in self.floor.idle(self.next_event, self.aside.asking):
            table_id = table.table_id
            if not self.aside.is_going_on(table_id, closing_too=True) and not self.revisions.has_table(table_id):
                note = self.aside.snapshot(table, as_of)
                if note is not None:
                    self._idle[table_id] = note
        return [table_note(self.source, table_id, note) for table_id, note in self._idle.items()]

    def noted_idle(self) -> None:
        """The notes of `idle_notes` are written."""
        for table_id, note in self._idle.items():
            self._table_said(table_id, note)
        self._idle = {}

    def passed(self, next_event: int, next_bet: int) -> dict[Key, Finished]:
        """Finished rounds of which nothing is needed by a replay from these committed offsets."""
        return {
            key: finished
            for key, finished in self.finished.items()
            if finished.seal <= next_bet and finished.last_event < next_event and key not in self.revisions
        }

    def notes_of(self, passed: dict[Key, Finished]) -> list[Note]:
        """What to remember of rounds before they leave memory: each, its shoe for as long, and its table."""
        ttl_ms = self._house.remember_ms
        notes = [mark_note(self.source, round_page(*key), finished, ttl_ms) for key, finished in passed.items()]
        notes.extend(
            shoe_note(self.source, table_id, finished.shoe.shoe(), finished.first_event, ttl_ms)
            for (table_id, _), finished in passed.items()
        )
        for table_id in {table_id for table_id, _ in passed}:
            snapshot = self.floor.snapshot(table_id)
            if snapshot is not None:
                notes.append(table_note(self.source, table_id, snapshot))
        return notes

    def forget(self, passed: dict[Key, Finished]) -> None:
        """These rounds are noted: they leave memory, but those that were revised since."""
        for key, finished in passed.items():
            if self.finished.get(key) is finished:
                del self.finished[key]
                self.floor.forget_round(*key)

    def is_as_noted(self, key: Key, finished: Finished) -> bool:
        """Whether a round that was noted so has not been corrected since."""
        return self.finished.get(key) is finished and key not in self.revisions
