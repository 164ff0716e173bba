"""The speaker: says batches, one after the other, while the engine folds the next.

In order: dead letters, decisions and settlements; when these are acknowledged, the rounds' own records, which are their
commit marks; only then does the batch count as progress.
"""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING

import structlog

from pokdeng.stream.port import LogUnavailableError, RecordRefusedError

if TYPE_CHECKING:
    from collections.abc import Callable

    from pokdeng.settlement.batch import Batch
    from pokdeng.settlement.observer import Observer
    from pokdeng.stream.port import Log, TopicPartition

_log = structlog.get_logger(__name__)

SAID_WITHIN_S = 30.0
"""What was decided earlier is not begun to be said: whoever took the sources over counts on it (`House.quiet_ms`)."""


class Speaker:
    """One batch at a time. What goes wrong is raised by the next `say`, `said` or `check`."""

    def __init__(
        self, log: Log, observer: Observer, wake: Callable[[], None], clock: Callable[[], float] = time.monotonic
    ) -> None:
        """`wake` is called when a batch is said, or failed to be. `clock` is monotonic, in seconds."""
        self._clock = clock
        self._transport = log
        self._observer = observer
        self._wake = wake
        self._saying: asyncio.Task[None] | None = None

    @property
    def is_silent(self) -> bool:
        """Whether nothing is being said."""
        return self._saying is None

    async def say(self, batch: Batch) -> None:
        """Begin to say a batch, once the one before is acknowledged."""
        await self.said()
        self._saying = asyncio.create_task(self._publish(batch))
        self._saying.add_done_callback(lambda _: self._wake())

    async def said(self) -> None:
        """Wait until everything is acknowledged."""
        saying, self._saying = self._saying, None
        if saying is not None:
            await saying

    def check(self) -> None:
        """Raise what went wrong, if a batch has ended."""
        if self._saying is not None and self._saying.done():
            saying, self._saying = self._saying, None
            saying.result()

    async def _publish(self, batch: Batch) -> None:
        waited_s = self._clock() - batch.applied_at
        if waited_s > SAID_WITHIN_S:
            raise LogUnavailableError(
                f"what was decided {waited_s:.0f} s ago is not said any more: others may have gone on"
            )
        if batch.dead_letters:
            await self._publish_dead_letters(batch)
        if batch.facts:
            await self._transport.publish(batch.facts)
        self._observer.facts_said(batch)
        if batch.round_facts:
            await self._transport.publish(batch.round_facts)
        batch.acknowledge()
        for partition, count in batch.records.items():
            self._transport.done(count, partition)
        self._observer.batch_said(batch)

    async def _publish_dead_letters(self, batch: Batch) -> None:
        """Say them as they came; one that the broker refuses all the same goes truncated, with an alarm."""
        truncated: set[tuple[TopicPartition, int]] = set()
        while True:
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
