"""One run: everything started, traffic and storm side by side, a calm, and the judgement."""

from __future__ import annotations

import asyncio
import logging
import random
import time
from collections import Counter
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass
from math import ceil
from typing import TYPE_CHECKING, Final

from pokdeng.ledger.redis_ledger import RedisLedger
from pokdeng.simulator import LogSender, Mischief, Play, perform, script
from pokdeng.stream.kafka import KafkaLog, KafkaSettings
from pokdeng.stream.port import TopicPartition
from pokdeng.wire import Topics
from tests.chaos.brokers import Brokers
from tests.chaos.checkpoints import Checkpoints
from tests.chaos.proxies import proxies
from tests.chaos.report import ChaosReport
from tests.chaos.stores import Stores
from tests.chaos.storm import Storm, calm
from tests.chaos.watch import Watch
from tests.chaos.workers import Slot, Where, until_all_ready
from tests.checker import records as checked
from tests.checker.spool import Spool, check_spooled
from tests.support.line import INPUTS, OUTPUTS

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.checker.report import Report

PARTITIONS: Final = 12
PREFIX: Final = "chaos"
TABLES: Final = 64
BETS_A_ROUND: Final = 50
ACCOUNTS: Final = 2_000
MISCHIEF: Final = 0.1
CORRECTIONS: Final = 0.05
"""Of rounds: corrected or cancelled after their settlement."""
_READ_AT_ONCE: Final = 20_000
_READY_WITHIN_S: Final = 180.0
_QUIET_S: Final = 40.0
"""When nothing new is said for so long, and all workers are ready, everything is decided: a lost request takes 30 s."""
_REST_WITHIN_S: Final = 900.0
_SAY_EVERY_S: Final = 10.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What is to happen."""

    seed: int
    bets: int
    kills: int
    seconds: int
    workers: int = 3
    brokers: int = 3
    is_lossy: bool = True

    @property
    def play(self) -> Play:
        """The traffic."""
        rounds = max(1, ceil(self.bets / (TABLES * BETS_A_ROUND)))
        return Play(
            tables=TABLES,
            rounds=rounds,
            accounts=ACCOUNTS,
            bets_per_round=BETS_A_ROUND,
            seed=self.seed,
            mischief=Mischief.at(MISCHIEF).with_corrections(CORRECTIONS),
        )


async def run(plan: Plan, folder: Path, say: Callable[[str], None]) -> ChaosReport:
    """Run a plan; what happens meanwhile is said a line at a time."""
    logging.getLogger("aiokafka").setLevel(logging.CRITICAL)  # what it meets here is meant
    topics = Topics(PREFIX)
    async with AsyncExitStack() as stack:
        toxi = await stack.enter_async_context(proxies())
        brokers = Brokers(plan.brokers, folder)
        stack.callback(brokers.stop)
        stack.push_async_callback(brokers.close)
        bootstrap = await brokers.start(toxi)
        await brokers.create_topics(topics, PARTITIONS)
        await brokers.until_in_sync()
        stores = Stores(folder, toxi, random.Random(f"{plan.seed}/stores"))
        stack.push_async_callback(stores.stop)
        redis = await stores.start(has_replica=plan.is_lossy)
        where = Where(bootstrap, redis, PREFIX, "chaos")
        slots = [Slot(number, where, folder, is_static=number % 2 == 0) for number in range(plan.workers)]
        for slot in slots:
            slot.start()
            stack.push_async_callback(slot.stop)
        await until_all_ready(slots, within=_READY_WITHIN_S)
        say(f"seed {plan.seed}: {plan.brokers} brokers, {plan.workers} workers ready")

        storm = Storm(plan.seed, slots, brokers, stores, toxi, topics.table_events)
        watch = Watch(brokers.direct, topics, PARTITIONS, lambda: storm.now)
        checkpoints = Checkpoints(plan.seed, where, folder)
        looking = asyncio.create_task(watch.look())
        writing = asyncio.create_task(checkpoints.go_on())
        sent = await _rage(plan, topics, brokers, storm, watch, say)
        await brokers.until_in_sync()
        await until_all_ready(slots, within=_REST_WITHIN_S)
        await _rest(watch, slots, say)
        stopped = [await slot.stop() for slot in slots]
        await calm(looking)
        await calm(writing)
        say(f"at rest; workers ended with {stopped}; reading and checking")
        report = await _judge(topics, brokers.direct, stores.direct, folder)
        return ChaosReport(
            plan=plan,
            checked=report,
            faults=storm.counts,
            happened=storm.happened,
            sent_bets=sent,
            longest=watch.longest,
            ends=sum((slot.ends for slot in slots), start=Counter[int]()),
            checkpoints=checkpoints.ends,
            errors=sum((slot.errors() for slot in slots), start=Counter[str]()),
        )


async def _rage(
    plan: Plan, topics: Topics, brokers: Brokers, storm: Storm, watch: Watch, say: Callable[[str], None]
) -> int:
    """Traffic and storm; the bets that were sent."""
    log = KafkaLog(KafkaSettings(bootstrap=brokers.direct, request_timeout_ms=600_000))
    deck = storm.deck(plan.kills, is_lossy=plan.is_lossy, is_replicated=plan.brokers > 1)
    began = time.monotonic()
    raging: asyncio.Task[None] | None = None
    next_line = [0.0]

    async def opened() -> None:
        nonlocal raging
        while watch.said < ACCOUNTS:
            await asyncio.sleep(0.1)
        raging = asyncio.create_task(
            storm.rage(deck, lasts_s=plan.seconds, is_lossy=plan.is_lossy, is_replicated=plan.brokers > 1)
        )

    def told(sent: object) -> None:
        now = time.monotonic() - began
        if now >= next_line[0]:
            next_line[0] = now + _SAY_EVERY_S
            bets, faults = getattr(sent, "bets", 0), len(storm.happened)
            say(
                f"{now:6.0f} s  {bets:>9,} bets sent, {watch.said:>9,} facts, {faults} faults, "
                f"quiet {watch.quiet_s:.1f} s"
            )

    try:
        sent = await perform(
            script(plan.play),
            LogSender(log, topics),
            bets_per_second=plan.bets / plan.seconds,
            opened=opened,
            told=told,
        )
        say(f"traffic ended after {time.monotonic() - began:.0f} s, {len(storm.happened)} faults so far")
        if raging is not None:
            await raging
    finally:
        if raging is not None and not raging.done():
            await calm(raging)
        await log.stop()
    return sent.bets


async def _rest(watch: Watch, slots: list[Slot], say: Callable[[str], None]) -> None:
    """Wait until all workers are ready, and nothing new is said for a while in which they were."""
    ready_since = time.monotonic()
    try:
        async with asyncio.timeout(_REST_WITHIN_S):
            while min(watch.quiet_s, time.monotonic() - ready_since) < _QUIET_S:
                if not all([await slot.is_ready() for slot in slots]):
                    ready_since = time.monotonic()
                await asyncio.sleep(0.5)
    except TimeoutError:
        say(f"it never came to rest; the last fact is {watch.quiet_s:.0f} s old")


async def _judge(topics: Topics, bootstrap: str, redis: str, folder: Path) -> Report:
    """Everything that lies in the topics and in Redis, held against the inputs alone."""
    spooled = folder / "spool"
    spooled.mkdir()
    named = checked.Topics(PREFIX, PARTITIONS)
    spool = Spool(spooled, named, PARTITIONS)
    log = KafkaLog(KafkaSettings(bootstrap=bootstrap))
    try:
        places = [
            TopicPartition(topics.name(kind), number) for kind in (*INPUTS, *OUTPUTS) for number in range(PARTITIONS)
        ]
        for place, end in (await log.end_offsets(places)).items():
            for start in range(0, end, _READ_AT_ONCE):
                spool.write(await log.read(place, start, min(end, start + _READ_AT_ONCE)))
    finally:
        await log.stop()
    spool.close()
    ledger = RedisLedger(redis, prefix=PREFIX)
    try:
        await ledger.open()
        balances = {
            str(one.account): (one.available, one.held, one.sequence, str(one.currency))
            async for one in ledger.accounts()
        }
    finally:
        with suppress(OSError):
            await ledger.close()
    return await asyncio.to_thread(
        check_spooled,
        spooled,
        named,
        partitions=PARTITIONS,
        final_balances=balances,
        clocks_agree=False,
    )
