"""Passwords come from the environment or from a file, never from the command line: everybody on a machine sees that."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import click
from click.core import ParameterSource

LONGEST_BYTES: Final = 4096


def refuse_on_command_line(ctx: click.Context, param: click.Parameter, value: str | None) -> str | None:
    """A callback of options that hold a secret: exit 2 where it was written on the command line. Never shows it."""
    if ctx.get_parameter_source(param.name or "") is ParameterSource.COMMANDLINE:
        name = param.opts[0] if "password" in param.opts[0] else f"{param.opts[0]}-password"
        raise click.BadParameter(
            "a password on the command line is seen by everybody on this machine; "
            f"set {variable_of(name)}, or use {name}-file",
            ctx,
            param,
        )
    return value


def variable_of(option: str) -> str:
    """The environment variable of an option.

    >>> variable_of("--kafka-password")
    'POKDENG_KAFKA_PASSWORD'
    """
    return f"POKDENG_{option.removeprefix('--').upper().replace('-', '_')}"


def secret(option: str, value: str | None, file: str | None) -> str | None:
    """The password of `option`, from its variable or from its file; None where neither is given.

    A file's last line end is not part of it.

    Raises:
        click.UsageError: when both are given, or the file is empty, too long, or no text.
    """
    if file is None:
        return value
    if value is not None:
        variable = variable_of(option)
        raise click.UsageError(f"{variable} and {option}-file ({variable}_FILE) are both set; use one of them")
    try:
        raw = Path(file).read_bytes()
        text = raw.decode()
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is not UTF-8"  # the error would show the bytes
        raise click.UsageError(f"{option}-file {file}: {why}") from None
    text = text.removesuffix("\n").removesuffix("\r")
    if not text or len(raw) > LONGEST_BYTES or not text.isprintable():
        raise click.UsageError(
            f"{option}-file {file}: it has {len(raw)} bytes; it must be one line of 1 to {LONGEST_BYTES} bytes"
        )
    return text
