"""The supervisor's commands once on the real parts: a worker on Apache Kafka and Redis, the command line beside it."""

from __future__ import annotations

import asyncio
import json
import os
import sys
import uuid
from typing import TYPE_CHECKING, Any

import pytest

from pokdeng.simulator import LogSender, Mischief, Play, perform, script
from pokdeng.stream.partitioner import partition_for
from pokdeng.stream.port import Message, TopicPartition
from pokdeng.wire import TopicKind
from tests.settlement.real_parts import PARTITIONS, Address, WorkerProcess, until
from tests.settlement.table_talk import Talk
from tests.support.kafka import is_at_hand

if TYPE_CHECKING:
    from pathlib import Path

    from pokdeng.stream.kafka import KafkaLog

pytestmark = [
    pytest.mark.timeout(600),
    pytest.mark.skipif(
        not is_at_hand() and os.environ.get("POKDENG_REQUIRE_KAFKA") != "1", reason="no Apache Kafka is at hand"
    ),
]
PLAY = Play(tables=3, rounds=4, accounts=20, bets_per_round=10, seed=41, mischief=Mischief.at(0.3), is_staggered=False)


class Desk:
    """A supervisor at a terminal."""

    def __init__(self, address: Address) -> None:
        """Every command is told where the log is by the environment."""
        self._env = os.environ | {"POKDENG_BOOTSTRAP": address.bootstrap, "POKDENG_PREFIX": address.prefix}

    async def say(self, *arguments: str, status: int = 0) -> str:
        """Call `pokdeng`; it must exit with this status."""
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "pokdeng", *arguments),
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            env=self._env,
        )
        said, why = await process.communicate()
        assert process.returncode == status, (arguments, said.decode(), why.decode())
        return said.decode()

    async def ask(self, *arguments: str, status: int = 0) -> dict[str, Any]:
        """The same as JSON."""
        said: dict[str, Any] = json.loads(await self.say(*arguments, "--json", status=status))
        return said

    async def is_settled(self) -> bool:
        """Whether the audit finds nothing, and nothing is left to do."""
        try:
            report = await self.ask("audit")
        except AssertionError:
            return False
        return bool(report["at_rest"] and not report["undecided"] and report["facts"])


async def tell(address: Address, log: KafkaLog, text: str, *, wrong_by: int = 0) -> None:
    """Append what producers say, line by line; `wrong_by` partitions beside where it belongs."""
    for spoken in Talk().tell(text):
        number = (partition_for(spoken.key or b"", PARTITIONS) + wrong_by) % PARTITIONS
        place = TopicPartition(address.topics.name(TopicKind(spoken.topic)), number)
        await log.publish({place: [Message(spoken.key, spoken.value, ())]})


async def evening(bootstrap: str, redis_url: str, folder: Path) -> None:
    """A supervisor's evening."""
    address = Address(bootstrap, redis_url, f"tools-{uuid.uuid4().hex[:12]}")
    await address.create_topics()
    log, desk = address.log(), Desk(address)
    worker = WorkerProcess("one", address, "settlement", folder)
    try:
        await worker.start()

        async def opened() -> None:
            async def is_credited() -> bool:
                places = [TopicPartition(address.topics.funds_decisions, number) for number in range(PARTITIONS)]
                return sum((await log.end_offsets(places)).values()) >= PLAY.accounts

            await until(is_credited, within=60, what=lambda: "the deposits are not credited")

        await perform(script(PLAY), LogSender(log, address.topics), opened=opened)
        await until(desk.is_settled, within=120, every=1.0, what=lambda: f"never at rest: {worker.tail()}")
        await look_back(address, log, desk)
        await act(address, log, desk)
        await until(desk.is_settled, within=60, every=1.0, what=lambda: "the audit finds something")
        assert "the books balance" in await desk.say("audit")
        assert await worker.stop() == 0, worker.tail()
    finally:
        await worker.kill()
        await log.stop()


async def look_back(address: Address, log: KafkaLog, desk: Desk) -> None:
    """Each settled round, and its bets, as they were said."""
    records = await address.read_all(log, [TopicKind.ROUNDS])
    settled = [said for record in records if (said := json.loads(record.value or b""))["type"] == "round_settled"]
    said = max(settled, key=lambda one: int(one["bets"]))
    shown = await desk.ask("rounds", "show", said["table_id"], said["round_id"])
    assert shown["status"] == "settled"
    assert shown["hands"]["banker"]["cards"] == said["banker"]["cards"]
    paid = [bet for bet in shown["bets"] if bet["results"]]
    assert len(paid) == said["bets"] > 0
    bet = paid[0]
    explained = await desk.ask("rounds", "explain", said["table_id"], said["round_id"], bet["bet_id"])
    assert explained["results"] == bet["results"]
    assert bet["results"][0]["rule"] in await desk.say(
        "rounds", "explain", said["table_id"], said["round_id"], bet["bet_id"]
    )


async def act(address: Address, log: KafkaLog, desk: Desk) -> None:
    """A bet that was sent to the wrong partition is put back; the round is cancelled, and everybody refunded."""
    await tell(address, log, "deposit A-X 10000\nshoe S-1 2h at T-X\nopen R-1 at T-X")
    await tell(address, log, "bet b1 A-X player_1 1000 at T-X", wrong_by=1)

    async def is_dead() -> bool:
        said = await desk.ask("dead-letters", "list", "--reason", "wrong_partition")
        return bool(said["letters"])

    await until(is_dead, within=60, every=0.5, what=lambda: "the bet is no dead letter")
    (letter,) = (await desk.ask("dead-letters", "list", "--reason", "wrong_partition"))["letters"]
    assert (await desk.ask("dead-letters", "replay", letter["place"], "--yes"))["replayed"] == [letter["place"]]
    assert (await desk.ask("dead-letters", "replay", letter["place"], "--yes"))["replayed"] == []

    async def is_accepted() -> bool:
        shown = await desk.ask("rounds", "show", "T-X", "R-1")
        return any(bet["decisions"] for bet in shown["bets"])

    await until(is_accepted, within=60, every=0.5, what=lambda: "the bet is not decided")
    cancelled = await desk.ask("rounds", "cancel", "T-X", "R-1", "--reason", "camera fault", "--yes")
    assert (cancelled["said"]["type"], cancelled["said"]["bets"]) == ("round_refunded", 1)
    shown = await desk.ask("rounds", "show", "T-X", "R-1")
    assert (shown["status"], shown["bets"][0]["results"][0]["returned"]) == ("refunded", 2000)


def test_a_supervisors_evening_on_the_real_parts(kafka_bootstrap: str, redis_url: str, tmp_path: Path) -> None:
    """Rounds shown and explained, a letter put back once, a round cancelled; the audit finds nothing."""
    asyncio.run(evening(kafka_bootstrap, redis_url, tmp_path))
