"""Reads ranges of partitions outside of any group: one at a time, or long stretches of many by turns."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, Final

from aiokafka.structs import TopicPartition as KafkaPartition

from pokdeng.stream.kafka.connecting import connecting
from pokdeng.stream.kafka.errors import unavailable
from pokdeng.stream.kafka.fetching import fetched, let_go, taken
from pokdeng.stream.kafka.untyped import AIOKafkaConsumer
from pokdeng.stream.port import LogError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping, Sequence

    from pokdeng.stream.kafka.settings import KafkaSettings
    from pokdeng.stream.port import LogRecord, Record, TopicPartition

_CONSUMERS: Final = 4
"""How many ranges are read at the same time."""
_FEWEST_BYTES: Final = 32 * 1024
_A_RECORD_BYTES: Final = 1024
_MOST_BYTES: Final = 4 * 1024 * 1024
"""So much is asked for at once of a range: as much again is fetched ahead, for nobody where the range ends."""
_PIECE_BYTES: Final = 256 * 1024
"""How much of a partition is fetched ahead where many are read by turns."""
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
                bytes_wanted = min(max(_FEWEST_BYTES, (end - start) * _A_RECORD_BYTES), _MOST_BYTES)
                consumer._fetcher._max_partition_fetch_bytes = bytes_wanted  # noqa: SLF001 - has a contract test
                consumer.assign([place])
                consumer.seek(place, start)
                at = start
                while at < end:
                    came, at = await _came(self._settings, consumer, partition, at, end - at)
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
            let_go(consumer)
            self._idle.append(consumer)

    async def _opened(self) -> Any:
        return await _consumer(self._settings, fetch_max_wait_ms=_WAIT_MS)


async def _consumer(settings: KafkaSettings, **more: int) -> Any:
    """A consumer without a group, connected."""
    consumer = AIOKafkaConsumer(
        **settings.client_arguments(), enable_auto_commit=False, auto_offset_reset="earliest", **more
    )
    try:
        with connecting(settings):
            await consumer.start()
    except BaseException:
        await consumer.stop()
        raise
    return consumer


async def _came(
    settings: KafkaSettings, consumer: Any, partition: TopicPartition, at: int, most: int
) -> tuple[Sequence[LogRecord], int]:
    """Records and where the next one is; no records where the log has none there any more.

    Raises LogError where the log was set back, LogUnavailableError or TimeoutError where nothing comes for the time of
    a request.
    """
    records = taken(consumer, [partition], most).get(partition)
    if records:  # most often: while some were dealt with, the next ones came
        return records, records[-1].offset + 1
    async with asyncio.timeout(settings.request_timeout_ms / 1000):
        while True:
            found = await fetched(consumer, [partition], timeout_s=_POLL_SECONDS, most=most)
            next_at: int = await consumer.position(KafkaPartition(*partition))
            if next_at < at:
                raise LogError(f"{partition.topic}[{partition.partition}] was set back from {at} to {next_at}")
            if next_at > at:
                return found.get(partition, ()), next_at


class KafkaStretches:
    """`port.Stretches`: one consumer has all partitions, and fetches of those that run out while others are read."""

    def __init__(
        self, settings: KafkaSettings, consumer: Any, stretches: Mapping[TopicPartition, tuple[int, int]]
    ) -> None:
        """`consumer` is assigned them and stands at their starts; of each stretch its start and its end."""
        self._settings = settings
        self._consumer = consumer
        self._left = dict(stretches)

    async def read(self, partition: TopicPartition, most: int) -> Sequence[Record]:
        """The next records. Raises LogUnavailableError where nothing comes for the time of a request."""
        at, end = self._left.get(partition, (0, 0))
        records: Sequence[LogRecord] = []
        while at < end and not records:
            with unavailable(f"records from {at} on of {partition.topic}[{partition.partition}]"):
                records, at = await _came(self._settings, self._consumer, partition, at, min(most, end - at))
            if at >= end:
                records = [record for record in records if record.offset < end]
                self._consumer.pause(KafkaPartition(*partition))
            self._left[partition] = at, end
        return records


@asynccontextmanager
async def open_stretches(
    settings: KafkaSettings, starts: Mapping[TopicPartition, int], ends: Mapping[TopicPartition, int]
) -> AsyncIterator[KafkaStretches]:
    """Read stretches by turns, with a connection that is closed behind them."""
    starts = {partition: start for partition, start in starts.items() if start < ends[partition]}
    if not starts:
        yield KafkaStretches(settings, None, {})
        return
    with unavailable("reading of several partitions"):
        consumer = await _consumer(settings, fetch_max_wait_ms=_WAIT_MS, max_partition_fetch_bytes=_PIECE_BYTES)
    # Else one that ran out is not fetched for 100 ms while another still has something: too slow for reading by turns.
    consumer._fetcher._prefetch_backoff = 0.0  # noqa: SLF001 - has a contract test
    try:
        consumer.assign([KafkaPartition(*partition) for partition in starts])
        for partition, start in starts.items():
            consumer.seek(KafkaPartition(*partition), start)
        yield KafkaStretches(
            settings, consumer, {partition: (start, ends[partition]) for partition, start in starts.items()}
        )
    finally:
        await consumer.stop()
        let_go(consumer)
