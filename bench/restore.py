"""`python -m bench.restore`: how long a lost ledger takes, by the length of the log, with and without a checkpoint.

Facts are written to Apache Kafka as the service says them, then the commands are run as a person runs them, each in a
process of its own; CPU is that process's. Redis is emptied before each rebuild.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import resource
import sys
import time
import timeit
import uuid
from typing import TYPE_CHECKING, NamedTuple

from redis.asyncio import Redis

from bench.facts import Facts
from pokdeng.cli.connect import create_topics, topic_specs
from pokdeng.ledger.embedded import embedded_server
from pokdeng.stream.kafka import KafkaLog, KafkaSettings
from pokdeng.wire import Topics
from tests.support.kafka import kafka_for_tests

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bench.facts import Batch

PARTITIONS = 4
SHORT_S = 10
"""How long ids are remembered where the log is to be longer than that."""


class Ran(NamedTuple):
    """One run of a command."""

    what: str
    facts: int
    seconds: float
    cpu_s: float
    rss_mb: float
    """The largest of any command so far."""
    uuid5_us: float
    """What a uuid5 took before and after it, on average."""

    def row(self) -> str:
        """In a table of Markdown; one column is at the speed where a uuid5 takes 3.4 us."""
        rate = self.facts / self.cpu_s
        return (
            f"| {self.what} | {self.facts:,} | {self.seconds:.1f} | {self.cpu_s / self.facts * 1e6:.1f} | {rate:,.0f} "
            f"| {rate * self.uuid5_us / 3.4:,.0f} | {self.uuid5_us:.1f} | {self.rss_mb:.0f} |"
        )


async def ran(what: str, *words: str) -> Ran:
    """Run a command to its end."""
    uuid5 = yardstick_us()
    began = time.monotonic()
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "pokdeng", *words, "--json", stdout=asyncio.subprocess.PIPE
    )
    text, _ = await process.communicate()
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    said, status = json.loads(text), process.returncode
    if status:
        raise SystemExit(f"{what}: status {status}: {said}")
    facts = said["facts"]
    seconds, cpu_s = time.monotonic() - began, usage.ru_utime + usage.ru_stime - before.ru_utime - before.ru_stime
    return Ran(what, facts, seconds, cpu_s, usage.ru_maxrss / 1024, (uuid5 + yardstick_us()) / 2)


def yardstick_us() -> float:
    """Microseconds of one `uuid.uuid5` here and now."""
    repeats = 2_000
    return min(timeit.repeat(lambda: uuid.uuid5(uuid.NAMESPACE_URL, "bet"), number=repeats, repeat=10)) / repeats * 1e6


async def say(log: KafkaLog, batches: Iterator[Batch]) -> None:
    """Write facts."""
    for batch in batches:
        await log.publish(batch)


async def measure(bootstrap: str, *, accounts: int, before: int, after: int) -> list[Ran]:
    """All runs."""
    topics, settings = Topics(f"bench-{uuid.uuid4().hex[:8]}"), KafkaSettings(bootstrap=bootstrap)
    await create_topics(settings, topic_specs(topics, partitions=PARTITIONS, replication=1))
    log = KafkaLog(settings)
    facts = Facts(topics, accounts=accounts, tables=64, partitions=PARTITIONS)
    kafka = ("--bootstrap", bootstrap, "--prefix", topics.prefix)
    runs: list[Ran] = []
    async with embedded_server() as server:
        redis: Redis = Redis.from_url(server.url)
        place = (*kafka, "--redis", server.url)
        short = ("--remember", f"{SHORT_S}s")

        async def rebuild(what: str, *more: str) -> None:
            await redis.flushall()
            runs.append(await ran(what, "balances", "rebuild", "--yes", "--stopped", *place, *more))

        await say(log, facts.deposits())
        await say(log, facts.waves(before // 2))
        await rebuild("rebuild, every id remembered")
        runs.append(await ran("verify", "balances", "verify", *place))
        await asyncio.sleep(SHORT_S + 1)
        await rebuild("rebuild, no bet remembered", *short)
        runs.append(await ran("checkpoint, the first", "balances", "checkpoint", *kafka, *short))
        await say(log, facts.waves(after // 2))
        await rebuild("rebuild from the checkpoint", *short)
        runs.append(await ran("verify from the checkpoint", "balances", "verify", *place))
        runs.append(await ran("checkpoint, the second", "balances", "checkpoint", *kafka, *short))
        await redis.aclose()
    await log.stop()
    return runs


def main() -> None:
    """Measure, and print a table in Markdown."""
    arguments = argparse.ArgumentParser(prog="python -m bench.restore", description=__doc__)
    arguments.add_argument("--accounts", type=int, default=100_000)
    arguments.add_argument("--before", type=int, default=3_000_000, help="facts before the checkpoint")
    arguments.add_argument("--after", type=int, default=100_000, help="facts after it")
    chosen = arguments.parse_args()
    with kafka_for_tests() as kafka:
        if kafka is None:
            sys.exit("no Apache Kafka: set POKDENG_TEST_KAFKA, or have Java and Maven at hand")
        runs = asyncio.run(measure(kafka.bootstrap, accounts=chosen.accounts, before=chosen.before, after=chosen.after))
        print(
            f"Apache Kafka: {kafka.how}; {chosen.accounts:,} accounts, {chosen.before:,} facts, then {chosen.after:,}"
        )
        columns = ("command", "facts", "seconds", "CPU us/fact", "facts/s of one core", "where a uuid5 takes 3.4 us")
        print(f"\n| {' | '.join((*columns, 'uuid5 us', 'peak RSS MB'))} |\n|{'---|' * 8}")
        for run in runs:
            print(run.row())


if __name__ == "__main__":
    main()
