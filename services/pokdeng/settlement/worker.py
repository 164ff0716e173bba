"""The worker: puts log, ledger, engine and pages together, and carries them from start to stop.

Every part is handed in; nothing here knows whether it is Kafka or memory. Pages are served from the first moment, so
that probes can tell what is waited for.
"""

from __future__ import annotations

import asyncio
import math
import time
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

import structlog

from pokdeng.ledger.port import LedgerError, LedgerLostError, LedgerUnavailableError
from pokdeng.restore.books_said import BooksReader
from pokdeng.rounds import CORRECTION_WINDOW_MS
from pokdeng.rules import RULESET
from pokdeng.settlement.engine import COMMIT_EVERY_S, SHARED_FROM, Engine
from pokdeng.settlement.expectation import expectation
from pokdeng.settlement.fuse import Fuse
from pokdeng.settlement.house import QUIET_MS, House
from pokdeng.settlement.pages import Pages
from pokdeng.settlement.reporting import MetricsObserver
from pokdeng.settlement.restoring import wall_ms
from pokdeng.settlement.standing import Standing
from pokdeng.settlement.tally import known_keys
from pokdeng.settlement.voice import Voice
from pokdeng.settlement.watchdog import Watchdog
from pokdeng.stream.port import LogError, LogUnavailableError, TopicPartition
from pokdeng.version import VERSION

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from pokdeng.ledger.port import Ledger
    from pokdeng.metrics import Metrics
    from pokdeng.restore.books_said import BooksSaid
    from pokdeng.settlement.limits import Limits
    from pokdeng.stream.port import Log
    from pokdeng.wire import Topics

_log = structlog.get_logger(__name__)

CHECK_AGAIN_S = 5.0
TOPICS_EVERY_S = 30.0
STANDING_EVERY_S = 5.0
BOOKS_EVERY_S = 60.0
STUCK_AFTER_S = 30.0
"""A worker with unread records whose engine has not turned for so long is stuck; so is one with such a partition."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerSettings:
    """What a worker is told; times in milliseconds."""

    topics: Topics
    limits: Limits
    group: str = "pokdeng-settlement"
    remember_ms: int = 26 * 3_600_000
    correction_window_ms: int = CORRECTION_WINDOW_MS
    commit_every_s: float = COMMIT_EVERY_S
    shared_from: int = SHARED_FROM
    """As `pokdeng.settlement.engine.SHARED_FROM`."""
    held_ms: int = 600_000
    """A round that is held for so long, by broker time, keeps nothing of the log any more."""
    quiet_ms: int = QUIET_MS
    """As `House`."""
    http_host: str = "127.0.0.1"
    http_port: int = 6066
    dead_letter_fuse: float | None = None
    """The share of dead letters, 0 .. 1, from which on a partition is not taken any more; None: no fuse."""


class Worker:
    """One process of the service. `run` returns after `stop`, or raises what went wrong."""

    def __init__(
        self,
        settings: WorkerSettings,
        log: Log,
        ledger: Ledger,
        metrics: Metrics,
        *,
        check_topics: Callable[[], Awaitable[list[str]]],
        run_log: Callable[[], Awaitable[None]],
        no_ledger: Callable[[LedgerUnavailableError], str] = str,
        clock: Callable[[], float] = time.monotonic,
        now_ms: Callable[[], int] = wall_ms,
    ) -> None:
        """`check_topics` says what of the topics is not as it must be; `run_log` raises when the log fails.

        `no_ledger` says to people why the ledger does not answer.
        `clock` is monotonic, in seconds; `now_ms` counts since the epoch.
        """
        self._clock = clock
        self._now_ms = now_ms
        self._settings = settings
        self._transport = log
        self._ledger = ledger
        self._metrics = metrics
        self._check_topics = check_topics
        self._run_log = run_log
        self._no_ledger = no_ledger
        self._pages = Pages(self, metrics, host=settings.http_host, port=settings.http_port)
        self._stopped = asyncio.Event()
        self._waits_for: list[str] = ["starting"]
        self._watchdog = Watchdog(STUCK_AFTER_S)
        self.observer = MetricsObserver(metrics)
        self.engine: Engine | None = None
        self._standing: Standing | None = None
        self._kept_ms: dict[str, int] = {}
        self.port = 0

    def stop(self) -> None:
        """Have `run` finish what is under way, commit and return. Safe to call from a signal handler."""
        self._stopped.set()

    async def run(self) -> None:
        """Serve until `stop`."""
        self._metrics.set("build", 1, VERSION, RULESET)
        self._metrics.count(dict.fromkeys(known_keys(self._settings.topics, self._settings.limits.currencies or ()), 0))
        expectation()
        self.port = await self._pages.start()
        _log.info(
            "starting",
            version=VERSION,
            ruleset=RULESET,
            group=self._settings.group,
            prefix=self._settings.topics.prefix,
            limits=self._settings.limits.digest,
            http_port=self.port,
        )
        try:
            await self._wait_until_sound()
            if not self._stopped.is_set():
                await self._serve()
        finally:
            await self._pages.stop()
            await self._ledger.close()

    async def _wait_until_sound(self) -> None:
        """Take no record before the topics are as they must be and the ledger is what the log says."""
        said: list[str] = []
        while not self._stopped.is_set():
            reasons = await self._why_unsound()
            self._waits_for = reasons
            if not reasons:
                return
            if reasons != said:
                said = reasons
                _log.error("waiting", reasons=reasons, again_every_s=CHECK_AGAIN_S)
            try:
                async with asyncio.timeout(CHECK_AGAIN_S):
                    await self._stopped.wait()
            except TimeoutError:
                continue

    async def _why_unsound(self) -> list[str]:
        try:
            reasons = await self._check_topics()
            if reasons:
                return reasons
            if not await self._ledger.open() and not await self._has_spoken():
                await self._ledger.create()
        except LedgerLostError:
            return []  # the engine restores it
        except LedgerUnavailableError as error:
            return [self._no_ledger(error)]
        except LogError as error:
            return [str(error)]
        except LedgerError as error:
            return [f"ledger: {error}"]
        return []

    async def _has_spoken(self) -> bool:
        """Whether any fact that moved money lies in the log."""
        topics = self._settings.topics
        names = (topics.bet_decisions, topics.funds_decisions, topics.settlements)
        counts = await self._transport.partition_counts(names)
        partitions = [TopicPartition(name, number) for name in names for number in range(counts[name])]
        return any((await self._transport.end_offsets(partitions)).values())

    async def _serve(self) -> None:
        topics = self._settings.topics
        counts = await self._transport.partition_counts(topics.names)
        house = House(
            topics=topics,
            limits=self._settings.limits,
            voice=Voice(topics, counts),
            remember_ms=self._settings.remember_ms,
            correction_window_ms=self._settings.correction_window_ms,
            held_ms=self._settings.held_ms,
            quiet_ms=self._settings.quiet_ms,
            table_partitions=counts[topics.table_events],
            funds_partitions=counts[topics.funds],
        )
        engine = self.engine = Engine(
            self._transport,
            self._ledger,
            house,
            self.observer,
            group=self._settings.group,
            fuse=Fuse(self._settings.dead_letter_fuse),
            clock=self._clock,
            now_ms=self._now_ms,
            commit_every_s=self._settings.commit_every_s,
            shared_from=self._settings.shared_from,
        )
        standing = self._standing = Standing(self._transport, topics, engine, clock_ms=self._now_ms)
        for topic in topics.inputs:
            self._metrics.set("partitions", counts[topic], topic)
        work = asyncio.create_task(engine.run(), name="engine")
        look = asyncio.create_task(self._watch_standing(engine, standing), name="standing")
        books = asyncio.create_task(self._watch_books(BooksReader(self._transport, topics)), name="books")
        watch = asyncio.create_task(self._watch_topics(engine, counts), name="topics")
        stopped = asyncio.create_task(self._stopped.wait(), name="stop")
        failed: asyncio.Task[None] | None = None
        try:
            starting = asyncio.create_task(self._transport.start(engine), name="start")
            await asyncio.wait({starting, stopped}, return_when=asyncio.FIRST_COMPLETED)
            if not starting.done():
                starting.cancel()
                return
            starting.result()
            failed = asyncio.ensure_future(self._run_log())
            await asyncio.wait({work, stopped, failed}, return_when=asyncio.FIRST_COMPLETED)
            for task in (work, failed):
                if task.done():
                    task.result()
        except BaseException:
            engine.fail()
            raise
        finally:
            watch.cancel()
            look.cancel()
            books.cancel()
            await self._close(engine, work, stopped, failed)

    async def _watch_topics(self, engine: Engine, counts: Mapping[str, int]) -> None:
        """Look at the topics again and again; where they are not as they must be any more, take no record."""
        while True:
            await asyncio.sleep(TOPICS_EVERY_S)
            try:
                reasons = await self._check_topics()
                now = await self._transport.partition_counts(list(counts))
            except LogUnavailableError:
                continue
            reasons += [
                f"{name}: had {count} partitions when this worker started, has {now.get(name, 0)}"
                for name, count in counts.items()
                if now.get(name) != count
            ]
            if reasons != self._waits_for:
                _log.error("topics", reasons=reasons)
            self._waits_for = reasons
            engine.pause(is_paused=bool(reasons))

    async def _watch_standing(self, engine: Engine, standing: Standing) -> None:
        """Know where the inputs end, whether each source moves that has more to read, and which rounds do not end."""
        while True:
            standing.kept_ms = min(self._kept_ms.values(), default=None)
            with suppress(LogUnavailableError):  # Kafka is away: not ours to judge here
                await self._look(engine, standing)
            with self._metrics.guard():
                standing.say_alarms()
            await asyncio.sleep(STANDING_EVERY_S)

    async def _look(self, engine: Engine, standing: Standing) -> None:
        """Ask once where the inputs end, for the watchdog and for the lag. Raises LogUnavailableError."""
        try:
            places = await engine.places()
        except KeyError:  # what was owned is not any more: the watchdog is not shown it
            await standing.ask_ends()
            return
        self._watchdog.look(places, asyncio.get_running_loop().time())
        if places:
            standing.know_ends(places)
        else:  # nothing need move, and still there is a lag
            await standing.ask_ends()

    async def _watch_books(self, books: BooksReader) -> None:
        """Show by how much the books were out of balance when somebody last looked at them."""
        while True:
            with self._metrics.guard(), suppress(LogUnavailableError):
                said = await books.newest()
                if said is not None:
                    show_books(self._metrics, said)
            await asyncio.sleep(BOOKS_EVERY_S)

    def topics_keep(self, kept_ms: Mapping[str, int]) -> None:
        """How long input topics keep records, milliseconds by name; below 0 for ever. Called with each topic check."""
        for topic, kept in kept_ms.items():
            self._metrics.set("retention", kept / 1000 if kept >= 0 else math.inf, topic)
        self._kept_ms = {topic: kept for topic, kept in kept_ms.items() if kept >= 0}

    async def _close(
        self,
        engine: Engine,
        work: asyncio.Task[None],
        stopped: asyncio.Task[bool],
        failed: asyncio.Task[None] | None,
    ) -> None:
        await self._transport.stop()
        engine.stop()
        stopped.cancel()
        if failed is not None:
            failed.cancel()
        await asyncio.wait({work}, timeout=1)
        work.cancel()
        _log.info("stopped")

    # What the pages ask

    def why_not_live(self) -> list[str]:
        """Stuck: there is something to read, but the engine does not turn."""
        engine = self.engine
        if engine is None:
            return []
        quiet = engine.quiet_seconds
        if quiet > STUCK_AFTER_S:
            return [f"the engine has not turned for {quiet:.0f} s"]
        return self._watchdog.why_stuck(asyncio.get_running_loop().time())

    async def why_not_ready(self) -> list[str]:
        """Not assigned, not recovered, topics not as they must be, or the ledger does not answer."""
        if self._waits_for:
            return self._waits_for
        if self._stopped.is_set():
            return ["stopping"]
        engine = self.engine
        if engine is None or not engine.is_recovered:
            why = [] if engine is None else engine.why_not_ready
            return why or ["partitions are not assigned or not recovered"]
        stuck = self.why_not_live()
        return stuck or engine.why_not_ready

    def refresh_metrics(self) -> None:
        """Set the gauges."""
        if self._standing is not None:
            self._standing.show(self._metrics)
        if self.engine is not None:
            self._metrics.set("fuses_open", len(self.engine.fuse.open))

    def open_fuses(self) -> list[str]:
        """Why partitions are not taken, where the dead-letter fuse is open."""
        return [] if self.engine is None else list(self.engine.fuse.open.values())

    def reset_fuses(self) -> list[str]:
        """Take them again; why they were not."""
        return [] if self.engine is None else self.engine.reset_fuse()


def show_books(metrics: Metrics, said: BooksSaid) -> None:
    """By how much the books were out of balance, and when the newest checkpoint was made."""
    metrics.set("checkpoint", said.checkpoint_ms / 1000)
    for currency, difference in said.differences.items():
        metrics.set("books_difference", difference, currency)
