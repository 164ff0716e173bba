"""`pokdeng simulate`: plays tables against a broker."""

from __future__ import annotations

import asyncio
import json
import secrets
from math import isfinite
from typing import TYPE_CHECKING, Any

import click
from rich.console import Console
from rich.table import Table

from pokdeng.cli import options
from pokdeng.cli.connect import kafka_settings
from pokdeng.simulator import LogSender, Mischief, MissingTopicsError, Play, Sent, perform, script
from pokdeng.stream.kafka import KafkaLog, KafkaSettings
from pokdeng.stream.port import LogUnavailableError
from pokdeng.wire import Topics

if TYPE_CHECKING:
    from collections.abc import Callable

_SEEDS = 10**9
_LINES_EVERY_SECONDS = 2.0


@click.command("simulate")
@options.kafka
@options.prefix
@options.option("--tables", type=click.IntRange(1, 10_000), default=8, show_default=True, help="Tables that play.")
@options.option("--rounds", type=click.IntRange(1), default=10, show_default=True, help="Rounds of each table.")
@options.option("--accounts", type=click.IntRange(2), default=500, show_default=True, help="Accounts that bet.")
@options.option("--bets-per-round", type=click.IntRange(0), default=20, show_default=True, help="About so many.")
@options.option(
    "--seed",
    type=click.IntRange(0, _SEEDS),
    default=None,
    help="The same seed plays the same, byte for byte: what was played before is a duplicate. [default: by chance]",
)
@options.option("--rate", type=click.FloatRange(0), default=0, show_default=True, help="Bets a second; 0: no limit.")
@options.option(
    "--mischief",
    type=click.FloatRange(0, 1),
    default=0,
    show_default=True,
    help="How much goes wrong: late bets, cancels, misreads, duplicates, records that are none; 0.1 is a bad night.",
)
@options.option(
    "--corrections",
    type=click.FloatRange(0, 1),
    default=0,
    show_default=True,
    help="The share of rounds corrected or cancelled after their settlement, some when the winnings are spent.",
)
def command(
    *,
    prefix: str,
    tables: int,
    rounds: int,
    accounts: int,
    bets_per_round: int,
    seed: int | None,
    rate: float,
    mischief: float,
    corrections: float,
    **kafka: Any,
) -> None:
    """Play tables against a broker, and say what was sent."""
    for name, number in (("rate", rate), ("mischief", mischief), ("corrections", corrections)):
        if not isfinite(number):
            raise click.UsageError(f"--{name} (POKDENG_{name.upper()}) is {number}; it must be a number")
    play = Play(
        tables=tables,
        rounds=rounds,
        accounts=accounts,
        bets_per_round=bets_per_round,
        seed=secrets.randbelow(_SEEDS) if seed is None else seed,
        mischief=Mischief.at(mischief).with_corrections(corrections),
    )
    teller = Teller(Console(highlight=False), play)
    try:
        sent = asyncio.run(_send(play, Topics(prefix), kafka_settings(**kafka), rate, teller.told))
    except (MissingTopicsError, LogUnavailableError) as error:
        raise click.ClickException(str(error)) from error
    teller.finish(sent)


async def _send(play: Play, topics: Topics, settings: KafkaSettings, rate: float, told: Callable[[Sent], None]) -> Sent:
    log = KafkaLog(settings)
    try:
        return await perform(script(play), LogSender(log, topics), bets_per_second=rate, told=told)
    finally:
        await log.stop()


class Teller:
    """Says how the play goes: on a terminal as a status line and a table, elsewhere as JSON lines."""

    def __init__(self, console: Console, play: Play) -> None:
        """Say it on this console."""
        self._console = console
        self._play = play
        self._status = console.status("") if console.is_terminal else None
        self._next_line = 0.0

    def told(self, sent: Sent) -> None:
        """What was sent so far."""
        if self._status is not None:
            self._status.start()
            self._status.update(
                f"seed {self._play.seed}   {sent.records:,} records   {sent.bets:,} bets   {sent.seconds:.1f} s"
            )
        elif sent.seconds >= self._next_line:
            self._next_line = sent.seconds + _LINES_EVERY_SECONDS
            self._line({"sent": sent.records, "bets": sent.bets, "seconds": round(sent.seconds, 3)})

    def finish(self, sent: Sent) -> None:
        """What was sent in all."""
        if self._status is None:
            self._line(
                {
                    "seed": self._play.seed,
                    "sent": sent.records,
                    "bets": sent.bets,
                    "seconds": round(sent.seconds, 3),
                    "by_topic": {str(topic): count for topic, count in sorted(sent.by_topic.items())},
                    "by_kind": {str(kind): count for kind, count in sorted(sent.by_kind.items())},
                }
            )
            return
        self._status.stop()
        table = Table.grid(padding=(0, 3))
        table.add_column()
        table.add_column(justify="right")
        for kind, count in sent.by_kind.most_common():
            table.add_row(kind.replace("_", " "), f"{count:,}")
        self._console.print(table)
        self._console.print(
            f"\nsent {sent.records:,} records, {sent.bets:,} bets among them, in {sent.seconds:,.1f} s; "
            f"seed {self._play.seed}"
        )

    def _line(self, fields: dict[str, Any]) -> None:
        self._console.print(json.dumps(fields), soft_wrap=True, markup=False)
