"""What the dead-letter commands are told: which letters, by whom, and which topics they read."""

from __future__ import annotations

import getpass
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final, TypeVar

import click

from pokdeng.cli import options
from pokdeng.cli.log_access import Moment
from pokdeng.events.reasons import DeadLetterReason
from pokdeng.history.letter_search import Wanted
from pokdeng.wire import TopicKind, parse_place
from pokdeng.wire.letter_actions import NOTE_CHARACTERS_MAX
from pokdeng.wire.topics import INPUTS

if TYPE_CHECKING:
    from pokdeng.wire import Topics

_Command = TypeVar("_Command", bound=Callable[..., Any])

KINDS: Final = (*INPUTS, TopicKind.ROUNDS, TopicKind.DEAD_LETTERS)
"""The topics that these commands read or write."""


class PlaceText(click.ParamType):
    """A letter's place, `PARTITION:OFFSET`."""

    name = "place"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[int, int]:
        """Partition and offset; exit 2 with a sentence where it is no place."""
        if isinstance(value, tuple):
            return value
        try:
            return parse_place(value)
        except ValueError as error:
            self.fail(str(error), param, ctx)


class NoteText(click.ParamType):
    """A note or a name: 1 to 200 characters."""

    name = "text"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """The text itself; exit 2 with a sentence where it is too short or too long."""
        text = str(value).strip()
        if not 1 <= len(text) <= NOTE_CHARACTERS_MAX:
            self.fail(f"write 1 to {NOTE_CHARACTERS_MAX} characters, these are {len(text)}", param, ctx)
        return text


def _user() -> str:
    try:
        return getpass.getuser()
    except (OSError, KeyError):  # no entry for the process's user
        return "unknown"


by = options.option(
    "--by", type=NoteText(), default=_user, show_default="the user of this machine", help="Who does it; it is recorded."
)


def filters(of: str) -> Callable[[_Command], _Command]:
    """The options that say which letters, of the command `of`; `wanted_of` takes them."""
    declared = (
        options.option(
            "--reason", of=of, type=click.Choice([one.value for one in DeadLetterReason]), help="Of this reason only."
        ),
        options.option(
            "--topic", of=of, type=click.Choice([kind.value for kind in INPUTS]), help="Of records of this topic only."
        ),
        options.option(
            "--since", "since_ms", of=of, type=Moment(), metavar="TIME", help="Not older than 2026-01-31T18:00:00Z."
        ),
        options.option("--until", "until_ms", of=of, type=Moment(), metavar="TIME", help="Older than that time."),
    )

    def decorate(command: _Command) -> _Command:
        for add in reversed(declared):
            command = add(command)
        return command

    return decorate


def wanted_of(topics: Topics, settings: dict[str, Any]) -> Wanted:
    """Which letters the options say; they are taken out of `settings`."""
    reason, topic = settings.pop("reason"), settings.pop("topic")
    since_ms, until_ms = settings.pop("since_ms"), settings.pop("until_ms")
    if since_ms is not None and until_ms is not None and since_ms >= until_ms:
        raise click.UsageError("--since is not before --until: nothing lies between them")
    return Wanted(
        reason=None if reason is None else DeadLetterReason(reason),
        topic=None if topic is None else topics.name(TopicKind(topic)),
        since_ms=since_ms,
        until_ms=until_ms,
    )
