"""`python -m bench`: what a bet costs, on Apache Kafka and Redis.

Two loads: a backlog (CPU per bet of the worker and of Redis, peak memory) and a steady rate (latencies by the broker's
stamps). The worker's figures are set beside a baseline of the same run, for machines differ and are shared.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import time
import uuid
from dataclasses import dataclass, replace

from bench.ends import count, wait_for
from bench.latency import latencies_ms, percentile
from bench.load import Load, Player, play_backlog, play_deposits, play_steadily
from bench.processes import cpu_seconds, peak_rss_mb, redis_cpu_seconds, worker
from bench.yardstick import REFERENCE_US, yardstick_beside
from pokdeng.cli.connect import create_topics, topic_specs
from pokdeng.ledger.embedded import embedded_server
from pokdeng.stream.kafka import KafkaLog, KafkaSettings
from pokdeng.wire import Topics
from tests.support.kafka import kafka_for_tests

WARM_UP_MS = 3_000


@dataclass(frozen=True, slots=True)
class Backlog:
    """CPU in microseconds a bet."""

    bets: int
    worker_us: float
    redis_us: float
    baseline_us: float
    yardstick_us: float
    bets_per_second: float
    rss_mb: float

    def scaled(self, measured_us: float) -> float:
        """As it would be where the marks were set."""
        return measured_us * REFERENCE_US / self.yardstick_us


@dataclass(frozen=True, slots=True)
class Steady:
    """Milliseconds."""

    bets: int
    rate: int
    worker_us: float
    decision_p50: int
    decision_p99: int
    settlement_p50: int
    settlement_p99: int
    rss_mb: float


async def create_stamped(settings: KafkaSettings, topics: Topics, partitions: int) -> None:
    """The topics, with the facts stamped by the broker too: latencies are differences of its times."""
    stamped = (topics.bet_decisions, topics.settlements)
    specs = topic_specs(topics, partitions=partitions, replication=1)
    await create_topics(
        settings,
        [
            replace(spec, configs={**spec.configs, "message.timestamp.type": "LogAppendTime"})
            if spec.name in stamped
            else spec
            for spec in specs
        ],
    )


async def measure_backlog(bootstrap: str, waves: int) -> Backlog:
    """One worker against a log full of bets."""
    load, topics = Load(), Topics(f"bench-{uuid.uuid4().hex[:8]}")
    settings = KafkaSettings(bootstrap=bootstrap)
    log = KafkaLog(settings)
    async with embedded_server() as server:
        try:
            await create_stamped(settings, topics, load.partitions)
            player = Player(load, topics)
            await play_deposits(log, player)
            async with worker(bootstrap, server.url, topics.prefix):
                await wait_for(log, topics.funds_decisions, load.partitions, load.accounts, seconds=120)
                await asyncio.sleep(1)
            await play_backlog(log, player, waves)
            baseline = await _baseline(bootstrap, topics.bets)
            redis_before = await redis_cpu_seconds(server.url)
            async with worker(bootstrap, server.url, topics.prefix) as running:
                before, begun = cpu_seconds(running.pid), time.monotonic()
                async with yardstick_beside() as yardstick:
                    await wait_for(log, topics.rounds, load.partitions, player.rounds, seconds=900)
                seconds = time.monotonic() - begun
                spent, rss = cpu_seconds(running.pid) - before, peak_rss_mb(running.pid)
            redis = await redis_cpu_seconds(server.url) - redis_before
            bets = await count(log, topics.bet_decisions, load.partitions)
            settled = await count(log, topics.settlements, load.partitions)
            if bets != player.bets or settled != bets:
                sys.stderr.write(f"{player.bets} bets, {bets} decided, {settled} settled\n")
        finally:
            await log.stop()
    return Backlog(bets, spent / bets * 1e6, redis / bets * 1e6, baseline, yardstick.mean_us, bets / seconds, rss)


async def _baseline(bootstrap: str, topic: str) -> float:
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "bench.baseline", bootstrap, topic, stdout=asyncio.subprocess.PIPE
    )
    out, _ = await process.communicate()
    return float(out)


async def measure_steady(bootstrap: str, rate: int, seconds: int) -> Steady:
    """One worker at a steady rate; all tables close at once."""
    load, topics = Load(), Topics(f"bench-{uuid.uuid4().hex[:8]}")
    settings = KafkaSettings(bootstrap=bootstrap)
    log = KafkaLog(settings)
    async with embedded_server() as server:
        try:
            await create_stamped(settings, topics, load.partitions)
            player = Player(load, topics)
            await play_deposits(log, player)
            async with worker(bootstrap, server.url, topics.prefix) as running:
                await wait_for(log, topics.funds_decisions, load.partitions, load.accounts, seconds=120)
                before = cpu_seconds(running.pid)
                await play_steadily(log, player, rate=rate, seconds=seconds)
                await wait_for(log, topics.rounds, load.partitions, player.rounds, seconds=60)
                spent, rss = cpu_seconds(running.pid) - before, peak_rss_mb(running.pid)
            decisions = await latencies_ms(log, topics, topics.bet_decisions, load.partitions, skip_ms=WARM_UP_MS)
            settlements = await latencies_ms(log, topics, topics.settlements, load.partitions, skip_ms=WARM_UP_MS)
        finally:
            await log.stop()
    return Steady(
        player.bets,
        rate,
        spent / player.bets * 1e6,
        percentile(decisions, 0.50),
        percentile(decisions, 0.99),
        percentile(settlements, 0.50),
        percentile(settlements, 0.99),
        rss,
    )


def main() -> None:
    """Measure, and print a table in Markdown."""
    arguments = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    arguments.add_argument("--bets", type=int, default=320_000, help="of the backlog")
    arguments.add_argument("--rate", type=int, default=2_000, help="bets a second of the steady load")
    arguments.add_argument("--seconds", type=int, default=30, help="of the steady load")
    arguments.add_argument("--only", choices=["backlog", "steady"])
    chosen = arguments.parse_args()
    with kafka_for_tests() as kafka:
        if kafka is None:
            sys.exit("no Apache Kafka: set POKDENG_TEST_KAFKA, or have Java and Maven at hand")
        print(f"Apache Kafka: {kafka.how}; one worker, 4 partitions, 64 tables, 50 bets a round, 20,000 accounts\n")
        load = Load()
        if chosen.only != "steady":
            waves = max(1, chosen.bets // (load.tables * load.bets_per_round))
            found = asyncio.run(measure_backlog(kafka.bootstrap, waves))
            print("| backlog | bets | worker CPU us/bet | Redis CPU us/bet | yardstick us | worker, scaled "
                  "| Redis, scaled | worker : baseline | bets/s | peak RSS MB "
                  "|\n|---|---|---|---|---|---|---|---|---|---|")  # fmt: skip
            print(
                f"| | {found.bets:,} | {found.worker_us:.1f} | {found.redis_us:.1f} | {found.yardstick_us:.2f} "
                f"| {found.scaled(found.worker_us):.1f} | {found.scaled(found.redis_us):.1f} "
                f"| {found.worker_us / found.baseline_us:.1f} | {found.bets_per_second:,.0f} | {found.rss_mb:.0f} |\n"
            )
        if chosen.only != "backlog":
            steady = asyncio.run(measure_steady(kafka.bootstrap, chosen.rate, chosen.seconds))
            print("| steady | bets | bets/s | bet to decision p50 / p99 ms | last card to settlement p50 / p99 ms "
                  "| worker CPU us/bet | peak RSS MB |\n|---|---|---|---|---|---|---|")  # fmt: skip
            print(
                f"| | {steady.bets:,} | {steady.rate:,} | {steady.decision_p50} / {steady.decision_p99} "
                f"| {steady.settlement_p50} / {steady.settlement_p99} | {steady.worker_us:.1f} | {steady.rss_mb:.0f} |"
            )


if __name__ == "__main__":
    main()
