"""What a worker does when partitions become its own: learn what was said of their rounds before it reads on.

A replay from the committed offsets meets records of rounds that are finished. Which, is said by the own `rounds` topic:
it is read back from the time of the first record that is read again (less a margin for clocks), at least the newest
part; so no bookmark of it need be kept, and a new group reads all that concerns the inputs still kept.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from pokdeng.events.ids import RoundId, TableId
from pokdeng.settlement.finished import HEADER, decode_finished
from pokdeng.stream.port import TopicPartition
from pokdeng.stream.reading import all_of, read_on

if TYPE_CHECKING:
    from collections.abc import Collection

    from pokdeng.settlement.desk import Desk
    from pokdeng.stream.port import Log
    from pokdeng.wire import Topics

MARGIN_MS = 600_000
"""How much earlier than the first record that is read again `rounds` is read: leaders' clocks, and slow publishing."""


class _Named(msgspec.Struct):
    table_id: str
    round_id: str


async def read_all_back(log: Log, topics: Topics, desks: Collection[Desk]) -> int:
    """Tell all desks at once, for most of it is waiting; the number of records read."""
    return sum(await all_of([read_back(log, topics, desk) for desk in desks]))


async def read_back(log: Log, topics: Topics, desk: Desk) -> int:
    """Tell a desk the rounds that are finished, and its tables' snapshots. The number of `rounds` records read."""
    rounds = TopicPartition(topics.rounds, desk.partition)
    end = (await log.end_offsets([rounds]))[rounds]
    start = await _start(log, topics, desk, rounds, end)
    count = 0
    async for record in read_on(log, rounds, start, end):
        count += 1
        raw = next((value for name, value in record.headers if name == HEADER), None)
        if raw is None or record.value is None:
            continue  # a round that became held is no commit mark
        finished = decode_finished(raw)
        named = msgspec.json.decode(record.value, type=_Named)
        table_id = TableId(named.table_id)
        desk.finished[table_id, RoundId(named.round_id)] = finished
        if finished.table is not None:
            desk.floor.read_back(table_id, finished.table)
    return count


async def _start(log: Log, topics: Topics, desk: Desk, rounds: TopicPartition, end: int) -> int:
    times: list[int] = []
    again = (
        (TopicPartition(topics.table_events, desk.partition), desk.next_event),
        (TopicPartition(topics.bets, desk.partition), desk.next_bet),
    )
    ends = await log.end_offsets([partition for partition, _ in again])
    for partition, offset in again:
        async for record in read_on(log, partition, offset, ends[partition], first=1):
            times.append(record.timestamp)
            break
    beginning = (await log.beginning_offsets([rounds]))[rounds]
    if end > beginning:
        newest = await log.read(rounds, end - 1, end)
        times.extend(record.timestamp for record in newest)
    if not times:
        return beginning
    return await log.offset_for_time(rounds, max(0, min(times) - MARGIN_MS))
