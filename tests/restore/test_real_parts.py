"""Redis is lost on the real parts: emptied while two workers run, set back to an older file, rebuilt by command."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import sys
import tempfile
import uuid
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from redis.asyncio import Redis

from pokdeng.ledger.embedded import EmbeddedServer
from pokdeng.ledger.port import LedgerLostError
from pokdeng.ledger.redis_ledger import RedisLedger
from pokdeng.simulator import LogSender, Mischief, Play, perform, script
from tests.checker.checker import check
from tests.restore.dumps import check_same, dump
from tests.settlement.real_parts import Address, WorkerProcess, until
from tests.support.kafka import is_at_hand
from tests.support.line import INPUTS, OUTPUTS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pokdeng.simulator.sender import Sent
    from pokdeng.stream.kafka import KafkaLog

pytestmark = [
    pytest.mark.timeout(900),
    pytest.mark.skipif(
        not is_at_hand() and os.environ.get("POKDENG_REQUIRE_KAFKA") != "1", reason="no Apache Kafka is at hand"
    ),
]

NIGHT = Play(tables=16, rounds=4, accounts=200, bets_per_round=20, seed=31, mischief=Mischief.at(0.3))
AN_HOUR_MS = 3_600_000
GROUP = "restored-group"


def night(number: int) -> Play:
    """One after the other, in other shoes and rounds; money comes with the first."""
    return Play(
        tables=NIGHT.tables,
        rounds=NIGHT.rounds,
        accounts=NIGHT.accounts,
        bets_per_round=NIGHT.bets_per_round,
        seed=NIGHT.seed + number,
        mischief=NIGHT.mischief,
        puts_money_in=number == 0,
        starts_at_ms=NIGHT.starts_at_ms + number * AN_HOUR_MS,
    )


async def pokdeng(address: Address, *words: str) -> tuple[int, str]:
    """A command, as a person calls it: its status and what it says on standard output."""
    options = ("--bootstrap", address.bootstrap, "--redis", address.redis_url, "--prefix", address.prefix)
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "pokdeng", *words, *options), stdout=asyncio.subprocess.PIPE
    )
    said, _ = await process.communicate()
    return process.returncode or 0, said.decode()


async def pokdeng_on_kafka(address: Address, *words: str) -> tuple[int, str]:
    """The same, for a command that needs no Redis."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "pokdeng", *words, "--bootstrap", address.bootstrap, "--prefix", address.prefix),
        stdout=asyncio.subprocess.PIPE,
    )
    said, _ = await process.communicate()
    return process.returncode or 0, said.decode()


class Town:
    """Two workers, their parts, and a play after the other."""

    def __init__(self, address: Address, log: KafkaLog, server: EmbeddedServer, workers: list[WorkerProcess]) -> None:
        """All of it runs."""
        self.address = address
        self.log = log
        self.server = server
        self.workers = workers

    async def play(self, number: int, *, at_half: Sequence[object] = ()) -> None:
        """Play a night; Redis is emptied when half of it is said, if `at_half` says so."""
        beats = list(script(night(number)))
        deposits = self.address.topics.funds_decisions

        async def credited() -> bool:
            places = [place for place in self.address.places(OUTPUTS) if place.topic == deposits]
            return sum((await self.log.end_offsets(places)).values()) >= NIGHT.accounts

        async def opened() -> None:
            await until(credited, within=120, what=lambda: "the deposits are not credited")

        is_half = asyncio.Event()

        def told(sent: Sent) -> None:
            if sent.beats >= len(beats) // 2:
                is_half.set()

        sender = LogSender(self.log, self.address.topics)
        if not at_half:
            await perform(beats, sender, opened=opened)
            return
        playing = asyncio.create_task(perform(beats, sender, opened=opened, told=told, bets_per_second=400))
        await is_half.wait()
        await self.flush()
        await playing

    async def flush(self) -> None:
        """FLUSHALL."""
        redis: Redis = Redis.from_url(self.server.url)
        await redis.flushall()
        await redis.aclose()

    async def is_exact(self) -> None:
        """Wait until nothing more is said, the checker finds nothing and Redis holds what it must."""
        reports = []

        async def is_so() -> bool:
            if not all([await worker.is_ready() for worker in self.workers]):
                return False
            inputs = await self.address.read_all(self.log, INPUTS)
            outputs = await self.address.read_all(self.log, OUTPUTS)
            try:
                balances = await self.address.balances()
            except LedgerLostError:
                return False  # it is being restored
            reports.append(check(inputs, outputs, partitions=12, prefix=self.address.prefix, final_balances=balances))
            return not reports[-1].findings

        await until(is_so, within=240, every=1.0, what=lambda: str(reports[-1]) if reports else self.tails())

    def tails(self) -> str:
        """What the workers said last."""
        return "\n".join(worker.tail() for worker in self.workers)


async def story(bootstrap: str, folder: Path) -> None:
    """Night after night, loss after loss."""
    home = Path(tempfile.mkdtemp(prefix="pokdeng-redis-"))
    server = EmbeddedServer(home)
    await server.start()
    address = Address(bootstrap, server.url, f"restore-{uuid.uuid4().hex[:10]}")
    await address.create_topics()
    log = address.log()
    workers = [WorkerProcess(name, address, GROUP, folder) for name in ("one", "two")]
    town = Town(address, log, server, workers)
    try:
        for worker in workers:
            await worker.start()
        await town.play(0, at_half=["flush"])
        await town.is_exact()
        assert sum([await worker.counted("pokdeng_ledger_recoveries_total") for worker in workers]) >= 1
        await server.kill()
        older = home / "older"
        shutil.copytree(home / "appendonlydir", older)
        await server.start()
        await town.is_exact()  # restarted, nothing lost
        await town.play(1)
        await town.is_exact()
        await server.kill()
        shutil.rmtree(home / "appendonlydir")
        shutil.copytree(older, home / "appendonlydir")
        await server.start()
        await town.play(2)
        await town.is_exact()
        await _verified(address)
        status, said = await pokdeng_on_kafka(address, "balances", "checkpoint", "--json")
        assert status == 0, said
        await town.flush()
        await town.play(3)
        await town.is_exact()
        await _verified(address)
        statuses = [await worker.stop() for worker in workers]
        assert statuses == [0, 0], town.tails()
        await _rebuilt(town)
    finally:
        for worker in workers:
            await worker.kill()
        await log.stop()
        await server.kill()
        shutil.rmtree(home, ignore_errors=True)


async def _verified(address: Address) -> None:
    """The command finds nothing, beside running workers."""
    status, said = await pokdeng(address, "balances", "verify", "--json")
    assert status == 0, said
    assert json.loads(said)["accounts"] == NIGHT.accounts, said


async def _rebuilt(town: Town) -> None:
    """The commands, with no worker running."""
    address = town.address

    async def is_left() -> bool:
        ledger = RedisLedger(address.redis_url, prefix=address.prefix)
        try:
            return not await ledger.restoring().leased()
        finally:
            await ledger.close()

    await until(is_left, within=40, what=lambda: "workers that had stopped still hold leases")
    living = await dump(address.redis_url, address.prefix)
    status, said = await pokdeng(address, "balances", "rebuild", "--yes", "--stopped", "--json", "--group", GROUP)
    assert status == 0, said
    assert json.loads(said)["accounts"] == NIGHT.accounts
    check_same(await dump(address.redis_url, address.prefix), living)
    await town.flush()
    status, said = await pokdeng(address, "balances", "rebuild", "--yes", "--stopped", "--group", GROUP)
    assert status == 0, said
    check_same(await dump(address.redis_url, address.prefix), living)
    redis: Redis = Redis.from_url(address.redis_url)
    key = f"{address.prefix}:{{0}}a"
    name, other = (await redis.hkeys(key))[:2]
    await redis.hset(key, name, await redis.hget(key, other))
    await redis.aclose()
    status, said = await pokdeng(address, "balances", "verify", "--json", "--settle", "1ms")
    assert status == 1
    assert [one["name"].encode() for one in json.loads(said)["listed"]] == [name]


def test_redis_is_lost_and_comes_back_exact_while_workers_run(kafka_bootstrap: str, tmp_path: Path) -> None:
    """Emptied, restarted and set back: noticed, restored, exact, without a restart of any worker; then by command."""
    asyncio.run(story(kafka_bootstrap, tmp_path))
