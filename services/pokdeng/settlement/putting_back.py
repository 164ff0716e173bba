"""Rounds that were put aside, put back when their partition is assigned, before anything is folded.

What the committed offsets have passed of them is said by the newest snapshots of their tables: in the ledger (a page
says which tables have such), and in the `rounds` records just read back. The table events that changed a round are read
again and folded; its bets are in the ledger, whose records live as long as the round is unfinished, and must come to
the very sums that the note tells. What lies behind the note is read as ever.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import structlog

from pokdeng.events.ids import EventId, RoundId, TableId, Timestamp
from pokdeng.events.inputs import BetPlaced, CardCorrected, CardDealt
from pokdeng.ledger.port import LedgerCorruptError
from pokdeng.ledger.values import BetState, RoundName
from pokdeng.rounds import Mark, Round, Shoe, Table, evolve
from pokdeng.rules import NO_COPIES
from pokdeng.settlement.another_log import AnotherLogError
from pokdeng.settlement.aside import stood, sum_up
from pokdeng.settlement.book import REFUSED, TAKEN, WITHDRAWN, Book, Entry
from pokdeng.settlement.fenced import ours
from pokdeng.settlement.finished import decode_table
from pokdeng.settlement.full_shoe import without_room
from pokdeng.settlement.memory import ASIDE, ASIDE_PAGE, MARK, Recalled, round_page, table_page
from pokdeng.settlement.reviving import GAP_RECORDS
from pokdeng.stream.partitioner import partition_for
from pokdeng.stream.port import TopicPartition
from pokdeng.stream.reading import read_on
from pokdeng.wire import decode_table_event

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from pokdeng.events.inputs import TableEvent
    from pokdeng.ledger.port import Ledger
    from pokdeng.ledger.values import BetRecord
    from pokdeng.settlement.desk import Desk
    from pokdeng.settlement.finished import HeldNote, TableNote
    from pokdeng.settlement.house import House
    from pokdeng.stream.port import Log, Record

    Events = Mapping[int, tuple[Record, TableEvent]]

_log = structlog.get_logger(__name__)


class _Held(NamedTuple):
    """A round to be put back, and what is known of it."""

    desk: Desk
    table_id: TableId
    snapshot: TableNote
    note: HeldNote

    @property
    def round_id(self) -> RoundId:
        return RoundId(self.note.round_id)


async def put_back(log: Log, ledger: Ledger, house: House, desks: Collection[Desk]) -> int:
    """Put back the rounds of these desks that were put aside; how many. May be done again.

    Raises:
        LedgerCorruptError: where the ledger's bets are not those of which a note tells.
        AnotherLogError: where the log ends before what the ledger knows of a table.
    """
    async with ours(ledger, [desk.source for desk in desks]):
        return await _put_back(log, ledger, house, desks)


async def _put_back(log: Log, ledger: Ledger, house: House, desks: Collection[Desk]) -> int:
    await _find_tables(ledger, house, desks)
    asked = [
        _Held(desk, table_id, snapshot, note)
        for desk in desks
        for table_id in desk.floor.put_aside
        if (snapshot := desk.floor.snapshot(table_id)) is not None
        for note in snapshot.held
    ]
    if not asked:
        return 0
    events = {
        desk.partition: await _read(
            log,
            TopicPartition(house.topics.table_events, desk.partition),
            sorted({offset for one in asked if one.desk is desk for offset in one.note.events}),
        )
        for desk in desks
    }
    names = [RoundName(one.desk.source, one.table_id, one.round_id) for one in asked]
    bets = await ledger.round_bets(names)
    pages = await ledger.recall([round_page(one.table_id, one.round_id) for one in asked])
    back: dict[tuple[int, TableId], list[tuple[Round, bool]]] = {}
    books: list[tuple[Desk, Book]] = []
    for one, records, page in zip(asked, bets, pages, strict=True):
        round_ = _round_of(one, events[one.desk.partition])
        memory = Recalled()
        finished = memory.add_round(one.table_id, one.round_id, page).finished
        is_said = (one.table_id, one.round_id) in one.desk.finished
        back.setdefault((one.desk.partition, one.table_id), []).append((round_, is_said or finished is None))
        if not is_said and finished is None:
            book = _book_of(one, round_, records)
            memory.seed(book)
            book.absorb(one.note.bets_below, one.note.held_ms)
            books.append((one.desk, book))
    for desk in desks:
        for (partition, table_id), rounds in back.items():
            if partition == desk.partition:
                desk.floor.put_back(table_id, rounds)
    for desk, book in books:
        desk.put_back(book)
    return len(books)


async def _find_tables(ledger: Ledger, house: House, desks: Collection[Desk]) -> None:
    """Tell the floors the snapshots of tables with rounds put aside, as far as the ledger has them."""
    (page,) = await ledger.recall([ASIDE_PAGE])
    owners = {desk.partition: desk for desk in desks}
    found: list[tuple[Desk, TableId]] = []
    for table, value in page.items():
        desk_of = owners.get(partition_for(table.encode(), house.table_partitions))
        if value == ASIDE and desk_of is not None:
            found.append((desk_of, TableId(table)))
            desk_of.aside.noted.add(TableId(table))
    notes = await ledger.recall([table_page(table_id) for _, table_id in found]) if found else []
    for (desk, table_id), fields in zip(found, notes, strict=True):
        if MARK in fields:
            noted = decode_table(fields[MARK])
            if noted.as_of >= desk.event_end:
                raise AnotherLogError(f"the ledger knows table {table_id} up to event {noted.as_of}", desk.event_end)
            desk.floor.read_back(table_id, noted)


async def _read(log: Log, place: TopicPartition, offsets: Sequence[int]) -> Events:
    """The table events at these offsets, as far as the log keeps them."""
    found: dict[int, tuple[Record, TableEvent]] = {}
    if not offsets:
        return found
    wanted = set(offsets)
    beginning = (await log.beginning_offsets([place]))[place]
    for start, end in _stretches(offset for offset in offsets if offset >= beginning):
        async for record in read_on(log, place, start, end):
            if record.offset in wanted:
                found[record.offset] = (record, decode_table_event(record.value, record.key))
    return found


def _stretches(offsets: Iterable[int]) -> Iterator[tuple[int, int]]:
    """Where to read, for ascending offsets: reading a gap costs less than asking once more."""
    start = end = -1
    for offset in offsets:
        if start >= 0 and offset <= end + GAP_RECORDS:
            end = offset + 1
            continue
        if start >= 0:
            yield start, end
        start, end = offset, offset + 1
    if start >= 0:
        yield start, end


def _round_of(one: _Held, events: Events) -> Round:
    note = one.note
    shoe = next(shoe for shoe in one.snapshot.shoes if shoe.shoe_id == note.shoe_id).shoe()
    round_ = fold_held(note, one.table_id, shoe, events)
    if round_ is None:
        _log.error("held_round_without_its_cards", table=one.table_id, round=note.round_id, alarm=True)
        first, last = note.events[0], note.events[-1]
        round_ = Round(one.round_id, shoe.shoe_id, Mark(first, note.opened_ms), first, last, note.closed_ms)
        return round_._replace(is_incomplete=True)
    return round_


def fold_held(note: HeldNote, table_id: TableId, shoe: Shoe, events: Events) -> Round | None:
    """The round as its note was made, from the events that changed it; None where one is no longer in the log.

    Nothing depends on what else lay in its shoe (`shoe`) but which cards were none of it: those the note tells.
    """
    table = Table(table_id, {shoe.shoe_id: shoe._replace(gone=0, copies=NO_COPIES, last_round=None)}, shoe.shoe_id)
    for offset in note.events:
        if offset not in events:
            return None
        record, event = events[offset]
        before = table
        why = note.impossible.get(offset)
        if why is not None and isinstance(event, CardDealt | CardCorrected):
            full = without_room(table.shoes[shoe.shoe_id], event.card, why)
            before = table._replace(shoes={shoe.shoe_id: full})
        after, _ = evolve(before, event, Mark(offset, record.timestamp))
        table = after if why is None else after._replace(shoes=table.shoes)
    return table.rounds[RoundId(note.round_id)]._replace(is_incomplete=note.is_incomplete)


def _book_of(one: _Held, round_: Round, records: Iterable[BetRecord]) -> Book:
    note, below = one.note, one.note.bets_below
    book = Book(one.table_id, round_)
    book.events, book.impossible = list(note.events), dict(note.impossible)
    book.held_ms = note.held_ms
    book.first = note.first_bet
    book.seal, book.wait_ms = note.seal, round_.closed_at_ms
    for record in sorted(records, key=lambda record: record.offset):
        if record.offset >= below or record.bet_id in book.bets:
            continue  # decided by a worker that died before it said so: it is read again
        entry = book.bets[record.bet_id] = Entry(_bet_of(record), record.offset)
        entry.state = REFUSED if record.state is BetState.REFUSED else TAKEN
        if record.state is BetState.WITHDRAWN and record.cancel_offset < below:
            entry.state = WITHDRAWN
            book.cancels[record.account, record.bet_id] = (record.cancel_offset, None)
    sums = sum_up(stood(book, below))
    if sums != (note.bets, note.taken):
        raise LedgerCorruptError(
            f"round {note.round_id} of {one.table_id} was put aside with {note.bets} bets of {note.taken}; "
            f"the ledger has {sums[0]} of {sums[1]}"
        )
    return book


def _bet_of(record: BetRecord) -> BetPlaced:
    """The bet as it was placed, but for what was only of use when it was decided."""
    return BetPlaced(
        event_id=EventId(""),
        occurred_at=Timestamp(""),
        bet_id=record.bet_id,
        table_id=record.table,
        round_id=record.round,
        account_id=record.account,
        bet=record.bet,
        stake=record.stake,
        currency=record.currency,
    )
