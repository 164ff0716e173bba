"""How much a topic holds, by its ends."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING

from pokdeng.stream.port import TopicPartition

if TYPE_CHECKING:
    from pokdeng.stream.kafka import KafkaLog


async def count(log: KafkaLog, topic: str, partitions: int) -> int:
    """How many records a new topic has had so far."""
    return sum((await log.end_offsets([TopicPartition(topic, number) for number in range(partitions)])).values())


async def wait_for(log: KafkaLog, topic: str, partitions: int, wanted: int, *, seconds: float) -> None:
    """Until it has had so many.

    Raises:
        TimeoutError: after `seconds`.
    """
    deadline = time.monotonic() + seconds
    while (found := await count(log, topic, partitions)) < wanted:
        if time.monotonic() > deadline:
            raise TimeoutError(f"{topic} has {found} of {wanted} after {seconds} s")
        await asyncio.sleep(0.1)
