"""Workers of a world: each life is a process with a worker of its own, kept alive as a supervisor would."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from pokdeng.ledger.port import FencedError, LedgerLostError, LedgerUnavailableError
from pokdeng.metrics import Metrics
from pokdeng.settlement.limits import Limits
from pokdeng.settlement.worker import Worker, WorkerSettings
from pokdeng.stream.port import LogUnavailableError, TopicPartition
from tests.simulation.faults import SESSION_S
from tests.simulation.loop import Process
from tests.simulation.parts import SimLedger, SimLog

if TYPE_CHECKING:
    from tests.simulation.world import World

EXPECTED = (FencedError, LedgerLostError, LedgerUnavailableError, LogUnavailableError)
"""What may stop a worker in a world where things fail; anything else is a defect."""

_METRICS = Metrics()
QUIET_MS = 6_000
"""Longer than anybody sleeps in these worlds, as it must be."""


class _NoPages:
    """Nobody looks at the pages of a simulated worker."""

    async def start(self) -> int:
        """No port."""
        return 0

    async def stop(self) -> None:
        """Nothing is served."""


class Life:
    """One process, from its start to its end."""

    def __init__(self, world: World, name: str, group: str) -> None:
        """Not started yet."""
        spec = world.spec
        self.name = name
        self.process = Process(name)
        self.ended = asyncio.Event()
        self.error: BaseException | None = None
        self.was_killed = False
        self._world = world
        topics = world.topics
        self.log = SimLog(
            world.broker,
            group,
            copartitioned=(topics.table_events, topics.bets),
            others=(topics.funds,),
            name=name,
            credit_records=spec.credit_records,
            slice_records=spec.slice_records,
            publishing=world.disasters.publishing,
        )
        loop = world.loop
        self.worker = Worker(
            WorkerSettings(
                topics=topics,
                limits=Limits(),
                group=group,
                commit_every_s=spec.commit_every_s,
                shared_from=spec.shared_from,
                held_ms=spec.held_ms,
                quiet_ms=QUIET_MS,
                correction_window_ms=spec.correction_window_ms,
            ),
            self.log,
            SimLedger(world.store, buckets=spec.buckets),
            _METRICS,
            check_topics=_nothing_wrong,
            run_log=self.log.run_until_failed,
            clock=loop.time,
            now_ms=world.now_ms,
        )
        self.worker._pages = _NoPages()  # type: ignore[assignment]  # they would listen on a port

    async def live(self) -> None:
        """Run until the worker ends, or is killed."""
        task = self._world.loop.spawn(self.process, self.worker.run())
        task.add_done_callback(lambda _: self.ended.set())
        await self.ended.wait()
        self.process.is_dead = True
        if not self.was_killed:
            self.error = task.exception()

    def kill(self) -> None:
        """As kill -9 does it: nothing of it runs any more. The group learns of it when the session ends."""
        if self.process.is_dead:
            return
        self.was_killed = True
        self.process.is_dead = True
        self.log.kill()
        self.ended.set()

    def freeze(self, seconds: float) -> None:
        """As SIGSTOP and, later, SIGCONT do it."""
        if not self.process.is_dead and not self.process.is_stopped:
            self.process.is_stopped = True
            loop = self._world.loop
            if seconds > SESSION_S:
                loop.call_later(SESSION_S, self._sleep_on)
            loop.call_later(seconds, self.thaw)

    def thaw(self) -> None:
        """Go on where it was stopped; it hears of its group a while later."""
        if self.process.is_stopped:
            self._world.loop.go_on(self.process)
            self._world.loop.call_later(1.0, self.log.heartbeat)

    def _sleep_on(self) -> None:
        """Its session ends, unless it was woken before."""
        if self.process.is_stopped:
            self.throw_out()

    def throw_out(self) -> None:
        """Its session ended."""
        self.log.expire()

    def owned(self) -> list[TopicPartition]:
        """The input partitions that its engine works on, none while it does not know what was said before."""
        engine = self.worker.engine
        if engine is None or not engine.is_recovered or self.process.is_dead or self.process.is_stopped:
            return []
        topics = self._world.topics
        desks, cashiers = engine.owned.partitions
        return [
            *(TopicPartition(name, number) for number in desks for name in (topics.table_events, topics.bets)),
            *(TopicPartition(topics.funds, number) for number in cashiers),
        ]


async def _nothing_wrong() -> list[str]:
    return []
