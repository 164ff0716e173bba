"""The floor: the tables of one co-partition, as their events make them, and from where a replay must read again.

Synchronous and without I/O. What an event does is `pokdeng.rounds.evolve`'s to say; what it means for bets and money
is told to the desk (`FloorListener`).
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Protocol

from pokdeng.events.inputs import RoundOpened, ShoeStarted
from pokdeng.events.reasons import DeadLetterReason
from pokdeng.rounds import Applied, Completed, Duplicate, Mark, Refused, Round, Shoe, Table, Verdict, evolve
from pokdeng.rules import NO_COPIES, Card

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pokdeng.events.ids import RoundId, TableId
    from pokdeng.events.inputs import TableEvent
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


class Floor:
    """The tables of a co-partition."""

    __slots__ = ("_listener", "_since", "_snapshots", "_tables")

    def __init__(self, listener: FloorListener) -> None:
        """No table is known yet."""
        self._listener = listener
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
        self._tables[table_id] = Table(table_id) if snapshot is None else snapshot.table(table_id)

    def read_back(self, table_id: TableId, snapshot: TableNote) -> None:
        """A snapshot that was said before; only before the table is loaded."""
        known = self._snapshots.get(table_id)
        if known is None or known.as_of < snapshot.as_of:
            self._snapshots[table_id] = snapshot

    def fold(self, record: Record, event: TableEvent, memory: Recalled) -> None:
        """Fold one event of a loaded table; `memory` is what was recalled for it."""
        table_id, offset = event.table_id, record.offset
        if self.has_absorbed(table_id, offset):
            return  # read again: what was to be said of it is said
        table = self._tables[table_id]
        past = _of_the_past(record, event, table, memory)
        if past is not None:
            self._tell(record, event, table, past)
            return
        mark = Mark(offset, record.timestamp)
        after, verdict = evolve(table, event, mark)
        if after is not table:
            self._tables[table_id] = after
            try:
                self._since[table_id].append(mark)
            except KeyError:
                self._since[table_id] = deque((mark,))
        self._tell(record, event, after, verdict)

    def has_absorbed(self, table_id: TableId, offset: int) -> bool:
        """Whether the table's newest snapshot has absorbed an event."""
        snapshot = self._snapshots.get(table_id)
        return snapshot is not None and offset <= snapshot.as_of

    def said(self, table_id: TableId, snapshot: TableNote) -> None:
        """A snapshot is acknowledged: what it has absorbed is needed no more."""
        known = self._snapshots.get(table_id)
        if known is None or known.as_of < snapshot.as_of:
            self._snapshots[table_id] = snapshot
            since = self._since.get(table_id)
            while since and since[0].offset <= snapshot.as_of:
                since.popleft()

    def snapshot(self, table_id: TableId) -> TableNote | None:
        """The newest snapshot of a table."""
        return self._snapshots.get(table_id)

    def idle(self, below: int) -> Iterable[tuple[Table, int]]:
        """Tables with none of their rounds going on, but with events since their snapshot, all below an offset.

        With the offset of the newest event. A snapshot of them lets the log move on.
        """
        for table_id, since in self._since.items():
            table = self._tables[table_id]
            if since and since[-1].offset < below and all(round_.is_over for round_ in table.rounds.values()):
                yield table, since[-1].offset

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


def revive(finished: Finished, events: Iterable[tuple[Record, TableEvent]]) -> Round | None:
    """A finished round, folded again from its table events and those that came after; None if they do not open it.

    Its shoe is not as it was then, so a card that was impossible then may lie in the round that is folded: which cards
    stood in the end is said by `finished`.
    """
    table: Table | None = None
    is_as_it_ended = False
    for record, event in events:
        if isinstance(event, RoundOpened):
            shoe_id = event.shoe_id
            shoe = Shoe(shoe_id, finished.shoe.decks, Card.parse(finished.shoe.burn_card), 0, NO_COPIES)
            table = table or Table(event.table_id, {shoe_id: shoe}, shoe_id)
        if table is None:
            continue
        if record.offset > finished.last_event and not is_as_it_ended:
            table, is_as_it_ended = _as_it_ended(table, finished), True
        table, _ = evolve(table, event, Mark(record.offset, record.timestamp))
    if table is None:
        return None
    return next(iter((table if is_as_it_ended else _as_it_ended(table, finished)).rounds.values()), None)


def _as_it_ended(table: Table, finished: Finished) -> Table:
    if finished.places is None:
        return table
    rounds = {
        round_id: round_._replace(
            places=finished.places,
            disputes={},
            completed=round_.completed or Completed(Mark(finished.last_event, finished.caused_at_ms), ""),
        )
        for round_id, round_ in table.rounds.items()
    }
    return table._replace(rounds=rounds)


def _of_the_past(record: Record, event: TableEvent, table: Table, memory: Recalled) -> Verdict | None:
    """What becomes of an event about a shoe or round that left memory; None where there is none such."""
    if isinstance(event, ShoeStarted):
        return _of_a_past_shoe(record, event, table, memory)
    if event.round_id in table.rounds:
        return None
    finished = memory.round(table.table_id, event.round_id).finished
    if isinstance(event, RoundOpened):
        return _opened_again(record, event, table, memory, finished)
    if finished is None or record.offset <= finished.last_event:
        return None if finished is None else Duplicate()
    round_ = memory.revived.get((table.table_id, event.round_id))
    if round_ is None:
        return Refused(DeadLetterReason.UNKNOWN_ROUND, f"round {event.round_id} is no longer in the log")
    shoe = table.shoes.get(round_.shoe_id) or finished.shoe.shoe()
    alone = Table(table.table_id, {shoe.shoe_id: shoe}, shoe.shoe_id, round_.round_id, {round_.round_id: round_})
    after, verdict = evolve(alone, event, Mark(record.offset, record.timestamp))
    memory.revived[table.table_id, event.round_id] = after.rounds[event.round_id]
    return verdict


def _of_a_past_shoe(record: Record, event: ShoeStarted, table: Table, memory: Recalled) -> Verdict | None:
    mark = None if event.shoe_id in table.shoes else memory.shoe(table.table_id, event.shoe_id)
    if mark is None or mark.offset >= record.offset:
        return None
    if (mark.decks, mark.burn_card) == (event.decks, str(event.burn_card)):
        return Duplicate()
    return Refused(DeadLetterReason.ID_CONFLICT, f"shoe {event.shoe_id} was started with other content")


def _opened_again(
    record: Record, event: RoundOpened, table: Table, memory: Recalled, finished: Finished | None
) -> Verdict | None:
    if finished is not None and record.offset <= finished.first_event:
        return None  # read again: folded anew for the sake of its shoe
    if finished is not None:
        if finished.shoe_id == event.shoe_id:
            return Duplicate()
        return Refused(DeadLetterReason.ID_CONFLICT, f"round {event.round_id} was opened in shoe {finished.shoe_id}")
    if event.shoe_id not in table.shoes and memory.shoe(table.table_id, event.shoe_id) is not None:
        return Refused(DeadLetterReason.ROUND_OUT_OF_ORDER, f"shoe {event.shoe_id} is not the newest")
    return None
