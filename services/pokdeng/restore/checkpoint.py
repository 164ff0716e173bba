"""A checkpoint: what the facts came to at a vector of offsets, as it lies on the compacted `checkpoints` topic.

It has two slots, used by turns. A slot is chunks, numbered from 0, and one last record that tells how many they are and
what they must be, byte for byte; without it, or if a single chunk is another's, the slot counts for nothing.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Protocol, TypeVar

import msgspec

from pokdeng.ledger.restoring import After, RestoredBet
from pokdeng.ledger.values import BetState
from pokdeng.restore.accounts import AccountState, Totals
from pokdeng.restore.facts import Balance, BetFact, Cause
from pokdeng.restore.fold import Entry
from pokdeng.stream.port import TopicPartition

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterable, Iterator

    from pokdeng.ledger.restoring import AfterState
    from pokdeng.restore.fold import Fold, Sink
    from pokdeng.restore.reading import Offsets
    from pokdeng.stream.port import Record

SLOTS: Final = ("a", "b")
END: Final = "end"
ROWS_A_CHUNK: Final = 2_000
"""Small enough for any broker's limit: a row is below 400 bytes."""

_Row = TypeVar("_Row")
_AccountRow = tuple[str, str, int, int, int, int, int, int, list[tuple[int, int]]]
_TotalsRow = tuple[str, int, int, int]
_AfterRow = tuple[int, int, int] | None
_BetRow = tuple[
    str, str, str, str, str, int, str, int, str, str, int, int, int, _AfterRow, int, _AfterRow, _AfterRow, int, int, int
]  # fmt: skip


class Chunk(msgspec.Struct, array_like=True):
    """Some rows of a checkpoint: of one kind only, but that costs nothing to leave open."""

    checkpoint: str
    accounts: list[_AccountRow] = []
    totals: list[_TotalsRow] = []
    open: list[_BetRow] = []
    """Bets of rounds that were not finished."""
    early: list[_BetRow] = []
    """Bets that are remembered, but decided before `ids_from`."""
    tables: list[tuple[str, bytes]] = []


class Books(msgspec.Struct, frozen=True):
    """One currency's books at a checkpoint, in minor units."""

    deposits: int
    withdrawals: int
    house_net: int
    available: int
    held: int
    difference: int


class End(msgspec.Struct, frozen=True):
    """The last record of a checkpoint."""

    checkpoint: str
    number: int
    """Each has a higher number than the one before."""
    written_at_ms: int
    chunks: int
    digest: str
    """SHA-256 of the SHA-256s of all chunks, in order."""
    remember_ms: int
    facts: int
    accounts: int
    holds: int
    books: dict[str, Books]
    offsets: dict[str, list[int]]
    """By topic, of each partition: what lies below is in it."""
    ids_from: dict[str, list[int]]
    """By topic, of each partition: from where what is only to be remembered is to be read."""


encode_row: Final = msgspec.msgpack.Encoder().encode
decode_chunk: Final = msgspec.msgpack.Decoder(Chunk).decode
decode_end: Final = msgspec.json.Decoder(End).decode


def chunk_key(slot: str, number: int) -> bytes:
    """The key of a chunk."""
    return f"slot|{slot}|{number}".encode()


def end_key(slot: str) -> bytes:
    """The key of a slot's last record."""
    return f"slot|{slot}|{END}".encode()


def digest_of(hashes: Iterable[bytes]) -> str:
    """What a slot's last record must say of its chunks."""
    whole = hashlib.sha256()
    for one in hashes:
        whole.update(one)
    return whole.hexdigest()


def by_topic(offsets: Offsets) -> dict[str, list[int]]:
    """Offsets as a checkpoint tells them."""
    told: dict[str, list[int]] = {}
    for partition in sorted(offsets):
        told.setdefault(partition.topic, []).append(offsets[partition])
    return told


def by_partition(told: dict[str, list[int]]) -> Offsets:
    """Offsets as they are used."""
    return {TopicPartition(topic, n): offset for topic, some in told.items() for n, offset in enumerate(some)}


class Checkpoint(Protocol):
    """A complete checkpoint."""

    @property
    def offsets(self) -> Offsets:
        """What lies below is in it."""

    @property
    def ids_from(self) -> Offsets:
        """From where what is only to be remembered must be read."""

    @property
    def remember_ms(self) -> int:
        """How long bets were remembered when it was made: for longer it is of no use."""

    async def load(self, fold: Fold, sink: Sink | None) -> None:
        """Put it into a fold that has read what lies between: accounts, bets that are not finished, what was early."""


@dataclass(slots=True)
class Slot:
    """What lies in one slot."""

    end: End | None = None
    chunks: dict[int, tuple[TopicPartition, int, bytes]] = field(default_factory=dict)
    """By number: where the newest record of that chunk lies, and its hash."""

    @property
    def is_complete(self) -> bool:
        """Whether its last record is there, and is right about every chunk."""
        end = self.end
        if end is None or any(number not in self.chunks for number in range(end.chunks)):
            return False
        return digest_of(self.chunks[number][2] for number in range(end.chunks)) == end.digest


class StoredCheckpoint:
    """A complete checkpoint on the topic."""

    def __init__(self, slot: Slot, end: End, read: Callable[[], AsyncIterator[Record]]) -> None:
        """`read` gives all records of the topic; only its own are used."""
        self.end = end
        self._places = {(place, offset) for place, offset, _ in slot.chunks.values()}
        self._read = read

    @property
    def offsets(self) -> Offsets:
        """What lies below is in it."""
        return by_partition(self.end.offsets)

    @property
    def ids_from(self) -> Offsets:
        """From where what is only to be remembered must be read."""
        return by_partition(self.end.ids_from)

    @property
    def remember_ms(self) -> int:
        """How long bets were remembered when it was made."""
        return self.end.remember_ms

    async def load(self, fold: Fold, sink: Sink | None) -> None:
        """Put it into a fold."""
        fold.rounds.clear()  # what is open is told here
        async for record in self._read():
            place = (TopicPartition(record.topic, record.partition), record.offset)
            if place not in self._places or record.value is None:
                continue
            chunk = decode_chunk(record.value)
            if chunk.checkpoint == self.end.checkpoint:
                _load(chunk, fold, sink)


def _load(chunk: Chunk, fold: Fold, sink: Sink | None) -> None:
    for row in chunk.accounts:
        fold.book.states[row[0]] = _state(row)
    for currency, deposits, withdrawals, house_net in chunk.totals:
        fold.book.totals[currency] = Totals(deposits, withdrawals, house_net)
    for row_of_bet in chunk.open:
        bet = _bet(row_of_bet)
        fold.rounds.setdefault((bet.table, bet.round), {})[bet.bet_id] = _entry(bet)
    if sink is not None:
        for row_of_bet in chunk.early:
            bet = _bet(row_of_bet)
            if fold.is_remembered((bet.table, bet.round)):
                sink.bet(bet, is_early=True)
        for table_id, note in chunk.tables:
            sink.table(table_id, note)


def chunks_of(
    checkpoint: str, fold: Fold, early: Iterable[RestoredBet], tables: Iterable[tuple[str, bytes]]
) -> Iterator[bytes]:
    """A fold as chunks."""
    for states in _pieces(fold.book.states.items()):
        yield encode_row(Chunk(checkpoint, accounts=[_account_row(name, state) for name, state in states]))
    totals = [(name, one.deposits, one.withdrawals, one.house_net) for name, one in fold.book.totals.items()]
    yield encode_row(Chunk(checkpoint, totals=totals))
    for bets in _pieces(fold.known()):
        yield encode_row(Chunk(checkpoint, open=[_bet_row(bet) for bet in bets]))
    for bets in _pieces(early):
        yield encode_row(Chunk(checkpoint, early=[_bet_row(bet) for bet in bets]))
    for notes in _pieces(tables):
        yield encode_row(Chunk(checkpoint, tables=list(notes)))


def _pieces(rows: Iterable[_Row]) -> Iterator[list[_Row]]:
    some: list[_Row] = []
    for row in rows:
        some.append(row)
        if len(some) == ROWS_A_CHUNK:
            yield some
            some = []
    if some:
        yield some


def _account_row(name: str, state: AccountState) -> _AccountRow:
    return (
        name,
        state.currency,
        state.available,
        state.held,
        state.sequence,
        state.sum_available,
        state.sum_held,
        state.upto,
        state.counted,
    )


def _state(row: _AccountRow) -> AccountState:
    state = AccountState(row[1])
    _, _, state.available, state.held, state.sequence, state.sum_available, state.sum_held, state.upto, _ = row
    if row[8]:
        state.beyond, state.ranges = set(), row[8]
    return state


def _bet_row(bet: RestoredBet) -> _BetRow:
    return (
        *bet[:8],
        bet.state.value,
        *bet[9:13],
        _after_row(bet.after_hold),
        bet.cancel_offset,
        _after_row(bet.after_end),
        _after_row(bet.after_reversal),
        bet.reversed,
        bet.undone,
        bet.undone_in,
    )


def _bet(row: _BetRow) -> RestoredBet:
    account, table, round_, bet_id, bet, stake, currency, offset, state, reason, taken, returned, revision = row[:13]
    hold, cancel_offset, end, reversal, reversed_, undone, undone_in = row[13:]
    return RestoredBet(
        account,
        table,
        round_,
        bet_id,
        bet,
        stake,
        currency,
        offset,
        BetState(state),
        reason,
        taken,
        returned,
        revision,
        _after(hold),
        cancel_offset,
        _after(end),
        _after(reversal),
        reversed_,
        undone,
        undone_in,
    )


def _after(row: _AfterRow) -> After | None:
    return None if row is None else After(*row)


def _after_row(after: AfterState | None) -> _AfterRow:
    return None if after is None else (after.available, after.held, after.sequence)


def _entry(bet: RestoredBet) -> Entry:
    """A bet as the fold keeps it while its round is not finished. The next checkpoint need not read its decision."""
    entry = Entry(is_early=True)
    if bet.offset >= 0:
        kind = "bet_rejected" if bet.state is BetState.REFUSED else "bet_accepted"
        entry.began = _fact(bet, kind, bet.offset, bet.after_hold)
    if bet.after_end is not None:
        is_withdrawn = bet.state is BetState.WITHDRAWN
        entry.ended = _fact(bet, "bet_withdrawn" if is_withdrawn else "bet_settled", bet.cancel_offset, bet.after_end)
    if bet.undone_in:
        entry.reversed = _fact(bet, "bet_reversed", -1, bet.after_reversal)
        entry.reversed.reversed, entry.reversed.revision = bet.undone, bet.undone_in
    return entry


def _fact(bet: RestoredBet, kind: str, offset: int, after: AfterState | None) -> BetFact:
    return BetFact(
        type=kind,
        cause=Cause(0, offset),
        bet_id=bet.bet_id,
        table_id=bet.table,
        round_id=bet.round,
        account_id=bet.account,
        bet=bet.bet,
        stake=bet.stake,
        currency=bet.currency,
        taken=bet.taken,
        returned=bet.returned,
        revision=bet.revision,
        reason=bet.reason,
        balance=None if after is None else Balance(after.available, after.held, after.sequence),
    )
