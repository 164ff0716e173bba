"""`pokdeng worker`: the service, against Kafka and Redis."""

from __future__ import annotations

import asyncio
import gc
import os
import signal
import threading
from dataclasses import replace
from functools import partial
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import structlog

from pokdeng.cli import options
from pokdeng.cli.connect import describe_topics, kafka_settings, why_not_join
from pokdeng.cli.failures import of_pages, of_redis
from pokdeng.cli.logs import set_up_logs
from pokdeng.ledger.port import LedgerUnavailableError
from pokdeng.ledger.redis_ledger import RedisLedger
from pokdeng.metrics import Metrics
from pokdeng.settlement.limits import InvalidLimitsError, load_limits
from pokdeng.settlement.pages import CannotServeError
from pokdeng.settlement.worker import Worker, WorkerSettings
from pokdeng.stream.kafka import KafkaLog, KafkaSettings
from pokdeng.stream.port import LogUnavailableError
from pokdeng.wire import Topics
from pokdeng.wire.topic_check import Severity, check_topics

if TYPE_CHECKING:
    from pokdeng.ledger.redis_settings import RedisSettings

_log = structlog.get_logger(__name__)

REMEMBER_BEYOND_WINDOW_MS = 2 * 3_600_000
STOP_WITHIN_S = 4.5
END_WITHIN_S = 1.0
"""After a failure was logged nothing is left to do."""


@click.command("worker")
@options.kafka
@options.redis
@options.prefix
@options.group("The consumer group: one for the workers of each prefix.")
@options.option(
    "--instance-id",
    type=options.Name(),
    default=None,
    help="Static membership: a name that is this worker's across restarts.",
)
@options.option(
    "--session-timeout",
    "session_timeout_ms",
    type=options.Duration(),
    default="45s",
    show_default=True,
    help="After which a worker that went silent loses its partitions; within the broker's limits.",
)
@options.option(
    "--http-host",
    type=options.Host(),
    metavar="HOST",
    default="127.0.0.1",
    show_default=True,
    help="Where pages are served; 0.0.0.0 in a container.",
)
@options.option(
    "--http-port", type=click.IntRange(0, 65535), default=6066, show_default=True, help="Of the pages; 0: a free one."
)
@options.option(
    "--limits",
    "limits_file",
    type=click.Path(path_type=Path, dir_okay=False),
    default=None,
    help="Settings file of currencies and stakes.",
)
@options.remember("How long the ids of bets, rounds and shoes are remembered; at least the correction window + 2h.")
@options.option(
    "--correction-window",
    "correction_window_ms",
    type=options.Duration(),
    default="24h",
    show_default=True,
    help="How long after its settlement a round may be corrected.",
)
@options.option(
    "--dead-letter-fuse",
    type=click.FloatRange(0, 1, min_open=True),
    default=None,
    metavar="SHARE",
    help="Stop taking a partition when more than this share of it, such as 0.2, is dead letters within 5 minutes and "
    "1,000 records. [default: never]",
)
@options.option("--allow-create-time", is_flag=True, help="Take topics whose broker cannot stamp records.")
@options.buckets
@options.option(
    "--redis-replicas",
    type=click.IntRange(0, 10),
    default=0,
    show_default=True,
    help="Replicas of Redis that must have a decision before it is said: a failover to one loses nothing.",
)
@options.option(
    "--log-level",
    type=click.Choice(["debug", "info", "warning", "error"]),
    default="info",
    show_default=True,
    help="What is logged.",
)
def command(
    *,
    redis: RedisSettings,
    prefix: str,
    group: str,
    instance_id: str | None,
    session_timeout_ms: int,
    http_host: str,
    http_port: int,
    limits_file: Path | None,
    remember_ms: int,
    correction_window_ms: int,
    dead_letter_fuse: float | None,
    allow_create_time: bool,
    buckets: int,
    redis_replicas: int,
    log_level: str,
    **kafka: Any,
) -> None:
    """Settle: read bets, cards and funds, move balances, say every decision. Runs until SIGTERM or SIGINT."""
    least = correction_window_ms + REMEMBER_BEYOND_WINDOW_MS
    if remember_ms < least:
        raise click.UsageError(
            f"--remember (POKDENG_REMEMBER) is {options.written(remember_ms)}; "
            f"it must be at least the correction window + 2h: {options.written(least)}"
        )
    if dead_letter_fuse is not None and not isfinite(dead_letter_fuse):
        raise click.UsageError("--dead-letter-fuse (POKDENG_DEAD_LETTER_FUSE) is a share above 0, at most 1, as in 0.2")
    try:
        limits = load_limits(limits_file)
    except InvalidLimitsError as error:
        raise click.UsageError(f"--limits (POKDENG_LIMITS): {error}") from error
    set_up_logs(log_level)
    settings = WorkerSettings(
        topics=Topics(prefix),
        limits=limits,
        group=group,
        remember_ms=remember_ms,
        correction_window_ms=correction_window_ms,
        http_host=http_host,
        http_port=http_port,
        dead_letter_fuse=dead_letter_fuse,
    )
    kafka_ = replace(kafka_settings(instance_id=instance_id, **kafka), session_timeout_ms=session_timeout_ms)
    ledger = RedisLedger(redis, prefix=prefix, buckets=buckets, replicas=redis_replicas)
    run = _run(
        settings,
        kafka_,
        ledger,
        redis=redis,
        correction_window_ms=correction_window_ms,
        allow_create_time=allow_create_time,
    )
    try:
        run_uvloop(run)
    except (OSError, LogUnavailableError, LedgerUnavailableError) as error:
        _log.error("failed", why=_why(error, redis))
        _end_soon(1)
        raise SystemExit(1) from None
    except Exception:  # noqa: BLE001 - the one guard: whatever failed is logged, and the process ends with 1
        _log.exception("failed")
        _end_soon(1)
        raise SystemExit(1) from None


def _why(error: Exception, redis: RedisSettings) -> str:
    match error:
        case CannotServeError():
            return of_pages(error)
        case LedgerUnavailableError():
            return of_redis(error, redis)
        case _:
            return str(error)


def run_uvloop(run: Any) -> None:
    """Run a coroutine on uvloop where there is one (not on Windows)."""
    try:
        import uvloop  # noqa: PLC0415 - not everywhere
    except ImportError:
        asyncio.run(run)
    else:
        uvloop.run(run)


def _end_soon(status: int) -> None:
    """See to it that a process that failed is gone: a thread of a library may wait for Kafka for minutes yet."""
    end = threading.Timer(END_WITHIN_S, os._exit, args=(status,))
    end.daemon = True
    end.start()


def _leave(worker: Worker) -> None:
    """The process has not ended in time: end it. Exit 1 if it had something to commit."""
    has_work = worker.engine is not None and worker.engine.owned.partitions != ([], [])
    _log.warning("left", why=f"not stopped within {STOP_WITHIN_S} s", had_partitions=has_work)
    os._exit(1 if has_work else 0)


async def _run(
    settings: WorkerSettings,
    kafka: KafkaSettings,
    ledger: RedisLedger,
    *,
    redis: RedisSettings,
    correction_window_ms: int,
    allow_create_time: bool,
) -> None:
    topics = settings.topics
    log = KafkaLog(kafka, settings.group, copartitioned=(topics.table_events, topics.bets), others=(topics.funds,))

    warned: set[str] = set()

    async def check() -> list[str]:
        described = await describe_topics(kafka, topics)
        worker.topics_keep(
            {name: one.number("retention.ms") for name in topics.inputs if (one := described.get(name)) is not None}
        )
        findings = check_topics(
            described, topics=topics, correction_window_ms=correction_window_ms, allow_create_time=allow_create_time
        )
        for finding in findings:
            said = f"{finding.topic}: {finding.message}"
            if finding.severity is Severity.WARNING and said not in warned:
                warned.add(said)
                _log.warning("topic", topic=finding.topic, message=finding.message)
        reasons = [f"{one.topic}: {one.message}" for one in findings if one.severity is Severity.ERROR]
        if worker.engine is None:  # not joined yet
            reasons += await why_not_join(kafka, settings.group, topics)
        return reasons

    worker = Worker(
        settings,
        log,
        ledger,
        Metrics(),
        check_topics=check,
        run_log=log.run_until_failed,
        no_ledger=partial(of_redis, redis=redis),
    )
    loop = asyncio.get_running_loop()

    def stop() -> None:
        """End within `STOP_WITHIN_S`, whatever a library waits for: what is not committed then is done again."""
        worker.stop()
        leave = threading.Timer(STOP_WITHIN_S, _leave, args=(worker,))
        leave.daemon = True
        leave.start()

    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop)
    gc.collect()
    gc.freeze()
    gc.set_threshold(150_000, 50, 1_000)  # what a batch allocates is freed by counting; a scan finds next to nothing
    await worker.run()
