"""The engine: gathers what arrived into batches, and carries each through fold, ledger and log to progress.

One loop for all partitions of a worker, for batches are what makes it fast. In order: ask for the ends that the merges
wait for; read; recall; fold; apply to the ledger; remember what was refused; say dead letters and decisions, then
settlements, then the rounds, each when the one before is acknowledged; only then count it as progress. What a batch
says is sent while the next is folded; where much is waiting, the ledger has one half of the partitions' records while
the other is folded. Any failure stops the worker with nothing more committed.
"""

from __future__ import annotations

import asyncio
import time
from functools import partial
from typing import TYPE_CHECKING, Final, NamedTuple

import structlog

from pokdeng.ledger.port import LedgerLostError
from pokdeng.settlement.barriers import ask_ends
from pokdeng.settlement.batch import Batch
from pokdeng.settlement.carrying import Carrier
from pokdeng.settlement.fuse import Fuse
from pokdeng.settlement.loss import Loss
from pokdeng.settlement.owned import Owned, sources_of
from pokdeng.settlement.progress import Progress
from pokdeng.settlement.putting_back import put_back
from pokdeng.settlement.recall import recall
from pokdeng.settlement.recovery import read_all_back
from pokdeng.settlement.restoring import wall_ms
from pokdeng.settlement.revising import begin_due
from pokdeng.settlement.speaker import Speaker
from pokdeng.settlement.takeover import all_or_nothing, check_same_log, starting_offsets
from pokdeng.settlement.watchdog import places_of
from pokdeng.stream.port import TopicPartition

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pokdeng.ledger.port import Ledger
    from pokdeng.settlement.cashier import Cashier
    from pokdeng.settlement.desk import Desk
    from pokdeng.settlement.house import House
    from pokdeng.settlement.observer import Observer
    from pokdeng.settlement.watchdog import Places
    from pokdeng.stream.port import Assignment, Log, Record

_log = structlog.get_logger(__name__)

BATCH_RECORDS = 2_000
"""About as many records are folded at once: enough for large ledger calls, few enough for a short wait."""
SMALL_BATCH_RECORDS = 250
TURN_S = 0.01
"""After a batch that small the next turn begins so long after the last one began: a turn has a price of its own."""
COMMIT_EVERY_S = 0.5
REVOKE_WITHIN_S = 3.0
LEASES_EVERY_S = 5.0
LEDGER_ANSWERS_WITHIN_S = 1.0
"""A call of the ledger that lasts longer makes the worker not ready while it does."""
SHARED_FROM = 500
"""With so many records waiting, or so much done in the last turn, a turn has two batches, see `Carrier`. Two small ones
would cost more than they gain."""


class Share(NamedTuple):
    """Whose records make one batch."""

    desks: list[Desk]
    cashiers: list[Cashier]
    is_all: bool = True
    """Whether there is no other in its turn: corrections are begun in such a one only."""


class Engine:
    """The reading side's client of the log (`pokdeng.stream.port.Listener`), and the loop behind it."""

    def __init__(
        self,
        log: Log,
        ledger: Ledger,
        house: House,
        observer: Observer,
        *,
        group: str,
        clock: Callable[[], float] = time.monotonic,
        now_ms: Callable[[], int] = wall_ms,
        commit_every_s: float = COMMIT_EVERY_S,
        fuse: Fuse | None = None,
        shared_from: int = SHARED_FROM,
    ) -> None:
        """Nothing is assigned yet; `run` does the work. `clock` is monotonic, in seconds; `now_ms` since the epoch."""
        self.fuse: Final = fuse or Fuse()
        self._clock = clock
        self._commit_every_s = commit_every_s
        self._shared_from = shared_from
        self._now_ms = now_ms
        self._transport = log
        self._ledger = ledger
        self._house = house
        self._observer = observer
        self._group = group
        self.owned = Owned(house)
        self._wake = asyncio.Event()
        self._turn = asyncio.Lock()
        """Held while the ledger is used: by the loop's turn, or by what an assignment does."""
        self._speaker = Speaker(log, observer, self._wake.set, clock)
        self._carrier = Carrier(ledger, self._speaker, observer, self.fuse, clock)
        self._progress = Progress(log, ledger, house)
        self._loss = Loss(log, ledger, house, observer, clock=clock, now_ms=now_ms)
        self._read_before: dict[TopicPartition, int] = {}
        """Offsets below which records were acknowledged before they were assigned: read again, they count nothing."""
        self._next_commit = 0.0
        self._next_leases = 0.0
        self._is_stopping = False
        self._has_failed = False
        self._is_paused = False
        self._turned_at = clock()
        self.is_recovered = False
        """Whether partitions are assigned and what was said of their rounds is known again."""
        self._is_recovering = False

    # The log's side

    async def assigned(self, assignment: Assignment) -> None:
        """Own the partitions: fence earlier owners, read back what was said, then let records in."""
        self._is_recovering = True
        try:
            await self._own(assignment)
        finally:
            self._is_recovering = False
            self._turned_at = self._clock()
        self._wake.set()

    async def _own(self, assignment: Assignment) -> None:
        began = self._clock()
        async with self._turn, all_or_nothing(self.owned):
            starts = await starting_offsets(self._transport, sorted(assignment.partitions))
            self.owned.take(assignment.partitions, starts)
            read = await self._take_over(assignment.generation)
            tables, funds = self.owned.partitions
            self._progress = Progress(self._transport, self._ledger, self._house)
            self.is_recovered = True
            _log.info(
                "assigned",
                tables=tables,
                funds=funds,
                generation=assignment.generation,
                read_back=read,
                recovered_s=round(self._clock() - began, 3),
            )

    async def _take_over(self, generation: int) -> int:
        """Keep earlier owners out and learn what was said; a ledger that is lost is restored first."""
        topics = self._house.topics
        while True:
            try:
                if self.owned.sources:
                    await self._ledger.acquire(self.owned.sources, group=self._group, generation=generation)
                self._loss.acquired(self.owned.sources)
                desks = self.owned.desks
                self._read_before = await check_same_log(
                    self._transport, self._ledger, topics, desks, self.owned.cashiers
                )
                read = await read_all_back(self._transport, topics, desks)
                await put_back(self._transport, self._ledger, self._house, desks)
            except LedgerLostError as lost:
                await self._loss.restored(lost, self.owned.sources)
            else:
                return read

    async def revoked(self) -> None:
        """Finish what is under way, commit, forget. Within `REVOKE_WITHIN_S`, or without the commit."""
        self.is_recovered = False
        try:
            if self._has_failed or self._loss.is_lost:
                return
            async with asyncio.timeout(REVOKE_WITHIN_S):
                async with self._turn:
                    await self._speaker.said()
                    await self._progress.finish(self.owned.desks, self.owned.cashiers)
                    if self.owned.sources:
                        await self._ledger.release(self.owned.sources)
        except TimeoutError:
            _log.warning("revoked before the work under way was committed; its next owner does it again")
        except LedgerLostError as lost:
            await self._loss.noticed(lost)
        finally:
            self._loss.released()
            self.owned.clear()
            self.fuse.forget()

    def arrived(self, partition: TopicPartition, records: Sequence[Record]) -> None:
        """Queue what arrived."""
        self.owned.offer(partition, records, self._clock())
        self._wake.set()

    # The loop

    async def run(self) -> None:
        """Work until `stop`; raises what went wrong."""
        loop = asyncio.get_running_loop()
        while not self._is_stopping:
            self._turned_at = self._clock()
            self._wake.clear()
            if self._is_paused or not self.is_recovered:
                await self._rest()
                continue
            async with self._turn:
                try:
                    records, due = await self._do_turn()
                except LedgerLostError as lost:
                    await self._lose(lost)
                    continue
                finally:
                    self._carrier.asked_at = None
            if records is not None:
                is_small = records < SMALL_BATCH_RECORDS
                await asyncio.sleep(max(0.0, self._turned_at + TURN_S - self._clock()) if is_small else 0)
                continue
            timer = loop.call_later(max(0.0, due - self._clock()), self._wake.set)
            try:
                await self._wake.wait()
            finally:
                timer.cancel()

    async def _rest(self) -> None:
        """Take no record; but a ledger that is lost is noticed, and leases are kept."""
        try:
            async with asyncio.timeout(LEASES_EVERY_S):
                await self._wake.wait()
        except TimeoutError:
            async with self._turn:
                if self.is_recovered and self.owned.sources:
                    try:
                        await self._ledger.renew(self.owned.sources)
                    except LedgerLostError as lost:
                        await self._lose(lost)

    async def _lose(self, lost: LedgerLostError) -> None:
        """The ledger is lost, or may be: say to its end what is being said, and begin anew at what is committed."""
        self.is_recovered = False
        await self._speaker.said()
        await self._loss.noticed(lost)
        await self._transport.rejoin()

    def stop(self) -> None:
        """Have `run` return after its turn. What is under way is finished by `revoked`."""
        self._is_stopping = True
        self._loss.stop()
        self._wake.set()

    def pause(self, *, is_paused: bool) -> None:
        """Take no record, until told otherwise."""
        self._is_paused = is_paused
        self._wake.set()

    def fail(self) -> None:
        """Something failed: nothing more is committed."""
        self._has_failed = True

    @property
    def quiet_seconds(self) -> float:
        """How long ago the loop began its last turn; 0 while it need not turn: each step of a recovery has a limit."""
        is_idle = self._is_paused or self._is_recovering or self._loss.is_restoring
        return 0.0 if is_idle else self._clock() - self._turned_at

    @property
    def why_not_ready(self) -> list[str]:
        """Reasons why owned partitions are not worked on now."""
        if self._loss.is_restoring:
            return [f"ledger: {self._loss.says}"]
        asked_at = self._carrier.asked_at
        waits_s = 0.0 if asked_at is None else self._clock() - asked_at
        silent = [f"the ledger has not answered for {waits_s:.1f} s"] if waits_s > LEDGER_ANSWERS_WITHIN_S else []
        return [*silent, *self.fuse.open.values()]

    def reset_fuse(self) -> list[str]:
        """Take again what the fuse had stopped; why it was."""
        reasons = self.fuse.reset()
        self._wake.set()
        return reasons

    async def places(self) -> Places:
        """Where each source stands, and whether it has more to read. Nothing while it need not move.

        Raises:
            LogUnavailableError: where the ends of its partitions cannot be asked.
        """
        if self._is_paused or not self.is_recovered:
            return {}
        return await places_of(self._transport, self._house.topics, self.owned.desks, self.owned.cashiers)

    @property
    def is_idle(self) -> bool:
        """Whether nothing read is left to do and nothing said is awaited."""
        return self._speaker.is_silent and self.owned.is_at_rest

    async def _do_turn(self) -> tuple[int | None, float]:
        """One turn: how many records it took (None: nothing was done), and when the next is due if nothing arrives."""
        await self._speaker.check()
        due = await ask_ends(self._transport, self._house.topics, self._taken_desks(), self._clock)
        batches = await self._carrier.carry([partial(self._fold, share) for share in self._shares()])
        now = self._clock()
        if now >= self._next_commit:
            self._next_commit = now + self._commit_every_s
            await self._progress.tick(self.owned.desks, self.owned.cashiers)
        if now >= self._next_leases and self.owned.sources:
            self._next_leases = now + LEASES_EVERY_S
            self._carrier.asked_at = now
            await self._ledger.renew(self.owned.sources)
        records = sum(count for batch in batches for count in batch.records.values()) if batches else None
        return records, min(due, self._next_commit)

    def _shares(self) -> list[Share]:
        """Whose records make a batch: all, or halves where much is to be done; see `Carrier`."""
        desks = self._taken_desks()
        topic = self._house.topics.funds
        cashiers = [one for one in self.owned.cashiers if TopicPartition(topic, one.partition) not in self.fuse.open]
        is_plain = not any(desk.revisions for desk in self.owned.desks)
        waiting = sum(desk.waiting for desk in desks)
        if len(desks) > 1 and is_plain and max(waiting, self._carrier.load) >= self._shared_from:
            return [Share(desks[::2], cashiers, is_all=False), Share(desks[1::2], [], is_all=False)]
        return [Share(desks, cashiers)]

    async def _fold(self, share: Share) -> Batch:
        desks, cashiers, is_all = share
        batch = Batch(self._house.voice, self._read_before, sources_of(desks, cashiers))
        if not self.is_recovered:
            return batch  # revoked since the turn began
        if is_all and any(desk.revisions for desk in self.owned.desks):
            await begin_due(self._ledger, self.owned.desks, batch, self._house, self._clock())
        if desks:
            limit = max(BATCH_RECORDS // 8, BATCH_RECORDS // len(desks))
            reads_of = [(desk, desk.read(limit)) for desk in desks]
            memory = await recall(self._ledger, self._transport, self._house.topics.table_events, reads_of)
            now = self._clock()
            for desk, reads in reads_of:
                desk.fold(batch, reads, memory, now)
        for cashier in cashiers:
            cashier.fold(batch, BATCH_RECORDS)
        return batch

    def _taken_desks(self) -> list[Desk]:
        """The desks whose records are taken: all but those of which the fuse is open."""
        stopped = {place.partition for place in self.fuse.open if place.topic != self._house.topics.funds}
        return [desk for desk in self.owned.desks if desk.partition not in stopped]
