"""What the worker has the ledger remember of rounds, shoes and tables that it holds no more: pages of notes.

| page | field | value |
|---|---|---|
| `round|TABLE|ROUND` | `m` | the finished round (`finished.Finished`) |
| | `b|BET` | a bet refused while the round was not open here (`[offset, account, bet, stake, currency, reason]`) |
| | `x|ACCOUNT|BET` | a refused cancel (`[offset, reason]`) |
| | `h` | nothing: the round is put aside, and its page lives until it is finished |
| | `i|OFFSET` | why the card of that event could not be, while the round went on (`ninth_copy`, `shoe_exhausted`) |
| | `e|TYPE|EVENT` | a table event that came after the round's end (`late.LateEvent`) |
| `shoe|TABLE|SHOE` | `m` | a started shoe (`[offset, decks, burn card]`) |
| | `c` | its counts when it was in use last (`[offset, finished.ShoeNote]`) |
| | `d|OFFSET` | what a table event changed of them since (`[cards gone, copies]`) |
| `table|TABLE` | `m` | the table when none of its rounds was open (`finished.TableNote`) |
| `aside` | TABLE | `1` where the table's page has rounds put aside, `0` where it has none any more |
| `log|TOPIC|PARTITION` | `m` | the newest acknowledged record of an input partition (`anchors`) |
| | `u` | where it ended when the ledger was lost: what came late before is not all noted (`anchors`) |

Pages of rounds and shoes live for `--remember`; the others for ever. Nothing here moves money.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from pokdeng.events.ids import AccountId, BetId
from pokdeng.events.reasons import CancelReason
from pokdeng.ledger.values import FOR_EVER, Note
from pokdeng.settlement.book import Stray
from pokdeng.settlement.finished import Finished, TableNote, decode_finished, decode_table, encode_note, note_of_shoe
from pokdeng.settlement.late import decode_late, impossible_event
from pokdeng.settlement.old_shoes import CHANGE, COUNTS, OldShoe, encode_change, encode_counts

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pokdeng.events.ids import RoundId, ShoeId, TableId
    from pokdeng.events.inputs import BetCancelled, BetPlaced
    from pokdeng.ledger.values import BetName, BetRecord, Source
    from pokdeng.rounds import Round, RoundEvent, Shoe
    from pokdeng.settlement.book import Book
    from pokdeng.settlement.late import LateEvent

MARK = "m"
BET = "b"
CANCEL = "x"
LATE = "e"
IMPOSSIBLE = "i"
HELD = "h"
UNTOLD = "u"
"""The kinds of fields; what they are about follows behind a `|`."""

TABLE = "table"
"""The kind of a table's page."""
ASIDE_PAGE = "aside"
ASIDE, NOT_ASIDE = b"1", b"0"

_StrayNote = tuple[int, str, str, int, str, str]
_CancelNote = tuple[int, str]


def round_page(table_id: TableId, round_id: RoundId) -> str:
    """The page of a round."""
    return f"round|{table_id}|{round_id}"


def shoe_page(table_id: TableId, shoe_id: ShoeId) -> str:
    """The page of a shoe."""
    return f"shoe|{table_id}|{shoe_id}"


def table_page(table_id: TableId) -> str:
    """The page of a table."""
    return f"{TABLE}|{table_id}"


class RoundMemory:
    """A round's page, and what this batch adds to it."""

    __slots__ = ("cancels", "finished", "known", "late", "name", "strays")

    def __init__(self, name: str, fields: Mapping[str, bytes]) -> None:
        """Read a page."""
        self.name = name
        self.finished: Finished | None = None
        self.strays: dict[BetId, tuple[Stray, str]] = {}
        self.cancels: dict[tuple[AccountId, BetId], tuple[int, str]] = {}
        self.known: dict[BetId, BetRecord] = {}
        """The ledger's records of late bets of a finished round."""
        self.late: list[LateEvent] = []
        for field, value in fields.items():
            kind, _, rest = field.partition("|")
            if kind == MARK:
                self.finished = decode_finished(value)
            elif kind == BET:
                offset, account, bet, stake, currency, reason = msgspec.json.decode(value, type=_StrayNote)
                self.strays[BetId(rest)] = (Stray(offset, account, bet, stake, currency), reason)
            elif kind == CANCEL:
                account, _, bet = rest.partition("|")
                self.cancels[AccountId(account), BetId(bet)] = msgspec.json.decode(value, type=_CancelNote)
            elif kind == LATE:
                self.late.append(decode_late(value))
            elif kind == IMPOSSIBLE:
                self.late.append(impossible_event(int(rest), value.decode()))

    def add_bet(self, source: Source, offset: int, bet: BetPlaced, reason: str, ttl_ms: int) -> Note:
        """Remember a bet that is refused while its round is not open here."""
        stray = Stray(offset, bet.account_id, bet.bet.value, bet.stake, bet.currency)
        self.strays[bet.bet_id] = (stray, reason)
        value = msgspec.json.encode((offset, bet.account_id, bet.bet.value, bet.stake, bet.currency, reason))
        return Note(source, self.name, f"{BET}|{bet.bet_id}", value, True, ttl_ms)

    def add_cancel(self, source: Source, offset: int, cancel: BetCancelled, reason: str, ttl_ms: int) -> Note:
        """Remember a cancel that is refused while its round is not open here."""
        self.cancels[cancel.account_id, cancel.bet_id] = (offset, reason)
        return cancel_note(source, offset, cancel, reason, ttl_ms)


def cancel_note(source: Source, offset: int, cancel: BetCancelled, reason: str, ttl_ms: int | None) -> Note:
    """Remember a refused cancel: it must not be answered twice, and a bet that comes after it is refused."""
    page = round_page(cancel.table_id, cancel.round_id)
    field = f"{CANCEL}|{cancel.account_id}|{cancel.bet_id}"
    return Note(source, page, field, msgspec.json.encode((offset, reason)), True, ttl_ms)


def late_note(
    source: Source, table_id: TableId, round_id: RoundId, late: LateEvent, event: RoundEvent, ttl_ms: int | None
) -> Note:
    """Remember an event that came for a round after its end."""
    field = f"{LATE}|{event.event_type}|{event.event_id}"
    return Note(source, round_page(table_id, round_id), field, msgspec.json.encode(late), True, ttl_ms)


def impossible_note(source: Source, table_id: TableId, round_id: RoundId, offset: int, why: str) -> Note:
    """Remember that the event at `offset` brought no card of its shoe: another time that is another. Until its end."""
    return Note(source, round_page(table_id, round_id), f"{IMPOSSIBLE}|{offset}", why.encode(), True, FOR_EVER)


def mark_note(source: Source, page: str, finished: Finished, ttl_ms: int) -> Note:
    """Remember that a round is finished: the latest revision replaces the earlier one."""
    return Note(source, page, MARK, encode_note(finished), False, ttl_ms)


def table_note(source: Source, table_id: TableId, note: TableNote) -> Note:
    """Remember a table at a point where none of its rounds was open."""
    return Note(source, table_page(table_id), MARK, encode_note(note), False, None)


def aside_note(source: Source, table_id: TableId, *, is_aside: bool) -> Note:
    """Remember of a table whether rounds of it are put aside: to be written before its page says so."""
    return Note(source, ASIDE_PAGE, table_id, ASIDE if is_aside else NOT_ASIDE, False, None)


def kept_note(source: Source, table_id: TableId, round_id: RoundId) -> Note:
    """Have a round's page live on."""
    return Note(source, round_page(table_id, round_id), HELD, b"", False, FOR_EVER)


def shoe_note(source: Source, table_id: TableId, shoe: Shoe, offset: int, ttl_ms: int) -> Note:
    """Remember that a shoe was started, by which record; or anew, for as long again."""
    value = msgspec.json.encode((offset, shoe.decks, str(shoe.burn_card)))
    return Note(source, shoe_page(table_id, shoe.shoe_id), MARK, value, True, ttl_ms)


def counts_note(source: Source, table_id: TableId, shoe: Shoe, offset: int, ttl_ms: int) -> Note:
    """Remember a shoe's counts when the next one is started, by the record at `offset`: no table holds them then."""
    value = encode_counts(note_of_shoe(shoe), offset)
    return Note(source, shoe_page(table_id, shoe.shoe_id), COUNTS, value, True, ttl_ms)


def change_note(source: Source, table_id: TableId, before: Shoe, after: Shoe, offset: int, ttl_ms: int) -> Note:
    """Remember what the event at `offset` changed of an old shoe's counts."""
    page = shoe_page(table_id, after.shoe_id)
    return Note(source, page, f"{CHANGE}|{offset}", encode_change(before, after), True, ttl_ms)


class ShoeMark(msgspec.Struct, frozen=True, array_like=True):
    """A shoe that was started by the record at `offset`."""

    offset: int
    decks: int
    burn_card: str


class Recalled:
    """What was recalled for one batch, of rounds, shoes and tables that are not held in memory."""

    __slots__ = ("_old_shoes", "_rounds", "_shoes", "asked_bets", "revived", "tables")

    def __init__(self) -> None:
        """Nothing yet."""
        self._rounds: dict[tuple[TableId, RoundId], RoundMemory] = {}
        self._shoes: dict[tuple[TableId, ShoeId], ShoeMark | None] = {}
        self._old_shoes: dict[tuple[TableId, ShoeId], OldShoe] = {}
        self.tables: dict[TableId, TableNote] = {}
        self.asked_bets: set[BetName] = set()
        """Late bets that the ledger was asked about."""
        self.revived: dict[tuple[TableId, RoundId], Round | None] = {}
        """Finished rounds, folded again from the log; None where it keeps them no more."""

    def add_round(self, table_id: TableId, round_id: RoundId, fields: Mapping[str, bytes]) -> RoundMemory:
        """A round's page."""
        memory = self._rounds[table_id, round_id] = RoundMemory(round_page(table_id, round_id), fields)
        return memory

    def add_shoe(self, table_id: TableId, shoe_id: ShoeId, fields: Mapping[str, bytes]) -> None:
        """A shoe's page."""
        mark = msgspec.json.decode(fields[MARK], type=ShoeMark) if MARK in fields else None
        self._shoes[table_id, shoe_id] = mark
        self._old_shoes[table_id, shoe_id] = OldShoe(fields)

    def shoe_started(self, table_id: TableId, shoe: Shoe, offset: int) -> None:
        """A shoe starts in this batch: its page is not written yet."""
        self._shoes[table_id, shoe.shoe_id] = ShoeMark(offset, shoe.decks, str(shoe.burn_card))

    def shoe_left(self, table_id: TableId, shoe: Shoe, offset: int) -> None:
        """A table's shoe is followed by another, started by the record at `offset`."""
        self._old_shoes.setdefault((table_id, shoe.shoe_id), OldShoe({})).left(note_of_shoe(shoe), offset)

    def shoe_changed(self, table_id: TableId, before: Shoe, after: Shoe, offset: int) -> None:
        """An old shoe's counts change by the record at `offset`."""
        self._old_shoes.setdefault((table_id, after.shoe_id), OldShoe({})).changed(before, after, offset)

    def old_shoe(self, table_id: TableId, shoe_id: ShoeId, offset: int) -> Shoe | None:
        """A shoe that its table does not hold, as it was before the record at `offset`; None where it was not kept."""
        old = self._old_shoes.get((table_id, shoe_id))
        return None if old is None else old.as_of(offset)

    def add_table(self, table_id: TableId, fields: Mapping[str, bytes]) -> None:
        """A table's page."""
        if MARK in fields:
            self.tables[table_id] = decode_table(fields[MARK])

    def add_bets(self, name: BetName, records: tuple[BetRecord, ...]) -> None:
        """What the ledger knows of a late bet of a finished round."""
        self.asked_bets.add(name)
        for record in records:
            self.round(name.table, name.round).known[name.bet_id] = record

    def has_round(self, table_id: TableId, round_id: RoundId) -> bool:
        """Whether a round's page was recalled."""
        return (table_id, round_id) in self._rounds

    def has_shoe(self, table_id: TableId, shoe_id: ShoeId) -> bool:
        """Whether a shoe's page was recalled."""
        return (table_id, shoe_id) in self._shoes

    def round(self, table_id: TableId, round_id: RoundId) -> RoundMemory:
        """A round's page, empty where there was none."""
        memory = self._rounds.get((table_id, round_id))
        return self.add_round(table_id, round_id, {}) if memory is None else memory

    def shoe(self, table_id: TableId, shoe_id: ShoeId) -> ShoeMark | None:
        """The mark of a shoe that was started, None where it is not remembered."""
        return self._shoes.get((table_id, shoe_id))

    def seed(self, book: Book) -> None:
        """Tell the book of a round that just opened what was refused before."""
        memory = self._rounds.get((book.table_id, book.round_id))
        if memory is None:
            return
        for bet_id, (stray, _) in memory.strays.items():
            book.strays[bet_id] = stray
        for name, (offset, reason) in memory.cancels.items():
            book.cancels[name] = (offset, CancelReason(reason))
