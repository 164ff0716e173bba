"""`pokdeng balances`: what accounts hold. Each command's module is loaded when it is called."""

from __future__ import annotations

from importlib import import_module
from typing import Final

import click

_COMMANDS: Final = {
    "show": "balances_show",
    "verify": "balances_verify",
    "rebuild": "balances_rebuild",
    "checkpoint": "balances_checkpoint",
}


class _Commands(click.Group):
    """Loads a command's module only when it is needed."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002 - as above
        module = _COMMANDS.get(cmd_name)
        if module is None:
            return None
        found: click.Command = import_module(f"pokdeng.cli.{module}").command
        return found


@click.command("balances", cls=_Commands)
def command() -> None:
    """What accounts hold: in Redis, and as the log says."""
