"""What lies on the `checkpoints` topic: checkpoints in two slots, who writes one, and tables where nothing went on."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Final

from pokdeng.restore.checkpoint import END, SLOTS, Slot, StoredCheckpoint, decode_end
from pokdeng.stream.partitioner import partition_for
from pokdeng.stream.port import Message, TopicPartition

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from pokdeng.stream.port import Log, Record
    from pokdeng.wire import Topics

TABLE: Final = "table|"
_A_FEW: Final = 20
"""Chunks are large: so many are taken at once."""


async def places_of(log: Log, topics: Topics) -> list[TopicPartition]:
    """The partitions of the topic."""
    count = (await log.partition_counts([topics.checkpoints])).get(topics.checkpoints, 0)
    return [TopicPartition(topics.checkpoints, number) for number in range(count)]


async def stored(log: Log, topics: Topics) -> AsyncIterator[Record]:
    """All records of the topic, partition by partition."""
    places = await places_of(log, topics)
    ends = await log.end_offsets(places)
    beginnings = await log.beginning_offsets(places)
    async with log.open_stretches(beginnings, ends) as stretches:
        for place in places:
            while records := await stretches.read(place, _A_FEW):
                for record in records:
                    yield record


async def noted_tables(log: Log, topics: Topics) -> list[tuple[str, bytes]]:
    """Tables and their snapshots that were noted without a round having ended there; the newest is not always last."""
    found: list[tuple[str, bytes]] = []
    async for record in stored(log, topics):
        key = (record.key or b"").decode()
        if key.startswith(TABLE) and record.value is not None:
            found.append((key.removeprefix(TABLE), record.value))
    return found


def noted_table(topics: Topics, count: int, table_id: str, note: bytes) -> tuple[TopicPartition, Message]:
    """Where and how to say a table's snapshot; `count` is the number of the topic's partitions."""
    key = f"{TABLE}{table_id}".encode()
    return TopicPartition(topics.checkpoints, partition_for(key, count)), Message(key, note, [])


async def read_slots(log: Log, topics: Topics) -> dict[str, Slot]:
    """What lies in each slot: of every key the newest record."""
    slots = {slot: Slot() for slot in SLOTS}
    async for record in stored(log, topics):
        kind, _, rest = (record.key or b"").decode().partition("|")
        name, _, what = rest.partition("|")
        slot = slots.get(name)
        if kind != "slot" or slot is None:
            continue
        if what == END:
            slot.end = None if record.value is None else decode_end(record.value)
        elif record.value is None:
            slot.chunks.pop(int(what), None)
        else:
            place = TopicPartition(record.topic, record.partition)
            slot.chunks[int(what)] = (place, record.offset, hashlib.sha256(record.value).digest())
    return slots


async def find_checkpoint(log: Log, topics: Topics, *, remember_ms: int = 0) -> StoredCheckpoint | None:
    """The newest complete checkpoint, None where there is none; one that remembers as long as is asked."""
    return newest(await read_slots(log, topics), log, topics, remember_ms=remember_ms)


def newest(slots: dict[str, Slot], log: Log, topics: Topics, *, remember_ms: int = 0) -> StoredCheckpoint | None:
    """The newest complete checkpoint of these slots."""
    complete = [(slot.end.number, slot, slot.end) for slot in slots.values() if slot.end and slot.is_complete]
    usable = [one for one in complete if one[2].remember_ms >= remember_ms]
    if not usable:
        return None
    _, slot, end = max(usable, key=lambda one: one[0])
    return StoredCheckpoint(slot, end, lambda: stored(log, topics))
