"""The yardstick: how fast this core is while something else is measured.

CPU time per bet depends on what the other core does at that moment (shared caches, shared execution units, a machine
shared with strangers). So the same small piece of Python is timed again and again beside the run, in CPU time of its
own thread, a few per cent of one core; what was measured is then told as it would be where the marks were set.
"""

from __future__ import annotations

import asyncio
import time
import uuid
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

REFERENCE_US: Final = 3.4
"""One `uuid.uuid5` on the machine that the marks were set on."""
_REPEATS: Final = 500
_EVERY_S: Final = 0.1


class Yardstick:
    """Samples of what `uuid.uuid5` takes."""

    def __init__(self) -> None:
        """None yet."""
        self._samples_us: list[float] = []

    def sample(self) -> None:
        """Take one, of some milliseconds."""
        name_of, namespace = uuid.uuid5, uuid.NAMESPACE_URL
        begun = time.thread_time()
        for _ in range(_REPEATS):
            name_of(namespace, "bet")
        self._samples_us.append((time.thread_time() - begun) / _REPEATS * 1e6)

    @property
    def mean_us(self) -> float:
        """The mean, as CPU per bet is one."""
        return sum(self._samples_us) / len(self._samples_us)

    def scaled(self, measured: float) -> float:
        """A CPU time measured meanwhile, as it would be where the marks were set."""
        return measured * REFERENCE_US / self.mean_us


@asynccontextmanager
async def yardstick_beside() -> AsyncIterator[Yardstick]:
    """Take samples until the block ends."""
    yardstick = Yardstick()
    yardstick.sample()

    async def keep_sampling() -> None:
        while True:
            await asyncio.sleep(_EVERY_S)
            yardstick.sample()

    sampling = asyncio.create_task(keep_sampling())
    try:
        yield yardstick
    finally:
        sampling.cancel()
        await asyncio.gather(sampling, return_exceptions=True)
