"""First connections: where none of the brokers' addresses can be used, one sentence says which, why, and what to do.

aiokafka logs why each address failed and raises an error that says none of it.
"""

from __future__ import annotations

import logging
import os
import re
import socket
import time
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from aiokafka.errors import KafkaConnectionError

from pokdeng.stream.port import LogUnavailableError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pokdeng.stream.kafka.settings import KafkaSettings

_LOGGER: Final = "aiokafka"
ATTEMPTS: Final = ('Unable connect to "%s:%s": %s', 'Unable to request metadata from "%s:%s": %s')
"""What aiokafka logs of an address that failed: host, port, and the error. Has a contract test."""
_NUMBER: Final = re.compile(r"\[Errno (-?\d+)\]")
_LEAST_S: Final = 0.1


@dataclass(slots=True)
class _Attempts:
    """What was heard of addresses that failed while a connection was tried."""

    records: list[logging.LogRecord] = field(default_factory=list)
    is_over: bool = False


_trying: ContextVar[_Attempts | None] = ContextVar("trying", default=None)


class _Ear(logging.Filter):
    """Keeps back what is logged of addresses, for the sentence to come."""

    def filter(self, record: logging.LogRecord) -> bool:
        attempts = _trying.get()
        if attempts is None or attempts.is_over or record.msg not in ATTEMPTS:
            return True
        attempts.records.append(record)
        return False


_EAR: Final = _Ear()


@contextmanager
def connecting(settings: KafkaSettings) -> Iterator[None]:
    """Have LogUnavailableError say it all where no address can be used, or none answers in time.

    What was logged of some addresses is logged after all where another one could be used.
    """
    logger = logging.getLogger(_LOGGER)
    logger.addFilter(_EAR)
    attempts, began = _Attempts(), time.monotonic()
    token = _trying.set(attempts)
    try:
        yield
    except (KafkaConnectionError, TimeoutError, OSError) as error:
        attempts.is_over = True
        raise LogUnavailableError(_sentence(settings, attempts, error, time.monotonic() - began)) from error
    finally:
        _trying.reset(token)
        if not attempts.is_over:
            attempts.is_over = True
            for record in attempts.records:
                logger.handle(record)


def _sentence(settings: KafkaSettings, attempts: _Attempts, error: Exception, seconds: float) -> str:
    why: dict[str, object] = dict.fromkeys(settings.bootstrap.split(","), error)
    for record in attempts.records:
        if isinstance(record.args, tuple):
            host, port, reason = record.args
            why[f"[{host}]:{port}" if ":" in str(host) else f"{host}:{port}"] = reason
    named = ", ".join(f"{address} ({reason_of(reason)})" for address, reason in why.items())
    tried = "tried once" if len(why) == 1 else "each tried once"
    within = f"{seconds:.0f}" if seconds >= 1 else f"{max(seconds, _LEAST_S):.1f}"
    return (
        f"no connection to Kafka at {named} within {within} s, {tried}: "
        f"does it run there, and are {settings.set_by} right?"
    )


def reason_of(error: object) -> str:
    """Why a connection failed, in words.

    >>> reason_of(ConnectionRefusedError(111, "Connect call failed ('127.0.0.1', 1)"))
    'connection refused'
    >>> reason_of(OSError("Multiple exceptions: [Errno 111] Connect call failed (...), [Errno 111] Connect call ..."))
    'connection refused'
    >>> reason_of(TimeoutError())
    'no answer'
    >>> reason_of(socket.gaierror(-2, "Name or service not known"))
    'name or service not known'
    """
    if isinstance(error, TimeoutError):
        return "no answer"
    if isinstance(error, socket.gaierror):
        return str(error.strerror).lower()
    text = str(error) or type(error).__name__
    numbers = set(_NUMBER.findall(text))
    if isinstance(error, OSError) and len(numbers) == 1:
        return os.strerror(int(numbers.pop())).lower()
    return text
