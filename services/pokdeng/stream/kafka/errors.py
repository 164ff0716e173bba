"""Turns what aiokafka raises into what the port promises."""

from __future__ import annotations

import asyncio
from contextlib import contextmanager
from typing import TYPE_CHECKING

from aiokafka.errors import KafkaError

from pokdeng.stream.port import LogUnavailableError

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def unavailable(what: str) -> Iterator[None]:
    """Anything that Kafka or the network answers to `what`, or a timeout, becomes LogUnavailableError."""
    try:
        yield
    except (KafkaError, OSError, asyncio.TimeoutError) as error:
        raise LogUnavailableError(f"{what}: {error!r}") from error
