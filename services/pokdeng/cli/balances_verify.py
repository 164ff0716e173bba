"""`pokdeng balances verify`: Redis against the log."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any

import click

from pokdeng.cli import options
from pokdeng.cli.connect import kafka_settings
from pokdeng.cli.failures import of_redis
from pokdeng.cli.logs import set_up_logs
from pokdeng.cli.reading import Reading
from pokdeng.ledger.port import LedgerError
from pokdeng.ledger.redis_ledger import RedisLedger
from pokdeng.restore.folding import FactsMissingError
from pokdeng.restore.stored import find_checkpoint
from pokdeng.restore.verify import Verified, Verifying
from pokdeng.stream.kafka import KafkaLog
from pokdeng.stream.port import LogError
from pokdeng.wire import Topics

if TYPE_CHECKING:
    from pokdeng.ledger.redis_settings import RedisSettings
    from pokdeng.stream.kafka import KafkaSettings


@click.command("verify")
@options.kafka
@options.redis
@options.prefix
@options.buckets
@options.option(
    "--settle",
    "settle_ms",
    type=options.Duration(),
    default="5s",
    show_default=True,
    help="How long what differs is looked at again: a worker may be about to say it.",
)
@options.option(
    "--limit",
    of="balances verify",
    type=click.IntRange(1),
    default=50,
    show_default=True,
    help="Differences that are listed.",
)
@options.option("--whole-log", is_flag=True, help="Read all facts, from no checkpoint.")
@options.as_json
def command(
    *,
    redis: RedisSettings,
    prefix: str,
    buckets: int,
    settle_ms: int,
    limit: int,
    whole_log: bool,
    as_json: bool,
    **kafka: Any,
) -> None:
    """Compare Redis with what the log says: each account, each open hold.

    Changes nothing, and may be run beside workers. Exit 1 where something differs.
    """
    set_up_logs("warning")
    ledger = RedisLedger(redis, prefix=prefix, buckets=buckets)
    settings = kafka_settings(**kafka)
    try:
        with Reading("connecting") as reading:
            found = asyncio.run(
                _verify(settings, ledger, Topics(prefix), settle_s=settle_ms / 1000, whole_log=whole_log, bar=reading)
            )
    except LedgerError as error:
        raise click.ClickException(of_redis(error, redis)) from error
    except (LogError, FactsMissingError) as error:
        raise click.ClickException(str(error)) from error
    if as_json:
        click.echo(json.dumps(_as_json(found, limit)))
    else:
        _show(found, limit)
    if found.differences:
        raise SystemExit(1)


async def _verify(
    settings: KafkaSettings, ledger: RedisLedger, topics: Topics, *, settle_s: float, whole_log: bool, bar: Reading
) -> Verified:
    log = KafkaLog(settings)
    try:
        if not await ledger.open():
            raise LedgerError(
                f"there is no ledger with prefix {topics.prefix} at that Redis; `balances rebuild` makes it"
            )
        ledger.restoring().look_in()
        checkpoint = None if whole_log else await find_checkpoint(log, topics)
        verifying = Verifying(
            log, ledger, topics, checkpoint=checkpoint, settle_s=settle_s, begin=bar.begin, progress=bar.read
        )
        return await verifying.run()
    finally:
        await log.stop()
        await ledger.close()


def _as_json(found: Verified, limit: int) -> dict[str, object]:
    return {
        "ok": not found.differences,
        "facts": found.facts,
        "accounts": found.accounts,
        "holds": found.holds,
        "differences": len(found.differences),
        "listed": [
            {"what": one.what, "name": one.name, "log": one.log, "ledger": one.ledger}
            for one in found.differences[:limit]
        ],
        "never_said": [{"account_id": hole.account, "first": hole.first, "last": hole.last} for hole in found.holes],
    }


def _show(found: Verified, limit: int) -> None:
    click.echo(f"{found.facts:,} facts say {found.accounts:,} accounts and {found.holds:,} open holds")
    for one in found.differences[:limit]:
        click.echo(f"\n{one.what} {one.name}")
        click.echo(f"  the log says  {one.log or 'nothing'}")
        click.echo(f"  Redis has     {one.ledger or 'nothing'}")
    if len(found.differences) > limit:
        click.echo(f"\n... and {len(found.differences) - limit:,} more (--limit)")
    for hole in found.holes[:limit]:
        click.echo(f"account {hole.account}: {hole.movements} never said")
    if found.differences:
        click.echo(f"\n{len(found.differences):,} differ: stop the workers and run `pokdeng balances rebuild`")
    else:
        click.echo("Redis holds what the log says")
