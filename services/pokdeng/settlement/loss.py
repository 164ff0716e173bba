"""A ledger that was lost while the worker runs: who answers for which sources, and the wait until it is whole again.

What memory holds rests on a ledger that is not there any more. So what was decided and is being said is said to its
end, everything else is dropped, the partitions are given back and taken anew; they begin at what was committed, as
after a crash. In between the ledger is restored, by this worker or by another one.
"""

from __future__ import annotations

import asyncio
import math
import os
import socket
from typing import TYPE_CHECKING

import structlog

from pokdeng.restore.protocol import Restorer
from pokdeng.settlement.restoring import plan_of, wall_ms

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from pokdeng.ledger.port import Ledger, LedgerLostError
    from pokdeng.ledger.values import Source
    from pokdeng.restore.restore import Restored
    from pokdeng.settlement.house import House
    from pokdeng.settlement.observer import Observer
    from pokdeng.stream.port import Log

_log = structlog.get_logger(__name__)


class Loss:
    """What a worker knows of the sources that it owns, for the day on which the ledger is lost."""

    def __init__(
        self,
        log: Log,
        ledger: Ledger,
        house: House,
        observer: Observer,
        *,
        clock: Callable[[], float],
        now_ms: Callable[[], int] = wall_ms,
    ) -> None:
        """Nothing is owned and nothing is lost. `clock` is monotonic, in seconds."""
        self._ledger = ledger
        self._observer = observer
        self._quiet_s = house.quiet_ms / 1000
        self._clock = clock
        self._owned: dict[Source, float] = {}
        """Since when sources are owned: an earlier owner may still have been saying something then."""
        self._answers: dict[Source, float] = {}
        """The sources answered for in the restore under way."""
        self._restore = ""
        self._task: asyncio.Task[Restored | None] | None = None
        self._is_proven = False
        """Whether a restore has just shown that nobody speaks of what was given to us."""
        self.is_lost = False
        """Whether memory rests on a ledger that is lost."""
        plan = plan_of(
            log,
            ledger,
            house.topics,
            name=f"{socket.gethostname()}:{os.getpid()}:{id(self):x}",
            remember_ms=house.remember_ms,
            patience_s=None,
            looks_first=True,
            now_ms=now_ms,
            clock=clock,
        )
        self._restorer = Restorer(plan)

    @property
    def says(self) -> str:
        """What is being done about it; "" while nothing is."""
        return str(self._restorer.stage) if self.is_restoring else ""

    @property
    def is_restoring(self) -> bool:
        """Whether this worker leads a restore or waits for one."""
        return self._task is not None and not self._task.done()

    def acquired(self, sources: Iterable[Source]) -> None:
        """These sources are ours from now on, and the ledger is there."""
        since = -math.inf if self._is_proven else self._clock()
        self._owned = {source: self._owned.get(source, since) for source in sources}
        self.is_lost = self._is_proven = False

    def released(self) -> None:
        """Nothing is ours any more."""
        self._owned, self._is_proven = {}, False

    async def noticed(self, lost: LedgerLostError) -> None:
        """The ledger is lost, and of our sources nothing is begun to be said any more."""
        self.is_lost = True
        self._observer.ledger_lost(lost.cause)
        _log.error("ledger_lost", cause=lost.cause, why=str(lost))
        if lost.cause == "behind":
            await self._ledger.doubt()
        if not self.is_restoring:
            self._answers, self._restore = dict(self._owned), ""
            self._begin()

    async def restored(self, lost: LedgerLostError, sources: Iterable[Source]) -> None:
        """Wait until the ledger is whole; `sources` were given to us, and their earlier owner is gone."""
        if not self.is_lost:
            await self.noticed(lost)
        now = self._clock()
        for source in sources:
            self._answers.setdefault(source, now)
        if not self.is_restoring:
            self._begin()
        if self._task is not None:
            await asyncio.shield(self._task)
            self._is_proven = True

    def stop(self) -> None:
        """Take no part in a restore any more."""
        if self._task is not None:
            self._task.cancel()

    def _begin(self) -> None:
        self._task = asyncio.create_task(self._restorer.run(self._quiet), name="restore")
        self._task.add_done_callback(_tell)

    def _quiet(self, restore: str) -> dict[Source, int]:
        """What we answer for, and in how many milliseconds it is sure."""
        now = self._clock()
        if self._restore and self._restore != restore:
            self._answers = dict.fromkeys(self._answers, now)  # it was lost once more: who speaks now is not known
        self._restore = restore
        return {
            source: math.ceil(1000 * max(0.0, since + self._quiet_s - now)) for source, since in self._answers.items()
        }


def _tell(task: asyncio.Task[Restored | None]) -> None:
    """Nobody may be waiting for it just then."""
    error = None if task.cancelled() else task.exception()
    if error is not None:
        _log.error("restore_failed", why=str(error) or type(error).__name__)
