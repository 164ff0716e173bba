"""The whole service with TLS and the least rights everywhere: each team does its own part as itself."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from typing import TYPE_CHECKING

import pytest

from pokdeng.ledger.redis_ledger import RedisLedger
from pokdeng.stream.kafka import KafkaLog
from pokdeng.stream.partitioner import partition_for
from pokdeng.stream.port import Message, TopicPartition
from pokdeng.wire import TopicKind, Topics
from pokdeng.wire.rights import Role
from tests.security.conftest import PREFIX, with_topics
from tests.settlement.real_parts import Address, WorkerProcess, until
from tests.settlement.table_talk import Talk

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path
    from typing import Any

    from tests.support.secure_kafka import SecureKafka
    from tests.support.secure_redis import SecureRedis

pytestmark = pytest.mark.timeout(300)

OWN = "pokdeng"
"""The key prefix that `ops/redis/users.acl` is written for; topics have it, too."""
TOPICS = Topics(OWN)
PARTITIONS = 2
LETTER = f"{partition_for(b'T-1', PARTITIONS)}:0"
"""Where the only dead letter lies."""


class Team:
    """One principal with a log of its own."""

    def __init__(self, kafka: SecureKafka, role: Role) -> None:
        """Connected on first use."""
        self.log = KafkaLog(kafka.settings(f"{PREFIX}-{role}"))

    async def say(self, talk: Talk, text: str) -> None:
        """Append what the text says, in its order."""
        for spoken in talk.tell(text):
            assert spoken.key is not None
            place = TopicPartition(f"{OWN}.{spoken.topic}.v1", partition_for(spoken.key, PARTITIONS))
            await self.log.publish({place: [Message(spoken.key, spoken.value, [])]})

    async def read(self, kind: TopicKind) -> list[Mapping[str, Any]]:
        """All values of a topic."""
        ends = await self.log.end_offsets([TopicPartition(TOPICS.name(kind), n) for n in range(PARTITIONS)])
        parts = [await self.log.read(place, 0, end) for place, end in ends.items()]
        return [json.loads(record.value or b"") for records in parts for record in records]

    async def counts(self, kind: TopicKind) -> int:
        """How many records a topic holds."""
        ends = await self.log.end_offsets([TopicPartition(TOPICS.name(kind), n) for n in range(PARTITIONS)])
        return sum(ends.values())

    async def sees(self, kind: TopicKind, event_type: str, worker: WorkerProcess, count: int = 1) -> None:
        """Wait until so many facts of a type lie in a topic."""

        async def is_there() -> bool:
            await worker.is_ready()
            return [value["type"] for value in await self.read(kind)].count(event_type) >= count

        await until(is_there, within=60, what=lambda: f"no {event_type}: {worker.tail()}")


async def whole(kafka: SecureKafka, redis: SecureRedis, folder: Path) -> None:
    """A round that is settled, a restart, and a round that the supervisor cancels."""
    variables = {
        **kafka.variables(f"{PREFIX}-{Role.SETTLEMENT}"),
        **redis.variables("pokdeng-settlement"),
    }
    address = Address(kafka.sasl, redis.url, OWN)
    worker = WorkerProcess("worker", address, f"{PREFIX}-settlement", folder, variables)
    floor, gateway, cashier, supervisor = (
        Team(kafka, role) for role in (Role.FLOOR, Role.GATEWAY, Role.CASHIER, Role.SUPERVISOR)
    )
    talk = Talk()
    try:
        await worker.start()
        await cashier.say(talk, "deposit A-1 10000")
        await cashier.sees(TopicKind.FUNDS_DECISIONS, "funds_credited", worker)
        await floor.say(talk, "shoe S-1 2h\nopen R-1")
        await gateway.say(talk, "bet b1 A-1 player_1 1000")
        await gateway.say(talk, "raw bets T-1 nonsense")
        await floor.say(talk, "close R-1\ndeal R-1 W")
        await gateway.sees(TopicKind.SETTLEMENTS, "bet_settled", worker)
        await floor.sees(TopicKind.ROUNDS, "round_settled", worker)
        assert await supervisor.counts(TopicKind.DEAD_LETTERS) == 1
        spoken = "".join([await worker.page(path) for path in ("/metrics", "/health/ready", "/health/live")])
        assert await worker.stop() == 0, worker.tail()
        said = (folder / "worker.log").read_text()
        await worker.start()
        await floor.say(talk, "open R-2")
        await gateway.say(talk, "bet b2 A-1 player_1 1000 of R-2")
        await gateway.sees(TopicKind.BET_DECISIONS, "bet_accepted", worker, count=2)
        as_person = kafka.variables(f"{PREFIX}-{Role.SUPERVISOR}")
        spoken += await ran(as_person, "rounds", "cancel", "T-1", "R-2", "--reason", "camera failed", "--yes")
        await gateway.sees(TopicKind.SETTLEMENTS, "bet_refunded", worker)
        assert await worker.stop() == 0, worker.tail()
        spoken += await ran(as_person, "rounds", "show", "T-1", "R-2")
        spoken += await ran(as_person, "dead-letters", "list")
        spoken += await ran(as_person, "dead-letters", "discard", "--note", "a test", "--by", "ana", "--yes", LETTER)
        spoken += await ran(as_person, "audit")
        spoken += await ran(variables, "balances", "verify")
        said += (folder / "worker.log").read_text() + spoken
    finally:
        await worker.kill()
        for team in (floor, gateway, cashier, supervisor):
            await team.log.stop()
    for secret in (*kafka.passwords.values(), "CHANGE-ME"):
        assert secret not in said
    assert await shown(redis) == {"available": 11_000, "held": 0, "sequence": 5}


async def ran(variables: Mapping[str, str], *words: str) -> str:
    """What a command says that ends with 0."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "pokdeng", *words, "--prefix", OWN),
        env={**os.environ, **variables},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    out, _ = await process.communicate()
    assert process.returncode == 0, f"{words}: {out.decode()}"
    return out.decode()


async def shown(redis: SecureRedis) -> dict[str, int]:
    """What `balances show` says, as the user who may only read."""
    told = json.loads(await ran(redis.variables("pokdeng-reader"), "balances", "show", "A-1", "--json"))
    return {name: told[name] for name in ("available", "held", "sequence")}


def test_each_team_does_its_part_as_itself(kafka: SecureKafka, redis: SecureRedis, tmp_path: Path) -> None:
    """Deposit, bet, cards, settlement, a restart of the worker, a cancelled round; no password in what it says."""
    with_topics(kafka, OWN)

    async def emptied() -> None:
        ledger = RedisLedger(redis.settings("admin"), prefix=OWN)
        await ledger._pipeline.send([("FLUSHALL",)])
        await ledger.close()

    asyncio.run(emptied())
    asyncio.run(whole(kafka, redis, tmp_path))
