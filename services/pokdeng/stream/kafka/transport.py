"""Faust's Kafka transport, delivering what a fetch brought as one message instead of one event a record.

A message costs Faust 50 to 200 us, whatever is in it. Everything here that Faust or aiokafka keep private
has a contract test (`tests/stream/test_pinned_libraries.py`), and both are pinned to exact versions.
"""

from __future__ import annotations

import asyncio
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final

import faust
from aiokafka.structs import TopicPartition as KafkaPartition
from faust.transport.drivers.aiokafka import AIOKafkaConsumerThread, Consumer, Transport
from faust.types import ConsumerMessage

from pokdeng.stream.kafka.feed import NOTHING, Fetched
from pokdeng.stream.kafka.fetching import fetched
from pokdeng.stream.port import TopicPartition

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from aiokafka import AIOKafkaConsumer

    from pokdeng.stream.kafka.feed import Feed, Slice

_POLL_SECONDS: Final = 0.1
"""How long a fetch waits: a gap in the log (transaction markers) is noticed that late at most."""
_IDLE_SECONDS: Final = 1.0
_LONG_POLL_MS: Final = 500
"""How long the broker may hold a fetch: after a rebalance the first answer may be that late."""
_BUSY_SECONDS: Final = 0.02
"""Fetches that bring something follow each other at least this quickly: the broker may gather records."""
_BUSY_BYTES: Final = 32 * 1024
_BEYOND_ANY_OFFSET: Final = 2**62
"""Faust drops a message below the last one's offset, also where the log itself was set back; ours are never below."""


class BatchSchema(faust.Schema[Any, Any]):
    """Leaves a message as it is: its value is a list of `Slice`."""

    def loads_key(self, app: Any, message: Any, **_: Any) -> Any:  # noqa: ARG002 - Faust's signature
        """Nothing to decode."""
        return message.key

    def loads_value(self, app: Any, message: Any, **_: Any) -> Any:  # noqa: ARG002 - Faust's signature
        """Nothing to decode."""
        return message.value


class BatchThread(AIOKafkaConsumerThread):
    """The consumer's thread: fetches, seeks and commits in an event loop of its own."""

    _fetched_at = 0.0

    def _create_worker_consumer(self, transport: Any) -> AIOKafkaConsumer:
        consumer = super()._create_worker_consumer(transport)
        consumer._fetch_max_wait_ms = _LONG_POLL_MS
        return consumer

    async def on_thread_stop(self) -> None:
        """Close the consumer. Where the broker is away aiokafka raises a cancellation; Faust would wait for ever."""
        with suppress(asyncio.CancelledError):
            await super().on_thread_stop()

    async def fetch(self, partitions: set[TopicPartition]) -> Fetched:
        """Records of these partitions, waiting a little where there are none."""
        fetched: Fetched = await self.call_thread(self._fetch, partitions)
        return fetched

    async def show_life(self) -> None:
        """Count as fetching: a member that does not is taken for hung and can never rejoin."""
        await self.call_thread(self._show_life)

    async def commit_exactly(self, offsets: dict[TopicPartition, int]) -> None:
        """Commit what aiokafka's consumer commits, with what it raises."""
        kafka_offsets = {KafkaPartition(*partition): offset for partition, offset in offsets.items()}
        await self.call_thread(self._ensure_consumer().commit, kafka_offsets)

    async def rejoin(self) -> None:
        """Have the coordinator join the group anew."""
        await self.call_thread(self._rejoin)

    async def _rejoin(self) -> None:
        consumer: Any = self._ensure_consumer()
        consumer._coordinator.request_rejoin()

    async def _fetch(self, partitions: set[TopicPartition]) -> Fetched:
        consumer: Any = self._ensure_consumer()
        subscriptions = consumer._subscription
        assignment = subscriptions.subscription.assignment
        before = _positions(assignment)
        if not self.consumer.flow_active:
            return NOTHING
        records = await fetched(consumer, partitions, timeout_s=_POLL_SECONDS, most=consumer._max_poll_records)
        # No await from here on: records, positions and generation are those of one instant.
        self._pace(consumer._fetcher, has_records=bool(records))
        if subscriptions.subscription.assignment is not assignment:
            # A rebalance came and went meanwhile. Faust is about to seek, and to drop what is in its queues; what was
            # just taken is put back, so that it is read when that is over.
            for partition, taken in records.items():
                consumer.seek(partition, taken[0].offset)
            return NOTHING
        return Fetched(
            generation=consumer._coordinator.generation,
            records=records,
            before=before,
            after=_positions(assignment),
        )

    def _pace(self, fetcher: Any, *, has_records: bool) -> None:
        """Have the broker gather records for some milliseconds while they come in quick succession.

        Each answer costs as much as hundreds of records, and the broker gives one for the first record it has.
        """
        app: Any = self.app
        now = time.monotonic()
        is_busy = has_records and now - self._fetched_at < _BUSY_SECONDS
        fetcher._fetch_min_bytes = _BUSY_BYTES if is_busy else 1
        fetcher._fetch_max_wait_ms = app.gather_ms if is_busy else _LONG_POLL_MS
        self._fetched_at = now

    async def _show_life(self) -> None:
        with self._ensure_consumer()._subscription.fetch_context():
            pass


def _positions(assignment: Any) -> dict[TopicPartition, int]:
    if assignment is None:
        return {}
    states = ((partition, assignment.state_value(partition)) for partition in assignment.tps)
    return {TopicPartition(*partition): state.position for partition, state in states if state.has_valid_position}


class BatchConsumer(Consumer):
    """Faust's consumer, which asks the feed what to fetch and yields one message a fetch."""

    _thread: BatchThread

    async def commit_exactly(self, offsets: dict[TopicPartition, int]) -> None:
        """Commit what aiokafka's consumer commits, with what it raises."""
        await self._thread.commit_exactly(offsets)

    async def rejoin(self) -> None:
        """Have the coordinator join the group anew, as after any change of it."""
        await self._thread.rejoin()

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        """Made by Faust."""
        super().__init__(*args, **kwargs)
        self._has_waited = False

    def _new_consumer_thread(self) -> BatchThread:
        return BatchThread(self, loop=self.loop, beacon=self.beacon)

    async def getmany(self, timeout: float) -> AsyncIterator[tuple[Any, Any]]:  # noqa: ARG002, ASYNC109 - Faust's signature
        """One round: fetch what the feed has credits for, and hand it on."""
        app: Any = self.app
        feed: Feed = app.feed
        if not self.flow_active:
            await self.wait(self.can_resume_flow.wait())
        partitions = feed.open(has_waited=self._has_waited)
        if not partitions or feed.guard.is_over or not (feed.guard.ready.is_set() and feed.settled.is_set()):
            await self._idle(feed)
            return
        self._has_waited = False
        fetched = await self._thread.fetch(partitions)
        # Where the flow was suspended meanwhile, the partitions are on their way to their next owner: nothing is lost.
        slices = feed.slices(fetched) if self.flow_active and not self.should_stop else []
        if slices:
            message = _message(slices, fetched.generation)
            yield message.tp, message

    async def _idle(self, feed: Feed) -> None:
        await self._thread.show_life()
        feed.room.clear()
        waiting = [feed.room.wait(), self.suspend_flow.wait()]
        waiting += [event.wait() for event in (feed.guard.ready, feed.settled) if not event.is_set()]
        await self.wait_first(*waiting, timeout=_IDLE_SECONDS)
        self._has_waited = not feed.room.is_set()


def _message(slices: list[Slice], generation: int) -> ConsumerMessage:
    """One message, addressed to the first slice's partition: the app has one agent for all."""
    partition = faust.types.TP(*slices[0].partition)
    value: Any = slices
    return ConsumerMessage(
        partition.topic, partition.partition, _BEYOND_ANY_OFFSET, 0.0, 0, None, None, value, None, 0, 0, partition,
        generation_id=generation,
    )  # fmt: skip


class BatchTransport(Transport):
    """Set as an app's `transport` before it starts."""

    Consumer = BatchConsumer
