"""The whole service over a Redis Cluster of three masters, while slots are moved between them."""

from __future__ import annotations

import asyncio
import os
import uuid
from typing import TYPE_CHECKING

import pytest

from pokdeng.ledger.values import BUCKETS
from pokdeng.simulator import LogSender, Mischief, Play, perform, script
from tests.chaos.workers import Slot, Where, until_all_ready
from tests.checker.checker import check
from tests.ledger.cluster import redis_cluster
from tests.settlement.real_parts import PARTITIONS, Address, until
from tests.support.kafka import is_at_hand
from tests.support.line import INPUTS, OUTPUTS

if TYPE_CHECKING:
    from pathlib import Path

    from tests.checker.report import Report

PLAY = Play(tables=16, rounds=8, accounts=200, bets_per_round=25, seed=31, mischief=Mischief.at(0.1))
RATE = 150.0


async def play_while_slots_move(bootstrap: str, folder: Path) -> tuple[Report, int]:
    """What the checker says, and how often a worker found the ledger otherwise than it had left it."""
    async with redis_cluster() as cluster:
        prefix = f"cluster-{uuid.uuid4().hex[:8]}"
        address = Address(bootstrap, cluster.url, prefix)
        await address.create_topics()
        slots = [
            Slot(number, Where(bootstrap, cluster.url, prefix, prefix), folder, is_static=True) for number in range(2)
        ]
        log = address.log()
        try:
            for slot in slots:
                slot.start()
            await until_all_ready(slots, within=120)
            moving: asyncio.Task[None] | None = None

            async def move() -> None:
                for bucket in range(BUCKETS):
                    await cluster.move(f"{prefix}:{{{bucket}}}m")
                    await asyncio.sleep(1)

            async def opened() -> None:
                nonlocal moving

                async def is_credited() -> bool:
                    places = [one for one in address.places(OUTPUTS) if one.topic == address.topics.funds_decisions]
                    return sum((await log.end_offsets(places)).values()) >= PLAY.accounts

                await until(is_credited, within=120, what=lambda: "the deposits are not credited")
                moving = asyncio.create_task(move())

            await perform(script(PLAY), LogSender(log, address.topics), bets_per_second=RATE, opened=opened)
            assert moving is not None
            await moving
            await until_all_ready(slots, within=120)
            reports: list[Report] = []

            async def is_settled() -> bool:
                inputs, outputs = await address.read_all(log, INPUTS), await address.read_all(log, OUTPUTS)
                balances = await address.balances()
                reports.append(check(inputs, outputs, partitions=PARTITIONS, prefix=prefix, final_balances=balances))
                return not reports[-1].findings

            await until(is_settled, within=180, every=2.0, what=lambda: str(reports[-1]))
            return reports[-1], _said(folder, '"ledger_lost"')
        finally:
            for slot in slots:
                await slot.stop()
            await log.stop()


def _said(folder: Path, what: str) -> int:
    """How often the workers logged something."""
    return sum(path.read_text().count(what) for path in folder.glob("worker-*.log"))


@pytest.mark.timeout(600)
@pytest.mark.skipif(
    not is_at_hand() and os.environ.get("POKDENG_REQUIRE_KAFKA") != "1", reason="no Apache Kafka is at hand"
)
def test_slots_move_while_the_service_runs(kafka_bootstrap: str, tmp_path: Path) -> None:
    """Every bucket goes to another master: each time the workers look before they write, and nothing is lost."""
    report, looks = asyncio.run(play_while_slots_move(kafka_bootstrap, tmp_path))
    assert report.counts["bet_settled"] > 1_000
    assert looks > 0
