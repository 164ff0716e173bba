"""The protocol of a restore, whoever runs it: a worker that found its ledger lost, or the command.

1. Every writer is refused. 2. The owner of each source says that it is quiet: what it had decided is said, or never
will be. 3. Only now the ends of the log are asked for. 4. The ledger is filled up to them, unless nothing was lost.
5. It is opened. One leads; who else finds the ledger lost says that it is quiet, and waits. A leader may be killed at
any point: another takes over and begins anew with step 2.
"""

from __future__ import annotations

import asyncio
import time
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

import structlog

from pokdeng.ledger.port import FencedError, LedgerError, LedgerLostError
from pokdeng.ledger.values import Source
from pokdeng.restore.reading import ends_of, fact_partitions
from pokdeng.restore.restore import answered_funds, fill

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence

    from pokdeng.ledger.restoring import RestoredNote, Restoring
    from pokdeng.restore.checkpoint import Checkpoint
    from pokdeng.restore.filling import Notes
    from pokdeng.restore.folding import Times
    from pokdeng.restore.restore import Restored
    from pokdeng.stream.port import Log
    from pokdeng.wire import Topics

_log = structlog.get_logger(__name__)

POLL_S: Final = 0.1
KEEP_LEAD_S: Final = 2.0
_HOLES_NAMED: Final = 10
"""In the log; `balances verify` and `audit` name them all."""


@dataclass(slots=True)
class Stage:
    """How far a restore is, for people: a sentence, and offsets read of those to be read."""

    says: str = ""
    done: int = 0
    total: int = 0

    def __str__(self) -> str:
        """As readiness says it."""
        share = f", {100 * self.done // self.total} %" if self.total else ""
        return f"{self.says}{share}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What is restored from where, by whom.

    `patience_s`: a source that nobody answers for counts as gone after so long; None: never, somebody must.
    `is_whole` says whether another incarnation has lost nothing that was said; None: the ledger is filled anyway.
    """

    name: str
    log: Log
    ledger: Restoring
    topics: Topics
    notes: Callable[[], Awaitable[Notes]]
    times: Callable[[], Times]
    checkpoint: Callable[[], Awaitable[Checkpoint | None]]
    anchors: Callable[[], Awaitable[Sequence[RestoredNote]]]
    is_whole: Callable[[], Awaitable[bool]] | None
    patience_s: float | None
    clock: Callable[[], float] = field(default=time.monotonic)


class Restorer:
    """Takes part in restores until the ledger is sound."""

    def __init__(self, plan: Plan, *, on_stage: Callable[[Stage], None] = lambda _: None) -> None:
        """Nothing is done before `run`."""
        self._plan = plan
        self._on_stage = on_stage
        self._quiet: Callable[[str], Mapping[Source, int]] = lambda _: {}
        self.stage = Stage()
        self._told = ""

    async def run(self, quiet: Callable[[str], Mapping[Source, int]]) -> Restored | None:
        """Return once the ledger takes writers; what it was filled with, if by us.

        `quiet`: sources that we answer for in the restore of that id, and in how many milliseconds they are quiet.
        """
        ledger, plan = self._plan.ledger, self._plan
        self._quiet = quiet
        restored: Restored | None = None
        while True:
            try:
                restore = await ledger.begin()
                if not restore:
                    self._say("")
                    return restored
                await self._answer(restore)
                if await ledger.lead(restore, plan.name):
                    async with self._keeping(restore):
                        restored = await self._lead(restore)
                    continue
                self._say(f"the ledger is being restored by {await ledger.leader() or 'nobody'}")
            except FencedError as error:
                _log.info("restore_taken_over", why=str(error))
            except LedgerLostError as lost:
                _log.warning("restore_lost", why=str(lost))
            ledger.step_back()
            await asyncio.sleep(POLL_S)

    async def _answer(self, restore: str) -> None:
        answers = self._quiet(restore)
        if answers:
            await self._plan.ledger.say_quiet(restore, answers)

    async def _lead(self, restore: str) -> Restored | None:
        plan, ledger = self._plan, self._plan.ledger
        await self._until_quiet(restore)
        self._say("the ends of the log are asked for")
        restored: Restored | None = None
        if plan.is_whole is None or await ledger.is_torn() or not await plan.is_whole():
            restored = await self._fill()
        await ledger.open()
        if restored is None:
            _log.warning("ledger_accepted", why="nothing that was said is missing")
        else:
            _log.warning(
                "ledger_restored",
                facts=restored.facts,
                accounts=restored.accounts,
                holds=restored.holds,
                remembered=restored.remembered,
            )
            if restored.holes:
                _log.warning(
                    "movements_never_said",
                    movements=sum(hole.last - hole.first + 1 for hole in restored.holes),
                    accounts=len({hole.account for hole in restored.holes}),
                    of=[f"{hole.account} {hole.first}-{hole.last}" for hole in restored.holes[:_HOLES_NAMED]],
                )
        return restored

    async def _fill(self) -> Restored:
        plan = self._plan
        ends = await ends_of(plan.log, await fact_partitions(plan.log, plan.topics))

        async def begin(total: int) -> None:
            self.stage.total = total
            self._say("facts are read")

        async def progress(count: int) -> None:
            self.stage.done += count
            self._on_stage(self.stage)

        return await fill(
            plan.log,
            plan.topics,
            plan.ledger,
            await plan.notes(),
            ends=ends,
            times=plan.times(),
            checkpoint=await plan.checkpoint(),
            read_funds=await answered_funds(plan.log, plan.topics),
            more_notes=await plan.anchors(),
            begin=begin,
            progress=progress,
        )

    async def _until_quiet(self, restore: str) -> None:
        plan = self._plan
        sources = await self._sources()
        began = plan.clock()
        while True:
            missing = await plan.ledger.unquiet(restore, sources)
            if plan.patience_s is not None and plan.clock() - began >= plan.patience_s:
                missing = {source: wait for source, wait in missing.items() if wait is not None}
            if not missing:
                return
            silent = [source for source, wait in missing.items() if wait is None]
            if silent:
                self._say(f"the ledger is lost; waiting for who owns {_few(silent)}")
            else:
                longest_s = max(wait or 0 for wait in missing.values()) / 1000
                self._say(f"the ledger is lost; {_few(list(missing))} may still be spoken of for {longest_s:.0f} s")
            await asyncio.sleep(POLL_S)
            await self._answer(restore)

    async def _sources(self) -> list[Source]:
        topics = self._plan.topics
        counts = await self._plan.log.partition_counts([topics.table_events, topics.funds])
        tables = [Source(f"p{number}") for number in range(counts.get(topics.table_events, 0))]
        return tables + [Source(f"f{number}") for number in range(counts.get(topics.funds, 0))]

    @asynccontextmanager
    async def _keeping(self, restore: str) -> AsyncIterator[None]:
        """Keep the lead, however long a step takes. Where it lapses what is written is refused, and that ends it."""
        keeper = asyncio.create_task(self._keep(restore))
        try:
            yield
        finally:
            keeper.cancel()
            await asyncio.wait([keeper])

    async def _keep(self, restore: str) -> None:
        with suppress(LedgerError):
            while True:
                await asyncio.sleep(KEEP_LEAD_S)
                if not await self._plan.ledger.keep_lead(restore, self._plan.name):
                    return

    def _say(self, what: str) -> None:
        if what != self.stage.says:
            self.stage = Stage(what, 0, self.stage.total if what == "facts are read" else 0)
            self._on_stage(self.stage)
            told = what.partition(" may still")[0]
            if what and told != self._told:
                _log.info("restore", stage=what)
            self._told = told


def _few(sources: list[Source]) -> str:
    shown = ", ".join(sources[:6])
    return shown if len(sources) <= len("123456") else f"{shown} and {len(sources) - 6} more"
