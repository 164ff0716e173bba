"""`python -m bench.corrections`: what settled rounds cost a worker, and how long a correction of one of them takes.

Memory of the worker after 1,000 and after many settled rounds; then, with all of them in the correction window, the
time from a correction's broker time to that of its last new settlement: of one alone, some times, and of 1,000 at once,
of rounds spread over the whole time.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import sys
import time
import uuid
from typing import TYPE_CHECKING, Any

import msgspec

from bench.__main__ import create_stamped
from bench.ends import count, wait_for
from bench.load import Load, Player, play_backlog, play_deposits
from bench.processes import rss_mb, worker
from pokdeng.ledger.embedded import embedded_server
from pokdeng.rules import CARDS
from pokdeng.stream.kafka import KafkaLog, KafkaSettings
from pokdeng.stream.port import Message, TopicPartition
from pokdeng.wire import Topics
from tests.support.kafka import kafka_for_tests

if TYPE_CHECKING:
    from collections.abc import Sequence

FEW = 1_000
ALONE = 9
AT_ONCE = 1_000
LOAD = Load(tables=64, bets_per_round=4, accounts=5_000)
_WINDOWS = 40


class Line:
    """A log, and how to correct rounds that lie in it."""

    def __init__(self, log: KafkaLog, topics: Topics) -> None:
        """Over topics that exist."""
        self._log = log
        self._topics = topics
        self._random = random.Random(1)
        self._said = 0

    async def some_rounds(self, count: int) -> list[tuple[TopicPartition, dict[str, Any]]]:
        """Settled rounds, spread over everything that was played."""
        found: list[tuple[TopicPartition, dict[str, Any]]] = []
        places = [TopicPartition(self._topics.rounds, number) for number in range(LOAD.partitions)]
        for place, end in (await self._log.end_offsets(places)).items():
            for window in range(_WINDOWS):
                start = end * window // _WINDOWS
                size = max(1, count // (_WINDOWS * LOAD.partitions) + 1)
                records = await self._log.read(place, start, min(start + size, end))
                found += [(place, json.loads(record.value or b"")) for record in records]
        return self._random.sample(found, count)

    async def correct(self, rounds: Sequence[tuple[TopicPartition, dict[str, Any]]]) -> float:
        """Correct the banker's first card of each, all at once; milliseconds until the last new settlement."""
        settlements = [TopicPartition(self._topics.settlements, number) for number in range(LOAD.partitions)]
        before = await self._log.end_offsets(settlements)
        records = await count(self._log, self._topics.rounds, LOAD.partitions)
        events = [TopicPartition(self._topics.table_events, number) for number in range(LOAD.partitions)]
        starts = await self._log.end_offsets(events)
        batch: dict[TopicPartition, list[Message]] = {}
        for place, told in rounds:
            shown = {*told["banker"]["cards"], *(card for one in told["players"] for card in one["cards"])}
            card = self._random.choice([card for card in CARDS if str(card) not in shown])
            self._said += 1
            value = msgspec.json.encode({
                "type": "card_corrected", "event_id": f"c{self._said}", "occurred_at": "2026-01-01T00:00:00Z",
                "table_id": told["table_id"], "round_id": told["round_id"], "seat": "banker", "position": 1,
                "card": str(card), "reason": "misread",
            })  # fmt: skip
            where = TopicPartition(self._topics.table_events, place.partition)
            batch.setdefault(where, []).append(Message(told["table_id"].encode(), value, ()))
        await self._log.publish(batch)
        await wait_for(self._log, self._topics.rounds, LOAD.partitions, records + len(rounds), seconds=600)
        firsts = [await self._log.read(place, starts[place], starts[place] + 1) for place in batch]
        first = min(record.timestamp for records_of in firsts for record in records_of)
        last = 0
        for place, end in (await self._log.end_offsets(settlements)).items():
            if end > before[place]:
                last = max(last, *[record.timestamp for record in await self._log.read(place, end - 1, end)])
        return last - first


async def measure(bootstrap: str, rounds: int) -> dict[str, Any]:
    """All figures, by name."""
    topics = Topics(f"bench-{uuid.uuid4().hex[:8]}")
    log = KafkaLog(KafkaSettings(bootstrap=bootstrap))
    found: dict[str, Any] = {}
    async with embedded_server() as server:
        try:
            await create_stamped(KafkaSettings(bootstrap=bootstrap), topics, LOAD.partitions)
            player = Player(LOAD, topics)
            await play_deposits(log, player)
            async with worker(bootstrap, server.url, topics.prefix) as running:
                await wait_for(log, topics.funds_decisions, LOAD.partitions, LOAD.accounts, seconds=120)
                wave = 0
                for count in (FEW, rounds):
                    while player.rounds < count:
                        await play_backlog(log, player, 1, first=wave)
                        wave += 1
                    await wait_for(log, topics.rounds, LOAD.partitions, player.rounds, seconds=1800)
                    await asyncio.sleep(3)  # what is finished is committed, and leaves memory
                    found[f"RSS MB after {player.rounds:,} rounds"] = round(rss_mb(running.pid), 1)
                line = Line(log, topics)
                alone = [await line.correct([one]) for one in await line.some_rounds(ALONE)]
                found["one correction, ms (median of 9, slowest)"] = (sorted(alone)[ALONE // 2], max(alone))
                begun = time.monotonic()
                found[f"{AT_ONCE:,} at once, last settlement after ms"] = await line.correct(
                    await line.some_rounds(AT_ONCE)
                )
                found["seconds by our clock"] = round(time.monotonic() - begun, 1)
                found["RSS MB after the corrections"] = round(rss_mb(running.pid), 1)
        finally:
            await log.stop()
    return found


def main() -> None:
    """Measure, and print one line a figure."""
    arguments = argparse.ArgumentParser(prog="python -m bench.corrections", description=__doc__)
    arguments.add_argument("--rounds", type=int, default=100_000, help="settled rounds in the window")
    chosen = arguments.parse_args()
    with kafka_for_tests() as kafka:
        if kafka is None:
            sys.exit("no Apache Kafka: set POKDENG_TEST_KAFKA, or have Java and Maven at hand")
        print(f"Apache Kafka: {kafka.how}; one worker, 4 partitions, 64 tables, {LOAD.bets_per_round} bets a round")
        for name, figure in asyncio.run(measure(kafka.bootstrap, chosen.rounds)).items():
            print(f"{name}: {figure}")


if __name__ == "__main__":
    main()
