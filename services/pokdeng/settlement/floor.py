"""The floor: the tables of one co-partition, as their events make them, and from where a replay must read again.

Synchronous and without I/O. What an event does is `pokdeng.rounds.evolve`'s to say; what it means for bets and money
is told to the desk (`FloorListener`).
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Protocol

from pokdeng.events.inputs import CardCorrected, RoundOpened, ShoeStarted
from pokdeng.ledger.port import LedgerCorruptError
from pokdeng.rounds import Applied, Mark, Refused, Table, Verdict, evolve, place_of
from pokdeng.rules import with_card
from pokdeng.settlement.aside import impossible_by
from pokdeng.settlement.bygone import Dealt, counted_again, of_the_past
from pokdeng.settlement.finished import newer_of
from pokdeng.settlement.late import late_event

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from pokdeng.events.ids import RoundId, TableId
    from pokdeng.events.inputs import TableEvent
    from pokdeng.rounds import Round, RoundEvent
    from pokdeng.settlement.aftermath import Aftermath
    from pokdeng.settlement.bygone import Past
    from pokdeng.settlement.finished import Finished, TableNote
    from pokdeng.settlement.memory import Recalled
    from pokdeng.stream.port import Record


class FloorListener(Protocol):
    """Whom the floor tells what came of an event."""

    def applied(self, record: Record, event: TableEvent, table: Table, verdict: Applied) -> None:
        """The event counts; `table` is as it is after it."""

    def repeated(self, record: Record) -> None:
        """The event says what is known."""

    def refused(self, record: Record, event: TableEvent, table: Table, verdict: Refused) -> None:
        """The event cannot be used; it may have made its round held."""

    def changed(self, offset: int, event: RoundEvent, verdict: Verdict) -> None:
        """The event at `offset` changed its round."""


class Floor:
    """The tables of a co-partition."""

    __slots__ = ("_aftermath", "_listener", "_since", "_snapshots", "_tables", "_window_ms", "said_below")

    def __init__(self, listener: FloorListener, aftermath: Aftermath, *, window_ms: int) -> None:
        """No table is known yet. `window_ms`: how long after its settlement a round is corrected."""
        self._listener = listener
        self._aftermath = aftermath
        self._window_ms = window_ms
        self.said_below = 0
        """What lies below this offset was dealt with before the partition was assigned, corrections included."""
        self._tables: dict[TableId, Table] = {}
        self._snapshots: dict[TableId, TableNote] = {}
        """The newest point of each table at which none of its rounds was open, as far as it was said or noted."""
        self._since: dict[TableId, deque[Mark]] = {}
        """Where each table's events since then lie: a replay needs them again."""

    def table(self, table_id: TableId) -> Table | None:
        """A table, None where it is not loaded."""
        return self._tables.get(table_id)

    def has_round(self, table_id: TableId, round_id: RoundId) -> bool:
        """Whether a round is in memory."""
        table = self._tables.get(table_id)
        return table is not None and round_id in table.rounds

    def load(self, table_id: TableId, noted: TableNote | None) -> None:
        """Begin to know a table, from the newest of its snapshots: `noted` by the ledger, or read back before."""
        if noted is not None:
            self.read_back(table_id, noted)
        snapshot = self._snapshots.get(table_id)
        if snapshot is not None and snapshot.held:
            raise LedgerCorruptError(f"table {table_id} has rounds put aside, and is not known for it")
        self._tables[table_id] = Table(table_id) if snapshot is None else snapshot.table(table_id)

    def put_back(self, table_id: TableId, rounds: Iterable[tuple[Round, bool]]) -> None:
        """Begin to know a table with rounds that were put aside; those told False are over and said by now."""
        table = self._snapshots[table_id].table(table_id)
        shoes, standing = dict(table.shoes), {}
        for round_, is_there in rounds:
            shoe = shoes[round_.shoe_id]
            for card in round_.places:
                if card is not None:
                    shoe = shoe._replace(gone=shoe.gone + 1, copies=with_card(shoe.copies, card))
            shoes[round_.shoe_id] = shoe
            if is_there:
                standing[round_.round_id] = round_
        self._tables[table_id] = table._replace(shoes=shoes, rounds=standing)

    def read_back(self, table_id: TableId, snapshot: TableNote) -> None:
        """A snapshot that was said before; only before the table is loaded."""
        known = self._snapshots.get(table_id)
        self._snapshots[table_id] = snapshot if known is None else newer_of(known, snapshot)

    @property
    def put_aside(self) -> Iterable[TableId]:
        """Tables whose newest snapshot was taken over the head of a held round."""
        return [table_id for table_id, snapshot in self._snapshots.items() if snapshot.held]

    def fold(self, record: Record, event: TableEvent, memory: Recalled) -> None:
        """Fold one event of a loaded table; `memory` is what was recalled for it."""
        table_id, offset = event.table_id, record.offset
        if self.has_absorbed(table_id, offset):
            return  # read again: what was to be said of it is said
        table = self._tables[table_id]
        if isinstance(event, ShoeStarted) or event.round_id not in table.rounds:
            if self._was_said(table, record, event, memory):
                return
            past = of_the_past(record, event, table, memory, self._window_ms)
            if past is not None:
                self._fold_past(record, event, table, past)
                return
        mark = Mark(offset, record.timestamp)
        after, verdict = evolve(table, event, mark, window_ms=self._window_ms)
        why = impossible_by(verdict)
        if why is not None and not isinstance(event, ShoeStarted | RoundOpened):
            self._aftermath.impossible(record, event, why)
        if after is not table:
            self._changed(after, mark)
            if not isinstance(event, ShoeStarted | RoundOpened):
                self._listener.changed(offset, event, verdict)
            if self._is_all_told(record, event, table, after, verdict):
                return
        self._tell(record, event, after, verdict)

    def _is_all_told(self, record: Record, event: TableEvent, before: Table, after: Table, verdict: Verdict) -> bool:
        """Tell what concerns old shoes and rounds that are over; whether nothing else is to be told of the event."""
        if isinstance(event, ShoeStarted):
            if before.newest_shoe is not None:
                self._aftermath.shoe_left(record, event.table_id, before.shoes[before.newest_shoe])
            return False
        if isinstance(event, RoundOpened):
            return False
        round_ = after.rounds[event.round_id]
        shoe_id = round_.shoe_id
        if shoe_id == after.newest_shoe and not round_.is_over:
            return False
        was = Dealt(before.rounds[event.round_id], before.shoes[shoe_id])
        return self._is_follow_up(record, event, was, Dealt(round_, after.shoes[shoe_id]), verdict)

    def _changed(self, table: Table, mark: Mark) -> None:
        self._tables[table.table_id] = table
        try:
            self._since[table.table_id].append(mark)
        except KeyError:
            self._since[table.table_id] = deque((mark,))

    def _was_said(self, table: Table, record: Record, event: TableEvent, memory: Recalled) -> bool:
        """Whether the event is read again, of a round that left memory: what was to be said of it is said.

        It may be forgotten by now what it was judged by, so it is not judged again.
        Only what it changed of the table's shoe counts once more, since the table's snapshot is older.
        """
        if isinstance(event, ShoeStarted | RoundOpened):
            return False
        page = memory.round(table.table_id, event.round_id)
        if page.finished is None or self.is_news(record.offset, page.finished):
            return False
        after = counted_again(table, event, record.offset, page)
        if after is not table:
            self._changed(after, Mark(record.offset, record.timestamp))
        return True

    def is_news(self, offset: int, finished: Finished) -> bool:
        """Whether an event for a round that left memory was not dealt with before."""
        return offset > finished.last_event and offset >= self.said_below

    def _fold_past(self, record: Record, event: TableEvent, table: Table, past: Past) -> None:
        """An event about something that left memory; its shoe may still be the table's."""
        if past.before is None or past.after is None or isinstance(event, ShoeStarted | RoundOpened):
            self._tell(record, event, table, past.verdict)
            return
        shoe = past.after.shoe
        if shoe is not past.before.shoe and shoe.shoe_id in table.shoes:
            changed = table._replace(shoes={**table.shoes, shoe.shoe_id: shoe})
            self._changed(changed, Mark(record.offset, record.timestamp))
        if not self._is_follow_up(record, event, past.before, past.after, past.verdict):
            self._tell(record, event, table, past.verdict)

    def _is_follow_up(self, record: Record, event: RoundEvent, before: Dealt, after: Dealt, verdict: Verdict) -> bool:
        """Tell what is to be kept of an event about a round that is over, or an old shoe; whether that is all of it."""
        table = self._tables[event.table_id]
        if after.shoe.shoe_id != table.newest_shoe:
            if after.shoe is not before.shoe:
                self._aftermath.old_shoe_changed(record, table.table_id, before.shoe, after.shoe)
            if after.round.is_over and not before.round.is_over:
                self._aftermath.old_shoe_ended(record, table.table_id, after.shoe)
        if not before.round.is_over:
            return False
        mark = Mark(record.offset, record.timestamp)
        if not isinstance(verdict, Applied):
            self._aftermath.heard(event, late_event(mark, event))
            return False
        replaced = None
        if isinstance(event, CardCorrected):
            replaced = before.round.places[place_of(event.seat, event.position)]
        self._aftermath.revised(event, late_event(mark, event, replaced), after, table)
        return True

    def has_absorbed(self, table_id: TableId, offset: int) -> bool:
        """Whether the table's newest snapshot has absorbed an event."""
        snapshot = self._snapshots.get(table_id)
        return snapshot is not None and offset <= snapshot.as_of

    def said(self, table_id: TableId, snapshot: TableNote) -> None:
        """A snapshot is acknowledged: what it has absorbed is needed no more."""
        known = self._snapshots.get(table_id)
        if known is None or known.point < snapshot.point:
            self._snapshots[table_id] = snapshot
            since = self._since.get(table_id)
            while since and since[0].offset <= snapshot.as_of:
                since.popleft()

    def snapshot(self, table_id: TableId) -> TableNote | None:
        """The newest snapshot of a table."""
        return self._snapshots.get(table_id)

    def idle(self, below: int, besides: Collection[TableId]) -> Iterable[tuple[Table, int]]:
        """Tables with no round going on that is not held, but with events since their snapshot, all below an offset.

        With the offset of the newest event. A snapshot of them lets the log move on. `besides`: tables that ask for a
        newer one without an event, if they have one.
        """
        for table_id, since in self._since.items():
            table = self._tables[table_id]
            if since and since[-1].offset < below and all(one.is_over or one.is_held for one in table.rounds.values()):
                yield table, since[-1].offset
        for table_id in besides:
            snapshot = self._snapshots.get(table_id)
            if snapshot is not None and not self._since.get(table_id):
                yield self._tables[table_id], snapshot.as_of

    def forget_round(self, table_id: TableId, round_id: RoundId) -> None:
        """A round is finished and noted: it leaves memory."""
        table = self._tables.get(table_id)
        if table is not None and round_id in table.rounds:
            rounds = {other: round_ for other, round_ in table.rounds.items() if other != round_id}
            self._tables[table_id] = table._replace(rounds=rounds)

    @property
    def oldest_needed(self) -> Mark | None:
        """Where the oldest event lies that a replay needs, None where it needs none."""
        return min((since[0] for since in self._since.values() if since), default=None)

    def _tell(self, record: Record, event: TableEvent, table: Table, verdict: Verdict) -> None:
        if isinstance(verdict, Applied):
            self._listener.applied(record, event, table, verdict)
        elif isinstance(verdict, Refused):
            self._listener.refused(record, event, table, verdict)
        else:
            self._listener.repeated(record)
