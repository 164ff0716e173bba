"""Plays of the simulator as logs, for tests of the reference and the checker."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from pokdeng.simulator import MemorySender, perform, script
from pokdeng.stream.memory import MemoryBroker
from pokdeng.stream.port import TopicPartition
from pokdeng.wire import Topics

if TYPE_CHECKING:
    from pokdeng.simulator import Play
    from tests.checker.records import Rec


def log_of(play: Play, *, partitions: int) -> list[Rec]:
    """The input records of a play, stamped with its own time."""
    topics = Topics()
    broker = MemoryBroker(lambda: 0)
    for name in topics.names[:3]:
        broker.create_topic(name, partitions)
    asyncio.run(perform(script(play), MemorySender(broker, topics)))
    return [
        record
        for name in topics.names[:3]
        for number in range(partitions)
        for record in broker.records(TopicPartition(name, number))
    ]
