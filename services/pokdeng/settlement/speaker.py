"""The speaker: says batches in their order, while the engine folds the next.

Each in two steps: dead letters, decisions and settlements; when these are acknowledged, the rounds' own records, which
are their commit marks. Only then does the batch count as progress. While the rounds of one batch are being said the
facts of the next may be: two batches are on their way then, and never more.
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
        self._saying: list[asyncio.Task[None]] = []
        """Of the batches that are on their way, the oldest first."""
        self._facts_said = asyncio.Event()
        """Whether the facts of the newest batch are acknowledged, or it failed."""

    @property
    def is_silent(self) -> bool:
        """Whether nothing is being said."""
        return not self._saying

    async def say(self, batch: Batch) -> None:
        """Begin to say a batch, once the facts of the one before are acknowledged, and all of those before that."""
        async with self._or_nothing():
            if self._saying:
                await self._facts_said.wait()
            self._look()
            if len(self._saying) > 1:
                await asyncio.wait(self._saying, return_when=asyncio.FIRST_COMPLETED)
                self._look()
        before = self._saying[0] if self._saying else None
        self._facts_said = asyncio.Event()
        task = asyncio.create_task(self._publish(batch, self._facts_said, before))
        task.add_done_callback(self._done)
        self._saying.append(task)

    async def said(self) -> None:
        """Wait until everything is acknowledged."""
        async with self._or_nothing():
            if self._saying:
                await asyncio.wait(self._saying, return_when=asyncio.FIRST_EXCEPTION)
            self._look()

    async def check(self) -> None:
        """Let go of batches that are said; raise what went wrong with one."""
        async with self._or_nothing():
            self._look()

    def _look(self) -> None:
        for task in self._saying:
            if task.done():
                task.result()
        self._saying = [task for task in self._saying if not task.done()]

    def _done(self, task: asyncio.Task[None]) -> None:
        if task.cancelled() or task.exception() is not None:
            self._facts_said.set()  # nobody need wait for the other batch
        self._wake()

    @asynccontextmanager
    async def _or_nothing(self) -> AsyncIterator[None]:
        """Where waiting is given up, or one batch has failed, nothing more is said when this is over."""
        try:
            yield
        except BaseException:
            saying, self._saying = self._saying, []
            for task in saying:
                task.cancel()
            await asyncio.gather(*saying, return_exceptions=True)
            raise

    async def _publish(self, batch: Batch, facts_said: asyncio.Event, before: asyncio.Task[None] | None) -> None:
        try:
            await self._publish_facts(batch)
        finally:
            facts_said.set()
        if before is not None:
            await asyncio.wait([before])
            before.result()
        if batch.round_facts:
            self._check_time(batch)
            await self._transport.publish(batch.round_facts)
        batch.acknowledge()
        for partition, count in batch.records.items():
            self._transport.done(count, partition)
        self._observer.batch_said(batch)

    async def _publish_facts(self, batch: Batch) -> None:
        if batch.dead_letters:
            await self._publish_dead_letters(batch)
        if batch.facts:
            self._check_time(batch)
            await self._transport.publish(batch.facts)
        self._observer.facts_said(batch)

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
