"""How long things took by the broker's own stamps: the benchmark's decision topics are stamped on append."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import msgspec

from pokdeng.stream.port import TopicPartition

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from pokdeng.stream.kafka import KafkaLog
    from pokdeng.stream.port import Record
    from pokdeng.wire import Topics


class _Cause(msgspec.Struct):
    topic: str
    partition: int
    offset: int


class _Caused(msgspec.Struct):
    type: str
    cause: _Cause


async def latencies_ms(log: KafkaLog, topics: Topics, facts: str, partitions: int, *, skip_ms: int) -> Counter[int]:
    """Milliseconds from the append of each fact's cause to its own, by how often; the first `skip_ms` are left out."""
    stamps: dict[tuple[str, int, int], int] = {}
    for topic in (topics.bets, topics.table_events):
        for number in range(partitions):
            async for record in _all(log, TopicPartition(topic, number)):
                stamps[topic, number, record.offset] = record.timestamp
    begun = min(stamps.values(), default=0)
    found: Counter[int] = Counter()
    for number in range(partitions):
        async for record in _all(log, TopicPartition(facts, number)):
            cause = msgspec.json.decode(record.value or b"", type=_Caused).cause
            at = stamps.get((cause.topic, cause.partition, cause.offset))
            if at is not None and at >= begun + skip_ms:
                found[record.timestamp - at] += 1
    return found


def percentile(counts: Counter[int], share: float) -> int:
    """The value that `share` (0 .. 1) of all do not exceed."""
    left = share * counts.total()
    for value, count in sorted(counts.items()):
        left -= count
        if left <= 0:
            return value
    return 0


async def _all(log: KafkaLog, partition: TopicPartition) -> AsyncIterator[Record]:
    start = (await log.beginning_offsets([partition]))[partition]
    end = (await log.end_offsets([partition]))[partition]
    while start < end:
        until = min(end, start + 20_000)
        for record in await log.read(partition, start, until):
            yield record
        start = until
