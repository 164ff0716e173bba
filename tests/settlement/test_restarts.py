"""Kills, rebalances, stops and replays, through whole plays: the promises hold over the union of all that was said."""

from __future__ import annotations

import asyncio
import random
from time import monotonic

import pytest

from pokdeng.wire import TopicKind
from tests.settlement.plays import Stage, a_play, balances, one_table, places, report_of, said
from tests.settlement.sniper import Survivor, play_under_fire
from tests.support.line import INPUTS

SEEDS = range(1, 17)


@pytest.mark.parametrize("seed", SEEDS)
def test_kills_at_any_point_leave_no_trace(seed: int) -> None:
    """Killed before and after calls of ledger and log: the checker finds nothing, copies are the same bytes."""

    async def play() -> None:
        stage, worker = await play_under_fire(a_play(seed, rounds=4), seed)
        await worker.stop()
        assert worker.hits
        said(stage.line)
        report = await report_of(stage.line)
        assert not report.findings, report
        assert report.counts["bet_settled"] > 20

    asyncio.run(play())


@pytest.mark.parametrize("seed", range(1, 9))
def test_kills_change_no_byte_of_one_tables_facts(seed: int) -> None:
    """One table, read in one go or dying all along: the same facts, the same balances."""

    async def play(*, is_shot_at: bool) -> tuple[object, object]:
        stage = Stage(one_table(seed, 500), partitions=1)
        worker = Survivor(stage.line, random.Random(seed))
        await stage.send(stage.beats[0])
        await worker.catch_up(kills=0)
        for beat in stage.beats[1:]:
            await stage.send(beat)
            if is_shot_at:
                await worker.live(30)
        await worker.catch_up(kills=5 if is_shot_at else 0)
        await worker.stop()
        return said(stage.line), await balances(stage.line)

    assert asyncio.run(play(is_shot_at=True)) == asyncio.run(play(is_shot_at=False))


@pytest.mark.parametrize("seed", range(1, 7))
def test_a_rebalance_in_the_middle_loses_and_repeats_nothing(seed: int) -> None:
    """A second worker joins, the first is stopped, the second is killed and a third takes over."""

    async def play() -> None:
        rng = random.Random(seed)
        stage = Stage(a_play(seed, rounds=4), partitions=4)
        first = await stage.line.start_worker(name="first")
        await first.owns()
        await stage.send(stage.beats[0])
        await first.caught_up()
        joins, leaves, dies = sorted(rng.sample(range(1, len(stage.beats)), 3))
        second = third = None
        for number, beat in enumerate(stage.beats[1:], 1):
            await stage.send(beat)
            for _ in range(rng.randrange(30)):
                await asyncio.sleep(0)
            if number == joins:
                second = await stage.line.start_worker(name="second")
                if rng.random() < 0.7:
                    await second.owns()
            elif number == leaves:
                await first.stop()
            elif number == dies and second is not None:
                await second.kill()
                third = await stage.line.start_worker(name="third")
        assert third is not None
        await third.owns()
        await third.caught_up()
        await third.stop()
        report = await report_of(stage.line)
        assert not report.findings, report

    asyncio.run(play())


def test_two_workers_share_the_partitions_and_catch_up_together() -> None:
    """Each owns some, both together all of them; co-partitions stay together."""

    async def play() -> None:
        stage = Stage(a_play(1), partitions=4)
        async with stage.line.worker(name="first") as first, stage.line.worker(name="second") as second:
            await first.until(
                lambda: all(sum(map(len, worker.engine.owned.partitions)) == 4 for worker in (first, second))
            )
            await stage.send(stage.beats[0])
            await first.caught_up()
            await second.caught_up()
            for beat in stage.beats[1:]:
                await stage.send(beat)
            await first.caught_up()
            await second.caught_up()
            assert not set(first.engine.owned.partitions[0]) & set(second.engine.owned.partitions[0])
        report = await report_of(stage.line)
        assert not report.findings, report

    asyncio.run(play())


def test_sigterm_commits_everything_that_is_finished() -> None:
    """After a stop in order nothing is read again, and nothing is done or said again."""

    async def play() -> None:
        stage = Stage(a_play(7, mischief=0.0))
        line = stage.line
        async with line.worker() as worker:
            await worker.owns()
            await stage.send(stage.beats[0])
            await worker.caught_up()
            await stage.send_all_but_first()
            await worker.caught_up()
        committed = line.broker.committed("settlement")
        for place in places(line, *INPUTS):
            end = line.broker.partition(place).end
            assert committed.get(place, 0) == end, place
        before = [len(line.broker.records(place)) for place in places(line, *TopicKind)]
        async with line.worker(name="w2") as worker:
            await worker.owns()
            await worker.caught_up()
        assert [len(line.broker.records(place)) for place in places(line, *TopicKind)] == before

    asyncio.run(play())


@pytest.mark.parametrize("seed", range(4, 9))
@pytest.mark.parametrize("ending", ["stopped", "killed", "killed with rounds open"])
def test_a_replay_by_a_new_group_changes_no_balance_and_no_byte(seed: int, ending: str) -> None:
    """Everything read again over the same store: what is said is said in the same bytes, and nothing new."""

    async def play() -> None:
        stage, worker = await play_under_fire(a_play(seed, rounds=4), seed)
        line = stage.line
        if ending == "killed with rounds open":
            await stage.send_next_play(a_play(seed + 1000, rounds=2), beats=12)
            await worker.catch_up(kills=0)
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
            await stage.send_rest()
            await another.caught_up()
        report = await report_of(line)
        assert not report.findings, report

    asyncio.run(play())
