"""A worker whose ledger is lost restores it and goes on, without being started again."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack
from time import monotonic_ns
from typing import TYPE_CHECKING

import pytest

from pokdeng.ledger.memory import MemoryLedger
from pokdeng.ledger.memory_store import undisturbed
from pokdeng.ledger.port import FencedError
from pokdeng.ledger.restoring import LEAD_MS
from pokdeng.simulator import MemorySender, Play, perform, script
from tests.checker.checker import check
from tests.settlement.breakage import Frozen
from tests.support.line import INPUTS, OUTPUTS, Line, RunningWorker

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pokdeng.simulator.steps import Step

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
SMALL = Play(tables=2, rounds=3, accounts=6, bets_per_round=8, seed=5)


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
    "set back unnoticed": lambda line, snapshot: line.store.restore(snapshot),  # type: ignore[arg-type]  # both take what they gave
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


class InSmallPieces:
    """Sends a few records, and waits until the workers have dealt with them: many small batches, many calls."""

    def __init__(self, line: Line, workers: list[RunningWorker]) -> None:
        """To the line's broker."""
        self._sender = MemorySender(line.broker, line.topics)
        self._workers = workers

    async def send(self, steps: Sequence[Step]) -> None:
        """Append them piece by piece."""
        for start in range(0, len(steps), 3):
            await self._sender.send(steps[start : start + 3])
            await all_caught_up(self._workers)

    async def barrier(self) -> None:
        """Nothing more is waited for."""


@pytest.mark.parametrize("at", range(30, 79, 6))
@pytest.mark.parametrize("loss", ["flushed", "set back", "restarted"])
def test_a_ledger_lost_in_the_middle_of_a_batch_is_restored(loss: str, at: int) -> None:
    """After any call of any bucket, with two workers; in the end all is exact."""

    async def go() -> None:
        line = Line()
        calls = 0
        snapshots = [line.store.snapshot()]

        async def lose(_name: str, _bucket: int) -> None:
            nonlocal calls
            calls += 1
            if calls == at - 20:
                snapshots.append(line.store.snapshot())
            if calls == at:
                LOSSES[loss](line, snapshots[-1])

        async with AsyncExitStack() as stack:
            workers = [await stack.enter_async_context(line.worker(name=f"w{n}")) for n in range(2)]
            await all_caught_up(workers)
            line.store.after = lose
            await perform(script(SMALL), InSmallPieces(line, workers))
            await all_caught_up(workers)
            assert calls > at
            await exact(line, workers[0])

    asyncio.run(go())


STEPS = ("standing", "begin", "quiet", "lead", "unquiet", "is_torn", "clear", "put", "open")


@pytest.mark.parametrize("is_done", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("skip", [0, 2])
def test_a_leader_killed_at_any_step_is_followed_by_another(step: str, skip: int, *, is_done: bool) -> None:
    """The restore is taken over once the lead has lapsed, from wherever it stopped; in the end all is exact."""

    async def go() -> None:
        line = Line()
        late_ms = 0
        line.store.clock = lambda: monotonic_ns() // 1_000_000 + late_ms
        first = await line.start_worker()
        await first.owns()
        await perform(script(PLAY), MemorySender(line.broker, line.topics), opened=first.caught_up)
        await first.caught_up()
        frozen = Frozen(step, skip=skip)
        line.store.flush()
        if is_done:
            line.store.after = frozen
        else:
            line.store.before = frozen
        await perform(script(MORE), MemorySender(line.broker, line.topics))
        is_reached = asyncio.create_task(frozen.reached.wait())
        is_sound = asyncio.create_task(first.caught_up())
        await asyncio.wait({is_reached, is_sound}, return_when=asyncio.FIRST_COMPLETED, timeout=20)
        await first.kill()
        is_reached.cancel()
        await asyncio.gather(is_sound, return_exceptions=True)
        line.store.before = line.store.after = undisturbed
        late_ms = LEAD_MS + 1
        async with line.worker(name="w2") as second:
            await second.caught_up()
            await exact(line, second)

    asyncio.run(go())


@pytest.mark.parametrize("call", ["quiet", "unquiet", "clear", "put", "open"])
def test_a_ledger_that_restarts_while_it_is_restored_is_restored_all_the_same(call: str) -> None:
    """Its leader gives the attempt up, keeps the lead and begins again."""

    async def go() -> None:
        line = Line()
        is_left = True

        async def restart(name: str, _bucket: int) -> None:
            nonlocal is_left
            if name == call and is_left:
                is_left = False
                line.store.new_incarnation()

        async with line.worker() as worker:
            await worker.owns()
            await perform(script(PLAY), MemorySender(line.broker, line.topics), opened=worker.caught_up)
            await worker.caught_up()
            line.store.flush()
            line.store.after = restart
            await perform(script(MORE), MemorySender(line.broker, line.topics))
            await worker.caught_up()
            assert not is_left
            await exact(line, worker)

    asyncio.run(go())


def test_two_workers_do_not_lead_at_once() -> None:
    """Who stands still while it leads finds itself deposed at its next write, and nothing of it is written."""

    async def go() -> None:
        line = Line()
        late_ms = 0
        line.store.clock = lambda: monotonic_ns() // 1_000_000 + late_ms
        async with line.worker() as worker:
            await worker.owns()
            await perform(script(PLAY), MemorySender(line.broker, line.topics), opened=worker.caught_up)
            await worker.caught_up()
            slow, quick = (MemoryLedger(line.store).restoring() for _ in range(2))
            line.store.flush()
            restore = await slow.begin()
            assert await slow.lead(restore, "slow") == 1
            assert await quick.lead(restore, "quick") == 0
            late_ms = LEAD_MS + 1
            assert await quick.lead(restore, "quick") == 2
            with pytest.raises(FencedError):
                await slow.clear()
            with pytest.raises(FencedError):
                await slow.open()

    asyncio.run(go())
