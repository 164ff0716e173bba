"""Finished rounds folded again from the log, many in one pass: a read has its price, and corrections come in heaps."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Final, NamedTuple

from pokdeng.events.inputs import ShoeStarted
from pokdeng.settlement.bygone import revive
from pokdeng.stream.port import TopicPartition
from pokdeng.stream.reading import read_on
from pokdeng.wire import MalformedRecordError, decode_table_event

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from pokdeng.events.ids import RoundId, TableId
    from pokdeng.events.inputs import TableEvent
    from pokdeng.rounds import Round
    from pokdeng.settlement.finished import Finished
    from pokdeng.settlement.late import LateEvent
    from pokdeng.stream.port import Log, Record

GAP_RECORDS: Final = 5_000
"""Two rounds are read in one stretch if no more lies between them: reading that costs less than asking once more."""


class Bygone(NamedTuple):
    """A finished round that is asked for: where, how it ended, and what came for it since, up to who asks."""

    partition: int
    table: TableId
    round: RoundId
    finished: Finished
    late: Sequence[LateEvent]
    not_noted_below: int
    """What came for it below this offset may be missing in `late`, cards and closes that is: the log tells them."""

    @property
    def start(self) -> int:
        """The offset of its first event."""
        return self.finished.first_event

    @property
    def end(self) -> int:
        """Behind the last event that is read for it, at least the last of its first revision."""
        return max(self.finished.settled_event + 1, self.not_noted_below)


async def revive_all(
    log: Log, table_events: str, asked: Collection[Bygone]
) -> dict[tuple[TableId, RoundId], Round | None]:
    """Each round as its latest revision left it; None where the log keeps it no more."""
    stretches = [
        _read(log, TopicPartition(table_events, partition), stretch)
        for partition in sorted({one.partition for one in asked})
        for stretch in stretches_of([one for one in asked if one.partition == partition])
    ]
    revived: dict[tuple[TableId, RoundId], Round | None] = {}
    for found in await asyncio.gather(*stretches):
        revived.update(found)
    return revived


def stretches_of(asked: Iterable[Bygone]) -> list[list[Bygone]]:
    """The rounds of one partition by the stretches of the log that are read for them, each in the order of starts."""
    stretches: list[list[Bygone]] = []
    end = 0
    for one in sorted(asked, key=lambda one: one.start):
        if stretches and one.start <= end + GAP_RECORDS:
            stretches[-1].append(one)
        else:
            stretches.append([one])
            end = 0
        end = max(end, one.end)
    return stretches


async def _read(
    log: Log, place: TopicPartition, asked: Sequence[Bygone]
) -> dict[tuple[TableId, RoundId], Round | None]:
    rounds = {(one.table, one.round): one for one in asked}
    events: dict[tuple[TableId, RoundId], list[tuple[Record, TableEvent]]] = {name: [] for name in rounds}
    coming: dict[bytes | None, list[Bygone]] = {}
    for one in reversed(asked):
        coming.setdefault(one.table.encode(), []).append(one)
    ends: dict[bytes | None, int] = dict.fromkeys(coming, 0)
    async for record in read_on(log, place, asked[0].start, max(one.end for one in asked)):
        waiting = coming.get(record.key)
        if waiting is None:
            continue
        offset = record.offset
        while waiting and waiting[-1].start <= offset:
            ends[record.key] = max(ends[record.key], waiting.pop().end)
        if offset < ends[record.key]:  # else it lies between two rounds
            _take(record, rounds, events)
    return {name: revive(one.finished, events[name], one.late) for name, one in rounds.items()}


def _take(
    record: Record,
    rounds: Mapping[tuple[TableId, RoundId], Bygone],
    events: Mapping[tuple[TableId, RoundId], list[tuple[Record, TableEvent]]],
) -> None:
    """Add a record to its round, if it lies in what is read for one; its key may name another table."""
    try:
        event = decode_table_event(record.value, record.key)
    except MalformedRecordError:
        return
    if isinstance(event, ShoeStarted):
        return
    name = (event.table_id, event.round_id)
    one = rounds.get(name)
    if one is not None and one.start <= record.offset < one.end and record.key == one.table.encode():
        events[name].append((record, event))
