"""The whole service once, on the real parts: two workers and a bad night at sixty-four tables, then a replay."""

from __future__ import annotations

import asyncio
import os
import uuid
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import pytest

from pokdeng.simulator import LogSender, Mischief, Play, perform, script
from tests.checker.checker import check
from tests.settlement.plays import OWN_HEADER, name_of
from tests.settlement.real_parts import Address, WorkerProcess, until
from tests.support.kafka import is_at_hand
from tests.support.line import INPUTS, OUTPUTS

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterable
    from pathlib import Path

    from pokdeng.stream.kafka import KafkaLog
    from pokdeng.stream.port import Record
    from tests.checker.report import Report

IS_FULL = os.environ.get("POKDENG_TEST_FULL") == "1"
"""64,000 bets instead of 8,000."""

pytestmark = [
    pytest.mark.timeout(1200),
    pytest.mark.skipif(
        not is_at_hand() and os.environ.get("POKDENG_REQUIRE_KAFKA") != "1", reason="no Apache Kafka is at hand"
    ),
]

PLAY = Play(
    tables=64,
    rounds=20 if IS_FULL else 5,
    accounts=2_000 if IS_FULL else 500,
    bets_per_round=50 if IS_FULL else 25,
    seed=20,
    mischief=Mischief.at(0.3),
    is_staggered=False,
)
FIRST, SECOND = "first-group", "second-group"


def distinct(outputs: Iterable[Record]) -> dict[str, tuple[object, ...]]:
    """What was said, by its names, copies folded into one.

    Raises:
        AssertionError: when two copies differ.
    """
    found: dict[str, tuple[object, ...]] = {}
    for record in outputs:
        headers = tuple((name, value) for name, value in record.headers if name != OWN_HEADER)
        copy = (record.topic, record.partition, record.key, record.value, headers)
        assert found.setdefault(name_of(record), copy) == copy, f"said again in other bytes: {copy}"
    return found


@asynccontextmanager
async def running(workers: list[WorkerProcess]) -> AsyncIterator[None]:
    """The workers, stopped as by an orchestrator at the end: all of them with status 0."""
    try:
        for worker in workers:
            await worker.start()
        yield
        statuses = await asyncio.gather(*(worker.stop() for worker in workers))
        assert statuses == [0] * len(workers), [worker.tail() for worker in workers]
    finally:
        for worker in workers:
            await worker.kill()


async def play(address: Address, log: KafkaLog) -> None:
    """Play it; the bets begin when all deposits are credited."""
    credited = address.topics.funds_decisions

    async def opened() -> None:
        async def is_credited() -> bool:
            places = [place for place in address.places(OUTPUTS) if place.topic == credited]
            return sum((await log.end_offsets(places)).values()) >= PLAY.accounts

        await until(is_credited, within=120, what=lambda: "the deposits are not credited")

    sent = await perform(script(PLAY), LogSender(log, address.topics), opened=opened)
    assert sent.bets > (64_000 if IS_FULL else 8_000) * 0.9


async def settled(address: Address, log: KafkaLog) -> Report:
    """Wait until nothing more is said and the checker finds nothing; what it says last."""
    reports: list[Report] = []
    ends: list[dict[object, int]] = [{}, {}]

    async def is_settled() -> bool:
        ends.append(dict(await log.end_offsets(address.places(OUTPUTS))))
        if not ends[-1] == ends[-2] == ends[-3]:
            return False
        inputs, outputs = await address.read_all(log, INPUTS), await address.read_all(log, OUTPUTS)
        reports.append(check(inputs, outputs, partitions=12, prefix=address.prefix))
        return not reports[-1].findings

    await until(is_settled, within=600, every=1.0, what=lambda: str(reports[-1]) if reports else "it never rested")
    return reports[-1]


async def end_to_end(bootstrap: str, redis_url: str, folder: Path) -> None:
    """The promises, over real topics and real balances."""
    address = Address(bootstrap, redis_url, f"e2e-{uuid.uuid4().hex[:12]}")
    await address.create_topics()
    log, of_first, of_second = address.log(), address.log(FIRST), address.log(SECOND)
    try:
        pair = [WorkerProcess(name, address, FIRST, folder) for name in ("one", "two")]
        async with running(pair):
            await play(address, log)
            await settled(address, log)
            assert all([await worker.counted("pokdeng_bets_total") for worker in pair]), "one of the two did nothing"
        inputs, outputs = await address.read_all(log, INPUTS), await address.read_all(log, OUTPUTS)
        balances = await address.balances()
        report = check(inputs, outputs, partitions=12, prefix=address.prefix, final_balances=balances)
        assert not report.findings, report
        assert report.counts["bet_settled"] > len(inputs) // 4
        facts = distinct(outputs)
        first = await of_first.committed(address.places(INPUTS))

        async def is_read_again() -> bool:
            second = await of_second.committed(list(first))
            return all(second[place] == offset for place, offset in first.items())

        third = WorkerProcess("three", address, SECOND, folder)
        async with running([third]):
            await until(is_read_again, within=600, every=1.0, what=lambda: f"not read again: {third.tail()}")
        replayed = await address.read_all(log, OUTPUTS)
        assert distinct(replayed) == facts
        assert await address.balances() == balances
    finally:
        for one in (log, of_first, of_second):
            await one.stop()


def test_a_bad_night_and_its_replay_on_the_real_parts(kafka_bootstrap: str, redis_url: str, tmp_path: Path) -> None:
    """The checker finds nothing, Redis holds what the log says, and a new group changes no balance and no byte."""
    asyncio.run(end_to_end(kafka_bootstrap, redis_url, tmp_path))
