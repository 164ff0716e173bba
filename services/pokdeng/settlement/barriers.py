"""Asking for the ends of partitions that merges wait for: see `pokdeng.stream.merge`."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from pokdeng.stream.merge import FIRST, SECOND
from pokdeng.stream.port import TopicPartition

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from pokdeng.settlement.desk import Desk
    from pokdeng.stream.merge import Merge
    from pokdeng.stream.port import Log
    from pokdeng.wire import Topics


async def ask_ends(log: Log, topics: Topics, desks: Iterable[Desk], clock: Callable[[], float]) -> float:
    """Ask for all the ends that are waited for, at once; when next, by `clock`: never, where none is too early."""
    now = clock()
    due = math.inf
    asked: dict[TopicPartition, tuple[Merge, int]] = {}
    for desk in desks:
        merge = desk.merge
        for side, topic in ((FIRST, topics.table_events), (SECOND, topics.bets)):
            merge.consumed(side, log.position(TopicPartition(topic, desk.partition)))
        ask = merge.needs_barrier()
        if ask is None:
            continue
        if ask.not_before > now:
            due = min(due, ask.not_before)
            continue
        topic = topics.bets if ask.side == SECOND else topics.table_events
        asked[TopicPartition(topic, desk.partition)] = (merge, ask.side)
    if asked:
        asked_at = clock()
        ends = await log.end_offsets(list(asked))
        for partition, (merge, side) in asked.items():
            merge.barrier(side, ends[partition], asked_at)
    return due
