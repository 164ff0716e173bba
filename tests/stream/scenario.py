"""Runs a scenario of the log's contract in a world of its own."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from tests.stream.recorder import Recorder

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from tests.stream.worlds import OpenWorld, RunningLog, World


def played(open_world: OpenWorld, scenario: Callable[[World], Awaitable[None]]) -> None:
    """Run a scenario in a fresh world and a fresh event loop."""

    async def run() -> None:
        async with open_world() as world:
            await scenario(world)

    asyncio.run(run())


def numbered(count: int, first: int = 0) -> list[bytes]:
    """So many values, each another."""
    return [b"%d" % number for number in range(first, first + count)]


async def started(log: RunningLog, recorder: Recorder | None = None) -> Recorder:
    """Start a log with a listener that writes down what it is told."""
    recorder = recorder or Recorder(log)
    await log.start(recorder)
    return recorder
