"""Sends a play to Kafka: batches of one partition each, by an idempotent producer."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from typing import TYPE_CHECKING, Final, Self

from aiokafka import AIOKafkaProducer
from aiokafka.errors import KafkaError

from pokdeng.simulator.sender import BARRIER_SECONDS, Places

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import TracebackType

    from pokdeng.simulator.steps import Step
    from pokdeng.wire import Topics

_BATCH_BYTES: Final = 262_144
_RECORD_BYTES: Final = 1_000_000
_REQUEST_MS: Final = 20_000


class BrokerUnavailableError(Exception):
    """The broker cannot be reached or has not the topics; the message says what to do."""


class KafkaSender:
    """Sends to Kafka. An async context manager."""

    def __init__(self, bootstrap: str, topics: Topics) -> None:
        """`bootstrap` are `host:port` pairs with commas between them."""
        self._bootstrap = bootstrap
        self._topics = topics
        self._producer: AIOKafkaProducer | None = None
        self._places: Places | None = None

    async def __aenter__(self) -> Self:
        """Connect.

        Raises:
            BrokerUnavailableError: when there is no broker or no topics.
        """
        producer = AIOKafkaProducer(
            bootstrap_servers=self._bootstrap,
            enable_idempotence=True,
            acks="all",
            max_batch_size=_BATCH_BYTES,
            max_request_size=_RECORD_BYTES,
            request_timeout_ms=_REQUEST_MS,
        )
        try:
            await producer.start()
        except KafkaError as error:
            await producer.stop()
            raise BrokerUnavailableError(f"no broker answers at {self._bootstrap}: {error}") from error
        self._producer = producer
        counts: dict[str, int] = {}
        for name in self._topics.names[:3]:
            try:
                counts[name] = len(await producer.partitions_for(name))
            except KafkaError as error:
                await producer.stop()
                raise BrokerUnavailableError(
                    f"topic {name} is not there: create the topics first, with pokdeng topics create"
                ) from error
        self._places = Places(self._topics, counts)
        return self

    async def __aexit__(
        self, error_type: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Disconnect."""
        if self._producer is not None:
            await self._producer.stop()

    async def send(self, steps: Sequence[Step]) -> None:
        """Append steps; return when the broker has acknowledged all.

        Raises:
            BrokerUnavailableError: when it does not.
        """
        if self._producer is None or self._places is None:
            raise BrokerUnavailableError("the sender was not entered")
        lanes: defaultdict[tuple[str, int], list[Step]] = defaultdict(list)
        names, place = self._places.names, self._places.of
        for step in steps:
            lanes[names[step.topic], place(step)].append(step)
        try:
            await asyncio.gather(*(self._send_lane(self._producer, *lane, of) for lane, of in lanes.items()))
        except KafkaError as error:
            raise BrokerUnavailableError(f"the broker at {self._bootstrap} took not all records: {error}") from error

    async def barrier(self) -> None:
        """Wait until the broker's clock has gone on."""
        await asyncio.sleep(BARRIER_SECONDS)

    @staticmethod
    async def _send_lane(producer: AIOKafkaProducer, topic: str, partition: int, steps: Sequence[Step]) -> None:
        """The steps of one partition, in order, in as few batches as they need."""
        acknowledged = []
        batch = producer.create_batch()
        for step in steps:
            if batch.append(key=step.key, value=step.value, timestamp=None) is None:
                batch.close()
                acknowledged.append(await producer.send_batch(batch, topic, partition=partition))
                batch = producer.create_batch()
                batch.append(key=step.key, value=step.value, timestamp=None)
        if batch.record_count():
            batch.close()
            acknowledged.append(await producer.send_batch(batch, topic, partition=partition))
        await asyncio.gather(*acknowledged)
