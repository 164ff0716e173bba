"""What must be fetched before a batch can be folded: what the ledger and the log remember of things not in memory.

Rare by design: a table seen first since the assignment, a round or shoe that opens (is its id new?), and records about
rounds that are not open here. Usually one look-up for all of a batch, often none.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pokdeng.events.inputs import BetCancelled, BetPlaced, RoundOpened, ShoeStarted
from pokdeng.ledger.values import BetName
from pokdeng.settlement.another_log import AnotherLogError
from pokdeng.settlement.bygone import heard_late
from pokdeng.settlement.fenced import ours
from pokdeng.settlement.memory import Recalled, round_page, shoe_page, table_page
from pokdeng.settlement.reviving import Bygone, revive_all
from pokdeng.stream.merge import FIRST
from pokdeng.wire import MalformedRecordError

if TYPE_CHECKING:
    from pokdeng.events.ids import ShoeId, TableId
    from pokdeng.events.inputs import BetEvent, TableEvent
    from pokdeng.ledger.port import Ledger
    from pokdeng.settlement.desk import Desk, Key, Read
    from pokdeng.settlement.finished import Finished
    from pokdeng.stream.port import Log, Record


class Needs:
    """What the records of a batch ask for that is not in `memory` yet."""

    __slots__ = ("_memory", "_starting", "late", "past", "rounds", "shoes", "tables")

    def __init__(self, memory: Recalled) -> None:
        """Nothing."""
        self._memory = memory
        self._starting: set[TableId] = set()
        """Tables of which a shoe starts in this batch: no telling which is the newest then."""
        self.rounds: dict[Key, None] = {}
        self.shoes: dict[tuple[TableId, ShoeId], None] = {}
        self.tables: dict[TableId, None] = {}
        self.late: dict[BetName, None] = {}
        """Late bets and cancels of finished rounds."""
        self.past: dict[Key, tuple[Desk, int, Finished]] = {}
        """Finished rounds that late table events are about: their desk, the first such event's offset, how."""

    def add(self, desk: Desk, reads: list[Read]) -> None:
        """What one desk's records ask for."""
        books = desk.books
        for _, record, event in reads:
            if isinstance(event, BetPlaced) or isinstance(event, BetCancelled):  # noqa: SIM101 - faster than of a union
                if (event.table_id, event.round_id) not in books:
                    self._of_bet(desk, record, event)
            elif not isinstance(event, MalformedRecordError):
                self._of_table(desk, record, event)

    def _of_bet(self, desk: Desk, record: Record, event: BetEvent) -> None:
        key = (event.table_id, event.round_id)
        finished = self._finished(desk, key)
        if finished is not None and record.offset < finished.seal:
            return  # decided with its round
        if not self._memory.has_round(*key):
            self.rounds[key] = None
        elif finished is not None:
            name = BetName(event.table_id, event.round_id, event.bet_id)
            if name not in self._memory.asked_bets:
                self.late[name] = None

    def _of_table(self, desk: Desk, record: Record, event: TableEvent) -> None:
        table_id = event.table_id
        table = desk.floor.table(table_id)
        if table is None:
            self.tables[table_id] = None
        elif desk.floor.has_absorbed(table_id, record.offset):
            return
        if isinstance(event, ShoeStarted):
            self._starting.add(table_id)
            self._of_shoe(table_id, event.shoe_id)
            return
        if table is not None and event.round_id in table.rounds:
            return
        key = (table_id, event.round_id)
        finished = self._finished(desk, key)
        if not self._memory.has_round(*key):
            self.rounds[key] = None
        if isinstance(event, RoundOpened):
            if table is None or event.shoe_id != table.newest_shoe or table_id in self._starting:
                self._of_shoe(table_id, event.shoe_id)
        elif finished is not None and desk.floor.is_news(record.offset, finished) and key not in self._memory.revived:
            self._of_shoe(table_id, finished.shoe.shoe().shoe_id)
            if self._memory.has_round(*key):  # else its page comes first: what came for it is on it
                self._of_past_round(desk, record, key, finished)

    def _of_past_round(self, desk: Desk, record: Record, key: Key, finished: Finished) -> None:
        waiting = desk.revisions.newest(key)
        if waiting is None:
            self.past.setdefault(key, (desk, record.offset, finished))
        else:
            late = (one for one in self._memory.round(*key).late if one.offset < record.offset)
            self._memory.revived[key] = heard_late(waiting, late)

    def _of_shoe(self, table_id: TableId, shoe_id: ShoeId) -> None:
        if not self._memory.has_shoe(table_id, shoe_id):
            self.shoes[table_id, shoe_id] = None

    def _finished(self, desk: Desk, key: Key) -> Finished | None:
        """How a round ended: as the desk knows it, else as its page says. The page is told, if it is there."""
        said = desk.finished.get(key)
        if not self._memory.has_round(*key):
            return said
        page = self._memory.round(*key)
        if said is not None:
            page.finished = said  # it may not be noted yet
        return page.finished

    @property
    def pages(self) -> list[str]:
        """The names of the pages to recall: of rounds, shoes and tables, in this order."""
        return [
            *(round_page(*key) for key in self.rounds),
            *(shoe_page(*key) for key in self.shoes),
            *(table_page(table_id) for table_id in self.tables),
        ]


async def recall(ledger: Ledger, log: Log, table_events: str, reads_of: list[tuple[Desk, list[Read]]]) -> Recalled:
    """Fetch what the records ask for, and load the tables that are seen first.

    Looks again after each wait until nothing is missing: meanwhile rounds are said, and leave the books.
    """
    memory = Recalled()
    while True:
        needs = Needs(memory)
        for desk, reads in reads_of:
            needs.add(desk, reads)
        pages = needs.pages
        if pages:
            _add_pages(memory, needs, await ledger.recall(pages))
            async with ours(ledger, [desk.source for desk, _ in reads_of]):
                for desk, reads in reads_of:
                    _load_tables(desk, reads, memory)
        elif needs.late:
            names = list(needs.late)
            for name, found in zip(names, await ledger.find_bets(names), strict=True):
                memory.add_bets(name, found)
        elif needs.past:
            asked = [_bygone(memory, desk, key, finished, first) for key, (desk, first, finished) in needs.past.items()]
            memory.revived.update(await revive_all(log, table_events, asked))
        else:
            return memory


def _bygone(memory: Recalled, desk: Desk, key: Key, finished: Finished, first: int) -> Bygone:
    """A finished round as it is to be found again, before the event at offset `first`."""
    late = [one for one in memory.round(*key).late if one.offset < first]
    untold = min(desk.untold_below, first) if finished.was_settled else 0
    return Bygone(desk.partition, *key, finished, late, untold)


def _add_pages(memory: Recalled, needs: Needs, pages: list[dict[str, bytes]]) -> None:
    found = iter(pages)
    for key in needs.rounds:
        memory.add_round(*key, next(found))
    for shoe in needs.shoes:
        memory.add_shoe(*shoe, next(found))
    for table_id in needs.tables:
        memory.add_table(table_id, next(found))


def _load_tables(desk: Desk, reads: list[Read], memory: Recalled) -> None:
    for side, _, event in reads:
        if side == FIRST and not isinstance(event, MalformedRecordError) and desk.floor.table(event.table_id) is None:
            noted = memory.tables.get(event.table_id)
            if noted is not None and noted.as_of >= desk.event_end:
                raise AnotherLogError(
                    f"the ledger knows table {event.table_id} up to event {noted.as_of}", desk.event_end
                )
            desk.floor.load(event.table_id, noted)
