"""Order and duplication: however the two topics lag and whatever is delivered twice, the same facts and balances."""

from __future__ import annotations

import asyncio
import random
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from pokdeng.wire import TopicKind
from tests.checker.reference import settle
from tests.settlement.plays import Stage, balances, deliver_again, meaning, one_table, places, report_of, said
from tests.support.line import INPUTS, OUTPUTS

if TYPE_CHECKING:
    from tests.settlement.plays import Said
    from tests.support.line import Line

TABLE, BETS = TopicKind.TABLE_EVENTS, TopicKind.BETS
SEEDS = range(1, 13)
BEATS_MS = (12, 60, 4000)
"""With the shortest, most records share their millisecond with others."""


async def a_log(seed: int, *, is_hidden: bool) -> Stage:
    """A line whose log is complete, some records in it twice; the deposits are credited, the rest may be hidden."""
    rng = random.Random(seed)
    stage = Stage(one_table(seed, rng.choice(BEATS_MS)), partitions=1)
    line = stage.line
    async with line.worker() as worker:
        await worker.owns()
        await stage.send(stage.beats[0])
        await worker.caught_up()
    if is_hidden:
        for place in places(line, TABLE, BETS):
            line.broker.hide(place)
    for beat in stage.beats[1:]:
        await stage.send(replace(beat, steps=deliver_again(rng, beat.steps, 0.15)))
    return stage


async def show_bit_by_bit(line: Line, rng: random.Random) -> None:
    """Show readers a few records of one topic, then of one or the other, until all are shown."""
    hidden = [line.broker.partition(place) for place in places(line, TABLE, BETS)]
    bias = rng.choice((0.05, 0.5, 0.95))
    while any(partition.shown is not None and partition.shown < partition.end for partition in hidden):
        partition = hidden[rng.random() < bias]
        partition.shown = min(partition.end, (partition.shown or 0) + rng.choice((1, 1, 2, 5, 40)))
        for place in places(line, TABLE, BETS):
            line.broker._wake(place)
        for _ in range(rng.randrange(12)):
            await asyncio.sleep(0)


async def heard(seed: int, lag: int | None) -> tuple[Said, dict[str, tuple[int, int, int, str]]]:
    """What is said of a log that lags in some way, or (None) is read as one backlog; the checker finds nothing."""
    stage = await a_log(seed, is_hidden=lag is not None)
    line = stage.line
    async with line.worker(name="w2") as worker:
        if lag is not None:
            await show_bit_by_bit(line, random.Random(lag))
        await worker.caught_up()
    report = await report_of(line)
    assert not report.findings, report
    return said(line), await balances(line)


@pytest.mark.parametrize("seed", SEEDS)
def test_lag_and_slices_change_no_byte_and_no_balance(seed: int) -> None:
    """The same log read as a backlog, and in two other ways, bit by bit."""
    backlog = asyncio.run(heard(seed, None))
    for lag in (seed * 2, seed * 2 + 1):
        assert asyncio.run(heard(seed, lag)) == backlog


@pytest.mark.parametrize("seed", SEEDS)
def test_the_worker_says_what_the_reference_says(seed: int) -> None:
    """One table's log has one meaning: that of the contract written down plainly."""

    async def play() -> None:
        stage = await a_log(seed, is_hidden=False)
        line = stage.line
        async with line.worker(name="w2") as worker:
            await worker.caught_up()
        expected = settle(line.records(*INPUTS), partitions=1)
        assert meaning(line.records(*OUTPUTS)) == meaning(expected.outputs)
        assert await balances(line) == expected.balances()

    asyncio.run(play())


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_what_is_delivered_twice_moves_and_says_nothing(seed: int) -> None:
    """Every bet and table event of a log once more, behind everything: no balance and no fact changes."""

    async def play() -> None:
        stage = await a_log(seed, is_hidden=False)
        line = stage.line
        async with line.worker(name="w2") as worker:
            await worker.caught_up()
            facts, before = said(line), await balances(line)
            for place in places(line, BETS):
                for record in line.broker.records(place):
                    line.broker.append(place.topic, record.key, record.value, (), place.partition, stage.now_ms)
            await worker.caught_up()
        added = {name: said(line)[name] for name in said(line).keys() - facts.keys()}
        assert await balances(line) == before
        assert all(dict(headers).get("dlq.reason") is not None for _, _, headers in added.values())
        report = await report_of(line)
        assert not report.findings, report

    asyncio.run(play())
