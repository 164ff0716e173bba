"""What must be fetched before a batch can be folded: what the ledger and the log remember of things not in memory.

Rare by design: a table seen first since the assignment, a round or shoe that opens (is its id new?), and records about
rounds that are not open here. Usually one look-up for all of a batch, often none.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pokdeng.events.inputs import BetCancelled, BetPlaced, RoundOpened, ShoeStarted
from pokdeng.ledger.port import BetName
from pokdeng.settlement.floor import revive
from pokdeng.settlement.memory import Recalled, round_page, shoe_page, table_page
from pokdeng.stream.merge import FIRST
from pokdeng.stream.port import TopicPartition
from pokdeng.wire import MalformedRecordError, decode_table_event

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from pokdeng.events.ids import RoundId, ShoeId, TableId
    from pokdeng.events.inputs import BetEvent, TableEvent
    from pokdeng.ledger.port import Ledger
    from pokdeng.rounds.state import RoundEvent
    from pokdeng.settlement.desk import Desk, Read
    from pokdeng.settlement.finished import Finished
    from pokdeng.stream.port import Log, Record


class Needs:
    """What the records of a batch ask for."""

    __slots__ = ("rounds", "shoes", "tables")

    def __init__(self) -> None:
        """Nothing."""
        self.rounds: dict[tuple[TableId, RoundId], None] = {}
        self.shoes: dict[tuple[TableId, ShoeId], None] = {}
        self.tables: dict[TableId, None] = {}

    def add(self, desk: Desk, reads: list[Read]) -> None:
        """What one desk's records ask for."""
        books, finished, opened = desk.books, desk.finished, set[tuple["TableId", "RoundId"]]()
        for _, record, event in reads:
            if isinstance(event, BetPlaced | BetCancelled):
                key = (event.table_id, event.round_id)
                if key in books or key in opened:
                    continue
                over = finished.get(key)
                if over is None or record.offset >= over.seal:
                    self.rounds[key] = None
            elif not isinstance(event, MalformedRecordError):
                self._of_table(desk, event, opened)

    def _of_table(self, desk: Desk, event: TableEvent, opened: set[tuple[TableId, RoundId]]) -> None:
        table = desk.floor.table(event.table_id)
        if table is None:
            self.tables[event.table_id] = None
        if isinstance(event, ShoeStarted):
            if table is None or event.shoe_id not in table.shoes:
                self.shoes[event.table_id, event.shoe_id] = None
            return
        key = (event.table_id, event.round_id)
        if key in opened or (table is not None and event.round_id in table.rounds):
            return
        self.rounds[key] = None
        if isinstance(event, RoundOpened):
            opened.add(key)
            if table is None or event.shoe_id not in table.shoes:
                self.shoes[event.table_id, event.shoe_id] = None

    @property
    def pages(self) -> list[str]:
        """The names of the pages to recall: of rounds, shoes and tables, in this order."""
        return [
            *(round_page(*key) for key in self.rounds),
            *(shoe_page(*key) for key in self.shoes),
            *(table_page(table_id) for table_id in self.tables),
        ]


async def recall(ledger: Ledger, log: Log, table_events: str, reads_of: list[tuple[Desk, list[Read]]]) -> Recalled:
    """Fetch what the records ask for, and load the tables that are seen first."""
    memory = Recalled()
    needs = Needs()
    for desk, reads in reads_of:
        needs.add(desk, reads)
    pages = needs.pages
    if not pages:
        return memory
    found = iter(await ledger.recall(pages))
    is_any_finished = False
    for key in needs.rounds:
        is_any_finished |= memory.add_round(*key, next(found)).finished is not None
    for shoe in needs.shoes:
        memory.add_shoe(*shoe, next(found))
    for table_id in needs.tables:
        memory.add_table(table_id, next(found))
    for desk, reads in reads_of:
        _load_tables(desk, reads, memory)
        for key in needs.rounds.keys() & desk.finished.keys():
            memory.round(*key).finished = desk.finished[key]  # said, but not noted yet
            is_any_finished = True
    if is_any_finished:
        await _recall_of_finished(ledger, log, table_events, reads_of, memory)
    return memory


def _load_tables(desk: Desk, reads: list[Read], memory: Recalled) -> None:
    for side, _, event in reads:
        if side == FIRST and not isinstance(event, MalformedRecordError) and desk.floor.table(event.table_id) is None:
            desk.floor.load(event.table_id, memory.tables.get(event.table_id))


async def _recall_of_finished(
    ledger: Ledger, log: Log, table_events: str, reads_of: list[tuple[Desk, list[Read]]], memory: Recalled
) -> None:
    """What is known of late bets, and the rounds that late table events are about."""
    late: dict[BetName, None] = {}
    rounds: dict[tuple[TableId, RoundId], tuple[TopicPartition, int, int, Finished]] = {}
    for desk, record, event in _about_rounds(reads_of):
        key = (event.table_id, event.round_id)
        finished = None if key in desk.books else desk.finished.get(key) or memory.round(*key).finished
        if finished is None:
            continue
        if isinstance(event, BetPlaced | BetCancelled):
            if record.offset >= finished.seal:
                late[BetName(event.table_id, event.round_id, event.bet_id)] = None
        elif record.offset > finished.last_event and not desk.floor.has_round(*key):
            place = TopicPartition(table_events, desk.partition)
            rounds.setdefault(key, (place, finished.first_event, record.offset, finished))
    if late:
        for name, records in zip(late, await ledger.find_bets(list(late)), strict=True):
            memory.add_bets(name, records)
    for key, (place, start, end, finished) in rounds.items():
        round_ = revive(finished, _of_round(await log.read(place, start, end), key))
        if round_ is not None:
            memory.revived[key] = round_


def _about_rounds(reads_of: list[tuple[Desk, list[Read]]]) -> Iterator[tuple[Desk, Record, BetEvent | RoundEvent]]:
    """The records that are about rounds which must have been opened before."""
    for desk, reads in reads_of:
        for _, record, event in reads:
            if not isinstance(event, MalformedRecordError | ShoeStarted | RoundOpened):
                yield desk, record, event


def _of_round(records: Iterable[Record], key: tuple[TableId, RoundId]) -> Iterable[tuple[Record, TableEvent]]:
    for record in records:
        try:
            event = decode_table_event(record.value, record.key)
        except MalformedRecordError:
            continue
        if not isinstance(event, ShoeStarted) and (event.table_id, event.round_id) == key:
            yield record, event
