"""Many whole plays on the twins, with everything that goes wrong in them, held against the inputs alone."""

from __future__ import annotations

import asyncio

import pytest

from pokdeng.simulator import Mischief, Play
from tests.settlement.plays import Stage, report_of, said

SEEDS = range(1, 31)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_bad_night_breaks_no_promise(seed: int) -> None:
    """A play of half mischief: no finding, no copy in other bytes, and the books balance in every currency."""

    async def play() -> None:
        stage = Stage(
            Play(
                tables=6,
                rounds=8,
                accounts=60,
                bets_per_round=15,
                seed=seed,
                mischief=Mischief.at(0.5),
                is_staggered=seed % 3 != 0,
            ),
            partitions=1 + seed % 4,
        )
        async with stage.line.worker() as worker:
            await worker.owns()
            await stage.send(stage.beats[0])
            await worker.caught_up()
            for beat in stage.beats[1:]:
                await stage.send(beat)
                await asyncio.sleep(0)
            await worker.caught_up()
        said(stage.line)
        report = await report_of(stage.line)
        assert not report.findings, report
        assert report.counts["bet_settled"] > 200
        assert report.books

    asyncio.run(play())
