"""The demo on the user's own Kafka: topics of its own, and the two connections to them."""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from pokdeng.cli.connect import create_topics, topic_specs
from pokdeng.stream.kafka import KafkaLog
from pokdeng.wire.topics import PARTITIONS

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from pokdeng.stream.kafka import KafkaSettings
    from pokdeng.wire import Topics


@asynccontextmanager
async def kafka_logs(
    settings: KafkaSettings, topics: Topics, copartitioned: tuple[str, ...], others: tuple[str, ...]
) -> AsyncIterator[tuple[KafkaLog, KafkaLog]]:
    """Create the demo's topics (one replica each); a member of its group, and a log to read and publish with."""
    await create_topics(settings, topic_specs(topics, partitions=PARTITIONS, replication=1))
    reader = KafkaLog(settings)
    try:
        yield KafkaLog(settings, topics.prefix, copartitioned=copartitioned, others=others), reader
    finally:
        await reader.stop()
