"""The command line: one file a command, loaded when it is called."""

from __future__ import annotations

from typing import Final

import click

from pokdeng.cli.lazy import LazyGroup

_COMMANDS: Final = {
    "demo": "demo",
    "worker": "worker",
    "topics": "topics",
    "simulate": "simulate",
    "explain": "explain",
    "odds": "odds",
    "balances": "balances",
    "rounds": "rounds",
    "dead-letters": "dead_letters",
    "audit": "audit",
    "schemas": "schemas",
}
"""Each command's module here, in the order of `--help`."""


@click.command(
    cls=LazyGroup,
    modules=_COMMANDS,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
)
@click.version_option(package_name="pokdeng-settlement", message="%(version)s")
def main() -> None:
    """Settlement of live Pok Deng: bets and cards from Kafka, exact balances in Redis, every decision an event.

    Every option may be given as an environment variable, too, named in the command's --help: POKDENG_ and its name, as
    POKDENG_BOOTSTRAP; where commands mean different things by it, with theirs: POKDENG_ROUNDS_CANCEL_REASON.
    """
