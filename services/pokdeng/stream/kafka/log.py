"""`port.Log` on Apache Kafka: Faust for the group, connections of our own for everything else."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING, Final

from aiokafka.errors import CommitFailedError, IllegalStateError, KafkaError

from pokdeng.stream.guard import Guard
from pokdeng.stream.kafka.admin import KafkaAdmin
from pokdeng.stream.kafka.app import BatchApp, quiet
from pokdeng.stream.kafka.errors import is_passing, unavailable
from pokdeng.stream.kafka.feed import Feed
from pokdeng.stream.kafka.offsets import OffsetsClient
from pokdeng.stream.kafka.publisher import Publisher
from pokdeng.stream.kafka.reader import RangeReader, open_stretches
from pokdeng.stream.port import LogError, LogUnavailableError, TopicPartition

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Collection, Mapping, Sequence

    from pokdeng.stream.kafka.settings import KafkaSettings
    from pokdeng.stream.port import Listener, Message, Record, Stretches

_STOPPING_SECONDS: Final = 10.0


class KafkaLog:
    """A member of a group, once started; reads, asks and publishes without being one, too.

    Args:
        settings: how Kafka is reached.
        group: the consumer group; empty for a log that is never started.
        copartitioned: topics of which partitions with the same number go to the same member; as many in each.
        others: topics read besides.
    """

    def __init__(
        self,
        settings: KafkaSettings,
        group: str = "",
        *,
        copartitioned: Sequence[str] = (),
        others: Sequence[str] = (),
    ) -> None:
        """Nothing is connected before the first use."""
        self._settings = settings
        self._group = group
        self._copartitioned = tuple(copartitioned)
        self._others = tuple(others)
        self._offsets = OffsetsClient(settings)
        self._reader = RangeReader(settings)
        self._publisher = Publisher(settings)
        self._admin = KafkaAdmin(settings)
        self._guard: Guard | None = None
        self._feed: Feed | None = None
        self._app: BatchApp | None = None
        self._watch: asyncio.Task[None] | None = None

    async def start(self, listener: Listener) -> None:
        """Join the group and deliver to `listener` until `stop`.

        Raises LogError where a topic is missing or co-partitioned ones differ in their number of partitions.
        """
        if self._guard is not None or not self._group:
            raise LogError("a log is started once, and with a group")
        quiet()
        counts = await self.partition_counts((*self._copartitioned, *self._others))
        if missing := {*self._copartitioned, *self._others} - counts.keys():
            raise LogError(f"topics that do not exist: {sorted(missing)}")
        if len({counts[topic] for topic in self._copartitioned}) > 1:
            raise LogError(f"co-partitioned topics differ in their number of partitions: {counts}")
        self._guard = Guard(listener)
        self._feed = Feed(self._guard, self._copartitioned, self._settings.credit_records)
        self._app = BatchApp(self._settings, self._group, (*self._copartitioned, *self._others), self._feed)
        self._watch = asyncio.get_running_loop().create_task(self._watch_app(self._app, self._guard))
        with unavailable("joining the group"):
            await self._app.start()

    async def stop(self) -> None:
        """Have the listener finish if it owns something, leave the group, close everything. Idempotent."""
        guard, feed, app = self._guard, self._feed, self._app
        had_failed = False
        if guard is not None and feed is not None and app is not None:
            had_failed, feed.is_closing = guard.has_failed, True
            await feed.revoke()
            if self._watch is not None:
                self._watch.cancel()
            with suppress(asyncio.TimeoutError):
                async with asyncio.timeout(_STOPPING_SECONDS):
                    await app.stop()
            guard.close()
        await self._publisher.close()
        await self._reader.close()
        await self._offsets.close()
        await self._admin.close()
        if guard is not None and not had_failed and guard.has_failed:
            await guard.wait()

    async def run_until_failed(self) -> None:
        """Return when the log was stopped; raise what the listener raised, or why the log cannot go on."""
        if self._guard is None:
            raise LogError("not started")
        await self._guard.wait()

    async def rejoin(self) -> None:
        """Give everything back and be assigned anew."""
        guard, feed, app = self._guard, self._feed, self._app
        if guard is not None and feed is not None and app is not None and not (guard.is_over or feed.is_closing):
            with unavailable("joining the group again"):
                await app.rejoin()

    async def end_offsets(self, partitions: Collection[TopicPartition]) -> dict[TopicPartition, int]:
        """The log's end of each partition as of an instant after this was called."""
        return await self._offsets.ends(partitions)

    async def beginning_offsets(self, partitions: Collection[TopicPartition]) -> dict[TopicPartition, int]:
        """The first offset still kept of each partition."""
        return await self._offsets.beginnings(partitions)

    def position(self, partition: TopicPartition) -> int:
        """All records below were delivered or never will be. KeyError where the partition is not assigned."""
        if self._feed is None:
            raise KeyError(partition)
        return self._feed.position(partition)

    def done(self, count: int, partition: TopicPartition | None = None) -> None:
        """Give credits back."""
        if self._feed is not None:
            self._feed.done(count, partition)

    async def committed(self, partitions: Collection[TopicPartition]) -> dict[TopicPartition, int | None]:
        """The group's committed offsets, None where there is none."""
        return await self._admin.committed(self._group, partitions)

    async def commit(self, offsets: Mapping[TopicPartition, int]) -> bool:
        """Commit the next offset to read of assigned partitions; False where the group rebalanced."""
        guard, feed, app = self._guard, self._feed, self._app
        if guard is None or feed is None or app is None or guard.has_failed or not feed.is_assigned(offsets):
            return False
        with unavailable("committing offsets"):
            async with asyncio.timeout(self._settings.request_timeout_ms / 1000):
                try:
                    await app.commit_offsets(dict(offsets))
                except (CommitFailedError, IllegalStateError):
                    return False
        return True

    async def publish(self, batches: Mapping[TopicPartition, Sequence[Message]], *, compressed: bool = False) -> None:
        """Append messages, per partition in order, and return when all are acknowledged."""
        await self._publisher.publish(batches, "gzip" if compressed else None)

    async def read(self, partition: TopicPartition, start: int, end: int) -> list[Record]:
        """The records with start <= offset < end that are still kept, waiting for those not replicated yet."""
        begins, ends = await asyncio.gather(self._offsets.beginnings([partition]), self._offsets.ends([partition]))
        return await self._reader.read(partition, max(start, begins[partition]), min(end, ends[partition]))

    @asynccontextmanager
    async def open_stretches(
        self, starts: Mapping[TopicPartition, int], ends: Mapping[TopicPartition, int]
    ) -> AsyncIterator[Stretches]:
        """Read stretches of many partitions by turns, of what is still kept, over a connection of its own."""
        begin, until = await asyncio.gather(self._offsets.beginnings(ends), self._offsets.ends(ends))
        async with open_stretches(
            self._settings,
            {partition: max(starts.get(partition, 0), begin[partition]) for partition in ends},
            {partition: min(end, until[partition]) for partition, end in ends.items()},
        ) as stretches:
            yield stretches

    async def offset_for_time(self, partition: TopicPartition, timestamp_ms: int) -> int:
        """The offset of the first record with a broker time not before `timestamp_ms`; the log's end if none."""
        return await self._offsets.for_time(partition, timestamp_ms)

    async def partition_counts(self, topics: Collection[str]) -> dict[str, int]:
        """How many partitions each of these topics has; one that does not exist is absent."""
        return await self._admin.partition_counts(topics)

    async def _watch_app(self, app: BatchApp, guard: Guard) -> None:
        """What ends the app ends the log: nothing goes on in silence."""
        await app.wait_until_stopped()
        reason = app.crash_reason
        if isinstance(reason, OSError) or (isinstance(reason, KafkaError) and is_passing(reason)):
            guard.fail(LogUnavailableError(f"the group's consumer: {reason!r}"))
        else:
            guard.fail(reason or LogError("the group's consumer stopped by itself"))
