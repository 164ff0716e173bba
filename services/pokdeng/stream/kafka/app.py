"""The Faust app that does the group's work: joining, assignment, rebalances, the life of its services. Nothing else."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

import faust
from faust.app.base import BootStrategy

from pokdeng.stream.kafka.transport import BatchSchema, BatchTransport
from pokdeng.stream.port import Assignment, TopicPartition

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pokdeng.stream.kafka.feed import Feed
    from pokdeng.stream.kafka.settings import KafkaSettings


class _Boot(BootStrategy):
    """Starts Faust's consumer, agents and conductor, but neither its producer nor its web server."""

    enable_kafka_producer = False
    enable_web = False


class BatchApp(faust.App):
    """A Faust app of one agent, which hands slices to the feed."""

    BootStrategy = _Boot

    def __init__(self, settings: KafkaSettings, group: str, topics: Iterable[str], feed: Feed) -> None:
        """Not started: `await start()`."""
        request_timeout_ms = max(settings.request_timeout_ms, settings.session_timeout_ms * 3 // 2)
        super().__init__(
            group,
            broker=[f"kafka://{address}" for address in settings.bootstrap.split(",")],
            broker_client_id=settings.client_id,
            broker_credentials=_credentials(settings),
            broker_session_timeout=settings.session_timeout_ms / 1000,
            broker_heartbeat_interval=settings.heartbeat_interval_ms / 1000,
            broker_rebalance_timeout=settings.rebalance_timeout_ms / 1000,
            broker_request_timeout=request_timeout_ms / 1000,
            broker_max_poll_records=1000,
            consumer_group_instance_id=settings.instance_id,
            consumer_auto_offset_reset="earliest",
            stream_wait_empty=False,
            stream_buffer_maxsize=4096,
            # Without a standby and without tables Faust falls back to an assignor that forgets co-partitions.
            table_standby_replicas=1,
            topic_disable_leader=True,
            topic_allow_declare=False,
            agent_supervisor="mode.CrashingSupervisor",
            web_enabled=False,
            autodiscover=False,
        )
        self.feed = feed
        self.gather_ms = settings.gather_ms
        self.transport = BatchTransport(self.conf.broker_consumer, self)
        revoked: Any = self._revoked
        assigned: Any = self._assigned
        self.on_partitions_revoked.connect(revoked)
        self.on_partitions_assigned.connect(assigned)
        self.agent(self.topic(*topics, schema=BatchSchema(), acks=False), name="slices")(self._slices)

    def on_rebalance_start(self) -> None:
        """Called in the consumer's thread as a rebalance begins."""
        self.feed.settled.clear()
        super().on_rebalance_start()

    def on_rebalance_end(self) -> None:
        """Called when all that Faust does after a rebalance is done."""
        super().on_rebalance_end()
        self.feed.settled.set()

    def _create_directories(self) -> None:
        """Faust keeps its tables on disk; there are none."""

    async def commit_offsets(self, offsets: dict[TopicPartition, int]) -> None:
        """Commit exactly these, with what aiokafka raises."""
        consumer: Any = self.consumer
        await consumer.commit_exactly(offsets)

    async def rejoin(self) -> None:
        """Have the consumer join its group anew."""
        consumer: Any = self.consumer
        await consumer.rejoin()

    async def _slices(self, stream: Any) -> None:
        deliver = self.feed.deliver
        async for event in stream.events():
            for one in event.value:
                deliver(one)

    async def _revoked(self, *_: Any, **__: Any) -> None:
        await self.feed.revoke()

    async def _assigned(self, _: Any, assigned: Iterable[Any], **__: Any) -> None:
        partitions = frozenset(TopicPartition(*partition) for partition in assigned)
        self.feed.assign(Assignment(partitions=partitions, generation=self.consumer_generation_id))


def _credentials(settings: KafkaSettings) -> Any:
    match settings.security_protocol:
        case "PLAINTEXT":
            return None
        case "SSL":
            return faust.SSLCredentials(settings.ssl_context())
        case _:
            return faust.SASLCredentials(
                username=settings.sasl_user,
                password=settings.sasl_password,
                mechanism=settings.sasl_mechanism,
                ssl_context=settings.ssl_context(),
            )


def quiet() -> None:
    """Have the libraries log warnings and worse only, unless somebody has set their levels already."""
    for name in ("aiokafka", "faust", "mode"):
        logger = logging.getLogger(name)
        if logger.level == logging.NOTSET:
            logger.setLevel(logging.WARNING)
