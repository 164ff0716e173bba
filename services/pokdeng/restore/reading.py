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
    from collections.abc import AsyncIterator, Iterable, Mapping, Sequence

    from pokdeng.stream.port import Log, Record, Stretches
    from pokdeng.wire import Topics

CHUNK_RECORDS: Final = 500
"""The most records that are taken at once, of one partition."""

FACT_KINDS: Final = (TopicKind.ROUNDS, TopicKind.SETTLEMENTS, TopicKind.BET_DECISIONS, TopicKind.FUNDS_DECISIONS)
"""In the order in which their ends are asked for: what follows is asked later than what it follows from is written."""

Offsets = dict[TopicPartition, int]


@dataclass(slots=True)
class Span:
    """A partition that is not read to its end, and the time of the newest record that was read."""

    partition: TopicPartition
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
    stretches: Stretches, partitions: Iterable[TopicPartition]
) -> AsyncIterator[tuple[TopicPartition, Sequence[Record], int]]:
    """The records of all these stretches, that one next which lags behind in time.

    With each piece comes the time up to which everything was given before it.
    """
    spans = [Span(partition) for partition in partitions]
    while spans:
        span = min(spans, key=_at_ms)
        records = await stretches.read(span.partition, CHUNK_RECORDS)
        if not records:
            spans.remove(span)
            continue
        passed_ms = span.at_ms
        span.at_ms = max(passed_ms, records[-1].timestamp)
        yield span.partition, records, passed_ms


def _at_ms(span: Span) -> int:
    return span.at_ms
