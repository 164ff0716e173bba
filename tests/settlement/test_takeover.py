"""Taking partitions over: wholly, or not at all."""

from __future__ import annotations

import asyncio

from pokdeng.ledger.port import FencedError
from tests.support.line import Line


def test_a_takeover_that_failed_owns_nothing() -> None:
    """A worker that another group's lease keeps out stops for that reason, and turns no more with a part of it."""

    async def play() -> None:
        line = Line(partitions=2)
        first = await line.start_worker("first", "first")
        await first.owns()
        second = await line.start_worker("second", "second")
        error = await second.failure()
        assert isinstance(error, FencedError)
        assert second.engine.owned.partitions == ([], [])
        await first.stop()

    asyncio.run(play())
