"""Reads ranges of partitions outside of any group."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, Final

from aiokafka.structs import TopicPartition as KafkaPartition

from pokdeng.stream.kafka.connecting import connecting
from pokdeng.stream.kafka.errors import unavailable
from pokdeng.stream.kafka.fetching import fetched
from pokdeng.stream.kafka.untyped import AIOKafkaConsumer

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from pokdeng.stream.kafka.fetching import KafkaRecord
    from pokdeng.stream.kafka.settings import KafkaSettings
    from pokdeng.stream.port import Record, TopicPartition

_CONSUMERS: Final = 4
"""How many ranges are read at the same time."""
_POLL_SECONDS: Final = 0.1
_WAIT_MS: Final = 10
"""How long the broker may hold a fetch that finds nothing; the next range waits for it."""


class RangeReader:
    """A few group-less consumers, opened when needed and used again."""

    def __init__(self, settings: KafkaSettings) -> None:
        """Nothing is connected before the first range."""
        self._settings = settings
        self._places = asyncio.Semaphore(_CONSUMERS)
        self._idle: list[Any] = []

    async def read(self, partition: TopicPartition, start: int, end: int) -> list[Record]:
        """Records with start <= offset < end. `end` is not beyond the log's end, `start` not before its beginning.

        Raises LogUnavailableError where nothing comes for the time of a request.
        """
        if start >= end:
            return []
        records: list[Record] = []
        place = KafkaPartition(*partition)
        with unavailable(f"records {start} to {end} of {partition.topic}[{partition.partition}]"):
            async with self._consumer() as consumer:
                consumer.assign([place])
                consumer.seek(place, start)
                at = start
                while at < end:
                    async with asyncio.timeout(self._settings.request_timeout_ms / 1000):
                        came: list[KafkaRecord] = []
                        before = at
                        while at == before:
                            found = await fetched(consumer, [partition], timeout_s=_POLL_SECONDS, most=end - at)
                            came = found.get(partition, [])
                            at = await consumer.position(place)
                    records.extend(came)
        while records and records[-1].offset >= end:
            records.pop()
        return records

    async def close(self) -> None:
        """Close the connections."""
        idle, self._idle = self._idle, []
        for consumer in idle:
            await consumer.stop()

    @asynccontextmanager
    async def _consumer(self) -> AsyncIterator[Any]:
        async with self._places:
            consumer = self._idle.pop() if self._idle else await self._opened()
            try:
                yield consumer
            except BaseException:
                await consumer.stop()
                raise
            consumer.unsubscribe()  # else it goes on fetching for nobody
            self._idle.append(consumer)

    async def _opened(self) -> Any:
        consumer = AIOKafkaConsumer(
            **self._settings.client_arguments(),
            enable_auto_commit=False,
            auto_offset_reset="earliest",
            max_partition_fetch_bytes=8 * 1024 * 1024,
            fetch_max_wait_ms=_WAIT_MS,
        )
        try:
            with connecting(self._settings):
                await consumer.start()
        except BaseException:
            await consumer.stop()
            raise
        return consumer
