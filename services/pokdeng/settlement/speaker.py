"""The speaker: says batches in their order, while the engine folds the next.

Each in three steps, the next when all of one is acknowledged: dead letters and decisions; settlements; the rounds' own
records, which are their commit marks. Only then does the batch count as progress. So wherever a worker is killed, no
settlement is in the log without its bet's decision, and no round without its settlements: a ledger that is lost in that
very moment is restored from what is there. While one batch's settlements or rounds are being said the decisions of the
next may be: two batches are on their way then, and never more. Each step is said in the order of the batches.
"""

from __future__ import annotations

import asyncio
import time
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import structlog

from pokdeng.stream.port import LogUnavailableError, RecordRefusedError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from pokdeng.settlement.batch import Batch
    from pokdeng.settlement.observer import Observer
    from pokdeng.stream.port import Log, TopicPartition

_log = structlog.get_logger(__name__)

SAID_WITHIN_S = 30.0
"""Of what was decided earlier nothing more is begun to be said: whoever took the sources over counts on it
(`House.quiet_ms`)."""


class _Saying:
    """A batch that is on its way."""

    __slots__ = ("batch", "decided", "settled", "task")

    def __init__(self, batch: Batch) -> None:
        """Nothing of it is said."""
        self.batch = batch
        self.decided = asyncio.Event()
        """Its decisions are acknowledged, or something went wrong."""
        self.settled = asyncio.Event()
        """Its settlements too, or something went wrong."""
        self.task: asyncio.Task[None]


class Speaker:
    """What goes wrong is raised by the next `say`, `said` or `check`."""

    def __init__(
        self, log: Log, observer: Observer, wake: Callable[[], None], clock: Callable[[], float] = time.monotonic
    ) -> None:
        """`wake` is called when a batch is said, or failed to be. `clock` is monotonic, in seconds."""
        self._clock = clock
        self._transport = log
        self._observer = observer
        self._wake = wake
        self._saying: list[_Saying] = []
        """Those that are on their way, the oldest first."""

    @property
    def is_silent(self) -> bool:
        """Whether nothing is being said."""
        return not self._saying

    @property
    def tasks(self) -> list[asyncio.Task[None]]:
        """What is being said."""
        return [one.task for one in self._saying]

    async def say(self, batch: Batch) -> None:
        """Begin to say a batch, once the decisions of the one before are acknowledged, and all of those before that."""
        async with self._or_nothing():
            if self._saying:
                await self._saying[-1].decided.wait()
            self._look()
            if len(self._saying) > 1:
                await asyncio.wait(self.tasks, return_when=asyncio.FIRST_COMPLETED)
                self._look()
        saying = _Saying(batch)
        saying.task = asyncio.create_task(self._publish(saying, self._saying[0] if self._saying else None))
        saying.task.add_done_callback(self._done)
        self._saying.append(saying)

    async def said(self) -> None:
        """Wait until everything is acknowledged."""
        async with self._or_nothing():
            if self._saying:
                await asyncio.wait(self.tasks, return_when=asyncio.FIRST_EXCEPTION)
            self._look()

    async def check(self) -> None:
        """Let go of batches that are said; raise what went wrong with one."""
        async with self._or_nothing():
            self._look()

    def _look(self) -> None:
        for one in self._saying:
            if one.task.cancelled():
                raise LogUnavailableError("saying was given up, by none of us")
            if one.task.done():
                one.task.result()
        self._saying = [one for one in self._saying if not one.task.done()]

    def _done(self, task: asyncio.Task[None]) -> None:
        if task.cancelled() or task.exception() is not None:
            for one in self._saying:
                one.decided.set()  # nobody need wait for the other batch
        self._wake()

    @asynccontextmanager
    async def _or_nothing(self) -> AsyncIterator[None]:
        """Where waiting is given up, or one batch has failed, nothing more is said when this is over."""
        try:
            yield
        except BaseException:
            tasks, self._saying = self.tasks, []
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            raise

    async def _publish(self, saying: _Saying, before: _Saying | None) -> None:
        batch = saying.batch
        try:
            await self._say_decisions(batch)
            self._observer.decisions_said(batch)
            saying.decided.set()
            if before is not None:
                await before.settled.wait()
                _raise_from(before)
            if batch.settlements:
                self._check_time(batch)
                await self._transport.publish(batch.settlements)
        finally:
            saying.decided.set()
            saying.settled.set()
        self._observer.settlements_said(batch)
        if before is not None:
            await asyncio.wait([before.task])
            _raise_from(before)
        if batch.round_facts:
            self._check_time(batch)
            await self._transport.publish(batch.round_facts)
        batch.acknowledge()
        for partition, count in batch.records.items():
            self._transport.done(count, partition)
        self._observer.batch_said(batch)

    async def _say_decisions(self, batch: Batch) -> None:
        if batch.dead_letters:
            await self._publish_dead_letters(batch)
        if batch.decisions:
            self._check_time(batch)
            await self._transport.publish(batch.decisions)

    def _check_time(self, batch: Batch) -> None:
        waited_s = self._clock() - batch.applied_at
        if waited_s > SAID_WITHIN_S:
            raise LogUnavailableError(
                f"what was decided {waited_s:.0f} s ago is not said any more: others may have gone on"
            )

    async def _publish_dead_letters(self, batch: Batch) -> None:
        """Say them as they came; one that the broker refuses all the same goes truncated, with an alarm."""
        truncated: set[tuple[TopicPartition, int]] = set()
        while True:
            self._check_time(batch)
            try:
                await self._transport.publish(batch.dead_letters, compressed=True)
            except RecordRefusedError as refused:
                place = (refused.partition, refused.index)
                if place in truncated:
                    raise
                truncated.add(place)
                _log.exception("dead_letter_truncated", topic=refused.partition.topic, alarm=True)
                batch.truncate(*place)
            else:
                return


def _raise_from(before: _Saying) -> None:
    """What went wrong with the batch before, if something did."""
    if before.task.done():
        before.task.result()
