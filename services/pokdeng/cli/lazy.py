"""A group of commands, each in a module of its own that is loaded only when it is needed."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from collections.abc import Mapping


class LazyGroup(click.Group):
    """`pokdeng explain` should not wait for Kafka's client."""

    def __init__(self, *args: Any, modules: Mapping[str, str], **kwargs: Any) -> None:
        """`modules`: each command's module in this package, in the order of `--help`."""
        super().__init__(*args, **kwargs)
        self._modules = modules

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        """In the order in which they were given."""
        return list(self._modules)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002 - as above
        """What its module calls `command`; None where there is none of that name."""
        module = self._modules.get(cmd_name)
        if module is None:
            return None
        command: click.Command = import_module(f"{__package__}.{module}").command
        return command
