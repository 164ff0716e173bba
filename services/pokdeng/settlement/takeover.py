"""What is done when partitions become a worker's own, before it reads them: check, find where to begin."""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from pokdeng.settlement.anchors import check_anchors, untold_below
from pokdeng.settlement.another_log import AnotherLogError
from pokdeng.stream.port import TopicPartition

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Collection, Sequence

    from pokdeng.ledger.port import Ledger
    from pokdeng.settlement.cashier import Cashier
    from pokdeng.settlement.desk import Desk
    from pokdeng.settlement.owned import Owned
    from pokdeng.stream.port import Log
    from pokdeng.wire import Topics


@asynccontextmanager
async def all_or_nothing(owned: Owned) -> AsyncIterator[None]:
    """Own all that is assigned, or nothing: whose takeover ends midway has desks whose sources are not fenced.

    A rebalance ends it so; the engine's loop, whose turn it is then, must not take them for its own.
    """
    try:
        yield
    except BaseException:
        owned.clear()
        raise


async def starting_offsets(log: Log, partitions: Sequence[TopicPartition]) -> dict[TopicPartition, int]:
    """Where reading begins: at what the group has committed, else at the first record still kept."""
    if not partitions:
        return {}
    committed = await log.committed(partitions)
    beginnings = await log.beginning_offsets(partitions)
    return {partition: max(committed[partition] or 0, beginnings[partition]) for partition in partitions}


async def check_same_log(
    log: Log, ledger: Ledger, topics: Topics, desks: Collection[Desk], cashiers: Collection[Cashier]
) -> dict[TopicPartition, int]:
    """Refuse a log that ends before what the ledger has applied: it is another one, under the same names.

    Its records would be taken for ones that were read before, and be passed over in silence. Returns the first offset
    of each input partition behind what was acknowledged before, as far as that is noted.

    Raises:
        AnotherLogError: naming the partition and both offsets.
    """
    places = [TopicPartition(topics.funds, cashier.partition) for cashier in cashiers]
    events = {desk: TopicPartition(topics.table_events, desk.partition) for desk in desks}
    bets = [TopicPartition(topics.bets, desk.partition) for desk in desks]
    acknowledged = await check_anchors(log, ledger, [*places, *events.values(), *bets])
    newest = await ledger.newest_transfers([cashier.source for cashier in cashiers])
    ends = await log.end_offsets([*places, *events.values()])
    for place, offset in zip(places, newest, strict=True):
        if offset >= ends[place]:
            raise AnotherLogError(
                f"the ledger has applied {place.topic}[{place.partition}] up to {offset}", ends[place]
            )
    untold = await untold_below(ledger, list(events.values()))
    for desk, place in events.items():
        desk.event_end = ends[place]
        desk.untold_below = untold[place]
        desk.said_before(
            bets=acknowledged.get(TopicPartition(topics.bets, desk.partition), 0), events=acknowledged.get(place, 0)
        )
    return acknowledged
