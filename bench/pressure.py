"""`python -m bench.pressure`: a backlog of 2,000,000 bets, and a Redis that takes 50 ms for each answer.

The worker must go on: its memory below 300 MB, no stall, no lost membership of its group. Toxiproxy delays what Redis
answers. Every bet is decided and settled once; that is counted at the end.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import time
import uuid
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bench.ends import count
from bench.load import Load, Player, play_backlog, play_deposits
from bench.processes import peak_rss_mb, worker
from pokdeng.cli.connect import create_topics, topic_specs
from pokdeng.ledger.embedded import embedded_server
from pokdeng.stream.kafka import KafkaLog, KafkaSettings
from pokdeng.wire import Topics
from tests.chaos.proxies import proxies, server_binary
from tests.support.kafka import free_port, kafka_for_tests

if TYPE_CHECKING:
    from bench.processes import RunningWorker

RSS_LIMIT_MB = 300
STALL_LIMIT_S = 5.0
LATENCY_MS = 50
_LOOK_EVERY_S = 0.25
_WITHIN_S = 3_000.0


@dataclass(frozen=True, slots=True)
class Pressure:
    """What a worker did under it."""

    bets: int
    decided: int
    settled: int
    seconds: float
    rss_mb: float
    longest_stall_s: float
    """The longest time without a new decision or settlement, from the first to the last."""
    assignments: int
    """How often it was given partitions: 1, or its membership was lost."""
    warnings: tuple[str, ...]
    """What it logged as a warning or an error."""

    @property
    def is_held(self) -> bool:
        """Whether the worker stayed within every limit and lost nothing."""
        return (
            self.bets == self.decided == self.settled
            and self.rss_mb < RSS_LIMIT_MB
            and self.longest_stall_s < STALL_LIMIT_S
            and self.assignments == 1
        )


async def measure_pressure(bootstrap: str, *, waves: int, latency_ms: int = LATENCY_MS) -> Pressure:
    """Write so many waves of 3,200 bets, then start one worker on them, with a slow Redis."""
    load, topics = Load(), Topics(f"pressure-{uuid.uuid4().hex[:8]}")
    settings = KafkaSettings(bootstrap=bootstrap)
    log = KafkaLog(settings)
    redis_port = free_port()
    async with embedded_server({"port": str(redis_port), "bind": "127.0.0.1"}), proxies() as made:
        try:
            await create_topics(settings, topic_specs(topics, partitions=load.partitions, replication=1))
            player = Player(load, topics)
            await play_deposits(log, player)
            await play_backlog(log, player, waves)
            port = await made.add("redis", redis_port)
            slow = f"redis://127.0.0.1:{port}/0"
            async with (
                made.poisoned("redis", "latency", "downstream", latency=latency_ms),
                worker(bootstrap, slow, topics.prefix) as running,
            ):
                begun = time.monotonic()
                stall = await _watch(log, topics, player, running, load.partitions)
                seconds, rss = time.monotonic() - begun, peak_rss_mb(running.pid)
            decided = await count(log, topics.bet_decisions, load.partitions)
            settled = await count(log, topics.settlements, load.partitions)
        finally:
            await log.stop()
    said = [event for event in running.events if event["level"] in {"warning", "error"}]
    return Pressure(
        player.bets,
        decided,
        settled,
        seconds,
        rss,
        stall,
        sum(event["event"] == "assigned" for event in running.events),
        tuple(str(event["event"]) for event in said),
    )


async def _watch(log: KafkaLog, topics: Topics, player: Player, running: RunningWorker, partitions: int) -> float:
    """Until every round is said: the longest time without a new fact."""
    moved_at, before, longest = time.monotonic(), 0, 0.0
    async with asyncio.timeout(_WITHIN_S):
        while await count(log, topics.rounds, partitions) < player.rounds:
            if running.process.returncode is not None:
                raise RuntimeError(f"the worker ended with {running.process.returncode}")
            said = await count(log, topics.bet_decisions, partitions) + await count(log, topics.settlements, partitions)
            now = time.monotonic()
            if said > before:
                before, moved_at = said, now
            longest = max(longest, now - moved_at)
            await asyncio.sleep(_LOOK_EVERY_S)
    return longest


def main() -> int:
    """Measure, and print; exit 1 where a limit was passed."""
    parser = argparse.ArgumentParser(prog="python -m bench.pressure", description=__doc__)
    parser.add_argument("--bets", type=int, default=2_000_000)
    parser.add_argument("--latency", type=int, default=LATENCY_MS, help="of each answer of Redis, in milliseconds")
    options = parser.parse_args()
    if server_binary() is None:
        sys.stderr.write("no toxiproxy-server on the path, and no Go to build it with\n")
        return 2
    load = Load()
    waves = max(1, options.bets // (load.tables * load.bets_per_round))
    with kafka_for_tests() as kafka:
        if kafka is None:
            sys.stderr.write("no Apache Kafka is at hand\n")
            return 2
        one = asyncio.run(measure_pressure(kafka.bootstrap, waves=waves, latency_ms=options.latency))
    print(f"{one.bets:,} bets in the backlog, Redis answers after {options.latency} ms")
    print(f"decided, settled                  {one.decided:,}, {one.settled:,}")
    print(f"it took                           {one.seconds:.0f} s: {one.bets / one.seconds:,.0f} bets/s")
    print(f"peak RSS of the worker            {one.rss_mb:.0f} MB (limit {RSS_LIMIT_MB})")
    print(f"longest time without a new fact   {one.longest_stall_s:.1f} s (limit {STALL_LIMIT_S:.0f})")
    print(f"assignments in all                {one.assignments} (1: its membership was never lost)")
    print(f"warnings it logged                {', '.join(one.warnings) or 'none'}")
    return 0 if one.is_held else 1


if __name__ == "__main__":
    sys.exit(main())
