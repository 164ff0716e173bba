"""Anchors that an older version noted: without what was to be committed."""

from __future__ import annotations

import asyncio

import msgspec

from pokdeng.ledger.values import Note
from pokdeng.settlement.anchors import page_of
from pokdeng.settlement.memory import MARK
from pokdeng.stream.port import TopicPartition
from tests.settlement.scene import Scene
from tests.settlement.table_talk import FIVE_ACCOUNTS, S1_R1


def test_a_worker_goes_on_from_the_anchors_of_an_older_version() -> None:
    """Offset and broker time are enough to know the log; that nothing is said of commits is no loss."""

    async def run() -> str:
        played = Scene()
        worker = await played.start()
        await played.play(FIVE_ACCOUNTS)
        await played.play(S1_R1)
        topics = played.line.topics
        for desk in worker.engine.owned.desks:
            partition = TopicPartition(topics.table_events, desk.partition)
            last = played.line.broker.records(partition)[-1]
            older = msgspec.json.encode((last.offset, last.timestamp))
            await worker.ledger.remember([Note(desk.source, page_of(partition), MARK, older, False, None)])
        await played.kill()
        await played.start()
        await played.play("bet b1 A-1 player_1 1000\nclose R-1\ndeal R-1 W")
        balance = await played.balance()
        await played.stop()
        return balance

    assert asyncio.run(run()) == "11000/0/3"
