"""`pokdeng balances rebuild`: Redis from the log."""

from __future__ import annotations

import asyncio
import json
import os
import socket
import time
from typing import TYPE_CHECKING, Any, Final

import click

from pokdeng.cli import options
from pokdeng.cli.connect import kafka_settings
from pokdeng.cli.failures import of_redis
from pokdeng.cli.logs import set_up_logs
from pokdeng.cli.reading import Reading
from pokdeng.ledger.port import LedgerError, LedgerLostError
from pokdeng.ledger.redis_ledger import RedisLedger
from pokdeng.ledger.restoring import Standing
from pokdeng.restore.folding import FactsMissingError
from pokdeng.restore.protocol import Restorer
from pokdeng.settlement.restoring import plan_of
from pokdeng.stream.kafka import KafkaLog
from pokdeng.stream.port import LogError
from pokdeng.wire import Topics

if TYPE_CHECKING:
    from pokdeng.ledger.redis_settings import RedisSettings
    from pokdeng.ledger.values import Source
    from pokdeng.restore.restore import Restored
    from pokdeng.stream.kafka import KafkaSettings


_SELF: Final = "balances rebuild"


@click.command("rebuild")
@options.kafka
@options.redis
@options.prefix
@options.buckets
@options.group("The workers' consumer group: what it has committed is answered.")
@options.remember("How long the ids of bets, rounds and shoes are remembered: as the workers have it.")
@options.option(
    "--patience",
    "patience_ms",
    type=options.Duration(),
    default="75s",
    show_default=True,
    help="How long owners that do not answer may still be saying something: their session and a request.",
)
@options.option(
    "--stopped", of=_SELF, is_flag=True, help="All workers are stopped, and were a minute ago: do not wait for them."
)
@options.option(
    "--fence", of=_SELF, is_flag=True, help="Rebuild although workers are running: they wait until it is done."
)
@options.yes(_SELF)
@options.as_json
def command(
    *,
    redis: RedisSettings,
    prefix: str,
    buckets: int,
    group: str,
    remember_ms: int,
    patience_ms: int,
    stopped: bool,
    fence: bool,
    yes: bool,
    as_json: bool,
    **kafka: Any,
) -> None:
    """Fill Redis anew from the log, to the unit: an empty one, or one that is doubted.

    What is there is forgotten first. Killed midway, it may be run again, and workers are kept out until it is done.
    """
    if stopped and fence:
        raise click.UsageError("--stopped and --fence contradict each other: are there workers, or none?")
    set_up_logs("error")
    settings, topics = kafka_settings(**kafka), Topics(prefix)
    ledger = RedisLedger(redis, prefix=prefix, buckets=buckets)
    try:
        standing, leased = asyncio.run(_asked(ledger))
    except LedgerError as error:
        raise click.ClickException(of_redis(error, redis)) from error
    if leased and not fence:
        raise click.ClickException(
            f"workers hold {_few(leased)}: stop them, or let them wait for it with --fence; nothing was changed"
        )
    if not yes:
        click.confirm(_question(standing, redis), abort=True)
    began = time.monotonic()
    try:
        with Reading("refusing writers") as bar:
            restored = asyncio.run(
                _rebuild(
                    settings,
                    RedisLedger(redis, prefix=prefix, buckets=buckets),
                    topics,
                    group=group,
                    remember_ms=remember_ms,
                    patience_s=0 if stopped else patience_ms / 1000,
                    bar=bar,
                )
            )
    except LedgerError as error:
        raise click.ClickException(of_redis(error, redis)) from error
    except (LogError, FactsMissingError) as error:
        raise click.ClickException(str(error)) from error
    _say(restored, time.monotonic() - began, as_json=as_json)


async def _asked(ledger: RedisLedger) -> tuple[Standing, list[Source]]:
    try:
        try:
            await ledger.open()
        except LedgerLostError:  # a part of it
            return Standing.EMPTY, await ledger.restoring().leased()
        return await ledger.restoring().standing(), await ledger.restoring().leased()
    finally:
        await ledger.close()


def _question(standing: Standing, redis: RedisSettings) -> str:
    is_there = {
        Standing.EMPTY: "is empty",
        Standing.DOUBTFUL: "holds a ledger that is doubted; it will be forgotten",
        Standing.SOUND: "holds a ledger that takes writers; it will be forgotten",
    }[standing]
    return f"Redis at {redis} {is_there}. Fill it from the log?"


async def _rebuild(
    settings: KafkaSettings,
    ledger: RedisLedger,
    topics: Topics,
    *,
    group: str,
    remember_ms: int,
    patience_s: float,
    bar: Reading,
) -> Restored:
    log = KafkaLog(settings, group)
    try:
        if await ledger.restoring().standing() is Standing.SOUND:
            await ledger.doubt()
        plan = plan_of(
            log,
            ledger,
            topics,
            name=f"rebuild@{socket.gethostname()}:{os.getpid()}",
            remember_ms=remember_ms,
            patience_s=patience_s,
            looks_first=False,
        )
        restorer = Restorer(plan, on_stage=lambda stage: bar.say(stage.says, stage.done, stage.total))
        restored = await restorer.run(lambda _: {})
    finally:
        await log.stop()
        await ledger.close()
    if restored is None:
        raise LedgerError("another one has restored it meanwhile; `pokdeng balances verify` says whether it is right")
    return restored


def _say(restored: Restored, seconds: float, *, as_json: bool) -> None:
    if as_json:
        click.echo(
            json.dumps(
                {
                    "facts": restored.facts,
                    "accounts": restored.accounts,
                    "holds": restored.holds,
                    "remembered": restored.remembered,
                    "never_said": [
                        {"account_id": hole.account, "first": hole.first, "last": hole.last} for hole in restored.holes
                    ],
                    "seconds": round(seconds, 3),
                }
            )
        )
        return
    click.echo(
        f"{restored.facts:,} facts read in {seconds:,.1f} s: {restored.accounts:,} accounts, {restored.holds:,} open "
        f"holds, {restored.remembered:,} remembered ids"
    )
    for hole in restored.holes:
        click.echo(f"account {hole.account}: {hole.movements} never said; what they moved is decided anew")
    click.echo("Redis holds what the log says; workers may be started")


def _few(sources: list[Source]) -> str:
    shown = ", ".join(sources[:6])
    return shown if len(sources) <= len("123456") else f"{shown} and {len(sources) - 6} more"
