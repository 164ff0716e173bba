"""The rights that `pokdeng topics acls` prints are enough for everybody's work, and nobody can do anything else."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest
from aiokafka.errors import (
    ClusterAuthorizationFailedError,
    GroupAuthorizationFailedError,
    NoError,
    TopicAuthorizationFailedError,
)
from aiokafka.protocol.fetch import FetchRequest
from aiokafka.structs import TopicPartition as KafkaPartition

from pokdeng.cli.connect import why_not_join
from pokdeng.stream.kafka import KafkaAdmin, KafkaLog, NewTopicSpec
from pokdeng.stream.kafka.untyped import AIOKafkaAdminClient, AIOKafkaClient, AIOKafkaConsumer, AIOKafkaProducer
from pokdeng.stream.port import LogError, TopicPartition
from pokdeng.wire import TopicKind, Topics
from pokdeng.wire.rights import FACTS, READS, WRITES, Role, own_groups
from tests.security.conftest import PREFIX, with_topics
from tests.stream.recorder import Recorder

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.support.secure_kafka import SecureKafka

pytestmark = pytest.mark.timeout(240)

TOPICS = Topics(PREFIX)
GROUP = f"{PREFIX}-settlement"
FORBIDDEN = (TopicAuthorizationFailedError, GroupAuthorizationFailedError, ClusterAuthorizationFailedError)


def user(role: str) -> str:
    """The principal's name."""
    return f"{PREFIX}-{role}"


def pokdeng(kafka: SecureKafka, role: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """A command as this role."""
    return subprocess.run(  # noqa: S603 - our own words
        [sys.executable, "-m", "pokdeng", *arguments],
        env=kafka.variables(user(role)) | {"POKDENG_PREFIX": PREFIX, "POKDENG_GROUP": GROUP},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


@pytest.fixture(scope="module")
def with_rights(kafka: SecureKafka) -> SecureKafka:
    """The rights as the command prints them, and the topics, created by the role that may."""
    with_topics(kafka, PREFIX)
    return kafka


async def may(attempt: Callable[[], Any]) -> bool:
    """Whether Kafka lets it happen; any other failure raises."""
    try:
        async with asyncio.timeout(20):
            await attempt()
    except FORBIDDEN:
        return False
    return True


async def can_write(kafka: SecureKafka, name: str) -> set[TopicKind]:
    """The topics that this user can append to, idempotently."""
    producer = AIOKafkaProducer(**kafka.settings(name).client_arguments(), enable_idempotence=True, acks="all")
    if not await may(producer.start):
        return set()
    # The checkpoints are compacted: a record needs a key.
    attempts = {
        kind: partial(producer.send_and_wait, TOPICS.name(kind), b"{}", key=b"k", partition=0) for kind in TopicKind
    }
    try:
        return {kind for kind, attempt in attempts.items() if await may(attempt)}
    finally:
        await producer.stop()


async def can_read(kafka: SecureKafka, name: str) -> set[TopicKind]:
    """The topics that this user can fetch from."""
    client: Any = AIOKafkaClient(**kafka.settings(name).client_arguments())
    await client.bootstrap()
    try:
        asked = [(TOPICS.name(kind), [(0, 0, 1_000)]) for kind in TopicKind]
        answer: Any = await client.send(client.get_random_node(), FetchRequest(0, 0, 10_000, 0, asked))
    finally:
        await client.close()
    codes = {topic: partitions[0][1] for topic, partitions in answer.topics}
    assert set(codes.values()) <= {NoError.errno, TopicAuthorizationFailedError.errno}
    return {kind for kind in TopicKind if codes[TOPICS.name(kind)] == NoError.errno}


async def can_join(kafka: SecureKafka, name: str, group: str) -> bool:
    """Whether this user can be a member of a group."""
    consumer = AIOKafkaConsumer(**kafka.settings(name).client_arguments(), group_id=group)
    consumer.subscribe([TOPICS.rounds])
    return await _joined(consumer)


async def _joined(consumer: Any) -> bool:
    async def start() -> None:
        await consumer.start()
        await consumer.committed(KafkaPartition(TOPICS.rounds, 0))

    try:
        return await may(start)
    finally:
        await consumer.stop()


@pytest.mark.parametrize("role", list(Role))
def test_a_role_can_write_and_read_its_topics_and_no_others(role: Role, with_rights: SecureKafka) -> None:
    """All nine topics tried both ways, as the role's principal."""

    async def tried() -> None:
        assert await can_write(with_rights, user(role)) == set(WRITES.get(role, ()))
        assert await can_read(with_rights, user(role)) == set(READS.get(role, ()))

    asyncio.run(tried())


def test_a_principal_without_a_role_can_do_nothing(with_rights: SecureKafka) -> None:
    """Known by password, and that is all."""

    async def tried() -> None:
        assert await can_write(with_rights, "stranger") == set()
        assert await can_read(with_rights, "stranger") == set()

    asyncio.run(tried())


def test_inputs_have_one_writer_and_the_supervisor() -> None:
    """The promise that the list is made for, as the contract's table of topics says it."""
    writers = {kind: {role for role, kinds in WRITES.items() if kind in kinds} for kind in TopicKind}
    assert writers[TopicKind.TABLE_EVENTS] == {Role.FLOOR, Role.SUPERVISOR}
    assert writers[TopicKind.BETS] == {Role.GATEWAY, Role.SUPERVISOR}
    assert writers[TopicKind.FUNDS] == {Role.CASHIER, Role.SUPERVISOR}
    assert writers[TopicKind.DEAD_LETTERS] == {Role.SETTLEMENT, Role.SUPERVISOR}, "what was done about a letter"
    for kind in (*FACTS, TopicKind.CHECKPOINTS):
        assert writers[kind] == {Role.SETTLEMENT}


def test_groups_are_their_owners(with_rights: SecureKafka) -> None:
    """A reader can be a member of groups of its own name, and cannot enter the workers' group or move its offsets."""

    async def tried() -> None:
        reader = user(Role.READER)
        assert await can_join(with_rights, reader, own_groups(TOPICS, Role.READER) + "-wallet")
        assert not await can_join(with_rights, reader, GROUP)
        assert not await can_join(with_rights, user(Role.SUPERVISOR), GROUP)
        log = KafkaLog(with_rights.settings(user(Role.SUPERVISOR)), GROUP)
        place = TopicPartition(TOPICS.bets, 0)
        assert await log.committed([place]) == {place: None}, "the supervisor may see how far the workers are"
        await log.stop()

    asyncio.run(tried())


def test_the_workers_may_see_what_their_group_reads(with_rights: SecureKafka) -> None:
    """So one of another prefix, whose topics the leader may not see, is told not to join; others may not ask."""
    other = Topics("another")

    async def tried() -> None:
        log = KafkaLog(with_rights.settings(user(Role.SETTLEMENT)), GROUP, others=(TOPICS.funds,))
        recorder = Recorder(log)
        try:
            await log.start(recorder)
            await recorder.until(lambda: bool(recorder.owned))
            (why,) = await why_not_join(with_rights.settings(user(Role.SETTLEMENT)), GROUP, other)
            assert f"members that read {TOPICS.funds}: " in why
            with pytest.raises(LogError, match="this principal may not"):
                await why_not_join(with_rights.settings(user(Role.READER)), GROUP, other)
        finally:
            await log.stop()

    asyncio.run(tried())


@pytest.mark.parametrize("role", [Role.SETTLEMENT, Role.SUPERVISOR, Role.ADMIN])
def test_who_may_look_at_settings_can_check_the_topics(role: Role, with_rights: SecureKafka) -> None:
    """`topics check` finds warnings of a single broker, and no error."""
    checked = pokdeng(with_rights, role, "topics", "check", "--json")
    assert checked.returncode == 0, checked.stdout + checked.stderr
    assert json.loads(checked.stdout)["ok"] is True


def test_who_may_not_is_told_so_in_a_sentence(with_rights: SecureKafka) -> None:
    """No traceback; it names the topic."""
    checked = pokdeng(with_rights, Role.FLOOR, "topics", "check")
    assert checked.returncode == 1
    assert "this principal may not" in checked.stderr
    assert "Traceback" not in checked.stderr


@pytest.mark.parametrize("role", [role for role in Role if role is not Role.ADMIN])
def test_only_the_admin_creates_topics(role: Role, with_rights: SecureKafka) -> None:
    """A new topic under the prefix is refused with a sentence."""

    async def tried() -> None:
        admin = KafkaAdmin(with_rights.settings(user(role)))
        with pytest.raises(LogError, match="may not"):
            await admin.create_topics([NewTopicSpec(name=f"{PREFIX}.more.v1", partitions=1, replication=1)])
        await admin.close()

    asyncio.run(tried())


@pytest.mark.parametrize("role", list(Role))
def test_nobody_deletes_a_topic(role: Role, with_rights: SecureKafka) -> None:
    """Not even the admin: what was decided stays."""

    async def tried() -> None:
        client: Any = AIOKafkaAdminClient(**with_rights.settings(user(role)).client_arguments())
        await client.start()
        try:
            answer = await client.delete_topics([TOPICS.bets])
            assert [code for _, code in answer.topic_error_codes] == [TopicAuthorizationFailedError.errno]
        finally:
            await client.close()

    asyncio.run(tried())
