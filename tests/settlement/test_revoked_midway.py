"""Partitions that are taken away while they are being taken over."""

from __future__ import annotations

import asyncio

import pytest

from tests.settlement.breakage import Frozen, heal
from tests.settlement.scene import GROUP, Scene


@pytest.mark.parametrize("call", ["acquire", "enter"])
def test_a_rebalance_while_partitions_are_taken_over_stops_nobody(call: str) -> None:
    """What was not fenced to its end is not worked on: the loop renews no lease of it, and both workers live."""

    async def run() -> None:
        played = Scene(partitions=2)
        frozen = Frozen(call)
        played.line.store.before = frozen
        first = await played.line.start_worker(GROUP, "w1")
        async with asyncio.timeout(10):
            await frozen.reached.wait()
        await first.until(lambda: bool(first.engine._turn._waiters))  # the loop wants its turn
        heal(played)
        second = await played.line.start_worker(GROUP, "w2")
        await first.until(lambda: first.engine.is_recovered and second.engine.is_recovered)
        second.check()
        assert sorted([first.engine.owned.partitions, second.engine.owned.partitions]) == [([0], [0]), ([1], [1])]
        await second.stop()
        await first.stop()

    asyncio.run(run())
