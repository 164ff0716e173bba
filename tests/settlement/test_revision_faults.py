"""Corrections under kills, rebalances, replays and lag: every revision once, in the same bytes, by the checker."""

from __future__ import annotations

import asyncio
import random
from dataclasses import replace
from time import monotonic
from typing import TYPE_CHECKING, Any

import pytest

from pokdeng.wire import TopicKind
from tests.checker.reference import settle
from tests.settlement.plays import Stage, a_play, balances, meaning, one_table, places, report_of, said
from tests.settlement.sniper import Survivor, play_under_fire
from tests.settlement.test_any_order import show_bit_by_bit
from tests.support.line import INPUTS, OUTPUTS

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pokdeng.simulator import Play

SEEDS = range(1, 6)


def corrected(play: Play) -> Play:
    """The same play; many of its settled rounds are corrected or cancelled, some of them twice."""
    mischief = replace(play.mischief, corrections_after_settlement=0.3, cancels_after_settlement=0.15)
    return replace(play, mischief=mischief)


def whatever_the_order(records: Iterable[Any]) -> dict[str, object]:
    """What outputs say but the balances after them: a revision moves money a moment after its record was read."""
    return {
        name: {field: value for field, value in told.items() if field != "balance"} if isinstance(told, dict) else told
        for name, told in meaning(records).items()
    }


@pytest.mark.parametrize("seed", SEEDS)
def test_kills_at_any_point_leave_no_trace(seed: int) -> None:
    """Killed before and after calls of ledger and log: the checker finds nothing, copies are the same bytes."""

    async def play() -> None:
        stage, worker = await play_under_fire(corrected(a_play(seed, rounds=5)), seed, again=0.1)
        await worker.stop()
        assert worker.hits
        said(stage.line)
        report = await report_of(stage.line)
        assert not report.findings, report
        assert report.counts["bet_reversed"] > 10

    asyncio.run(play())


@pytest.mark.parametrize("seed", SEEDS)
def test_kills_change_no_fact_of_one_table(seed: int) -> None:
    """One table, read in one go or dying all along: the same facts, the same balances, and those of the reference."""

    async def play(*, is_shot_at: bool) -> tuple[object, object]:
        stage = Stage(corrected(one_table(seed, 500)), partitions=1)
        worker = Survivor(stage.line, random.Random(seed))
        await stage.send(stage.beats[0])
        await worker.catch_up(kills=0)
        for beat in stage.beats[1:]:
            await stage.send(beat)
            if is_shot_at:
                await worker.live(30)
        await worker.catch_up(kills=5 if is_shot_at else 0)
        await worker.stop()
        said(stage.line)
        expected = settle(stage.line.records(*INPUTS), partitions=1)
        assert whatever_the_order(stage.line.records(*OUTPUTS)) == whatever_the_order(expected.outputs)
        assert await balances(stage.line) == expected.balances()
        return whatever_the_order(stage.line.records(*OUTPUTS)), await balances(stage.line)

    assert asyncio.run(play(is_shot_at=True)) == asyncio.run(play(is_shot_at=False))


@pytest.mark.parametrize("seed", SEEDS)
def test_lag_and_slices_change_no_fact(seed: int) -> None:
    """Whichever topic is read first, however little of it at a time."""

    async def play(lag: int | None) -> tuple[object, object]:
        stage = Stage(corrected(one_table(seed, random.Random(seed).choice((12, 60, 4000)))), partitions=1)
        line = stage.line
        async with line.worker() as worker:
            await worker.owns()
            await stage.send(stage.beats[0])
            await worker.caught_up()
        if lag is not None:
            for place in places(line, TopicKind.TABLE_EVENTS, TopicKind.BETS):
                line.broker.hide(place)
        await stage.send_all_but_first()
        async with line.worker(name="w2") as worker:
            if lag is not None:
                await show_bit_by_bit(line, random.Random(lag))
            await worker.caught_up()
        said(line)
        report = await report_of(line)
        assert not report.findings, report
        return whatever_the_order(line.records(*OUTPUTS)), await balances(line)

    backlog = asyncio.run(play(None))
    for lag in (2 * seed, 2 * seed + 1):
        assert asyncio.run(play(lag)) == backlog


@pytest.mark.parametrize("seed", range(1, 4))
def test_a_rebalance_in_the_middle_loses_and_repeats_nothing(seed: int) -> None:
    """A second worker joins, the first is stopped, the second is killed and a third takes over."""

    async def play() -> None:
        rng = random.Random(seed)
        stage = Stage(corrected(a_play(seed, rounds=5)), partitions=4)
        workers = [await stage.line.start_worker(name="w0")]
        await workers[0].owns()
        await stage.send(stage.beats[0])
        await workers[0].caught_up()
        for number, beat in enumerate(stage.beats[1:], 1):
            await stage.send(beat)
            for _ in range(rng.randrange(30)):
                await asyncio.sleep(0)
            chance = rng.random()
            if chance < 0.15:
                workers.append(await stage.line.start_worker(name=f"w{number}"))
            elif chance < 0.3 and len(workers) > 1:
                worker = workers.pop(rng.randrange(len(workers)))
                await (worker.stop() if rng.random() < 0.5 else worker.kill())
        for worker in workers:
            await worker.owns()
        for worker in workers:
            await worker.caught_up()
        for worker in workers:
            await worker.stop()
        said(stage.line)
        report = await report_of(stage.line)
        assert not report.findings, report

    asyncio.run(play())


@pytest.mark.parametrize("seed", range(4, 7))
@pytest.mark.parametrize("ending", ["stopped", "killed"])
def test_a_replay_by_a_new_group_changes_no_balance_and_no_byte(seed: int, ending: str) -> None:
    """Everything read again over the same store: what is said is said in the same bytes, and nothing new."""

    async def play() -> None:
        stage, worker = await play_under_fire(corrected(a_play(seed, rounds=5)), seed, again=0.1)
        line = stage.line
        if ending == "stopped":
            await worker.stop()
        else:
            await worker.kill()
            line.store.clock = lambda: int(monotonic() * 1000) + 60_000  # the leases of the first group end
        facts, before = said(line), await balances(line)
        async with line.worker("second", "another") as another:
            await another.owns()
            await another.caught_up()
            assert said(line) == facts
            assert await balances(line) == before
        report = await report_of(line)
        assert not report.findings, report

    asyncio.run(play())
