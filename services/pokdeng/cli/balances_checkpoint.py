"""`pokdeng balances checkpoint`: close the books at a point of the log."""

from __future__ import annotations

import asyncio
import json
import os
import secrets
import socket
from typing import TYPE_CHECKING, Any

import click
import msgspec

from pokdeng.cli import options
from pokdeng.cli.connect import kafka_settings
from pokdeng.cli.logs import set_up_logs
from pokdeng.cli.money import shown_money
from pokdeng.cli.reading import Reading
from pokdeng.restore.closing_books import AnotherWritesError, BooksDoNotBalanceError, close_books
from pokdeng.restore.folding import FactsMissingError, Times
from pokdeng.restore.stored import noted_tables
from pokdeng.settlement.past import Past
from pokdeng.settlement.restoring import TRANSFER_TTL_MS, wall_ms
from pokdeng.stream.kafka import KafkaLog
from pokdeng.stream.port import LogError
from pokdeng.wire import Topics

if TYPE_CHECKING:
    from pokdeng.restore.closing_books import Written
    from pokdeng.stream.kafka import KafkaSettings


@click.command("checkpoint")
@options.kafka
@options.prefix
@options.remember("How long the ids of bets, rounds and shoes are remembered: as the workers have it.")
@options.as_json
def command(*, prefix: str, remember_ms: int, as_json: bool, **kafka: Any) -> None:
    """Close the books at this point of the log: a restore begins there instead of at the log's beginning.

    Folds what was said since the last checkpoint, checks that the books balance (exit 1 and nothing written where they
    do not), and writes accounts and open bets to the topic `checkpoints`. Needs no Redis; workers may run. Run it on a
    schedule, once a day for example. Interrupted, it leaves the last checkpoint as it was.
    """
    set_up_logs("warning")
    settings = kafka_settings(**kafka)
    try:
        with Reading("connecting") as bar:
            written = asyncio.run(_write(settings, Topics(prefix), remember_ms, bar))
    except BooksDoNotBalanceError as error:
        if not as_json:
            raise click.ClickException(str(error)) from error
        books = {currency: {"difference": one.difference} for currency, one in error.books.items()}
        click.echo(json.dumps({"ok": False, "books": books}))
        raise SystemExit(1) from error
    except (AnotherWritesError, FactsMissingError, LogError) as error:
        raise click.ClickException(str(error)) from error
    if as_json:
        click.echo(json.dumps({"ok": True, "slot": written.slot, **msgspec.to_builtins(written.end)}))
    else:
        _show(written)


async def _write(settings: KafkaSettings, topics: Topics, remember_ms: int, bar: Reading) -> Written:
    log = KafkaLog(settings)
    try:
        past = Past(remember_ms=remember_ms)
        for table_id, raw in await noted_tables(log, topics):
            past.know_noted_table(table_id, raw)
        return await close_books(
            log,
            topics,
            past,
            writer=f"{socket.gethostname()}:{os.getpid()}:{secrets.token_hex(4)}",
            times=Times(now_ms=wall_ms(), remember_ms=remember_ms, transfer_ttl_ms=TRANSFER_TTL_MS),
            begin=bar.begin,
            progress=bar.read,
        )
    finally:
        await log.stop()


def _show(written: Written) -> None:
    end = written.end
    click.echo(
        f"checkpoint {end.number}: {end.facts:,} facts, {end.accounts:,} accounts, {end.holds:,} open holds, "
        f"{end.chunks} records in slot {written.slot}"
    )
    for currency, books in end.books.items():
        click.echo(f"\n{currency}")
        for name, amount in (
            ("deposits", books.deposits),
            ("withdrawals", -books.withdrawals),
            ("house net", -books.house_net),
            ("available", books.available),
            ("held", books.held),
        ):
            click.echo(f"  {name:<12}{shown_money(amount, currency):>28}")
        click.echo("  the books balance")
    for hole in written.holes:
        click.echo(f"account {hole.account}: {hole.movements} not said yet, or never will be")
