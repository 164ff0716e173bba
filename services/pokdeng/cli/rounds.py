"""`pokdeng rounds`: what happened to a round, why a bet got what it got; cancel a round, resume one."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

from pokdeng.cli import options
from pokdeng.cli.log_access import CannotReadError, Moment, Surroundings, with_log
from pokdeng.cli.page import print_page
from pokdeng.cli.progress import Bar
from pokdeng.cli.rounds_explain_view import explanation, in_words
from pokdeng.cli.rounds_say import cancel, resume
from pokdeng.cli.rounds_view import round_view
from pokdeng.history.reading import open_past
from pokdeng.history.round_records import MARGIN_MS, WITHIN_MS, records_of_round
from pokdeng.history.story import RoundStory, story_of
from pokdeng.history.story_json import json_of_bet, json_of_story
from pokdeng.wire import TopicKind, Topics

if TYPE_CHECKING:
    from pokdeng.stream.port import Log

KINDS = (
    TopicKind.TABLE_EVENTS,
    TopicKind.BETS,
    TopicKind.BET_DECISIONS,
    TopicKind.SETTLEMENTS,
    TopicKind.ROUNDS,
    TopicKind.DEAD_LETTERS,
)
"""The topics that a round's records lie in."""

_before = options.option(
    "--before",
    "before_ms",
    type=Moment(),
    default=None,
    metavar="TIME",
    help="Look for the round from this time backwards; quicker for an old one. [default: the newest record]",
)
_within = options.option(
    "--within",
    "within_ms",
    type=options.Duration(),
    default=f"{WITHIN_MS // 3_600_000}h",
    show_default=True,
    help="How long after a record of the round the next one is looked for.",
)
_margin = options.option(
    "--margin",
    "margin_ms",
    type=options.Duration(),
    default=f"{MARGIN_MS // 60_000}m",
    show_default=True,
    help="How long before the round opened and after betting ended bets are looked for.",
)


@click.group("rounds")
def command() -> None:
    """What happened to a round, and why a bet got what it got; cancel a round, resume one."""


command.add_command(cancel)
command.add_command(resume)


@command.command("show")
@click.argument("table_id", type=options.Id())
@click.argument("round_id", type=options.Id())
@options.kafka
@options.prefix
@options.option("--bets", type=click.IntRange(0), default=50, show_default=True, help="How many bets are listed.")
@_before
@_within
@_margin
@options.as_json
@click.pass_obj
def show(
    around: Surroundings | None, /, *, table_id: str, round_id: str, bets: int, as_json: bool, **settings: Any
) -> None:
    """Show all that happened to a round of a table, in order, from the log. No card before its betting is closed."""
    story = _story(around, table_id, round_id, settings)
    if as_json:
        click.echo(json.dumps(json_of_story(story)))
    else:
        print_page(round_view(story, bets=bets))


@command.command("explain")
@click.argument("table_id", type=options.Id())
@click.argument("round_id", type=options.Id())
@click.argument("bet_id", type=options.Id())
@options.kafka
@options.prefix
@_before
@_within
@_margin
@options.as_json
@click.pass_obj
def explain(
    around: Surroundings | None, /, *, table_id: str, round_id: str, bet_id: str, as_json: bool, **settings: Any
) -> None:
    """Say why a bet got what it got: cards, values, rule, arithmetic and balances, or why it was rejected."""
    story = _story(around, table_id, round_id, settings)
    bet = story.bet(bet_id)
    if bet is None:
        raise CannotReadError(
            f"round {round_id} of table {table_id} has no bet {bet_id}; `pokdeng rounds show` lists its bets"
        )
    if as_json:
        rejected = bet.rejected
        why = None if rejected is None else in_words(story, bet, rejected)
        ids = {"table_id": table_id, "round_id": round_id}
        click.echo(json.dumps(ids | json_of_bet(story, bet) | {"why_rejected": why}))
    else:
        print_page(explanation(story, bet))


def _story(around: Surroundings | None, table_id: str, round_id: str, settings: dict[str, Any]) -> RoundStory:
    topics = Topics(settings.pop("prefix"))
    search = {name: settings.pop(name) for name in ("before_ms", "within_ms", "margin_ms")}

    async def tell(log: Log) -> RoundStory:
        with Bar() as bar:
            past = await open_past(log, topics, KINDS, bar)
            return story_of(await records_of_round(past, table_id, round_id, **search))

    return with_log(around, settings, tell)
