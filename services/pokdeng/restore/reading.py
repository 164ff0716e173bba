"""Reading the output topics side by side, oldest first, in bounded pieces.

The facts of one bet lie in several topics. Read side by side they come close to each other, so that little must be kept
until its other half comes, however long the log is.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from pokdeng.stream.port import TopicPartition
from pokdeng.wire import TopicKind

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping, Sequence

    from pokdeng.stream.port import Log, Record
    from pokdeng.wire import Topics

CHUNK_RECORDS: Final = 10_000
"""The most offsets that are asked for at once, of one partition."""
SIDE_BY_SIDE: Final = 3
"""How many partitions are read at the same time."""

FACT_KINDS: Final = (TopicKind.ROUNDS, TopicKind.SETTLEMENTS, TopicKind.BET_DECISIONS, TopicKind.FUNDS_DECISIONS)
"""In the order in which their ends are asked for: what follows is asked later than what it follows from is written."""

Offsets = dict[TopicPartition, int]


@dataclass(slots=True)
class Span:
    """What is left to read of a partition, and the time of the newest record that was read."""

    partition: TopicPartition
    start: int
    end: int
    at_ms: int = 0


async def fact_partitions(log: Log, topics: Topics) -> dict[TopicKind, list[TopicPartition]]:
    """The partitions of the output topics."""
    names = {kind: topics.name(kind) for kind in FACT_KINDS}
    counts = await log.partition_counts(list(names.values()))
    return {kind: [TopicPartition(name, n) for n in range(counts.get(name, 0))] for kind, name in names.items()}


async def ends_of(log: Log, partitions: Mapping[TopicKind, Sequence[TopicPartition]]) -> Offsets:
    """Where the facts end now: of rounds first, then of what they follow from."""
    ends: Offsets = {}
    for kind in FACT_KINDS:
        ends |= await log.end_offsets(partitions[kind])
    return ends


async def beginnings_of(log: Log, partitions: Mapping[TopicKind, Sequence[TopicPartition]]) -> Offsets:
    """Where the facts begin."""
    return await log.beginning_offsets([one for kind in FACT_KINDS for one in partitions[kind]])


async def offsets_at(log: Log, partitions: Sequence[TopicPartition], at_ms: int) -> Offsets:
    """The first offsets with a broker time not before `at_ms`."""
    found = await asyncio.gather(*(log.offset_for_time(one, max(0, at_ms)) for one in partitions))
    return dict(zip(partitions, found, strict=True))


async def side_by_side(
    log: Log, starts: Mapping[TopicPartition, int], ends: Mapping[TopicPartition, int]
) -> AsyncIterator[tuple[TopicPartition, Sequence[Record], int]]:
    """The records from `starts` up to `ends`, those partitions first that lag behind in time.

    With each piece comes the time up to which everything was given before it.
    """
    spans = [Span(one, starts.get(one, 0), end) for one, end in ends.items() if starts.get(one, 0) < end]
    while spans:
        spans.sort(key=lambda span: span.at_ms)
        passed_ms = spans[0].at_ms
        now = spans[:SIDE_BY_SIDE]
        pieces = await asyncio.gather(
            *(log.read(span.partition, span.start, min(span.start + CHUNK_RECORDS, span.end)) for span in now)
        )
        for span, records in zip(now, pieces, strict=True):
            span.start = min(span.start + CHUNK_RECORDS, span.end)
            if records:
                span.at_ms = max(span.at_ms, records[-1].timestamp)
                yield span.partition, records, passed_ms
        spans = [span for span in spans if span.start < span.end]
