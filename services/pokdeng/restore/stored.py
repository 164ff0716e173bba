"""What lies on the `checkpoints` topic: tables where nothing went on, and checkpoints in two slots."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from pokdeng.stream.partitioner import partition_for
from pokdeng.stream.port import Message, TopicPartition
from pokdeng.stream.reading import read_on

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from pokdeng.restore.checkpoint import Checkpoint
    from pokdeng.stream.port import Log, Record
    from pokdeng.wire import Topics

TABLE: Final = "table|"


async def stored(log: Log, topics: Topics) -> AsyncIterator[Record]:
    """All records of the topic, partition by partition."""
    count = (await log.partition_counts([topics.checkpoints])).get(topics.checkpoints, 0)
    places = [TopicPartition(topics.checkpoints, number) for number in range(count)]
    ends = await log.end_offsets(places)
    beginnings = await log.beginning_offsets(places)
    for place in places:
        async for record in read_on(log, place, beginnings[place], ends[place]):
            yield record


async def noted_tables(log: Log, topics: Topics) -> dict[str, bytes]:
    """The newest snapshot of each table that was noted without a round having ended there."""
    found: dict[str, bytes] = {}
    async for record in stored(log, topics):
        key = (record.key or b"").decode()
        if key.startswith(TABLE) and record.value is not None:
            found[key.removeprefix(TABLE)] = record.value
    return found


def noted_table(topics: Topics, count: int, table_id: str, note: bytes) -> tuple[TopicPartition, Message]:
    """Where and how to say a table's snapshot; `count` is the number of the topic's partitions."""
    key = f"{TABLE}{table_id}".encode()
    return TopicPartition(topics.checkpoints, partition_for(key, count)), Message(key, note, [])


async def find_checkpoint(log: Log, topics: Topics) -> Checkpoint | None:  # noqa: ARG001 - none is written yet
    """The newest complete checkpoint, None where there is none."""
    return None
