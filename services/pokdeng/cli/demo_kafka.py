"""The demo on the user's own Kafka: topics of its own, and the two connections to them."""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from pokdeng.stream.kafka import KafkaAdmin, KafkaLog, KafkaSettings, NewTopicSpec
from pokdeng.wire import REQUIREMENTS, TopicKind
from pokdeng.wire.topics import PARTITIONS

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from pokdeng.wire import Topics


@asynccontextmanager
async def kafka_logs(
    bootstrap: str, topics: Topics, copartitioned: tuple[str, ...], others: tuple[str, ...]
) -> AsyncIterator[tuple[KafkaLog, KafkaLog]]:
    """Create the demo's topics (one replica each); a member of its group, and a log to read and publish with."""
    settings = KafkaSettings(bootstrap=bootstrap)
    admin = KafkaAdmin(settings)
    try:
        await admin.create_topics(
            [
                NewTopicSpec(
                    name=topics.name(kind), partitions=PARTITIONS, replication=1, configs=REQUIREMENTS[kind].configs()
                )
                for kind in TopicKind
            ]
        )
    finally:
        await admin.close()
    reader = KafkaLog(settings)
    try:
        yield KafkaLog(settings, topics.prefix, copartitioned=copartitioned, others=others), reader
    finally:
        await reader.stop()
