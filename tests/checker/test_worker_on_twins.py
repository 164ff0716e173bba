"""The worker on the in-memory twins, through storms, held against the inputs alone."""

from __future__ import annotations

import asyncio
import random
from typing import TYPE_CHECKING

import pytest

from pokdeng.simulator import MemorySender, Mischief, Play, perform, script
from tests.checker.checker import check
from tests.support.line import INPUTS, OUTPUTS, Line

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

    from tests.checker.report import Report
    from tests.support.line import RunningWorker


def a_play(seed: int, *, mischief: float = 0.6) -> Play:
    """A play with much of everything in it; few accounts, so that they meet at several tables."""
    return Play(
        tables=5, rounds=12, accounts=25, bets_per_round=12, seed=seed, mischief=Mischief.at(mischief), beat_ms=1000
    )


async def started(line: Line, name: str = "w1") -> RunningWorker:
    """A worker that owns what it gets."""
    worker = await line.start_worker(name=name)
    async with asyncio.timeout(20):
        while not worker.engine.is_recovered:
            if worker.task.done():
                worker.task.result()
            await asyncio.sleep(0)
    return worker


async def report_of(line: Line) -> Report:
    """What the checker says of a line at rest, its ledger included."""
    ledger = line.new_ledger()
    await ledger.open()
    balances = {
        str(one.account): (one.available, one.held, one.sequence, str(one.currency)) async for one in ledger.accounts()
    }
    await ledger.close()
    return check(line.records(*INPUTS), line.records(*OUTPUTS), partitions=line.partitions, final_balances=balances)


async def live(seed: int) -> Report:
    """The worker runs while the play goes on."""
    line = Line()
    worker = await started(line)
    await perform(script(a_play(seed)), MemorySender(line.broker, line.topics), opened=worker.caught_up)
    await worker.caught_up()
    await worker.stop()
    return await report_of(line)


async def backlog(seed: int) -> Report:
    """The worker comes when everything is in the log."""
    line = Line()
    await perform(script(a_play(seed)), MemorySender(line.broker, line.topics))
    worker = await started(line)
    await worker.caught_up()
    await worker.stop()
    return await report_of(line)


async def killed(seed: int) -> Report:
    """The worker is killed at any moment, and another one takes over, again and again."""
    rng = random.Random(seed)
    line = Line()
    sender = MemorySender(line.broker, line.topics)
    worker = await started(line)
    for beat in script(a_play(seed)):
        await sender.send(beat.steps)
        if beat.is_opening:
            await worker.caught_up()
        for _ in range(rng.randrange(6)):
            await asyncio.sleep(0)
        if rng.random() < 0.3:
            await worker.kill()
            worker.log.expire()
            worker = await started(line, f"w{beat.number + 2}")
    await worker.caught_up()
    await worker.stop()
    return await report_of(line)


@pytest.mark.parametrize("seed", range(1, 4))
@pytest.mark.parametrize("storm", [live, backlog, killed])
def test_all_promises_hold(storm: Callable[[int], Coroutine[None, None, Report]], seed: int) -> None:
    """Whenever the worker reads and however often it dies, the checker finds nothing."""
    report = asyncio.run(storm(seed))
    assert not report.findings, report
    assert report.counts["bet_settled"] > 20
