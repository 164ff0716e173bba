"""Writes a checkpoint: folds the facts up to a vector of offsets, checks the books, fills the slot that is older.

One writer at a time, by claims in the log itself: of the records under the key `lease` the first that found it free
holds it, until it is given back or silent for a while; everybody who reads them comes to the same.
"""

from __future__ import annotations

import hashlib
import secrets
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import msgspec

from pokdeng.restore.books_said import say_books
from pokdeng.restore.checkpoint import (
    SLOTS,
    Books,
    End,
    Slot,
    by_topic,
    chunk_key,
    chunks_of,
    digest_of,
    end_key,
)
from pokdeng.restore.fold import in_revision
from pokdeng.restore.folding import fold_log, stretch_of
from pokdeng.restore.reading import ends_of, fact_partitions, offsets_at
from pokdeng.restore.stored import newest, places_of, read_slots
from pokdeng.stream.partitioner import partition_for
from pokdeng.stream.port import Message, TopicPartition
from pokdeng.stream.reading import read_on
from pokdeng.wire import TopicKind

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator

    from pokdeng.ledger.restoring import RestoredBet, RestoredTransfer
    from pokdeng.restore.accounts import CurrencyBooks, Hole
    from pokdeng.restore.facts import BetFact
    from pokdeng.restore.filling import Notes
    from pokdeng.restore.fold import Fold
    from pokdeng.restore.folding import Times
    from pokdeng.restore.reading import Offsets
    from pokdeng.stream.port import Log
    from pokdeng.wire import Topics

LEASE: Final = b"lease"
LEASE_MS: Final = 60_000
RENEW_S: Final = 10.0
EARLIER_MS: Final = 3_600_000
"""Rounds and settlements are read again from so much earlier than decisions: what ended a bet comes after it."""


class BooksDoNotBalanceError(Exception):
    """The facts contradict each other: no checkpoint was written."""

    def __init__(self, books: dict[str, CurrencyBooks]) -> None:
        """The currencies of which the books do not balance, and all others."""
        wrong = ", ".join(f"{one.difference} {currency}" for currency, one in books.items() if one.difference)
        super().__init__(f"the books do not balance, by {wrong}: no checkpoint is written; `pokdeng audit` says why")
        self.books = books


class AnotherWritesError(Exception):
    """Another one writes a checkpoint."""


class _Claim(msgspec.Struct):
    writer: str
    is_over: bool = False


class Writership:
    """The right to write a checkpoint: one has it at a time."""

    def __init__(self, log: Log, topics: Topics, writer: str) -> None:
        """Not taken yet. `writer` is a name that nobody else has."""
        self._log = log
        self._topics = topics
        self._writer = writer
        self._renewed_at = 0.0

    async def take(self) -> None:
        """Take it, or keep it.

        Raises:
            AnotherWritesError: naming who has it.
        """
        holder = await self._holder()
        if holder is None or holder == self._writer:
            await self._claim(_Claim(self._writer))
            holder = await self._holder()
        if holder != self._writer:
            raise AnotherWritesError(f"{holder} writes a checkpoint; if it was killed, try again in a minute")
        self._renewed_at = time.monotonic()

    async def keep(self) -> None:
        """Renew it, if that is due."""
        if time.monotonic() - self._renewed_at > RENEW_S:
            await self.take()

    async def give_back(self) -> None:
        """Let others write."""
        if await self._holder() == self._writer:
            await self._claim(_Claim(self._writer, is_over=True))

    async def _claim(self, claim: _Claim) -> None:
        message = Message(LEASE, msgspec.json.encode(claim), [])
        await self._log.publish({await self._place(): [message]})

    async def _place(self) -> TopicPartition:
        places = await places_of(self._log, self._topics)
        return places[partition_for(LEASE, len(places))]

    async def _holder(self) -> str | None:
        """Who may write, as of the newest claim; None where nobody does by the clock here."""
        place = await self._place()
        end = (await self._log.end_offsets([place]))[place]
        begin = (await self._log.beginning_offsets([place]))[place]
        holder, until_ms, now_ms = None, 0, time.time_ns() // 1_000_000
        async for record in read_on(self._log, place, begin, end):
            if record.key != LEASE or record.value is None:
                continue
            claim = msgspec.json.decode(record.value, type=_Claim)
            if holder is not None and holder != claim.writer and record.timestamp < until_ms:
                continue  # refused
            holder, until_ms = (None, 0) if claim.is_over else (claim.writer, record.timestamp + LEASE_MS)
        return holder if holder is not None and (holder == self._writer or now_ms < until_ms) else None


class Gathering:
    """The sink of a checkpoint's fold: it keeps only what it must tell itself."""

    is_full = False

    def __init__(self, notes: Notes, times: Times) -> None:
        """`notes` knows how rounds ended."""
        self._notes = notes
        self._times = times
        self._early: dict[tuple[str, str, str], RestoredBet] = {}
        self._revised: dict[tuple[str, str, str], RestoredBet] = {}
        """The newest revision of bets that were told before it, or will be."""

    async def write(self) -> None:
        """There is nothing to write."""

    def bet(self, bet: RestoredBet, *, is_early: bool) -> None:
        """Keep a bet that a restore from here would not read, in its newest revision."""
        name = (bet.table, bet.round, bet.bet_id)
        if bet.offset < 0:
            known = self._revised.get(name)
            self._revised[name] = bet if known is None else max(known, bet, key=lambda one: one.revision)
        elif is_early:
            self._early[name] = bet

    def early(self) -> Iterator[RestoredBet]:
        """Those bets. A restore reads their revisions before it is told what began them: it would pass these over."""
        for name, bet in self._early.items():
            revised = self._revised.get(name)
            yield bet if revised is None or revised.revision <= bet.revision else in_revision(bet, revised)

    def transfer(self, transfer: RestoredTransfer) -> None:
        """It is read again."""

    def refusal(self, fact: BetFact, at_ms: int) -> None:
        """It is read again."""

    def table(self, table_id: str, note: bytes) -> None:
        """Keep a table's snapshot."""
        self._notes.know_noted_table(table_id, note)

    def finished(self, table_id: str, round_id: str, resume: bytes) -> bool:
        """Whether a round is remembered, and what its table was."""
        return self._notes.of_round(table_id, round_id, resume, self._times.now_ms)[1] > 0

    def tables(self) -> list[tuple[str, bytes]]:
        """The tables' snapshots."""
        return list(self._notes.tables().items())


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """A checkpoint that was written, complete."""

    end: End
    slot: str
    holes: tuple[Hole, ...]


async def close_books(
    log: Log,
    topics: Topics,
    notes: Notes,
    *,
    writer: str,
    times: Times,
    begin: Callable[[int], Awaitable[None]] | None = None,
    progress: Callable[[int], Awaitable[None]] | None = None,
) -> Written:
    """Write a checkpoint as of now, from the newest complete one on. Workers may go on meanwhile.

    Interrupted at any point it leaves the newest complete checkpoint as it was, and may be begun again.

    Raises:
        AnotherWritesError, BooksDoNotBalanceError, FactsMissingError: no checkpoint was written.
    """
    writership = Writership(log, topics, writer)
    await writership.take()
    try:
        return await _close(log, topics, notes, writership, times=times, begin=begin, progress=progress)
    finally:
        await writership.give_back()


async def _close(
    log: Log,
    topics: Topics,
    notes: Notes,
    writership: Writership,
    *,
    times: Times,
    begin: Callable[[int], Awaitable[None]] | None,
    progress: Callable[[int], Awaitable[None]] | None,
) -> Written:
    async def read(count: int) -> None:
        await writership.keep()
        if progress is not None:
            await progress(count)

    slots = await read_slots(log, topics)
    before = newest(slots, log, topics, remember_ms=times.remember_ms)
    ends = await ends_of(log, await fact_partitions(log, topics))
    stretch = await stretch_of(log, topics, ends, times=times, checkpoint=before, has_sink=True)
    if begin is not None:
        await begin(stretch.records)
    gathering = Gathering(notes, times)
    fold = await fold_log(
        log, topics, stretch, times=times, checkpoint=before, sink=gathering, writing=gathering, progress=read
    )
    books = fold.book.books()
    differences = {currency: one.difference for currency, one in books.items()}
    last = newest(slots, log, topics)
    last_ms = 0 if last is None else last.end.written_at_ms
    await say_books(log, topics, times.now_ms, differences, checkpoint_ms=last_ms)
    if any(differences.values()):
        raise BooksDoNotBalanceError(books)
    slot = SLOTS[0] if last is None else next(name for name in SLOTS if slots[name].end is not last.end)
    end = await _write(
        log,
        topics,
        writership,
        slot=slot,
        known=slots[slot],
        number=1 if last is None else last.end.number + 1,
        fold=fold,
        gathering=gathering,
        ids_from=await _ids_from(log, topics, times),
        offsets=ends,
        times=times,
        books=books,
    )
    await say_books(log, topics, times.now_ms, differences, checkpoint_ms=end.written_at_ms)
    return Written(end=end, slot=slot, holes=tuple(fold.book.holes))


async def _ids_from(log: Log, topics: Topics, times: Times) -> Offsets:
    partitions = await fact_partitions(log, topics)
    since = {
        TopicKind.ROUNDS: times.horizon_ms - EARLIER_MS,
        TopicKind.SETTLEMENTS: times.horizon_ms - EARLIER_MS,
        TopicKind.BET_DECISIONS: times.horizon_ms,
        TopicKind.FUNDS_DECISIONS: times.funds_horizon_ms,
    }
    found: Offsets = {}
    for kind, at_ms in since.items():
        found |= await offsets_at(log, partitions[kind], at_ms)
    return found


async def _write(
    log: Log,
    topics: Topics,
    writership: Writership,
    *,
    slot: str,
    known: Slot,
    number: int,
    fold: Fold,
    gathering: Gathering,
    ids_from: Offsets,
    offsets: Offsets,
    times: Times,
    books: dict[str, CurrencyBooks],
) -> End:
    places = await places_of(log, topics)

    async def put(key: bytes, value: bytes | None) -> None:
        place = places[partition_for(key, len(places))]
        await log.publish({place: [Message(key, value, [])]}, compressed=True)

    name = secrets.token_hex(8)
    await put(end_key(slot), None)
    hashes: list[bytes] = []
    for at, chunk in enumerate(chunks_of(name, fold, gathering.early(), gathering.tables())):
        await writership.keep()
        hashes.append(hashlib.sha256(chunk).digest())
        await put(chunk_key(slot, at), chunk)
    for at in known.chunks:
        if at >= len(hashes):
            await put(chunk_key(slot, at), None)
    end = End(
        checkpoint=name,
        number=number,
        written_at_ms=times.now_ms,
        chunks=len(hashes),
        digest=digest_of(hashes),
        remember_ms=times.remember_ms,
        facts=sum(offsets.values()),
        accounts=len(fold.book.states),
        holds=sum(len(bets) for bets in fold.holds().values()),
        books={
            currency: Books(
                deposits=one.deposits,
                withdrawals=one.withdrawals,
                house_net=one.house_net,
                available=one.available,
                held=one.held,
                difference=one.difference,
            )
            for currency, one in books.items()
        },
        offsets=by_topic(offsets),
        ids_from=by_topic(ids_from),
    )
    await writership.take()
    await put(end_key(slot), msgspec.json.encode(end))
    return end
