"""Looks on: how many facts were said so far, and how long nothing was said although there was something to say."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING, NamedTuple

from pokdeng.stream.kafka import KafkaLog, KafkaSettings
from pokdeng.stream.port import LogError, TopicPartition
from tests.support.line import OUTPUTS

if TYPE_CHECKING:
    from collections.abc import Callable

    from pokdeng.wire import Topics

_EVERY_S = 0.25


class Stall(NamedTuple):
    """A time without a new fact."""

    lasted_s: float
    at_s: float
    during: str
    """What was being done when it ended."""


class Watch:
    """Asks for the ends of the output topics, again and again."""

    def __init__(self, bootstrap: str, topics: Topics, partitions: int, doing: Callable[[], str]) -> None:
        """`doing` says which fault is happening now."""
        self._log = KafkaLog(KafkaSettings(bootstrap=bootstrap, request_timeout_ms=5_000))
        self._places = [TopicPartition(topics.name(kind), number) for kind in OUTPUTS for number in range(partitions)]
        self._doing = doing
        self._began = time.monotonic()
        self.said = 0
        self.changed_at = self._began
        self.longest = Stall(0.0, 0.0, "")

    async def look(self) -> None:
        """Look until cancelled."""
        try:
            while True:
                await self._once()
                await asyncio.sleep(_EVERY_S)
        finally:
            await self._log.stop()

    async def _once(self) -> None:
        try:
            said = sum((await self._log.end_offsets(self._places)).values())
        except (LogError, OSError):
            return
        now = time.monotonic()
        if said != self.said:
            lasted = now - self.changed_at
            if lasted > self.longest.lasted_s and self.said:
                self.longest = Stall(lasted, now - self._began, self._doing())
            self.said, self.changed_at = said, now

    @property
    def quiet_s(self) -> float:
        """For how long nothing new was said."""
        return time.monotonic() - self.changed_at
