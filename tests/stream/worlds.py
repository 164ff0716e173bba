"""The same small world over either log: topics, members of groups, producers, deaths."""

from __future__ import annotations

import asyncio
import itertools
import os
import signal
import sys
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Protocol, TypeAlias

from aiokafka.admin import RecordsToDelete
from aiokafka.structs import TopicPartition as KafkaPartition

from pokdeng.stream.kafka import KafkaAdmin, KafkaLog, KafkaSettings, NewTopicSpec
from pokdeng.stream.kafka.untyped import AIOKafkaAdminClient, AIOKafkaProducer
from pokdeng.stream.memory import MemoryBroker, MemoryLog
from pokdeng.stream.port import Log, Message, TopicPartition
from tests.stream.recorder import Recorder

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable
    from contextlib import AbstractAsyncContextManager

_PREFIXES = itertools.count(1)


class RunningLog(Log, Protocol):
    """What both logs offer beyond the port."""

    async def run_until_failed(self) -> None:
        """Return when stopped, raise what ended it."""

    def done(self, count: int, partition: TopicPartition | None = None) -> None:
        """Give credits back."""


class World(Protocol):
    """A broker, seen from the tests."""

    def topic(self, name: str) -> str:
        """The full name of a topic of this world."""

    async def create(self, *, max_message_bytes: int = 1_048_588, **topics: int) -> None:
        """Create topics with that many partitions."""

    def log(self, *copartitioned: str, others: tuple[str, ...] = (), credit_records: int = 100_000) -> RunningLog:
        """A member of the group of this world, not started."""

    async def append(self, topic: str, partition: int, *values: bytes) -> None:
        """Append records as some producer does."""

    async def append_with_gap(self, topic: str, partition: int, value: bytes) -> None:
        """Append a record, and an offset after it that bears none."""

    async def trim(self, topic: str, partition: int, before: int) -> None:
        """Drop the records below an offset."""

    async def live_and_die(self, topic: str, commit: int) -> None:
        """A member joins, reads, commits that offset of partition 0, and dies without a word."""


OpenWorld: TypeAlias = "Callable[[], AbstractAsyncContextManager[World]]"


class MemoryWorld:
    """The in-memory broker; its clock moves a millisecond a reading."""

    def __init__(self) -> None:
        """Empty."""
        ticks = itertools.count(1_000_000)
        self.broker = MemoryBroker(lambda: next(ticks))
        self._logs: list[MemoryLog] = []

    def topic(self, name: str) -> str:
        """The full name of a topic of this world."""
        return f"t.{name}"

    async def create(self, *, max_message_bytes: int = 1_048_588, **topics: int) -> None:
        """Create topics with that many partitions."""
        for name, partitions in topics.items():
            self.broker.create_topic(self.topic(name), partitions, max_message_bytes=max_message_bytes)

    def log(self, *copartitioned: str, others: tuple[str, ...] = (), credit_records: int = 100_000) -> MemoryLog:
        """A member of the group of this world, not started."""
        log = MemoryLog(
            self.broker,
            "g",
            copartitioned=[self.topic(name) for name in copartitioned],
            others=[self.topic(name) for name in others],
            name=f"m{len(self._logs)}",
            credit_records=credit_records,
        )
        self._logs.append(log)
        return log

    async def append(self, topic: str, partition: int, *values: bytes) -> None:
        """Append records as some producer does."""
        for value in values:
            self.broker.append(self.topic(topic), b"k", value, partition=partition)

    async def append_with_gap(self, topic: str, partition: int, value: bytes) -> None:
        """Append a record, and an offset after it that bears none."""
        await self.append(topic, partition, value)
        self.broker.skip(TopicPartition(self.topic(topic), partition), 1)

    async def trim(self, topic: str, partition: int, before: int) -> None:
        """Drop the records below an offset."""
        self.broker.trim(TopicPartition(self.topic(topic), partition), before)

    async def live_and_die(self, topic: str, commit: int) -> None:
        """A member joins, reads, commits that offset of partition 0, and dies without a word."""
        log = self.log(topic)
        recorder = Recorder(log)
        await log.start(recorder)
        await recorder.until(lambda: recorder.count >= commit)
        assert await log.commit({TopicPartition(self.topic(topic), 0): commit})
        log.kill()
        log.expire()

    async def close(self) -> None:
        """Stop all members."""
        for log in self._logs:
            await log.stop()


class KafkaWorld:
    """Apache Kafka; every world has topics and a group of its own."""

    def __init__(self, bootstrap: str) -> None:
        """Empty."""
        self._prefix = f"t{os.getpid()}-{next(_PREFIXES)}"
        self._logs: list[KafkaLog] = []
        self.settings = KafkaSettings(
            bootstrap=bootstrap,
            session_timeout_ms=6000,
            heartbeat_interval_ms=100,
            rebalance_timeout_ms=10_000,
            request_timeout_ms=10_000,
        )

    def topic(self, name: str) -> str:
        """The full name of a topic of this world."""
        return f"{self._prefix}.{name}"

    async def create(self, *, max_message_bytes: int = 1_048_588, **topics: int) -> None:
        """Create topics with that many partitions."""
        configs = {"message.timestamp.type": "LogAppendTime", "max.message.bytes": str(max_message_bytes)}
        admin = KafkaAdmin(self.settings)
        await admin.create_topics(
            [
                NewTopicSpec(name=self.topic(name), partitions=partitions, replication=1, configs=configs)
                for name, partitions in topics.items()
            ]
        )
        await admin.close()

    def log(self, *copartitioned: str, others: tuple[str, ...] = (), credit_records: int = 100_000) -> KafkaLog:
        """A member of the group of this world, not started."""
        log = KafkaLog(
            replace(self.settings, credit_records=credit_records),
            self._prefix,
            copartitioned=[self.topic(name) for name in copartitioned],
            others=[self.topic(name) for name in others],
        )
        self._logs.append(log)
        return log

    async def append(self, topic: str, partition: int, *values: bytes) -> None:
        """Append records as some producer does."""
        log = KafkaLog(self.settings)
        await log.publish(
            {TopicPartition(self.topic(topic), partition): [Message(b"k", value, []) for value in values]}
        )
        await log.stop()

    async def append_with_gap(self, topic: str, partition: int, value: bytes) -> None:
        """Append a record, and an offset after it that bears none."""
        producer = AIOKafkaProducer(bootstrap_servers=self.settings.bootstrap, transactional_id=self.topic("x"))
        await producer.start()
        async with producer.transaction():
            await producer.send_and_wait(self.topic(topic), value, partition=partition)
        await producer.stop()

    async def trim(self, topic: str, partition: int, before: int) -> None:
        """Drop the records below an offset."""
        admin = AIOKafkaAdminClient(bootstrap_servers=self.settings.bootstrap)
        await admin.start()
        await admin.delete_records({KafkaPartition(self.topic(topic), partition): RecordsToDelete(before)})  # type: ignore[no-untyped-call]  # aiokafka is typed in places only
        await admin.close()

    async def live_and_die(self, topic: str, commit: int) -> None:
        """In a process of its own, which is killed as nothing can be cleaned up after."""
        member = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "tests.stream.member"),
            *(self.settings.bootstrap, self._prefix, self.topic(topic), str(commit)),
            stdout=asyncio.subprocess.PIPE,
        )
        assert member.stdout is not None
        line = await asyncio.wait_for(member.stdout.readline(), 30)
        assert line == b"committed\n"
        member.send_signal(signal.SIGKILL)
        await member.wait()

    async def close(self) -> None:
        """Stop all members."""
        for log in self._logs:
            await log.stop()


@asynccontextmanager
async def memory_world() -> AsyncIterator[World]:
    """An in-memory world for the time of the block."""
    world = MemoryWorld()
    try:
        yield world
    finally:
        await world.close()


def kafka_world(bootstrap: str) -> Callable[[], AbstractAsyncContextManager[World]]:
    """Opens worlds on this broker."""

    @asynccontextmanager
    async def opened() -> AsyncIterator[World]:
        """A world of its own for the time of the block."""
        world = KafkaWorld(bootstrap)
        try:
            yield world
        finally:
            await world.close()

    return opened
