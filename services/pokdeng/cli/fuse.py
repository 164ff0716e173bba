"""`pokdeng dead-letters fuse`: see which partitions a worker has stopped taking, and have it go on."""

from __future__ import annotations

import asyncio
import json
import os
from typing import Any
from urllib.parse import urlsplit

import aiohttp
import click
from rich.console import Console
from rich.text import Text

from pokdeng.cli import options
from pokdeng.cli.rounds_words import WARNING

RESET_HEADER = "X-Pokdeng"
_TIMEOUT_S = 10.0


class WorkerUrl(click.ParamType):
    """Where a worker serves its pages."""

    name = "url"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """The address without a slash at its end; exit 2 with a sentence where it is none."""
        try:
            url = urlsplit(value)
            is_sound = url.scheme in ("http", "https") and bool(url.hostname) and url.port != 0 and not url.query
        except ValueError:
            is_sound = False
        if not is_sound:
            self.fail(f"{value!r} is no address; write http://127.0.0.1:6066", param, ctx)
        return str(value).rstrip("/")


_worker = options.option(
    "--worker",
    type=WorkerUrl(),
    default="http://127.0.0.1:6066",
    show_default=True,
    metavar="URL",
    help="The worker's pages. A worker lets its own machine (or container) reset, nobody else.",
)


@click.group("fuse")
def fuse() -> None:
    """The fuse of `pokdeng worker --dead-letter-fuse`: partitions that are not taken, for too much of them was dead."""


@fuse.command("show")
@_worker
@options.as_json
def show(*, worker: str, as_json: bool) -> None:
    """Show the partitions whose fuse is open. Exit 1 if there are any."""
    _say(_ask(worker, "GET"), is_reset=False, as_json=as_json)


@fuse.command("reset")
@_worker
@options.as_json
def reset(*, worker: str, as_json: bool) -> None:
    """Close the fuse: the worker takes these partitions again, and counts anew."""
    _say(_ask(worker, "POST"), is_reset=True, as_json=as_json)


def _ask(worker: str, method: str) -> list[str]:
    async def ask() -> list[str]:
        timeout = aiohttp.ClientTimeout(total=_TIMEOUT_S)
        async with (
            aiohttp.ClientSession(timeout=timeout) as session,
            session.request(method, f"{worker}/fuse", headers={RESET_HEADER: "fuse"}) as answer,
        ):
            if answer.status != 200:  # noqa: PLR2004 - HTTP's own number
                raise click.ClickException(f"{worker}/fuse answers {answer.status}: {(await answer.text())[:300]}")
            said: list[str] = (await answer.json())["open"]
            return said

    try:
        return asyncio.run(ask())
    except (aiohttp.ClientError, TimeoutError, ValueError, KeyError) as error:
        raise click.ClickException(
            f"no worker answers at {worker} ({_reason(error)}), tried once for at most {_TIMEOUT_S:g} s: "
            "does it run on this machine (or in this container), and is --worker right?"
        ) from error


def _reason(error: Exception) -> str:
    if isinstance(error, aiohttp.ClientConnectorError) and (number := error.os_error.errno) is not None and number > 0:
        return os.strerror(number).lower()
    if isinstance(error, aiohttp.ClientConnectorDNSError):
        return "no such name"
    if isinstance(error, TimeoutError):
        return "no answer"
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__


def _say(reasons: list[str], *, is_reset: bool, as_json: bool) -> None:
    if as_json:
        click.echo(json.dumps({"reset" if is_reset else "open": reasons}))
    elif not reasons:
        click.echo("no fuse is open")
    else:
        console = Console(highlight=False)
        for reason in reasons:
            console.print(
                Text(f"{'closed again: ' if is_reset else ''}{reason}", style="green3" if is_reset else WARNING)
            )
    if reasons and not is_reset:
        raise SystemExit(1)
