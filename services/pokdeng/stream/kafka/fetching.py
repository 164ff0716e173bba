"""Takes the records that an aiokafka fetcher holds.

aiokafka's own way makes an object of eleven fields of each record, in several steps of Python: 1.3 to 1.8 us a record
of 300 bytes, of which reading the bytes takes 0.3 (here 0.7); 3.0 with six headers (here 1.9). What is private has a
contract test (`tests/stream/test_pinned_libraries.py`). Transactions are not looked at: consumers here read what is
uncommitted, too.
"""

from __future__ import annotations

import asyncio
import inspect
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

from aiokafka.consumer.fetcher import FetchResult
from aiokafka.errors import ConsumerStoppedError, CorruptRecordException

from pokdeng.stream.kafka.lenient import keep_bytes, read_leniently
from pokdeng.stream.port import LogRecord, TopicPartition

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from aiokafka.structs import TopicPartition as KafkaPartition


_record: Final = partial(tuple.__new__, LogRecord)
keep_bytes()


async def fetched(
    consumer: Any, partitions: Collection[TopicPartition], *, timeout_s: float, most: int
) -> dict[TopicPartition, list[LogRecord]]:
    """What came of these partitions, waiting for something until `timeout_s` has passed.

    At most `most` records. Positions are moved beyond what is given.

    Raises:
        ConsumerStoppedError: the consumer was stopped.
        KafkaError: what the broker answered, or a batch that does not have its checksum; nothing is passed over then.
    """
    fetcher = consumer._fetcher  # noqa: SLF001 - has a contract test, as all below
    subscriptions = fetcher._subscriptions  # noqa: SLF001
    loop = asyncio.get_running_loop()
    until = loop.time() + timeout_s
    with subscriptions.fetch_context():
        while True:
            if consumer._closed or fetcher._closed:  # noqa: SLF001
                raise ConsumerStoppedError
            if subscriptions.reassignment_in_progress:
                await subscriptions.wait_for_assignment()
            found = taken(consumer, partitions, most)
            left_s = until - loop.time()
            if found or left_s <= 0:
                return found
            waiter = fetcher._create_fetch_waiter()  # noqa: SLF001
            await asyncio.wait([waiter], timeout=left_s)
            if not waiter.done():
                waiter.cancel()
                return {}
            waiter.result()


def taken(consumer: Any, partitions: Collection[TopicPartition], most: int) -> dict[TopicPartition, list[LogRecord]]:
    """What came already, as `fetched` gives it; an error is raised before anything is taken, or the next time."""
    fetcher = consumer._fetcher  # noqa: SLF001 - has a contract test, as below
    held_by = fetcher._records  # noqa: SLF001
    found: dict[TopicPartition, list[LogRecord]] = {}
    left = most
    for partition in list(held_by):
        if partition not in partitions:
            if not fetcher._subscriptions.is_assigned(partition):  # noqa: SLF001
                _cut(held_by.pop(partition))
            continue
        held = held_by[partition]
        is_error = type(held) is not FetchResult
        if is_error and found:
            break
        records = [] if is_error else _unpacked(held, left)
        if is_error or not held.has_more():
            del held_by[partition]
            fetcher._notify(fetcher._wait_consume_future)  # noqa: SLF001
        if is_error:
            held.check_raise()
        if records:
            found[TopicPartition(*partition)] = records
            left -= len(records)
            if left <= 0:
                break
    return found


def let_go(consumer: Any) -> None:
    """Forget what was fetched ahead. It is megabytes, and in circles: a collector that rests would keep all of it."""
    held_by = consumer._fetcher._records  # noqa: SLF001 - has a contract test, as below
    while held_by:
        _cut(held_by.popitem()[1])


def _cut(held: Any) -> None:
    unread = getattr(held, "_partition_records", None)
    if unread is not None:
        unread._records_iterator = None  # noqa: SLF001 - has a contract test


def _unpacked(held: Any, most: int) -> list[LogRecord]:
    """At most so many records; none where the position was moved meanwhile."""
    place = held._topic_partition  # noqa: SLF001 - has a contract test, as all here
    unread = held._partition_records  # noqa: SLF001
    if unread is None:
        return []
    if not held.check_assignment(place):
        unread._records_iterator = None  # noqa: SLF001 - as in `let_go`
        return []
    if inspect.getgeneratorstate(unread._records_iterator) == inspect.GEN_CREATED:  # noqa: SLF001
        unread._records_iterator = _records_of(unread, place)  # noqa: SLF001
    try:
        records = list(islice(unread._records_iterator, most))  # noqa: SLF001
    except CorruptRecordException:
        held._partition_records = None  # noqa: SLF001 - fetched again, from where the position still is
        raise
    if len(records) == most:
        unread.next_fetch_offset = records[-1].offset + 1
    held._update_position()  # noqa: SLF001
    if len(records) < most:
        held._partition_records = None  # noqa: SLF001
    return records


def _records_of(unread: Any, place: KafkaPartition) -> Iterator[LogRecord]:
    """One after the other; each batch that was given to its end moves the position, beyond what is missing in it."""
    topic, number = place.topic, place.partition
    first, batches = unread.next_fetch_offset, unread._records  # noqa: SLF001 - has a contract test
    while batches.has_next():
        batch = batches.next_batch()
        if not batch.validate_crc():
            raise CorruptRecordException(f"a batch of {topic}[{number}] does not have its checksum")
        if not batch.is_control_batch:
            offset = first - 1
            try:
                for one in batch:
                    offset = one.offset
                    if offset >= first:  # a batch is sent whole, whatever was asked for
                        yield _record((topic, number, offset, one.timestamp, one.key, one.value, one.headers))
            except UnicodeDecodeError:
                first = max(first, offset + 1)
                for one in read_leniently(batches.raw, batch.base_offset):
                    if one.offset >= first:
                        yield _record((topic, number, one.offset, one.timestamp, one.key, one.value, one.headers))
        unread.next_fetch_offset = batch.next_offset
