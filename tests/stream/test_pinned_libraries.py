"""Every private member of Faust and aiokafka that the transport leans on is there, in the versions that are pinned."""

from __future__ import annotations

import asyncio
import inspect
from importlib.metadata import version

import faust
import pytest
from aiokafka import AIOKafkaConsumer, AIOKafkaProducer
from aiokafka.client import AIOKafkaClient
from aiokafka.consumer.fetcher import Fetcher
from aiokafka.consumer.group_coordinator import BaseCoordinator, GroupCoordinator
from aiokafka.consumer.subscription_state import Assignment, SubscriptionState, TopicPartitionState
from aiokafka.producer.message_accumulator import MessageAccumulator
from aiokafka.producer.sender import Sender
from aiokafka.protocol.offset import OffsetRequest
from faust.app.base import BootStrategy
from faust.transport.drivers.aiokafka import AIOKafkaConsumerThread, Consumer
from faust.types import TP, ConsumerMessage

from pokdeng.stream.kafka.connecting import ATTEMPTS


@pytest.mark.parametrize(("name", "pinned"), [("faust-streaming", "0.15.3"), ("aiokafka", "0.14.0")])
def test_the_versions_are_those_that_were_read(name: str, pinned: str) -> None:
    """Another version needs another look at what is private."""
    assert version(name) == pinned


@pytest.mark.parametrize(
    ("owner", "name"),
    [
        (Consumer, "_new_consumer_thread"),
        (Consumer, "getmany"),
        (Consumer, "flow_active"),
        (AIOKafkaConsumerThread, "on_thread_stop"),
        (AIOKafkaConsumerThread, "_create_worker_consumer"),
        (AIOKafkaConsumerThread, "_ensure_consumer"),
        (AIOKafkaConsumerThread, "_fetch_records"),
        (AIOKafkaConsumerThread, "call_thread"),
        (faust.App, "_create_directories"),
        (faust.App, "on_rebalance_start"),
        (faust.App, "on_rebalance_end"),
        (BootStrategy, "enable_kafka_producer"),
        (BootStrategy, "enable_web"),
        (SubscriptionState, "fetch_context"),
        (SubscriptionState, "subscription"),
        (Assignment, "state_value"),
        (Assignment, "tps"),
        (TopicPartitionState, "has_valid_position"),
        (TopicPartitionState, "position"),
        (MessageAccumulator, "fail_all"),
        (Sender, "sender_task"),
        (BaseCoordinator, "group_id"),
    ],
)
def test_a_member_that_is_overridden_or_called_exists(owner: type, name: str) -> None:
    """Named in `stream/kafka/`, so it must not disappear unnoticed."""
    if owner is BaseCoordinator:
        assert "self.generation = " in inspect.getsource(GroupCoordinator.__init__)
    else:
        assert hasattr(owner, name)


def test_what_a_fetch_reads_of_the_consumer_exists() -> None:
    """The attributes that `BatchThread` reads and sets."""

    async def scenario() -> None:
        consumer = AIOKafkaConsumer(bootstrap_servers="127.0.0.1:1", group_id="g")  # type: ignore[no-untyped-call]  # aiokafka is typed in places only
        for name in ("_fetch_max_wait_ms", "_max_poll_records", "_subscription", "_coordinator"):
            assert hasattr(consumer, name)
        for name in ("_fetch_min_bytes", "_fetch_max_wait_ms"):
            assert f"self.{name}," in inspect.getsource(Fetcher._get_actions_per_node)
        assert "self._fetcher = Fetcher(" in inspect.getsource(AIOKafkaConsumer.start)
        subscriptions: SubscriptionState = consumer._subscription
        before = subscriptions._last_fetch_ended
        with subscriptions.fetch_context():
            assert subscriptions.fetcher_idle_time == 0
        assert subscriptions._last_fetch_ended >= before

    asyncio.run(scenario())


def test_what_is_logged_of_an_address_that_failed_is_what_is_heard() -> None:
    """The words, host, port and error that `connecting` makes its sentence of."""
    source = inspect.getsource(AIOKafkaClient.bootstrap)
    for words in ATTEMPTS:
        assert f"'{words}', host, port, err" in " ".join(source.split())
    assert "raise KafkaConnectionError(" in source


def test_what_is_thrown_away_of_a_producer_exists() -> None:
    """The sender that `Publisher` cancels and the accumulator that it empties."""

    async def scenario() -> None:
        producer = AIOKafkaProducer(bootstrap_servers="127.0.0.1:1")  # type: ignore[no-untyped-call]  # aiokafka is typed in places only
        assert isinstance(producer._message_accumulator, MessageAccumulator)
        assert isinstance(producer._sender, Sender)

    asyncio.run(scenario())


def test_a_message_takes_its_fields_in_the_order_that_is_used() -> None:
    """`ConsumerMessage` is made by position."""
    partition = TP("t", 1)
    message = ConsumerMessage("t", 1, 5, 1.5, 0, None, b"k", b"v", None, 2, 3, partition, generation_id=4)
    named = {
        name: getattr(message, name)
        for name in ("topic", "partition", "offset", "timestamp", "timestamp_type", "headers", "key", "value", "tp")
    }
    assert named == {
        "topic": "t", "partition": 1, "offset": 5, "timestamp": 1.5, "timestamp_type": 0, "headers": None, "key": b"k",
        "value": b"v", "tp": partition,
    }  # fmt: skip
    assert message.generation_id == 4


def test_a_fetch_waits_for_its_partitions_only() -> None:
    """The signatures that are called by name or position."""
    assert list(inspect.signature(AIOKafkaConsumerThread._fetch_records).parameters) == [
        "self", "consumer", "active_partitions", "timeout", "max_records",
    ]  # fmt: skip
    assert list(inspect.signature(OffsetRequest).parameters) == ["replica_id", "isolation_level", "topics"]
