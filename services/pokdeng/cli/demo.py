"""`pokdeng demo`: tables are played, the real worker settles, and at the end the books must balance.

Without addresses everything is embedded: the in-memory log, and a Redis or Valkey server of its own.
"""

from __future__ import annotations

import asyncio
import json
import signal
import time
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import click
from rich.console import Console

from pokdeng.cli import options
from pokdeng.cli.demo_feed import DemoFeed
from pokdeng.cli.demo_snapshot import to_json
from pokdeng.cli.demo_view import DemoView
from pokdeng.cli.failures import of_pages, of_redis
from pokdeng.cli.logs import set_up_logs
from pokdeng.ledger.embedded import embedded_server
from pokdeng.ledger.port import LedgerError
from pokdeng.ledger.redis_ledger import RedisLedger
from pokdeng.ledger.redis_settings import RedisSettings
from pokdeng.metrics import Metrics
from pokdeng.rules import Bet, odds_of
from pokdeng.settlement.limits import Limits
from pokdeng.settlement.pages import CannotServeError
from pokdeng.settlement.worker import Worker, WorkerSettings
from pokdeng.simulator import LogSender, Mischief, Play, perform, script
from pokdeng.stream.memory import MemoryBroker, MemoryLog
from pokdeng.stream.port import LogError
from pokdeng.wire import Topics
from pokdeng.wire.topics import PARTITIONS

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable

    from pokdeng.cli.demo_snapshot import DemoSnapshot
    from pokdeng.simulator import Sender
    from pokdeng.stream.kafka import KafkaSettings
    from pokdeng.stream.port import Log

PLAY_S = 18.0
"""About as long the default play lasts."""
REFRESH_S = 0.25
REST_WITHIN_S = 30.0
QUIET_LOOKS = 2


@click.command("demo")
@options.option("--tables", type=click.IntRange(1, 500), default=8, show_default=True, help="Tables that are played.")
@options.option("--rounds", type=click.IntRange(1, 100_000), default=40, show_default=True, help="Of each table.")
@options.option("--accounts", type=click.IntRange(2, 1_000_000), default=500, show_default=True, help="Players.")
@options.option(
    "--bets-per-round", type=click.IntRange(0, 10_000), default=50, show_default=True, help="About so many."
)
@options.option("--seed", type=click.IntRange(min=0), default=None, help="Play the same again. [default: a new one]")
@options.option(
    "--rate",
    type=click.FloatRange(min=0),
    default=None,
    help="Bets a second, 0 as fast as they go. [default: so that it takes about 20 s]",
)
@options.option("--mischief", type=click.FloatRange(0, 1), default=0.05, show_default=True, help="How much goes wrong.")
@options.option(
    "--bootstrap",
    type=options.Bootstrap(),
    metavar="HOST:PORT",
    default=None,
    help="Your own Kafka. [default: the embedded log]",
)
@options.kafka_security
@options.redis_or_none
@options.option("--http-port", type=click.IntRange(0, 65535), default=0, help="Of the worker's pages. [default: free]")
@options.as_json
def command(
    *,
    tables: int,
    rounds: int,
    accounts: int,
    bets_per_round: int,
    seed: int | None,
    rate: float | None,
    mischief: float,
    bootstrap: str | None,
    redis: RedisSettings | None,
    http_port: int,
    as_json: bool,
    **kafka: Any,
) -> None:
    """Play tables against the real worker, watch, and prove that the books balance. Exit 1 if they do not."""
    set_up_logs("error")
    for bet in Bet:
        odds_of(bet)  # counted once, before anything is timed
    play = Play(
        tables=tables,
        rounds=rounds,
        accounts=accounts,
        bets_per_round=bets_per_round,
        seed=int(time.time()) % 1_000_000 if seed is None else seed,
        mischief=Mischief.at(mischief),
    )
    if rate is None:
        rate = max(1.0, tables * rounds * bets_per_round / PLAY_S)
    try:
        snapshot = asyncio.run(_demo(play, rate, _kafka(bootstrap, kafka), redis, http_port, as_json=as_json))
    except LogError as error:
        raise click.ClickException(str(error)) from error
    except CannotServeError as error:
        raise click.ClickException(of_pages(error)) from error
    except LedgerError as error:
        raise click.ClickException(of_redis(error, redis)) from error
    if as_json:
        click.echo(json.dumps(to_json(snapshot)))
    if not snapshot.is_balanced:
        raise SystemExit(1)


def _kafka(bootstrap: str | None, options: dict[str, Any]) -> KafkaSettings | None:
    """None for the embedded log: what is said about how a Kafka is reached does not matter then."""
    if bootstrap is None:
        return None
    from pokdeng.cli.connect import kafka_settings  # noqa: PLC0415 - Kafka's client takes a second to load

    return kafka_settings(bootstrap=bootstrap, **options)


@dataclass(frozen=True, slots=True)
class _Parts:
    """Where the demo plays."""

    topics: Topics
    log: Log
    reader: Log
    sender: Sender
    ledger: Callable[[], RedisLedger]
    run_log: Callable[[], Awaitable[None]]


async def _demo(
    play: Play, rate: float, kafka: KafkaSettings | None, redis: RedisSettings | None, http_port: int, *, as_json: bool
) -> DemoSnapshot:
    async with AsyncExitStack() as stack:
        own = redis
        if redis is None:
            redis = RedisSettings(url=(await stack.enter_async_context(embedded_server())).url)
        parts = await stack.enter_async_context(_parts(kafka, redis))
        if own is not None:
            await _reach(parts.ledger())
        worker = Worker(
            WorkerSettings(topics=parts.topics, limits=Limits(), group=parts.topics.prefix, http_port=http_port),
            parts.log,
            parts.ledger(),
            Metrics(),
            check_topics=_all_is_well,
            run_log=parts.run_log,
        )
        running = asyncio.create_task(worker.run())
        feed = DemoFeed(
            parts.reader, parts.topics, await parts.reader.partition_counts(parts.topics.names), worker, play.seed
        )
        view = None if as_json else stack.enter_context(DemoView(Console()))
        try:
            await _until_ready(worker, running)
            feed.begin()
            playing = asyncio.create_task(_play(play, rate, parts.sender, feed))
            _stop_on_interrupt(playing)
            while not playing.done():
                await _look(feed, view, running)
            if not playing.cancelled():
                playing.result()
            feed.end()
            await _until_rest(worker, feed, view, running)
            snapshot = await _final(parts, feed)
        finally:
            worker.stop()
            await running
        if view is not None:
            view.finish(snapshot)
        return snapshot


@asynccontextmanager
async def _parts(kafka: KafkaSettings | None, redis: RedisSettings) -> AsyncIterator[_Parts]:
    prefix = "pokdeng" if kafka is None else f"demo-{uuid4().hex[:8]}"
    topics = Topics(prefix)
    copartitioned, others = (topics.table_events, topics.bets), (topics.funds,)

    ledger = partial(RedisLedger, redis, prefix=f"demo-{uuid4().hex[:8]}")
    if kafka is None:
        broker = MemoryBroker(lambda: time.time_ns() // 1_000_000)
        for name in topics.names:
            broker.create_topic(name, PARTITIONS)
        log = MemoryLog(broker, prefix, copartitioned=copartitioned, others=others)
        yield _Parts(topics, log, log, LogSender(log, topics), ledger, log.run_until_failed)
        return
    from pokdeng.cli.demo_kafka import kafka_logs  # noqa: PLC0415 - Kafka's client takes a second to load

    async with kafka_logs(kafka, topics, copartitioned, others) as (member, reader):
        sender = LogSender(reader, topics)
        yield _Parts(topics, member, reader, sender, ledger, member.run_until_failed)


async def _reach(ledger: RedisLedger) -> None:
    """Raise LedgerError where it cannot be used: the worker would wait for it, and so would whoever looks on."""
    try:
        await ledger.open()
    finally:
        await ledger.close()


async def _all_is_well() -> list[str]:
    return []


async def _until_ready(worker: Worker, running: asyncio.Task[None]) -> None:
    while await worker.why_not_ready():
        if running.done():
            running.result()
        await asyncio.sleep(0.05)


async def _play(play: Play, rate: float, sender: Sender, feed: DemoFeed) -> None:
    async def until_credited() -> None:
        while not await feed.is_every_deposit_decided(play.accounts):  # noqa: ASYNC110 - another's topic
            await asyncio.sleep(0.02)

    await perform(script(play), sender, bets_per_second=rate, opened=until_credited)


def _stop_on_interrupt(playing: asyncio.Task[None]) -> None:
    """Ctrl-C ends the play; what was played is settled and shown."""
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        with suppress(NotImplementedError):
            loop.add_signal_handler(number, playing.cancel)


async def _look(feed: DemoFeed, view: DemoView | None, running: asyncio.Task[None]) -> None:
    if running.done():
        running.result()
    await feed.refresh()
    if view is not None:
        view.show(feed.snapshot())
    await asyncio.sleep(REFRESH_S)


async def _until_rest(worker: Worker, feed: DemoFeed, view: DemoView | None, running: asyncio.Task[None]) -> None:
    """Wait until everything sent is settled; rounds that were interrupted stay open, their bets held."""
    deadline = time.monotonic() + REST_WITHIN_S
    quiet = 0
    while quiet < QUIET_LOOKS and time.monotonic() < deadline:
        await _look(feed, view, running)
        quiet = quiet + 1 if worker.engine is not None and worker.engine.is_idle else 0


async def _final(parts: _Parts, feed: DemoFeed) -> DemoSnapshot:
    ledger = parts.ledger()
    try:
        await ledger.open()
        accounts = [account async for account in ledger.accounts()]
    finally:
        await ledger.close()
    await feed.refresh()
    return feed.snapshot(accounts, is_over=True)
