"""No secret is shown: not by a log, a page, a message, a help text, a repr or a traceback."""

from __future__ import annotations

import asyncio
import contextlib
import io
import logging
import os
import pty
import subprocess
import sys
import traceback
from typing import TYPE_CHECKING

import click
import pytest
import structlog
from click.testing import CliRunner

from pokdeng.cli import logs, main
from pokdeng.ledger.port import LedgerUnavailableError
from pokdeng.ledger.redis_ledger import RedisLedger
from pokdeng.ledger.redis_settings import RedisSettings
from pokdeng.stream.kafka import KafkaLog, KafkaSettings
from pokdeng.stream.kafka.app import BatchApp
from pokdeng.stream.kafka.feed import Feed
from pokdeng.stream.port import LogUnavailableError
from tests.settlement.real_parts import Address, WorkerProcess, until
from tests.support.kafka import free_port

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

OF_KAFKA, OF_REDIS = "Xyzzy-of-kafka", "Plugh-of-redis"
VARIABLES = {
    "POKDENG_KAFKA_SECURITY": "SASL_PLAINTEXT",
    "POKDENG_KAFKA_SASL": "PLAIN",
    "POKDENG_KAFKA_USER": "settlement",
    "POKDENG_KAFKA_PASSWORD": OF_KAFKA,
    "POKDENG_REDIS": f"redis://settlement:{OF_REDIS}@127.0.0.1:1/0",
}
KAFKA = KafkaSettings(
    bootstrap="127.0.0.1:1",
    security_protocol="SASL_PLAINTEXT",
    sasl_mechanism="PLAIN",
    sasl_user="settlement",
    sasl_password=OF_KAFKA,
    request_timeout_ms=500,
)
REDIS = RedisSettings(url=VARIABLES["POKDENG_REDIS"], password=OF_REDIS)


def is_clean(said: str) -> bool:
    """Whether neither secret is in it, nor a piece of one."""
    return "Xyzzy" not in said and "Plugh" not in said


def commands(group: click.Command, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Every command, with those that it is under."""
    yield path
    if isinstance(group, click.Group):
        with click.Context(group) as context:
            for name in group.list_commands(context):
                inner = group.get_command(context, name)
                assert inner is not None
                yield from commands(inner, (*path, name))


@pytest.mark.parametrize("path", list(commands(main)), ids=" ".join)
def test_no_help_shows_what_a_variable_holds(path: tuple[str, ...]) -> None:
    """Defaults are shown, values never."""
    result = CliRunner().invoke(main, [*path, "--help"], env=VARIABLES)
    assert result.exit_code == 0
    assert is_clean(result.output)


def test_no_text_of_a_setting_or_a_connection_holds_one() -> None:
    """As a log, a debugger or an assertion would show it."""

    async def shown() -> list[str]:
        log, ledger = KafkaLog(KAFKA, "group"), RedisLedger(REDIS)
        app = BatchApp(KAFKA, "group", ["topic"], Feed.__new__(Feed))
        texts = [f"{one} {one!r}" for one in (KAFKA, REDIS, log, ledger, app, app.conf, ledger._pipeline)]
        texts += [repr(vars(log)), repr(vars(ledger)), repr(app.conf.broker_credentials)]
        await ledger.close()
        return texts

    for text in asyncio.run(shown()):
        assert is_clean(text), text


def test_no_error_and_no_traceback_holds_one(caplog: pytest.LogCaptureFixture) -> None:
    """Neither of Kafka nor of Redis, with all that caused it, at the level that says most."""
    caplog.set_level(logging.DEBUG)

    async def ask_kafka() -> None:
        log = KafkaLog(KAFKA)
        try:
            await log.partition_counts(["any"])
        finally:
            await log.stop()

    async def ask_redis() -> None:
        ledger = RedisLedger(REDIS, timeout_ms=200, retry_budget_ms=200)
        try:
            await ledger.open()
        finally:
            await ledger.close()

    for ask, expected in ((ask_kafka, LogUnavailableError), (ask_redis, LedgerUnavailableError)):
        with pytest.raises(expected) as raised:
            asyncio.run(ask())
        assert is_clean("".join(traceback.format_exception(raised.value)))
    assert is_clean(caplog.text)


@pytest.mark.parametrize("is_terminal", [True, False], ids=["terminal", "json"])
def test_a_logged_exception_does_not_show_local_variables(is_terminal: bool, monkeypatch: pytest.MonkeyPatch) -> None:  # noqa: FBT001 - a case
    """On a terminal neither, where structlog would have rich show them."""
    said = io.StringIO()
    said.isatty = lambda: is_terminal  # type: ignore[method-assign]  # a stream that says it is a terminal
    monkeypatch.setattr(sys, "stderr", said)
    logs.set_up_logs("debug")
    try:
        fail(OF_KAFKA)
    except ValueError:
        structlog.get_logger().exception("failed")
    assert "no such thing" in said.getvalue()
    assert is_clean(said.getvalue())


def fail(password: str) -> None:
    """Raise with a secret in a local variable."""
    raise ValueError(f"no such thing as one of {len(password)}")


@pytest.mark.timeout(120)
def test_a_worker_that_waits_says_none_anywhere(tmp_path: Path) -> None:
    """Neither Kafka nor Redis is there: its log, its pages and its metrics, at the level that says most."""
    address = Address("127.0.0.1:1", VARIABLES["POKDENG_REDIS"], "nowhere")

    async def waited() -> str:
        variables = {**VARIABLES, "POKDENG_LOG_LEVEL": "debug", "POKDENG_BOOTSTRAP": "127.0.0.1:1"}
        worker = WorkerProcess("worker", address, "group", tmp_path, variables, are_addresses_given=False)
        await worker.launch()
        try:

            async def has_looked() -> bool:
                await worker.is_ready()
                return "waiting" in worker.tail()

            await until(has_looked, within=90, what=worker.tail)
            pages = [await worker.page(path) for path in ("/metrics", "/health/ready", "/health/live")]
            status = await worker.stop()
        finally:
            await worker.kill()
        assert status == 0
        assert "reasons" in pages[1]
        return "".join([(tmp_path / "worker.log").read_text(), *pages])

    assert is_clean(asyncio.run(waited()))


@pytest.mark.parametrize("words", [["topics", "check"], ["balances", "show", "A-1"]], ids=" ".join)
@pytest.mark.timeout(120)
def test_a_command_on_a_terminal_that_fails_says_none(words: list[str]) -> None:
    """A sentence, and exit 1."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(  # noqa: S603 - our own words
        [sys.executable, "-m", "pokdeng", *words],
        env={**os.environ, **VARIABLES, "POKDENG_BOOTSTRAP": f"127.0.0.1:{free_port()}"},
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
    )
    os.close(theirs)
    said = b""
    with contextlib.suppress(OSError):  # how a terminal says that the other side is gone
        while piece := os.read(ours, 4096):
            said += piece
    os.close(ours)
    assert process.wait(60) == 1
    assert b"Error" in said
    assert is_clean(said.decode())
