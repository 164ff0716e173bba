"""`pokdeng balances`: what accounts hold. Each command's module is loaded when it is called."""

from __future__ import annotations

from typing import Final

import click

from pokdeng.cli.lazy import LazyGroup

_COMMANDS: Final = {
    "show": "balances_show",
    "verify": "balances_verify",
    "rebuild": "balances_rebuild",
    "checkpoint": "balances_checkpoint",
}


@click.command("balances", cls=LazyGroup, modules=_COMMANDS)
def command() -> None:
    """What accounts hold: in Redis, and as the log says."""
