"""Rounds corrected and cancelled after their settlement, some twice, some with spent winnings, on the real parts."""

from __future__ import annotations

import asyncio
import os
import random
import uuid
from typing import TYPE_CHECKING

import pytest

from pokdeng.simulator import LogSender, Mischief, Play, perform, script
from tests.checker.checker import check
from tests.settlement.real_parts import Address, WorkerProcess, until
from tests.settlement.test_real_parts import distinct, running, settled
from tests.support.kafka import is_at_hand
from tests.support.line import INPUTS, OUTPUTS

if TYPE_CHECKING:
    from pathlib import Path

    from pokdeng.stream.kafka import KafkaLog
    from tests.checker.report import Report

IS_FULL = os.environ.get("POKDENG_TEST_FULL") == "1"
"""1,000 rounds of which one in ten is corrected or cancelled, in place of 60 and two in five."""

pytestmark = [
    pytest.mark.timeout(1200),
    pytest.mark.skipif(
        not is_at_hand() and os.environ.get("POKDENG_REQUIRE_KAFKA") != "1", reason="no Apache Kafka is at hand"
    ),
]

PLAY = Play(
    tables=25 if IS_FULL else 10,
    rounds=40 if IS_FULL else 6,
    accounts=300 if IS_FULL else 60,
    bets_per_round=20 if IS_FULL else 10,
    seed=14,
    mischief=Mischief.at(0.1).with_corrections(0.1 if IS_FULL else 0.4),
)
BETS_A_SECOND = 400 if IS_FULL else 150
KILL_EVERY_S = (2.0, 5.0)
GROUP = "corrected-night"


class Killer:
    """Kills one of two workers now and then, and starts it again under its name."""

    def __init__(self, workers: list[WorkerProcess]) -> None:
        """Both run."""
        self._workers = workers
        self._rng = random.Random(PLAY.seed)
        self.kills = 0

    async def strike(self) -> None:
        """Until it is cancelled."""
        while True:
            await asyncio.sleep(self._rng.uniform(*KILL_EVERY_S))
            worker = self._rng.choice(self._workers)
            await worker.kill()
            self.kills += 1
            await worker.launch()


async def play(address: Address, log: KafkaLog) -> None:
    """Play it at a steady rate; the bets begin when all deposits are credited."""

    async def opened() -> None:
        async def is_credited() -> bool:
            places = [place for place in address.places(OUTPUTS) if place.topic == address.topics.funds_decisions]
            return sum((await log.end_offsets(places)).values()) >= PLAY.accounts

        await until(is_credited, within=120, what=lambda: "the deposits are not credited")

    await perform(script(PLAY), LogSender(log, address.topics), bets_per_second=BETS_A_SECOND, opened=opened)


async def night(bootstrap: str, redis_url: str, folder: Path) -> tuple[Report, int, int]:
    """Play it with kills; what the checker says, how often somebody was killed, how many facts were overdrawn."""
    address = Address(bootstrap, redis_url, f"corr-{uuid.uuid4().hex[:12]}")
    await address.create_topics()
    log = address.log()
    try:
        workers = [
            WorkerProcess(name, address, GROUP, folder, {"POKDENG_INSTANCE_ID": f"{address.prefix}-{name}"})
            for name in ("one", "two")
        ]
        killer = Killer(workers)
        async with running(workers):
            striking = asyncio.create_task(killer.strike())
            await play(address, log)
            striking.cancel()
            await asyncio.gather(striking, return_exceptions=True)
            for worker in workers:
                await worker.kill()
                await worker.launch()
            await settled(address, log)
            for worker in workers:
                await until(worker.is_ready, within=240, what=worker.tail)
        inputs, outputs = await address.read_all(log, INPUTS), await address.read_all(log, OUTPUTS)
        facts = distinct(outputs)
        overdrawn = sum(b'"overdrawn":true' in record.value for record in outputs if record.value is not None)
        assert len(facts) < len(outputs), "nothing was ever said again: the kills hit nothing"
        balances = await address.balances()
        for words, redis in ((("balances", "verify"), True), (("audit",), False)):
            status, said = await address.command(*words, redis=redis)
            assert status == 0, said
        report = check(inputs, outputs, partitions=12, prefix=address.prefix, final_balances=balances)
        return report, killer.kills, overdrawn
    finally:
        await log.stop()


def test_a_night_of_corrections_and_kills_on_the_real_parts(
    kafka_bootstrap: str, redis_url: str, tmp_path: Path
) -> None:
    """Every revision once and exact, whatever dies: says the checker, says `audit`; Redis is what the log says."""
    report, kills, overdrawn = asyncio.run(night(kafka_bootstrap, redis_url, tmp_path))
    assert not report.findings, report
    assert kills
    assert overdrawn
    counts = report.counts
    assert counts["bet_reversed"] > 80
    assert counts["round_settled"] + counts["round_refunded"] > PLAY.tables * PLAY.rounds * (1.05 if IS_FULL else 1.2)
