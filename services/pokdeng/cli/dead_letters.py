"""`pokdeng dead-letters`: what could not be used, why, and what to do about it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

import click

from pokdeng.cli import options
from pokdeng.cli.dead_letters_act import discard, replay
from pokdeng.cli.dead_letters_options import KINDS, PlaceText, filters, wanted_of
from pokdeng.cli.dead_letters_view import json_of_letter_whole, letter_view, list_view
from pokdeng.cli.fuse import fuse
from pokdeng.cli.log_access import CannotReadError, Surroundings, with_log
from pokdeng.cli.page import print_page
from pokdeng.cli.progress import Bar
from pokdeng.history.letter_search import Listed, letters_at, list_letters, may_be_shown
from pokdeng.history.reading import open_past
from pokdeng.history.story_json import json_of_letter
from pokdeng.wire import Topics

if TYPE_CHECKING:
    from pokdeng.history.letters import Letter
    from pokdeng.stream.port import Log


_LIST: Final = "dead-letters list"


@click.group("dead-letters")
def command() -> None:
    """What could not be used, why, and what to do about it.

    A letter is named by its PARTITION:OFFSET on the dead-letter topic, as `list` shows it. Letters that were replayed
    or discarded are passed over.
    """


command.add_command(replay)
command.add_command(discard)
command.add_command(fuse)


@command.command("list")
@filters(_LIST)
@options.option(
    "--limit",
    of=_LIST,
    type=click.IntRange(0),
    default=50,
    show_default=True,
    help="The newest so many are listed.",
)
@options.option("--all", "with_done", is_flag=True, help="List those that were replayed or discarded, too.")
@options.kafka
@options.prefix
@options.as_json
@click.pass_obj
def list_(
    around: Surroundings | None, /, *, prefix: str, limit: int, with_done: bool, as_json: bool, **settings: Any
) -> None:
    """List dead letters by reason, topic and time; nothing of what they say is shown."""
    topics = Topics(prefix)
    wanted = wanted_of(topics, settings)

    async def look(log: Log) -> Listed:
        with Bar() as bar:
            return await list_letters(
                await open_past(log, topics, KINDS, bar), wanted, limit=limit, with_done=with_done
            )

    listed = with_log(around, settings, look)
    if as_json:
        counts = [
            {"reason": reason, "topic": topic, "letters": count} for (reason, topic), count in listed.by_reason.items()
        ]
        letters = [json_of_letter(letter) for letter in listed.letters]
        click.echo(json.dumps({"letters": letters, "counts": counts, "dealt_with": listed.done}))
    else:
        print_page(list_view(listed))


@command.command("show")
@click.argument("place", type=PlaceText(), metavar="PARTITION:OFFSET")
@options.kafka
@options.prefix
@options.as_json
@click.pass_obj
def show(around: Surroundings | None, /, *, place: tuple[int, int], prefix: str, as_json: bool, **kafka: Any) -> None:
    """Show one dead letter. Its value is hidden where it could show a card of a round whose betting is not closed."""
    topics = Topics(prefix)

    async def look(log: Log) -> tuple[Letter | None, bool]:
        with Bar() as bar:
            past = await open_past(log, topics, KINDS, bar)
            letter = (await letters_at(past, [place]))[place]
            return letter, letter is not None and await may_be_shown(past, letter)

    letter, is_shown = with_log(around, kafka, look)
    if letter is None:
        raise CannotReadError(
            f"there is no dead letter at {place[0]}:{place[1]}; `pokdeng dead-letters list` shows them"
        )
    if as_json:
        click.echo(json.dumps(json_of_letter_whole(letter, is_shown=is_shown)))
    else:
        print_page(letter_view(letter, is_shown=is_shown))
