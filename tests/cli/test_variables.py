"""Every option is an environment variable; one variable means one thing."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

import click

from pokdeng.cli import main
from pokdeng.cli.options import CONSENTS

if TYPE_CHECKING:
    from collections.abc import Iterator

SHARED = frozenset(
    {
        "BOOTSTRAP",
        "KAFKA_SECURITY",
        "KAFKA_CA",
        "KAFKA_CERTIFICATE",
        "KAFKA_KEY",
        "KAFKA_SASL",
        "KAFKA_USER",
        "KAFKA_PASSWORD",
        "KAFKA_PASSWORD_FILE",
        "REDIS",
        "REDIS_USER",
        "REDIS_PASSWORD",
        "REDIS_PASSWORD_FILE",
        "REDIS_CA",
        "REDIS_CERTIFICATE",
        "REDIS_KEY",
        "PREFIX",
        "GROUP",
        "BUCKETS",
        "REMEMBER",
        "CORRECTION_WINDOW",
        "ALLOW_CREATE_TIME",
        "PARTITIONS",
        "HTTP_PORT",
        "WORKER",
        "JSON",
        "BEFORE",
        "WITHIN",
        "MARGIN",
        "WAIT",
        "BY",
        "ACCOUNTS",
        "BETS_PER_ROUND",
        "MISCHIEF",
        "RATE",
        "ROUNDS",
        "SEED",
        "TABLES",
    }
)
"""Where things are, how workers are set up, how an answer looks, who asks, how much is played: the same to all."""


def options_of(command: click.Command, path: tuple[str, ...] = ()) -> Iterator[tuple[str, click.Option]]:
    """Every option of every command below, with the command's name."""
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            found = command.get_command(context, name)
            assert found is not None
            yield from options_of(found, (*path, name))
        return
    for option in command.params:
        if isinstance(option, click.Option):
            yield " ".join(path), option


ALL = list(options_of(main))


def written(*words: str) -> str:
    """Words as a variable has them."""
    return "_".join(("POKDENG", *words)).upper().replace(" ", "_").replace("-", "_")


def test_every_option_is_a_variable_named_after_it() -> None:
    """`POKDENG_` and its name; between them the command's where others mean something else by it; shown in help."""
    assert len(ALL) > 200
    for command, option in ALL:
        name = next(one for one in option.opts if one.startswith("--")).removeprefix("--")
        own = written(command, name)
        assert option.envvar in (written(name), own if name in CONSENTS else [own, written(name)]), (command, name)
        assert option.show_envvar, (command, name)


def test_a_variable_that_several_commands_read_means_the_same_to_each() -> None:
    """What is read first, if others read it too, belongs to the option of the same name, and takes the same values."""
    readers: dict[str, list[click.Option]] = defaultdict(list)
    for _, option in ALL:
        first = option.envvar if isinstance(option.envvar, str) else next(iter(option.envvar or []))
        readers[first].append(option)
    shared = {name: options for name, options in readers.items() if len(options) > 1}
    assert {name.removeprefix("POKDENG_") for name in shared} == SHARED
    for name, options in shared.items():
        assert len({tuple(one.opts) for one in options}) == 1, name
        assert len({(type(one.type), one.is_flag, one.multiple) for one in options}) == 1, name


def test_no_consent_is_shared() -> None:
    """A `--yes` that is set in a container's environment for one command is none to another."""
    consents = [(command, option) for command, option in ALL if option.opts[0].removeprefix("--") in CONSENTS]
    assert len(consents) == 7
    for command, option in consents:
        assert option.envvar == written(command, option.opts[0].removeprefix("--"))
