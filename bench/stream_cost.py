"""What the log costs on Apache Kafka: microseconds of this process (all its threads) per record, and how long it takes.

Run: `python -m bench.stream_cost [records] [--bootstrap HOST:PORT]`. Without an address a broker is found or started as
the tests do it. Goals: delivery 1.9 us a record of a backlog, publishing 2.1-2.5 us a record with six headers.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import resource
import sys
import time
from contextlib import nullcontext
from typing import TYPE_CHECKING, NamedTuple

import uvloop

from pokdeng.stream import FIRST, SECOND, Merge, Message, TopicPartition
from pokdeng.stream.kafka import KafkaAdmin, KafkaLog, KafkaSettings, NewTopicSpec
from tests.support.kafka import Kafka, kafka_for_tests

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pokdeng.stream import Assignment, Record

PARTITIONS = 4
BATCH = 1000
IDLE_SECONDS = 0.03
"""Long enough that records do not count as coming in quick succession."""
BET = b"x" * 214
FACT = b"y" * 480
HEADERS = [
    ("ce_id", b"3a2e9d5c-94f2-4d55-8f0e-0f6d4a4b6b3e"),
    ("ce_type", b"bet_accepted"),
    ("ce_time", b"2026-01-02T03:04:05.678Z"),
    ("ce_source", b"/pokdeng/settlement"),
    ("ce_specversion", b"1.0"),
    ("content-type", b"application/json"),
]


class Spent(NamedTuple):
    """CPU and elapsed seconds up to now."""

    cpu: float
    elapsed: float

    @classmethod
    def now(cls) -> Spent:
        """Read both clocks."""
        return cls(time.process_time(), time.perf_counter())

    def said_for(self, what: str, count: int) -> None:
        """Print what was spent since, per record."""
        cpu, elapsed = (after - before for after, before in zip(Spent.now(), self, strict=True))
        print(f"{what:<46} {cpu / count * 1e6:8.2f} us CPU {count / elapsed:12,.0f} /s")


class Counter:
    """A listener that counts, gives credits back, and says when everything has arrived."""

    def __init__(self, log: KafkaLog, wanted: int) -> None:
        """Nothing arrived."""
        self.log = log
        self.left = wanted
        self.slices = 0
        self.first: Spent | None = None
        self.done = asyncio.Event()
        self.latencies: list[float] = []

    async def assigned(self, assignment: Assignment) -> None:
        """Nothing to prepare."""

    async def revoked(self) -> None:
        """Nothing to finish."""

    def arrived(self, partition: TopicPartition, records: Sequence[Record]) -> None:
        """Count."""
        if not records:
            return
        if self.first is None:
            self.first = Spent.now()
        self.slices += 1
        self.latencies.append(time.time() * 1000 - records[-1].timestamp)
        self.log.done(len(records), partition)
        self.left -= len(records)
        if self.left <= 0:
            self.done.set()


class Bench:
    """Topics of its own on one broker."""

    def __init__(self, bootstrap: str, records: int) -> None:
        """Nothing is created yet."""
        self.settings = KafkaSettings(bootstrap=bootstrap, session_timeout_ms=6000, heartbeat_interval_ms=1000)
        self.records = records
        self.prefix = f"bench{os.getpid()}"
        self.partitions = [TopicPartition(f"{self.prefix}.bets", number) for number in range(PARTITIONS)]

    async def create(self) -> None:
        """Two co-partitioned topics."""
        admin = KafkaAdmin(self.settings)
        configs = {"message.timestamp.type": "LogAppendTime"}
        names = [f"{self.prefix}.{name}" for name in ("bets", "facts")]
        await admin.create_topics(
            [NewTopicSpec(name=name, partitions=PARTITIONS, replication=1, configs=configs) for name in names]
        )
        await admin.close()

    async def publish(self, what: str, topic: str, value: bytes, headers: list[tuple[str, bytes]], batch: int) -> None:
        """Publish all records, so many a partition and call."""
        log = KafkaLog(self.settings)
        messages = [Message(b"table-17", value, headers)] * batch
        batches = {TopicPartition(f"{self.prefix}.{topic}", number): messages for number in range(PARTITIONS)}
        await log.publish(dict.fromkeys(batches, messages[:1]))
        before, took = Spent.now(), []
        for _ in range(self.records // (batch * PARTITIONS)):
            began = time.perf_counter()
            await log.publish(batches)
            took.append(time.perf_counter() - began)
        before.said_for(f"{what}, {batch} a partition", len(took) * batch * PARTITIONS)
        print(f"{'':<46} {percentiles([seconds * 1000 for seconds in took])} ms to the acknowledgement")
        await log.stop()

    async def deliver(self) -> None:
        """Read the backlog through Faust."""
        log = KafkaLog(self.settings, f"{self.prefix}-g", copartitioned=[f"{self.prefix}.bets"])
        ends = await log.end_offsets(self.partitions)
        counter = Counter(log, sum(ends.values()))
        wanted = counter.left
        await log.start(counter)
        await counter.done.wait()
        assert counter.first is not None  # noqa: S101 - something arrived
        counter.first.said_for(f"delivery of a backlog, {wanted / counter.slices:.0f} a slice", wanted)
        await self.follow(log, counter)
        await self.ask(log)
        await log.stop()

    async def follow(self, log: KafkaLog, counter: Counter) -> None:
        """One record at a time to a waiting reader: from the broker's stamp to its arrival."""
        counter.latencies.clear()
        for number in range(200):
            counter.done.clear()
            counter.left = 1
            await asyncio.sleep(IDLE_SECONDS)
            await log.publish({self.partitions[number % PARTITIONS]: [Message(b"k", BET, [])]})
            await counter.done.wait()
        print(f"{'append to arrival, idle topic':<46} {percentiles(counter.latencies)} ms")

    async def ask(self, log: KafkaLog) -> None:
        """The barrier's question for all partitions while the reader polls."""
        before, took = Spent.now(), []
        for _ in range(500):
            began = time.perf_counter()
            await log.end_offsets(self.partitions)
            took.append(time.perf_counter() - began)
        before.said_for(f"end offsets of {PARTITIONS} partitions", len(took))
        print(f"{'':<46} {percentiles([seconds * 1000 for seconds in took])} ms")

    async def merge(self) -> None:
        """Merge what lies in the topic with itself, a tenth of it as the first side."""
        log = KafkaLog(self.settings)
        records = await log.read(self.partitions[0], 0, self.records // PARTITIONS)
        await log.stop()
        merge = Merge()
        before = Spent.now()
        for start in range(0, len(records), BATCH):
            merge.offer(SECOND, records[start : start + BATCH], 1.0)
            merge.offer(FIRST, records[start : start + BATCH // 10], 1.0)
        count = 0
        while taken := merge.take(BATCH):
            for _side, _record in taken:
                count += 1
        before.said_for("merge, offered and taken", count)


def percentiles(values: Sequence[float]) -> str:
    """The median and the 99th percentile."""
    ordered = sorted(values)
    return f"p50 {ordered[len(ordered) // 2]:.2f}, p99 {ordered[int(len(ordered) * 0.99)]:.2f}"


async def run(bootstrap: str, records: int) -> None:
    """All measurements."""
    bench = Bench(bootstrap, records)
    await bench.create()
    await bench.publish("publish, no headers", "bets", BET, [], BATCH)
    await bench.publish("publish, six headers", "facts", FACT, HEADERS, BATCH)
    await bench.publish("publish, six headers", "facts", FACT, HEADERS, BATCH // 10)
    await bench.deliver()
    await bench.merge()
    print(f"{'memory':<46} {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:8.0f} MB at most")


def main() -> int:
    """Measure on the broker given, found or started."""
    parser = argparse.ArgumentParser(prog="python -m bench.stream_cost", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("records", nargs="?", type=int, default=400_000)
    parser.add_argument("--bootstrap")
    options = parser.parse_args()
    given = options.bootstrap and Kafka(bootstrap=options.bootstrap, how="given")
    with nullcontext(given) if given else kafka_for_tests() as kafka:
        if kafka is None:
            print("no Kafka: give --bootstrap or POKDENG_TEST_KAFKA, or install Java and Maven", file=sys.stderr)
            return 2
        uvloop.run(run(kafka.bootstrap, options.records))
    return 0


if __name__ == "__main__":
    sys.exit(main())
