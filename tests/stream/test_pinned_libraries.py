"""Every private member of Faust and aiokafka that the transport leans on is there, in the versions that are pinned."""

from __future__ import annotations

import asyncio
import gc
import inspect
import weakref
from importlib.metadata import version
from types import SimpleNamespace
from typing import Any

import faust
import pytest
from aiokafka import AIOKafkaConsumer, AIOKafkaProducer
from aiokafka.admin import AIOKafkaAdminClient
from aiokafka.client import AIOKafkaClient
from aiokafka.conn import AIOKafkaConnection
from aiokafka.consumer import fetcher
from aiokafka.consumer.fetcher import Fetcher, FetchError, FetchResult, PartitionRecords
from aiokafka.consumer.group_coordinator import BaseCoordinator, GroupCoordinator
from aiokafka.consumer.subscription_state import Assignment, SubscriptionState, TopicPartitionState
from aiokafka.errors import (
    CorruptRecordException,
    GroupLoadInProgressError,
    TopicAuthorizationFailedError,
)
from aiokafka.producer.message_accumulator import BatchBuilder, MessageAccumulator
from aiokafka.producer.sender import Sender
from aiokafka.protocol.commit import OffsetFetchResponse_v3
from aiokafka.protocol.offset import OffsetRequest
from aiokafka.record.default_records import _DefaultRecordBatchPy
from aiokafka.record.memory_records import MemoryRecords
from aiokafka.structs import TopicPartition
from faust.app.base import BootStrategy
from faust.transport.drivers.aiokafka import AIOKafkaConsumerThread, Consumer
from faust.types import TP, ConsumerMessage

from pokdeng.stream import port
from pokdeng.stream.kafka.admin import committed_in
from pokdeng.stream.kafka.connecting import ATTEMPTS
from pokdeng.stream.kafka.fetching import _unpacked, let_go
from pokdeng.stream.kafka.lenient import KeptRecords
from pokdeng.stream.kafka.publisher import _fill
from pokdeng.stream.port import LogRecord, Message
from tests.stream.spoilt import spoilt_batch


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
        (SubscriptionState, "reassignment_in_progress"),
        (SubscriptionState, "wait_for_assignment"),
        (SubscriptionState, "is_assigned"),
        (Fetcher, "_create_fetch_waiter"),
        (Fetcher, "_notify"),
        (FetchResult, "check_assignment"),
        (FetchResult, "has_more"),
        (FetchResult, "_update_position"),
        (FetchError, "check_raise"),
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


def test_what_is_read_of_a_fetcher_exists() -> None:
    """The attributes that `fetching` reads and sets, and that whoever takes a result asks for more."""
    for name in (
        *("_records", "_closed", "_wait_consume_future", "_subscriptions", "_prefetch_backoff"),
        "_max_partition_fetch_bytes",
    ):
        assert f"self.{name} = " in inspect.getsource(Fetcher.__init__)
    assert "position, self._max_partition_fetch_bytes" in inspect.getsource(Fetcher._get_actions_per_node)
    assert "backoff=self._prefetch_backoff" in inspect.getsource(Fetcher._proc_fetch_request)
    for words in ("self._topic_partition = ", "self._partition_records = "):
        assert words in inspect.getsource(FetchResult.__init__)
    for words in ("self._records = records", "self.next_fetch_offset = ", "self._records_iterator = self._unpack_"):
        assert words in inspect.getsource(PartitionRecords.__init__)


def _batch(*values: bytes) -> tuple[BatchBuilder, list[tuple[str, bytes]]]:
    headers = [("ce_id", b"e-1")]
    batch = BatchBuilder(1_000_000, 0)  # type: ignore[no-untyped-call]  # aiokafka is typed in places only
    for value in values:
        batch.append(timestamp=None, key=b"k", value=value, headers=headers)
    return batch, headers


def test_a_batch_that_is_filled_directly_is_the_same_as_one_that_is_appended_to() -> None:
    """`_fill` goes past `append`: the count and the bytes are those of `append`."""
    values = [b"one", b"two", b"three"]
    usual, headers = _batch(*values)
    direct = BatchBuilder(1_000_000, 0)  # type: ignore[no-untyped-call]  # as above
    assert _fill(direct, [Message(b"k", value, tuple(headers)) for value in values], 0, 3) == 3
    assert (direct.record_count(), direct.closed()) == (3, True)  # type: ignore[no-untyped-call]  # as above
    read = [
        [
            (one.offset, one.key, one.value, one.headers)
            for one in MemoryRecords(bytes(batch._build())).next_batch() or ()  # type: ignore[no-untyped-call]  # as above
        ]
        for batch in (usual, direct)
    ]
    assert read[0] == read[1]


def test_a_batch_that_is_full_takes_no_more() -> None:
    """What did not fit is sent in the next one."""
    batch = BatchBuilder(400, 0)  # type: ignore[no-untyped-call]  # aiokafka is typed in places only
    messages = [Message(b"k", b"x" * 100, []) for _ in range(10)]
    fitted = _fill(batch, messages, 4, 10)
    assert 0 < fitted < 6
    assert batch.record_count() == fitted  # type: ignore[no-untyped-call]  # as above


class _Held:
    """A fetch result over these bytes, which were asked for from an offset on."""

    def __init__(self, raw: bytes, first: int) -> None:
        place = TopicPartition("t", 3)
        self._topic_partition = place
        self._partition_records: PartitionRecords | None = PartitionRecords(  # type: ignore[no-untyped-call]  # as above
            place, KeptRecords(raw), None, first, None, None, True, 0
        )
        self.updates = 0

    def has_more(self) -> bool:
        return self._partition_records is not None

    def check_assignment(self, _place: TopicPartition) -> bool:
        return True

    def _update_position(self) -> None:
        self.updates += 1


def test_records_are_those_of_the_fetcher_from_the_wanted_offset_on() -> None:
    """A batch is sent whole: what lies before the offset that was asked for is not given."""
    batch, headers = _batch(b"one", b"two", b"three")
    raw = bytes(batch._build())  # type: ignore[no-untyped-call]  # aiokafka is typed in places only
    usual = list(_Held(raw, 1)._partition_records or ())
    held = _Held(raw, 1)
    found = _unpacked(held, 100)
    assert [one._asdict() for one in found] == [
        {name: getattr(one, name) for name in LogRecord._fields} | {"headers": headers} for one in usual
    ]
    assert [one.offset for one in found] == [1, 2]
    assert not held.has_more()


def test_what_is_left_of_a_batch_comes_the_next_time() -> None:
    """As many as may be read ahead, and no more; the position is behind the last of them."""
    held = _Held(bytes(_batch(b"one", b"two", b"three", b"four")[0]._build()), 1)  # type: ignore[no-untyped-call]
    unread = held._partition_records
    assert unread is not None
    assert [one.value for one in _unpacked(held, 2)] == [b"two", b"three"]
    assert (unread.next_fetch_offset, held.has_more()) == (3, True)
    assert [one.value for one in _unpacked(held, 2)] == [b"four"]
    assert (unread.next_fetch_offset, held.has_more()) == (4, False)


@pytest.mark.parametrize("codec", [0, 1], ids=["plain", "gzip"])
@pytest.mark.parametrize("first", [0, 12, 13])
def test_a_header_whose_name_is_no_text_stops_nobody(first: int, codec: int) -> None:
    """Aiokafka's own reader ends there; those before it, it and those behind it come once, wherever one begins."""
    raw = spoilt_batch(["fine", "fine", "ABCD", "fine", "fine"], codec, first_offset=10)
    before = bytes(_batch(b"of a batch before")[0]._build())  # type: ignore[no-untyped-call]  # as above
    with pytest.raises(UnicodeDecodeError):
        list(_Held(raw, first)._partition_records or ())
    held = _Held(before + raw, first)
    found = [record for _ in range(7) for record in _unpacked(held, 1)] if first else _unpacked(held, 100)
    assert [(one.offset, one.value, one.timestamp - 1_700_000_000_000) for one in found if one.offset] == [
        (10 + number, b"v%d" % number, number) for number in range(5) if 10 + number >= first
    ]
    assert [one.headers[0][0] for one in found if one.offset == 12] == (["\\xff\\xfeCD"] if first <= 12 else [])
    assert fetcher.MemoryRecords is KeptRecords  # type: ignore[attr-defined]  # private
    assert "records = MemoryRecords(" in inspect.getsource(fetcher.Fetcher)
    for name in ("_maybe_uncompress", "_read_msg"):
        assert hasattr(_DefaultRecordBatchPy, name)


def test_what_was_fetched_ahead_is_freed_without_a_collector() -> None:
    """Aiokafka's records and the generator over them know each other: the circle is cut."""
    held = _Held(bytes(_batch(b"one")[0]._build()), 0)  # type: ignore[no-untyped-call]  # as above
    unread = weakref.ref(held._partition_records)
    fetcher = SimpleNamespace(_records={TopicPartition("t", 3): held, TopicPartition("t", 4): "an error"})
    gc.disable()
    try:
        let_go(SimpleNamespace(_fetcher=fetcher))
        del held
        assert unread() is None
    finally:
        gc.enable()
    assert fetcher._records == {}


def test_a_batch_without_its_checksum_is_said_and_not_passed_over() -> None:
    """The result is thrown away with the position where it was, so it is fetched again."""
    raw = bytearray(_batch(b"one", b"two")[0]._build())  # type: ignore[no-untyped-call]  # as above
    raw[-1] ^= 1
    held = _Held(bytes(raw), 0)
    with pytest.raises(CorruptRecordException, match=r"t\[3\]"):
        _unpacked(held, 100)
    assert (held.has_more(), held.updates) == (False, 0)


def test_what_is_logged_of_an_address_that_failed_is_what_is_heard() -> None:
    """The words, host, port and error that `connecting` makes its sentence of."""
    source = inspect.getsource(AIOKafkaClient.bootstrap)
    for words in ATTEMPTS:
        assert f"'{words}', host, port, err" in " ".join(source.split())
    assert "raise KafkaConnectionError(" in source


def test_what_is_thrown_away_of_a_producer_exists() -> None:
    """What `Producer` cancels, empties and cuts: the sender and its requests, the accumulator, the connections."""

    async def scenario() -> None:
        producer = AIOKafkaProducer(bootstrap_servers="127.0.0.1:1")  # type: ignore[no-untyped-call]  # aiokafka is typed in places only
        assert isinstance(producer._message_accumulator, MessageAccumulator)
        assert isinstance(producer._sender, Sender)
        assert producer._sender.sender_task is None
        assert "self._send_produce_req(node_id, node_batches)" in inspect.getsource(Sender._sender_routine)
        assert producer.client._conns == {}
        assert AIOKafkaConnection("127.0.0.1", 1)._writer is None  # type: ignore[no-untyped-call]  # as above

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


def _offsets_answer(code: int, *rows: tuple[int, int, str, int]) -> Any:
    """What a coordinator answers to an OffsetFetchRequest."""
    answer: Any = OffsetFetchResponse_v3.__new__(OffsetFetchResponse_v3)
    answer.topics, answer.error_code = [("bets", list(rows))] if rows else [], code
    return answer


def test_committed_offsets_are_those_of_the_answer() -> None:
    """-1 is none; each partition has its own."""
    assert committed_in(_offsets_answer(0, (0, 17, "", 0), (1, -1, "", 0))) == {
        port.TopicPartition("bets", 0): 17,
        port.TopicPartition("bets", 1): None,
    }


def test_a_coordinator_that_is_only_just_one_has_not_said_that_nothing_is_committed() -> None:
    """It answers for the group and names no partition; aiokafka's own question passes that over."""
    with pytest.raises(GroupLoadInProgressError) as passing:
        committed_in(_offsets_answer(14))
    assert passing.value.retriable
    with pytest.raises(TopicAuthorizationFailedError, match=r"bets\[0\]"):
        committed_in(_offsets_answer(0, (0, -1, "", 29)))
    assert "response.error_code:" not in inspect.getsource(AIOKafkaAdminClient.list_consumer_group_offsets)
    for name in ("_send_request", "find_coordinator"):
        assert hasattr(AIOKafkaAdminClient, name)


def test_a_fetch_waits_for_its_partitions_only() -> None:
    """The signatures that are called by name or position."""
    assert list(inspect.signature(AIOKafkaConsumerThread._fetch_records).parameters) == [
        "self", "consumer", "active_partitions", "timeout", "max_records",
    ]  # fmt: skip
    assert list(inspect.signature(OffsetRequest).parameters) == ["replica_id", "isolation_level", "topics"]
