"""`pokdeng odds`: the exact chances of every option, by enumeration."""

from __future__ import annotations

import json
from math import sqrt
from typing import TYPE_CHECKING

import click
from rich.console import Console
from rich.table import Table

from pokdeng.rules import DECKS, RULESET, Bet, BetOdds, odds_of

if TYPE_CHECKING:
    from fractions import Fraction


@click.command("odds")
@click.option("--json", "as_json", is_flag=True, envvar="POKDENG_JSON", show_envvar=True, help="Answer with JSON.")
def command(*, as_json: bool) -> None:
    """Say how likely each result of every option is, and what comes back on average: exact, over a full shoe."""
    if as_json:
        options = {bet.value: _fields(odds_of(bet)) for bet in Bet}
        click.echo(json.dumps({"ruleset": RULESET, "decks": DECKS, "options": options}))
        return
    console = Console(highlight=False, soft_wrap=True)
    console.print(f"Exact odds over a full shoe of {DECKS} decks, rules {RULESET}")
    _print(console, "player_1 .. player_5", odds_of(Bet.PLAYER_1))
    _print(console, "player_1_pair .. player_5_pair", odds_of(Bet.PLAYER_1_PAIR))


def _print(console: Console, name: str, odds: BetOdds) -> None:
    results = Table.grid(padding=(0, 2))
    for _ in range(3):
        results.add_column()
    results.add_column(justify="right")
    for (outcome, paid, units), probability in odds.distribution.items():
        results.add_row(f"  {outcome}", paid or "", f"{units} x stake returned", f"{float(probability):.4%}")
    console.print(f"\n[bold]{name}[/bold]: {odds.units_taken} x stake taken")
    console.print(results)
    console.print(
        f"  comes back: {float(odds.rtp_of_stake):.4%} of the stake, {float(odds.rtp_of_taken):.4%} of the amount taken"
    )
    console.print(f"  standard deviation: {sqrt(odds.variance):.4f} x stake")


def _fields(odds: BetOdds) -> dict[str, object]:
    """The odds as JSON. Each number is there as a decimal and exactly, as a fraction; per 1 staked."""
    return {
        "units_taken": odds.units_taken,
        "chances": [
            {
                "outcome": chance.verdict.outcome,
                "odds": chance.verdict.odds,
                "returned_units": chance.verdict.returned_units,
                "rule": chance.verdict.rule,
                **_number("probability", chance.probability),
            }
            for chance in odds.chances
        ],
        **_number("expected_returned", odds.expected_returned),
        **_number("expected_net", odds.expected_net),
        **_number("rtp_of_stake", odds.rtp_of_stake),
        **_number("rtp_of_taken", odds.rtp_of_taken),
        **_number("variance", odds.variance),
    }


def _number(name: str, number: Fraction) -> dict[str, object]:
    return {name: float(number), f"{name}_exact": str(number)}
