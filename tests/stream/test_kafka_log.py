"""What only Apache Kafka can show: crashes below, static members, three workers, topics as they are."""

from __future__ import annotations

import asyncio
import time
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from aiokafka.client import AIOKafkaClient
from aiokafka.errors import InvalidRequestError, NotLeaderForPartitionError, TopicAuthorizationFailedError
from aiokafka.protocol.produce import ProduceRequest

from pokdeng.stream.kafka import KafkaAdmin, KafkaLog, KafkaSettings, NewTopicSpec
from pokdeng.stream.kafka.offsets import OffsetsClient
from pokdeng.stream.kafka.publisher import Publisher
from pokdeng.stream.port import LogUnavailableError, Message, TopicPartition
from tests.stream.recorder import Recorder
from tests.stream.spoilt import spoilt_batch
from tests.stream.worlds import KafkaWorld
from tests.support.kafka import free_port

if TYPE_CHECKING:
    from collections.abc import AsyncIterator


@asynccontextmanager
async def world_on(bootstrap: str) -> AsyncIterator[KafkaWorld]:
    """A world on this broker, closed after the block."""
    world = KafkaWorld(bootstrap)
    try:
        yield world
    finally:
        await world.close()


def test_what_crashes_below_ends_the_log(kafka_bootstrap: str) -> None:
    """Whatever ends Faust is raised where the log is awaited, and nothing more is committed."""

    async def scenario() -> None:
        async with world_on(kafka_bootstrap) as world:
            await world.create(bets=1)
            log = world.log("bets")
            recorder = Recorder(log)
            await log.start(recorder)
            await recorder.until(lambda: bool(recorder.owned))
            assert log._app is not None
            await log._app.crash(TopicAuthorizationFailedError("bets"))
            with pytest.raises(TopicAuthorizationFailedError):
                await asyncio.wait_for(log.run_until_failed(), 10)
            assert not await log.commit({TopicPartition(world.topic("bets"), 0): 0})

    asyncio.run(scenario())


async def produce(bootstrap: str, partition: TopicPartition, raw: bytes) -> None:
    """Have the broker append a batch as it is."""
    client: Any = AIOKafkaClient(bootstrap_servers=bootstrap)  # type: ignore[no-untyped-call]  # typed in places only
    await client.bootstrap()
    await client.set_topics([partition.topic])
    leader = client.cluster.leader_for_partition(partition)
    answer = await client.send(
        leader, ProduceRequest(None, -1, 5_000, [(partition.topic, [(partition.partition, raw)])])
    )
    await client.close()
    ((_, ((_, code, *_),)),) = answer.topics
    assert code == 0


def test_a_header_whose_name_is_no_text_is_passed_over_by_nobody(kafka_bootstrap: str) -> None:
    """The broker takes it, so it must not stop who reads: the record is delivered, and can be read again."""

    async def scenario() -> None:
        async with world_on(kafka_bootstrap) as world:
            await world.create(bets=1)
            bets = TopicPartition(world.topic("bets"), 0)
            await produce(kafka_bootstrap, bets, spoilt_batch(["fine", "ABCD", "fine"]))
            await world.append("bets", 0, b"after")
            log = world.log("bets")
            recorder = Recorder(log)
            await log.start(recorder)
            await recorder.until(lambda: len(recorder.records[bets]) == 4)
            assert recorder.values(*bets) == [b"v0", b"v1", b"v2", b"after"]
            assert [(one.offset, one.value) for one in await log.read(bets, 1, 3)] == [(1, b"v1"), (2, b"v2")]
            await log.stop()

    asyncio.run(scenario())


def test_no_producer_is_left_behind(kafka_bootstrap: str) -> None:
    """Given up while it opened, closed while it opened, closed in use: none is open afterwards, or is used again."""

    async def scenario() -> None:
        async with world_on(kafka_bootstrap) as world:
            await world.create(rounds=2)
            batches = [{TopicPartition(world.topic("rounds"), number): [Message(b"k", b"v", [])]} for number in (0, 1)]
            for closes in (False, True):
                publisher = Publisher(world.settings)
                opening = asyncio.create_task(publisher.publish(batches[0], None))
                while not publisher._open:
                    await asyncio.sleep(0)
                if closes:
                    await publisher.close()
                else:
                    opening.cancel()
                await asyncio.gather(opening, return_exceptions=True)
                assert not publisher._open
                await publisher.close()
            await asyncio.gather(*(publisher.publish(batch, None) for batch in batches))
            assert len(publisher._open) == len(publisher._resting[None]) == 2
            await publisher.publish(batches[0], None)
            assert len(publisher._open) == 2
            using = asyncio.create_task(publisher.publish(batches[0], None))
            await asyncio.sleep(0)
            await publisher.close()
            await asyncio.gather(using, return_exceptions=True)
            assert not publisher._open
            assert not publisher._resting[None]

    asyncio.run(scenario())


def test_a_static_member_is_back_without_a_rebalance(kafka_bootstrap: str) -> None:
    """With an instance id a restart keeps the generation, and the others are not disturbed."""

    async def scenario() -> None:
        async with world_on(kafka_bootstrap) as world:
            await world.create(bets=2)
            settings = replace(world.settings, session_timeout_ms=20_000)
            logs = [
                KafkaLog(replace(settings, instance_id=name), world.topic("g"), copartitioned=[world.topic("bets")])
                for name in ("a", "b", "a")
            ]
            first, second, again = [Recorder(log) for log in logs]
            await logs[0].start(first)
            await logs[1].start(second)
            await first.until(lambda: len(first.owned) == 1)
            await second.until(lambda: len(second.owned) == 1)
            await logs[0].stop()
            await logs[2].start(again)
            await again.until(lambda: bool(again.owned))
            assert again.assignments == first.assignments[-1:]
            assert second.calls.count("assigned") == len(second.assignments)
            assert second.owned.isdisjoint(again.owned)
            assert second.assignments[-1].generation == again.assignments[-1].generation
            await logs[1].stop()
            await logs[2].stop()

    asyncio.run(scenario())


def test_nothing_is_fetched_before_a_rebalance_is_over(kafka_bootstrap: str) -> None:
    """Faust seeks and empties its queues at the very end of one: what a standby fetched before would be lost."""

    async def scenario() -> None:
        async with world_on(kafka_bootstrap) as world:
            await world.create(bets=1)
            await world.append("bets", 0, b"a")
            logs = [world.log("bets") for _ in range(2)]
            members = [Recorder(log) for log in logs]
            await logs[0].start(members[0])
            await members[0].until(lambda: members[0].count == 1)
            await logs[1].start(members[1])
            await members[1].until(lambda: bool(members[1].assignments))
            await members[0].until(lambda: len(members[0].assignments) >= 2)
            idle, busy = (0, 1) if not members[0].owned else (1, 0)
            app = logs[idle]._app
            assert app is not None

            early: list[int] = []

            async def linger(*_: object, **__: object) -> None:
                await members[idle].until(lambda: bool(members[idle].owned))
                await asyncio.sleep(0.5)  # long enough for several fetches
                early.append(members[idle].count)

            connected: Any = linger
            app.on_rebalance_complete.connect(connected)
            await logs[busy].stop()
            await members[idle].until(lambda: members[idle].count == 1)
            assert early == [0]

    asyncio.run(scenario())


def test_three_members_keep_copartitions_together(kafka_bootstrap: str) -> None:
    """Faust's own assignor, not round robin. It fills members up to ceil(partitions / members), so one may stand by."""

    async def scenario() -> None:
        async with world_on(kafka_bootstrap) as world:
            await world.create(tables=4, bets=4)
            logs = [world.log("tables", "bets") for _ in range(3)]
            members = [Recorder(log) for log in logs]
            for log, member in zip(logs, members, strict=True):
                await log.start(member)
            for member in members:
                await member.until(
                    lambda: len({one.assignments and one.assignments[-1].generation for one in members}) == 1
                )
            assert sum(len(member.owned) for member in members) == 8
            for member in members:
                tables = {one.partition for one in member.owned if one.topic == world.topic("tables")}
                assert tables == {one.partition for one in member.owned if one.topic == world.topic("bets")}

    asyncio.run(scenario())


def test_topics_are_described_as_they_are(kafka_bootstrap: str) -> None:
    """Partitions, replication and every setting; what exists already is not created; what does not is absent."""

    async def scenario() -> None:
        world = KafkaWorld(kafka_bootstrap)
        admin = KafkaAdmin(world.settings)
        name = world.topic("rounds")
        configs = {"message.timestamp.type": "LogAppendTime", "retention.ms": "604800000", "cleanup.policy": "delete"}
        spec = NewTopicSpec(name=name, partitions=3, replication=1, configs=configs)
        assert await admin.create_topics([spec]) == {name}
        assert await admin.create_topics([spec]) == frozenset()
        found = await admin.describe_topics([name, world.topic("none")])
        assert list(found) == [name]
        topic = found[name]
        assert (topic.name, topic.partitions, topic.replication) == (name, 3, 1)
        assert {key: topic.configs[key] for key in configs} == configs
        assert {"max.message.bytes", "min.insync.replicas", "unclean.leader.election.enable"} <= topic.configs.keys()
        assert await admin.describe_topics([]) == {}
        await admin.close()

    asyncio.run(scenario())


def test_nobody_there_is_said_soon() -> None:
    """Where nothing listens each question says so, instead of asking for ever."""

    async def scenario() -> None:
        settings = KafkaSettings(bootstrap=f"127.0.0.1:{free_port()}", request_timeout_ms=2000)
        log = KafkaLog(settings, "g", copartitioned=["bets"])
        partition = TopicPartition("bets", 0)
        began = time.monotonic()
        for question in (
            log.start(Recorder(log)),
            log.end_offsets([partition]),
            log.committed([partition]),
            log.read(partition, 0, 1),
            log.publish({partition: [Message(b"k", b"v", [])]}),
            log.partition_counts(["bets"]),
        ):
            with pytest.raises(LogUnavailableError):
                await question
        await log.stop()
        assert time.monotonic() - began < 15

    asyncio.run(scenario())


class _Leaders:
    """Answers ListOffsets as a script says: an error code or an offset for each request, and keeps who asked."""

    def __init__(self, *script: int) -> None:
        self.script = list(script)
        self.asked_as: list[int] = []
        self.cluster = self

    def leader_for_partition(self, _: object) -> int:
        return 1

    async def set_topics(self, _: object) -> None:
        pass

    async def force_metadata_update(self) -> None:
        pass

    async def close(self) -> None:
        pass

    async def send(self, _: int, request: Any) -> Any:
        self.asked_as.append(request._replica_id)
        answer = self.script.pop(0)
        code, offset = (-answer, -1) if answer < 0 else (0, answer)

        class Answer:
            topics = (("bets", [(0, code, -1, offset)]),)

        return Answer


def test_the_replicated_end_is_asked_for_where_the_logs_end_is_refused() -> None:
    """Once refused, the usual question is asked from then on."""

    async def scenario() -> None:
        leaders = _Leaders(-InvalidRequestError.errno, 7, 9)
        client = OffsetsClient(KafkaSettings(bootstrap="nowhere:1"))
        client._client = leaders
        assert await client.ends([TopicPartition("bets", 0)]) == {TopicPartition("bets", 0): 7}
        assert await client.ends([TopicPartition("bets", 0)]) == {TopicPartition("bets", 0): 9}
        assert leaders.asked_as == [-2, -1, -1]

    asyncio.run(scenario())


def test_a_new_leader_is_asked_again() -> None:
    """An answer that the leader has moved is not an answer."""

    async def scenario() -> None:
        leaders = _Leaders(-NotLeaderForPartitionError.errno, 7)
        client = OffsetsClient(KafkaSettings(bootstrap="nowhere:1"))
        client._client = leaders
        assert await client.ends([TopicPartition("bets", 0)]) == {TopicPartition("bets", 0): 7}
        assert leaders.asked_as == [-2, -2]

    asyncio.run(scenario())


def test_secrets_are_not_shown() -> None:
    """Settings may be logged."""
    hush = "hush"
    settings = KafkaSettings(bootstrap="b:1", sasl_user="u", sasl_password=hush)
    assert hush not in repr(settings)
    assert hush in settings.client_arguments().values()


def test_an_encrypted_connection_has_certificates() -> None:
    """Only where the protocol says so."""
    assert KafkaSettings(bootstrap="b:1", security_protocol="SASL_PLAINTEXT").ssl_context() is None
    assert KafkaSettings(bootstrap="b:1", security_protocol="SASL_SSL").ssl_context() is not None
