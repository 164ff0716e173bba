"""How a restore is put together: what is read of the log besides facts, and how a ledger is looked at first."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Final

import structlog

from pokdeng.ledger.port import LedgerLostError
from pokdeng.restore.folding import Times
from pokdeng.restore.protocol import Plan
from pokdeng.restore.stored import find_checkpoint
from pokdeng.settlement.anchors import NOBODY, anchor_note, untold_note
from pokdeng.settlement.incarnation import check_nothing_is_lost
from pokdeng.settlement.past import Past, past_of, restored_note
from pokdeng.stream.port import TopicPartition

if TYPE_CHECKING:
    from collections.abc import Callable

    from pokdeng.ledger.port import Ledger
    from pokdeng.ledger.restoring import RestoredNote
    from pokdeng.restore.checkpoint import Checkpoint
    from pokdeng.stream.port import Log
    from pokdeng.wire import Topics

_log = structlog.get_logger(__name__)

TRANSFER_TTL_MS: Final = 32 * 86_400_000
"""Transfers are remembered for the retention of `funds`, the time of a segment, and a day."""


def wall_ms() -> int:
    """What time it is."""
    return time.time_ns() // 1_000_000


def plan_of(
    log: Log,
    ledger: Ledger,
    topics: Topics,
    *,
    name: str,
    remember_ms: int,
    patience_s: float | None,
    looks_first: bool,
    now_ms: Callable[[], int] = wall_ms,
    clock: Callable[[], float] = time.monotonic,
) -> Plan:
    """A restore of this ledger from this log, in the name of the log's group.

    `looks_first`: a ledger that has lost nothing that was said is taken as it is.
    """

    async def notes() -> Past:
        return await past_of(log, topics, now_ms=now_ms(), remember_ms=remember_ms)

    async def checkpoint() -> Checkpoint | None:
        return await find_checkpoint(log, topics, remember_ms=remember_ms)

    async def anchors() -> list[RestoredNote]:
        return await read_anchors(log, topics)

    async def is_whole() -> bool:
        try:
            await check_nothing_is_lost(log, ledger, topics, remembered_since_ms=now_ms() - remember_ms)
        except LedgerLostError as lost:
            _log.warning("ledger_lost", why=str(lost))
            return False
        return True

    return Plan(
        name=name,
        log=log,
        ledger=ledger.restoring(),
        topics=topics,
        notes=notes,
        times=lambda: Times(now_ms=now_ms(), remember_ms=remember_ms, transfer_ttl_ms=TRANSFER_TTL_MS),
        checkpoint=checkpoint,
        anchors=anchors,
        is_whole=is_whole if looks_first else None,
        patience_s=patience_s,
        clock=clock,
    )


async def read_anchors(log: Log, topics: Topics) -> list[RestoredNote]:
    """The last record of each input partition that the group has committed, and what is not noted again: `anchors`."""
    names = (topics.table_events, topics.bets, topics.funds)
    counts = await log.partition_counts(names)
    places = [TopicPartition(name, number) for name in names for number in range(counts.get(name, 0))]
    committed = await log.committed(places)
    beginnings = await log.beginning_offsets(places)
    ends = await log.end_offsets([place for place in places if place.topic == topics.table_events])
    notes = [restored_note(untold_note(place, end)) for place, end in ends.items()]
    for place in places:
        offset = (committed[place] or 0) - 1
        if offset < beginnings[place]:
            continue
        records = await log.read(place, offset, offset + 1)
        notes += [restored_note(anchor_note(NOBODY, place, one.offset, one.timestamp)) for one in records]
    return notes
