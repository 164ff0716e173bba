"""The command line: one file a command, loaded when it is called."""

from __future__ import annotations

from importlib import import_module
from typing import Final

import click

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


class _Commands(click.Group):
    """Loads a command's module only when it is needed: `pokdeng explain` should not wait for Kafka's client."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002 - as above
        module = _COMMANDS.get(cmd_name)
        if module is None:
            return None
        command: click.Command = import_module(f"{__name__}.{module}").command
        return command


@click.command(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.version_option(package_name="pokdeng-settlement", message="%(version)s")
def main() -> None:
    """Settlement of live Pok Deng: bets and cards from Kafka, exact balances in Redis, every decision an event.

    Every option may be given as an environment variable, too: POKDENG_ and its name.
    """
