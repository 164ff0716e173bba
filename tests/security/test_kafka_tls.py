"""Every connection of the log, over TLS, by password and by certificate; who is not trusted does not get in."""

from __future__ import annotations

import asyncio
import uuid
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from pokdeng.stream.kafka import KafkaAdmin, KafkaLog, KafkaSettings, NewTopicSpec
from pokdeng.stream.port import LogUnavailableError, Message, TopicPartition
from tests.stream.recorder import Recorder
from tests.support.certificates import Authority
from tests.support.secure_kafka import ADMIN

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.secure_kafka import SecureKafka

pytestmark = pytest.mark.timeout(180)

MECHANISMS = ["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512", "certificate"]


def by_certificate(kafka: SecureKafka, user: str) -> KafkaSettings:
    """The same user, known by a certificate."""
    pair = kafka.certificates[user]
    return KafkaSettings(
        bootstrap=kafka.ssl,
        security_protocol="SSL",
        ssl_ca_file=str(kafka.authority.ca),
        ssl_certificate_file=str(pair.certificate),
        ssl_key_file=str(pair.key),
        session_timeout_ms=10_000,
    )


@pytest.mark.parametrize("how", MECHANISMS)
def test_every_connection_of_the_log_works(how: str, kafka: SecureKafka) -> None:
    """The group's consumer, the publisher with and without compression, the barrier, the reader, and the admin."""
    settings = by_certificate(kafka, ADMIN) if how == "certificate" else kafka.settings(ADMIN, how)
    asyncio.run(everything(settings, f"tls-{uuid.uuid4().hex[:8]}"))


async def everything(settings: KafkaSettings, topic: str) -> None:
    """Use each connection once."""
    admin = KafkaAdmin(settings)
    created = await admin.create_topics([NewTopicSpec(name=topic, partitions=1, replication=1)])
    assert created == {topic}
    async with asyncio.timeout(30):
        while topic not in (described := await admin.describe_topics([topic])):
            await asyncio.sleep(0.05)  # a broker tells of a topic a moment after it was created
    assert described[topic].partitions == 1
    await admin.close()
    log = KafkaLog(settings, topic, others=[topic])
    place = TopicPartition(topic, 0)
    try:
        recorder = Recorder(log)
        await log.start(recorder)
        await log.publish({place: [Message(b"k", b"one", [])]})
        await log.publish({place: [Message(b"k", b"two", [])]}, compressed=True)
        assert await log.end_offsets([place]) == {place: 2}
        assert [record.value for record in await log.read(place, 0, 2)] == [b"one", b"two"]
        await recorder.until(lambda: recorder.count == 2)
        assert await log.commit({place: 2})
        assert await log.committed([place]) == {place: 2}
    finally:
        await log.stop()


def untrusted(kafka: SecureKafka, folder: Path) -> KafkaSettings:
    """We trust somebody else."""
    return replace(kafka.settings(ADMIN), ssl_ca_file=str(Authority(folder).ca))


def wrong_password(kafka: SecureKafka, _: Path) -> KafkaSettings:
    """The password of another user."""
    return replace(kafka.settings(ADMIN), sasl_password=kafka.passwords["stranger"])


def no_certificate(kafka: SecureKafka, _: Path) -> KafkaSettings:
    """The listener wants one."""
    return replace(by_certificate(kafka, ADMIN), ssl_certificate_file=None, ssl_key_file=None)


def foreign_certificate(kafka: SecureKafka, folder: Path) -> KafkaSettings:
    """One that says `admin`, of an authority that the broker does not know."""
    pair = Authority(folder).issue(ADMIN)
    return replace(by_certificate(kafka, ADMIN), ssl_certificate_file=str(pair.certificate), ssl_key_file=str(pair.key))


def in_the_clear(kafka: SecureKafka, _: Path) -> KafkaSettings:
    """No TLS at all."""
    return KafkaSettings(bootstrap=kafka.sasl, request_timeout_ms=3_000)


@pytest.mark.parametrize("settings_of", [untrusted, wrong_password, no_certificate, foreign_certificate, in_the_clear])
def test_who_is_not_trusted_does_not_get_in(
    settings_of: object, kafka: SecureKafka, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Unavailable, which a worker waits for, not ready; what it says and logs holds no password."""
    assert callable(settings_of)
    settings = settings_of(kafka, tmp_path)

    async def ask() -> None:
        log = KafkaLog(settings)
        try:
            await log.partition_counts(["any"])
        finally:
            await log.stop()

    with pytest.raises(LogUnavailableError) as raised:
        asyncio.run(ask())
    said = f"{raised.value!r} {raised.value.__cause__!r} {caplog.text}"
    for password in kafka.passwords.values():
        assert password not in said
