"""How long a killed worker is away: `python -m bench.restart`. 1,000 rounds are open, 100,000 bets stand.

The worker is killed (-9), a bet is appended for each partition, and it is started again under the same instance id.
What counts is the time from its owning the partitions to the first of these bets being decided; the start of the
process, and the CPU it took in all, are shown beside it.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import time
import uuid
from dataclasses import dataclass
from datetime import datetime

from bench.ends import wait_for
from bench.load import Load, Player, play_deposits
from bench.processes import cpu_seconds, worker
from pokdeng.cli.connect import create_topics, topic_specs
from pokdeng.ledger.embedded import embedded_server
from pokdeng.stream.kafka import KafkaLog, KafkaSettings
from pokdeng.stream.port import Message, TopicPartition
from pokdeng.wire import Topics
from tests.support.kafka import kafka_for_tests

GOAL_S = 3.0
_WITHIN_S = 600.0


@dataclass(frozen=True, slots=True)
class Restart:
    """Seconds."""

    rounds: int
    bets: int
    start_s: float
    """From the start of the process to its owning the partitions."""
    recover_s: float
    """From there to the end of the recovery."""
    first_s: float
    """From owning the partitions to the first new decision."""
    last_s: float
    """To the last one of all partitions."""
    cpu_s: float
    """Of the worker, from the start of its process to then."""


async def measure_restart(bootstrap: str, *, tables: int, bets_per_round: int) -> Restart:
    """Open rounds at so many tables, with so many bets each; kill; start; look at the new decisions."""
    load = Load(tables=tables, bets_per_round=bets_per_round, partitions=12)
    topics = Topics(f"restart-{uuid.uuid4().hex[:8]}")
    settings = KafkaSettings(bootstrap=bootstrap)
    log = KafkaLog(settings)
    async with embedded_server() as server:
        try:
            await create_topics(settings, topic_specs(topics, partitions=load.partitions, replication=1))
            player = Player(load, topics)
            await play_deposits(log, player)
            async with worker(bootstrap, server.url, topics.prefix, group=topics.prefix, instance_id="only") as first:
                await wait_for(log, topics.funds_decisions, load.partitions, load.accounts, seconds=_WITHIN_S)
                await log.publish(player.shoes(0))
                await log.publish(player.opening(0, 0))
                await asyncio.sleep(0.01)
                batch: dict[TopicPartition, list[Message]] = {}
                mixed = player.betting(0)
                for partition, message in mixed:
                    batch.setdefault(partition, []).append(message)
                await log.publish(batch)
                await wait_for(log, topics.bet_decisions, load.partitions, player.bets, seconds=_WITHIN_S)
                first.process.kill()
            probes = {}
            for partition, message in mixed:
                if partition not in probes:
                    event = json.loads(message.value or b"")
                    event |= {"bet_id": f"probe-{partition.partition}", "event_id": f"probe-{partition.partition}"}
                    probes[partition] = [Message(message.key, json.dumps(event).encode(), ())]
            await log.publish(probes)
            before = await log.end_offsets([TopicPartition(topics.bet_decisions, n) for n in range(load.partitions)])
            started = time.time()
            async with worker(bootstrap, server.url, topics.prefix, group=topics.prefix, instance_id="only") as second:
                said = second.said("assigned")
                recovered = datetime.fromisoformat(said["timestamp"]).timestamp()
                decided = await _decided(log, before, {f"probe-{place.partition}" for place in probes})
                spent = cpu_seconds(second.pid)
        finally:
            await log.stop()
    owned = recovered - said["recovered_s"]
    return Restart(
        tables,
        player.bets,
        owned - started,
        said["recovered_s"],
        min(decided) / 1000 - owned,
        max(decided) / 1000 - owned,
        spent,
    )


async def _decided(log: KafkaLog, places: dict[TopicPartition, int], wanted: set[str]) -> list[int]:
    """When each of these bets was decided, by the time of its fact's record."""
    found: dict[str, int] = {}
    places = dict(places)
    async with asyncio.timeout(_WITHIN_S):
        while len(found) < len(wanted):
            for place, end in (await log.end_offsets(list(places))).items():
                for record in await log.read(place, places[place], end):
                    raw = record.value or b""
                    if b'"probe-' in raw:
                        found.setdefault(json.loads(raw)["bet_id"], record.timestamp)
                places[place] = end
            await asyncio.sleep(0.05)
    return list(found.values())


def main() -> int:
    """Measure, and print; exit 1 where the goal is missed."""
    parser = argparse.ArgumentParser(prog="python -m bench.restart", description=__doc__)
    parser.add_argument("--rounds", type=int, default=1_000)
    parser.add_argument("--bets", type=int, default=100_000)
    options = parser.parse_args()
    with kafka_for_tests() as kafka:
        if kafka is None:
            sys.stderr.write("no Apache Kafka is at hand\n")
            return 2
        one = asyncio.run(
            measure_restart(kafka.bootstrap, tables=options.rounds, bets_per_round=options.bets // options.rounds)
        )
    print(f"{one.rounds:,} open rounds, {one.bets:,} open bets, killed and started again")
    print(f"start of the process to its partitions    {one.start_s:6.2f} s")
    print(f"from there: recovered                     {one.recover_s:6.2f} s")
    print(f"            first new decision            {one.first_s:6.2f} s (goal {GOAL_S:.0f})")
    print(f"            new decisions everywhere      {one.last_s:6.2f} s")
    print(f"CPU of the worker since its start         {one.cpu_s:6.2f} s")
    return 0 if one.first_s < GOAL_S else 1


if __name__ == "__main__":
    sys.exit(main())
