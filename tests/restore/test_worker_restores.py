"""A worker whose ledger is lost restores it and goes on, without being started again."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING

import pytest

from pokdeng.simulator import MemorySender, Play, perform, script
from tests.checker.checker import check
from tests.support.line import INPUTS, OUTPUTS, Line, RunningWorker

if TYPE_CHECKING:
    from collections.abc import Callable

PLAY = Play(tables=4, rounds=4, accounts=20, bets_per_round=10, seed=3)
MORE = Play(
    tables=4,
    rounds=3,
    accounts=20,
    bets_per_round=10,
    seed=4,
    puts_money_in=False,
    starts_at_ms=PLAY.starts_at_ms + 3_600_000,
)
"""An hour later."""


async def exact(line: Line, worker: RunningWorker) -> None:
    """The checker finds nothing, and the ledger holds what was said."""
    balances = {
        str(one.account): (one.available, one.held, one.sequence, str(one.currency))
        async for one in worker.ledger.accounts()
    }
    report = check(line.records(*INPUTS), line.records(*OUTPUTS), partitions=line.partitions, final_balances=balances)
    assert not report.findings, report


async def all_caught_up(workers: list[RunningWorker]) -> None:
    """Wait until every worker is, at the same time."""
    for worker in workers:
        await worker.until(lambda: all(one.is_caught_up for one in workers))


def set_back(line: Line, snapshot: object) -> None:
    """Another server process with older data."""
    line.store.restore(snapshot)  # type: ignore[arg-type]  # what `snapshot` gave
    line.store.new_incarnation()


LOSSES: dict[str, Callable[[Line, object], None]] = {
    "flushed": lambda line, _: line.store.flush(),
    "set back": set_back,
    "set back unnoticed": lambda line, snapshot: line.store.restore(snapshot),  # type: ignore[arg-type]
    "restarted": lambda line, _: line.store.new_incarnation(),
}


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("count", [1, 2])
def test_a_ledger_lost_while_workers_run_is_restored(loss: str, count: int) -> None:
    """Between two plays: noticed, restored, exact, and the same workers go on."""

    async def go() -> None:
        line = Line()
        async with AsyncExitStack() as stack:
            workers = [await stack.enter_async_context(line.worker(name=f"w{n}")) for n in range(count)]
            await all_caught_up(workers)
            before = line.store.snapshot()

            async def ready() -> None:
                await all_caught_up(workers)

            await perform(script(PLAY), MemorySender(line.broker, line.topics), opened=ready)
            await all_caught_up(workers)
            LOSSES[loss](line, before)
            await perform(script(MORE), MemorySender(line.broker, line.topics))
            await all_caught_up(workers)
            await exact(line, workers[0])

    asyncio.run(go())


@pytest.mark.parametrize("at", range(0, 400, 23))
def test_a_ledger_flushed_in_the_middle_of_play_is_restored(at: int) -> None:
    """After any call of the ledger, with two workers in the middle of something."""

    async def go() -> None:
        line = Line()
        calls = 0

        async def flush(name: str, _bucket: int) -> None:
            nonlocal calls
            calls += 1
            if calls == 100 + at:
                line.store.flush()

        async with AsyncExitStack() as stack:
            workers = [await stack.enter_async_context(line.worker(name=f"w{n}")) for n in range(2)]
            await all_caught_up(workers)
            line.store.after = flush

            async def ready() -> None:
                await all_caught_up(workers)

            await perform(script(PLAY), MemorySender(line.broker, line.topics), opened=ready)
            await all_caught_up(workers)
            assert calls > 100 + at
            await exact(line, workers[0])

    asyncio.run(go())
