"""What commands that read the log have in common: which log, what runs them, and how their failures are said."""

from __future__ import annotations

import asyncio
import time
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, TypeVar

import click
from aiokafka.errors import KafkaError

from pokdeng.cli.connect import kafka_settings
from pokdeng.history.reading import MissingTopicsError
from pokdeng.history.round_search import RoundNotFoundError
from pokdeng.stream.kafka import KafkaLog, KafkaSettings
from pokdeng.stream.port import LogError

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

    from pokdeng.stream.port import Log

_Answer = TypeVar("_Answer")


def _run(work: Coroutine[Any, Any, Any]) -> Any:
    return asyncio.run(work)


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """Where a command runs: what its log is, what runs it, and the clock. Another is given as click's `obj`."""

    open_log: Callable[[KafkaSettings], Log] = KafkaLog
    run: Callable[[Coroutine[Any, Any, Any]], Any] = _run
    now_ms: Callable[[], int] = lambda: time.time_ns() // 1_000_000


class CannotReadError(click.ClickException):
    """The log could not be read, or does not hold what was asked for: exit status 1."""


def with_log(
    surroundings: Surroundings | None, kafka: dict[str, Any], work: Callable[[Log], Coroutine[Any, Any, _Answer]]
) -> _Answer:
    """Do some work with a log, and close it; what goes wrong with the log is said in a sentence, exit status 1."""
    around = surroundings or Surroundings()
    settings = kafka_settings(**kafka)

    async def do() -> _Answer:
        log = around.open_log(settings)
        try:
            return await work(log)
        finally:
            with suppress(LogError):
                await log.stop()

    try:
        answer: _Answer = around.run(do())
    except (LogError, KafkaError, MissingTopicsError, RoundNotFoundError) as error:
        raise CannotReadError(str(error)) from error
    return answer


class Moment(click.ParamType):
    """A time with a zone, such as `2026-01-01T12:00:00Z`; its value is milliseconds since the epoch."""

    name = "time"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Milliseconds; exit 2 with a sentence where it is none."""
        if isinstance(value, int):
            return value
        try:
            moment = datetime.fromisoformat(value)
        except ValueError:
            self.fail(f"{value!r} is no time; write for example 2026-01-31T18:30:00Z", param, ctx)
        if moment.tzinfo is None:
            self.fail(f"{value!r} has no zone; write {value}Z for UTC, or {value}+07:00", param, ctx)
        return int(moment.astimezone(UTC).timestamp() * 1000)
