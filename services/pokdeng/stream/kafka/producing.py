"""A producer that can be thrown away at once, with whatever it was about to send.

aiokafka's own stop waits for the requests under way, one after the other, and for what is not written yet: a broker
that hangs would hold it up for ever, and requests that wait behind another's connection would be written meanwhile.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, Final

import structlog
from aiokafka.errors import ProducerClosed

from pokdeng.stream.kafka.untyped import AIOKafkaProducer

if TYPE_CHECKING:
    from pokdeng.stream.kafka.settings import KafkaSettings

_log = structlog.get_logger(__name__)

_REQUEST_OVERHEAD_BYTES: Final = 100_000
CLOSING_SECONDS: Final = 5.0
"""For so long connections may take to be gone; they are let go of then."""


class Producer:
    """Of acknowledged, idempotent batches. What is private of aiokafka here has a contract test."""

    def __init__(self, settings: KafkaSettings, compression: str | None) -> None:
        """Not connected yet."""
        self._kafka: Any = AIOKafkaProducer(
            **settings.client_arguments(),
            acks="all",
            enable_idempotence=True,
            compression_type=compression,
            max_batch_size=settings.max_batch_bytes,
            max_request_size=settings.max_batch_bytes + _REQUEST_OVERHEAD_BYTES,
        )
        self._requests: set[asyncio.Task[Any]] = set()
        """Those of the sender that are under way."""
        self._is_thrown_away = False
        sender = self._kafka._sender  # noqa: SLF001
        self._send_request = sender._send_produce_req  # noqa: SLF001
        sender._send_produce_req = self._request  # noqa: SLF001
        self.start = self._kafka.start
        self.create_batch = self._kafka.create_batch
        self.send_batch = self._kafka.send_batch

    async def _request(self, node_id: int, batches: Any) -> None:
        """One produce request, from the connection it takes to its answer."""
        task = asyncio.current_task()
        if self._is_thrown_away or task is None:
            return
        self._requests.add(task)
        try:
            await self._send_request(node_id, batches)
        finally:
            self._requests.discard(task)

    async def throw_away(self) -> None:
        """Nothing is begun to be written from now on; all batches under way fail, all connections are cut."""
        self._is_thrown_away = True
        kafka = self._kafka
        sender = kafka._sender.sender_task  # noqa: SLF001 - None before it has started
        tasks = [*self._requests] if sender is None else [*self._requests, sender]
        for task in tasks:
            task.cancel()
        connections = kafka.client._conns.values()  # noqa: SLF001
        for connection in connections:
            if connection._writer is not None:  # noqa: SLF001
                connection._writer.transport.abort()  # noqa: SLF001 - else what is in its buffer is written yet
        if tasks:
            await asyncio.wait(tasks, timeout=CLOSING_SECONDS)
        # Else stopping would wait for what nobody sends any more.
        kafka._message_accumulator.fail_all(ProducerClosed())  # noqa: SLF001
        del kafka._sender._send_produce_req  # noqa: SLF001 - a circle, and it holds batches
        try:
            async with asyncio.timeout(CLOSING_SECONDS):
                await kafka.stop()
        except TimeoutError:
            _log.warning("producer_left", why=f"its connections are not gone after {CLOSING_SECONDS:.0f} s")
