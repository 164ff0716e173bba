"""A ledger filled from the log is the one that was lost."""

from __future__ import annotations

import asyncio

import pytest

from pokdeng.simulator import MemorySender, Play, perform, script
from tests.restore.filled import contents, filled, latest_ms, pages
from tests.support.line import Line


@pytest.mark.parametrize("seed", range(8))
def test_a_played_ledger_is_filled_from_the_log_as_it_lives(seed: int) -> None:
    """Accounts, bets with their first answers, and transfers are equal; notes differ in nothing that counts."""

    async def go() -> None:
        line = Line()
        play = Play(tables=3, rounds=5, accounts=20, bets_per_round=12, seed=seed)
        async with line.worker() as worker:
            await worker.owns()
            await perform(script(play), MemorySender(line.broker, line.topics), opened=worker.caught_up)
            await worker.caught_up()
        store, restored = await filled(line, now_ms=latest_ms(line))
        assert not restored.holes
        assert contents(store) == contents(line.store)
        living, there = pages(line.store), pages(store)
        for page in {*living, *there}:
            if living.get(page) != there.get(page):
                print(page, living.get(page), there.get(page), sep="\n   ")
        assert living.keys() == there.keys()

    asyncio.run(go())
