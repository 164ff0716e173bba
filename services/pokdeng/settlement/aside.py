"""Rounds that are put aside: held for long, so that their table's snapshots are taken over their heads.

A held round waits for the supervisor, for days perhaps. It must not keep the log as long: after `House.held_ms` the
snapshots of its table name it (`finished.HeldNote`), and with them what it needs of the log is passed. What comes for
it afterwards keeps the log again, until the next snapshot. `putting_back.py` finds it again after a restart.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final, Protocol

from pokdeng.events.ids import RoundId, TableId
from pokdeng.events.reasons import DeadLetterReason
from pokdeng.rounds import Refused
from pokdeng.settlement.book import TAKEN, WITHDRAWN
from pokdeng.settlement.finished import HeldNote, decode_table, note_of_table
from pokdeng.settlement.memory import TABLE, aside_note, kept_note

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from pokdeng.ledger.values import Note, Source
    from pokdeng.rounds import Round, Table, Verdict
    from pokdeng.settlement.book import Book, Entry
    from pokdeng.settlement.finished import TableNote

MOST_EVENTS: Final = 2_000
"""Rounds of one table that were changed more often are not put aside: a note travels with facts, and must be small."""

_OF_THE_SHOE: Final = frozenset({DeadLetterReason.NINTH_COPY, DeadLetterReason.SHOE_EXHAUSTED})


class Acknowledged(Protocol):
    """What the desk knows of its progress."""

    next_bet: int

    @property
    def log_time_ms(self) -> int:
        """The newest broker time that is acknowledged."""


class Aside:
    """The rounds of a co-partition that are put aside, or may be."""

    __slots__ = ("_books", "_desk", "_held_ms", "noted")

    def __init__(self, desk: Acknowledged, books: Mapping[tuple[TableId, RoundId], Book], *, held_ms: int) -> None:
        """`books` are the desk's; `held_ms`: how long a round is held before."""
        self._desk = desk
        self._books = books
        self._held_ms = held_ms
        self.noted: set[TableId] = set()
        """Tables of which the ledger is told that their pages have rounds put aside."""

    def may_be(self, book: Book) -> bool:
        """Whether a snapshot may be taken over the head of this round."""
        return (
            book.held_ms is not None and book.ending is None and self._desk.log_time_ms - book.held_ms >= self._held_ms
        )

    def is_going_on(self, table_id: TableId, *, closing_too: bool = False, up_to: int | None = None) -> bool:
        """Whether a round of the table is to be said yet (or is being said), that is not put aside.

        `up_to`: that began no later than the table event at this offset.
        """
        return any(
            book.table_id == table_id
            and (closing_too or not book.is_closing)
            and (up_to is None or book.table_round.first <= up_to)
            and not self.may_be(book)
            for book in self._books.values()
        )

    def snapshot(self, table: Table, as_of: int) -> TableNote | None:
        """A table after its event at `as_of`; None where its rounds are neither over nor may be put aside."""
        held: list[HeldNote] = []
        for round_ in table.rounds.values():
            if round_.is_over:
                continue
            book = self._books.get((table.table_id, round_.round_id))
            if book is None or not round_.is_held or not self.may_be(book):
                return None
            held.append(_note_of(book, round_, as_of, self._desk.next_bet))
        if sum(len(note.events) for note in held) > MOST_EVENTS:
            return None
        return note_of_table(table, as_of, tuple(held))

    def said(self, table_id: TableId, snapshot: TableNote) -> None:
        """A snapshot is acknowledged: the rounds that it names keep nothing of what it has absorbed."""
        for note in snapshot.held:
            book = self._books.get((table_id, RoundId(note.round_id)))
            if book is not None:
                book.absorb(note.bets_below, self._desk.log_time_ms)

    def notes_before(self, source: Source, notes: Iterable[Note]) -> list[Note]:
        """What is to be written before these notes, where they have rounds put aside: whoever takes over must know."""
        before: list[Note] = []
        for table_id, snapshot in _snapshots(notes):
            if snapshot.held and table_id not in self.noted:
                self.noted.add(table_id)
                before.append(aside_note(source, table_id, is_aside=True))
            before += [kept_note(source, table_id, RoundId(note.round_id)) for note in snapshot.held]
        return before

    def notes_after(self, source: Source, notes: Iterable[Note]) -> list[Note]:
        """What may be written once these notes are, where they have no rounds put aside any more."""
        over = {table_id for table_id, snapshot in _snapshots(notes) if not snapshot.held} & self.noted
        self.noted -= over
        return [aside_note(source, table_id, is_aside=False) for table_id in sorted(over)]

    @property
    def asking(self) -> set[TableId]:
        """Tables with a round put aside that keeps the log for a bet or cancel, for so long that it need not."""
        now_ms = self._desk.log_time_ms
        return {
            book.table_id
            for book in self._books.values()
            if book.absorbed_ms is not None
            and book.oldest_needed is not None
            and now_ms - book.absorbed_ms >= self._held_ms
            and self.may_be(book)
        }


def _snapshots(notes: Iterable[Note]) -> Iterator[tuple[TableId, TableNote]]:
    """The tables' snapshots among notes."""
    for note in notes:
        kind, _, table_id = note.page.partition("|")
        if kind == TABLE:
            yield TableId(table_id), decode_table(note.value)


def impossible_by(verdict: Verdict) -> str | None:
    """Why a card was none of its shoe, None where that was not the reason."""
    return verdict.reason.value if isinstance(verdict, Refused) and verdict.reason in _OF_THE_SHOE else None


def sum_up(standing: Iterable[Entry]) -> tuple[int, dict[str, int]]:
    """How many bets there are, and what they took by currency."""
    taken: Counter[str] = Counter()
    count = 0
    for entry in standing:
        count += 1
        taken[entry.bet.currency] += entry.taken
    return count, dict(sorted(taken.items()))


def stood(book: Book, below: int) -> Iterable[Entry]:
    """The bets that stood when all records of `bets` below that offset were decided, and no other."""
    for entry in book.bets.values():
        if entry.offset < below and entry.state in (TAKEN, WITHDRAWN):
            cancel = book.cancels.get((entry.bet.account_id, entry.bet.bet_id))
            if entry.state == TAKEN or (cancel is not None and cancel[0] >= below):
                yield entry


def _note_of(book: Book, round_: Round, as_of: int, next_bet: int) -> HeldNote:
    bets, taken = sum_up(stood(book, next_bet))
    return HeldNote(
        round_id=round_.round_id,
        shoe_id=round_.shoe_id,
        events=tuple(offset for offset in book.events if offset <= as_of),
        impossible={offset: why for offset, why in book.impossible.items() if offset <= as_of},
        is_incomplete=round_.is_incomplete,
        opened_ms=round_.opened.at_ms,
        closed_ms=round_.closed_at_ms,
        held_ms=book.held_ms or 0,
        first_bet=book.first if book.first is not None and book.first < next_bet else None,
        bets_below=next_bet,
        seal=book.seal if book.seal is not None and book.seal < next_bet else None,
        bets=bets,
        taken=taken,
    )
