"""The whole line on the in-memory twins, for tests: a broker, a store, and workers' engines on them."""

from __future__ import annotations

import asyncio
import time
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING, Any

from pokdeng.ledger.memory import MemoryLedger
from pokdeng.ledger.memory_store import MemoryStore
from pokdeng.rounds import CORRECTION_WINDOW_MS
from pokdeng.settlement.engine import Engine
from pokdeng.settlement.fuse import Fuse
from pokdeng.settlement.house import House
from pokdeng.settlement.limits import Limits
from pokdeng.settlement.observer import SilentObserver
from pokdeng.settlement.voice import Voice
from pokdeng.stream.memory import MemoryBroker, MemoryLog
from pokdeng.stream.port import TopicPartition
from pokdeng.wire import TopicKind, Topics

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Sequence

    from pokdeng.ledger.port import Ledger
    from pokdeng.settlement.observer import Observer
    from pokdeng.stream.port import Record

REMEMBER_MS = 26 * 3_600_000
INPUTS = (TopicKind.TABLE_EVENTS, TopicKind.BETS, TopicKind.FUNDS)
OUTPUTS = (
    TopicKind.BET_DECISIONS,
    TopicKind.FUNDS_DECISIONS,
    TopicKind.SETTLEMENTS,
    TopicKind.ROUNDS,
    TopicKind.DEAD_LETTERS,
)


def wall_ms() -> int:
    """The broker's clock where a test has none of its own."""
    return time.time_ns() // 1_000_000


class Line:
    """A broker and a store that outlive workers."""

    def __init__(
        self,
        *,
        partitions: int = 4,
        prefix: str = "pokdeng",
        limits: Limits | None = None,
        clock_ms: Callable[[], int] = wall_ms,
        ledger: Callable[[], Ledger] | None = None,
    ) -> None:
        """All topics exist and are empty; `ledger` makes a worker's handle on the store, in memory by default."""
        self.topics = Topics(prefix)
        self.partitions = partitions
        self.broker = MemoryBroker(clock_ms)
        for name in self.topics.names:
            self.broker.create_topic(name, partitions)
        self.store = MemoryStore()
        self.limits = limits or Limits()
        self.quiet_ms = 0
        self.held_ms = 600_000
        self.fuse_share: float | None = None
        self.shared_from = 0
        """A turn has two batches wherever it can: workers of the simulation mostly have one."""
        self.observer: Observer = SilentObserver()
        """Whom workers tell what they did; those started from now on."""
        self.new_ledger = ledger or (lambda: MemoryLedger(self.store))
        self._elapsed_s = 0.0

    def elapse(self, seconds: float) -> None:
        """Let time pass for workers at once; the broker's and the store's clocks are their own."""
        self._elapsed_s += seconds

    def records(self, *kinds: TopicKind) -> list[Record]:
        """All records of these topics, by topic, partition and offset."""
        return [
            record
            for kind in kinds
            for number in range(self.partitions)
            for record in self.broker.records(TopicPartition(self.topics.name(kind), number))
        ]

    def house(self) -> House:
        """What a worker's desks share."""
        return House(
            topics=self.topics,
            limits=self.limits,
            voice=Voice(self.topics, dict.fromkeys(self.topics.names, self.partitions)),
            remember_ms=REMEMBER_MS,
            correction_window_ms=CORRECTION_WINDOW_MS,
            table_partitions=self.partitions,
            funds_partitions=self.partitions,
            held_ms=self.held_ms,
            quiet_ms=self.quiet_ms,
        )

    @asynccontextmanager
    async def worker(self, group: str = "settlement", name: str = "w1") -> AsyncIterator[RunningWorker]:
        """A worker's engine, stopped as by SIGTERM at the end."""
        running = await self.start_worker(group, name)
        try:
            yield running
        finally:
            await running.stop()

    async def start_worker(self, group: str = "settlement", name: str = "w1") -> RunningWorker:
        """A worker's engine, to be stopped or killed by the test."""
        ledger = self.new_ledger()
        if not await ledger.open() and not self.records(*OUTPUTS):
            await ledger.create()
        log = MemoryLog(
            self.broker,
            group,
            copartitioned=(self.topics.table_events, self.topics.bets),
            others=(self.topics.funds,),
            name=name,
        )
        engine = Engine(
            log,
            ledger,
            self.house(),
            self.observer,
            group=group,
            clock=lambda: time.monotonic() + self._elapsed_s,
            now_ms=self.broker._clock_ms,
            shared_from=self.shared_from,
            fuse=Fuse(self.fuse_share),
        )
        await log.start(engine)
        return RunningWorker(self, log, ledger, engine, group)


class RunningWorker:
    """One worker of a line."""

    def __init__(self, line: Line, log: MemoryLog, ledger: Ledger, engine: Engine, group: str) -> None:
        """The engine's loop begins."""
        self.line = line
        self.log = log
        self.ledger = ledger
        self.engine = engine
        self.group = group
        self.task = asyncio.create_task(engine.run())
        self._failed = asyncio.create_task(log.run_until_failed())

    def check(self) -> None:
        """Raise what stopped the worker, if something did."""
        for task in (self.task, self._failed):
            if task.done():
                task.result()

    async def until(self, is_so: Callable[[], bool], *, within: float = 30.0) -> None:
        """Wait for a condition; raises what stopped the worker meanwhile."""
        deadline = time.monotonic() + within
        while not is_so():
            self.check()
            if time.monotonic() > deadline:
                raise TimeoutError(f"it did not become so within {within} s")
            await asyncio.sleep(0.002)

    async def owns(self, *, within: float = 30.0) -> None:
        """Wait until the worker is assigned, if only to nothing, and knows what was said before."""
        await self.until(lambda: self.engine.is_recovered, within=within)

    async def caught_up(self, *, within: float = 30.0) -> None:
        """Wait until every input record is processed and everything that follows from them is committed or open."""
        await self.until(lambda: self.is_caught_up, within=within)

    @property
    def is_caught_up(self) -> bool:
        """Whether every input record is processed and nothing is under way."""
        return self.engine.is_recovered and self.engine.is_idle and not self._unread()

    async def failure(self, *, within: float = 30.0) -> BaseException:
        """Wait until something stops the worker, and let it die of it: nothing more is committed."""
        await asyncio.wait({self.task, self._failed}, return_when=asyncio.FIRST_COMPLETED, timeout=within)
        errors = [task.exception() for task in (self.task, self._failed) if task.done()]
        error = next((error for error in errors if error is not None), None)
        if error is None:
            raise TimeoutError(f"nothing stopped the worker within {within} s")
        self.engine.fail()
        await self.stop_whatever_happened()
        return error

    async def stop_whatever_happened(self) -> None:
        """As a process ends that failed: it leaves the group in order, and that is all."""
        with suppress(Exception):
            await self.log.stop()
        await self._end(self._tasks())

    def _unread(self) -> int:
        desks, cashiers = self.engine.owned.partitions
        topics = self.line.topics
        owned = [TopicPartition(name, number) for number in desks for name in (topics.table_events, topics.bets)]
        owned += [TopicPartition(topics.funds, number) for number in cashiers]
        unread = 0
        for partition in owned:
            records: Sequence[Record] = self.line.broker.records(partition)
            if records:
                unread += max(0, records[-1].offset + 1 - self.engine.owned.done_up_to(partition))
        return unread

    async def stop(self) -> None:
        """As SIGTERM does it."""
        await self.log.stop()
        self.engine.stop()
        await self.task
        await self._failed
        await self.ledger.close()

    async def kill(self) -> None:
        """As kill -9 does it: nothing is finished, nothing committed. The group notices at once."""
        self.engine.fail()
        tasks = self._tasks()
        self.log.kill()
        await self._end(tasks)
        self.log.expire()

    def _tasks(self) -> set[asyncio.Task[Any]]:
        """All that runs of it: the loop, what is being said or committed, and what an assignment does."""
        engine, guard = self.engine, self.log._guard
        assigning = None if guard is None else guard._assigned
        others = (*engine._speaker.tasks, engine._progress._commit, engine._loss._task, assigning)
        return {self.task, self._failed, *(task for task in others if task is not None)}

    @staticmethod
    async def _end(tasks: set[asyncio.Task[Any]]) -> None:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
