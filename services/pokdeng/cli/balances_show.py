"""`pokdeng balances show`: one account, as Redis has it."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING

import click

from pokdeng.cli import options
from pokdeng.cli.failures import of_redis
from pokdeng.cli.money import shown_money
from pokdeng.events.ids import AccountId
from pokdeng.ledger.port import LedgerError
from pokdeng.ledger.redis_ledger import RedisLedger

if TYPE_CHECKING:
    from pokdeng.ledger.redis_settings import RedisSettings
    from pokdeng.ledger.values import Account


@click.command("show")
@click.argument("account", type=options.Id())
@options.redis
@options.prefix
@options.buckets
@options.as_json
def command(*, account: str, redis: RedisSettings, prefix: str, buckets: int, as_json: bool) -> None:
    """Show one ACCOUNT's balance. Exit 1 where there is none."""
    try:
        found = asyncio.run(_look_up(redis, prefix, buckets, account))
    except LedgerError as error:
        raise click.ClickException(of_redis(error, redis)) from error
    if found is None:
        click.echo(json.dumps({"account_id": account, "found": False}) if as_json else f"no account {account}")
        raise SystemExit(1)
    if as_json:
        click.echo(
            json.dumps(
                {
                    "account_id": account,
                    "found": True,
                    "currency": found.currency,
                    "available": found.available,
                    "held": found.held,
                    "sequence": found.sequence,
                    "overdrawn": found.available < 0,
                }
            )
        )
        return
    click.echo(f"account    {account}")
    click.echo(f"available  {shown_money(found.available, found.currency)}")
    click.echo(f"held       {shown_money(found.held, found.currency)}")
    click.echo(f"movements  {found.sequence:,}")
    if found.available < 0:
        click.echo("overdrawn: bets and withdrawals are refused until available is back at 0")


async def _look_up(redis: RedisSettings, prefix: str, buckets: int, account: str) -> Account | None:
    ledger = RedisLedger(redis, prefix=prefix, buckets=buckets)
    try:
        if not await ledger.open():
            raise LedgerError(f"there is no ledger with prefix {prefix} at that Redis")
        return await ledger.account(AccountId(account))
    finally:
        await ledger.close()
