"""From options to connections: Kafka's settings, a topic check. Loaded only by commands that use Kafka."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pokdeng.stream.kafka import KafkaAdmin, KafkaSettings
from pokdeng.wire.topic_check import Finding, TopicDescription, check_topics

if TYPE_CHECKING:
    from pokdeng.stream.port import LogUnavailableError  # noqa: F401
    from pokdeng.wire import Topics


def kafka_settings(*, bootstrap: str, instance_id: str | None = None, **options: Any) -> KafkaSettings:
    """The settings that the options of `options.kafka` say."""
    return KafkaSettings(
        bootstrap=bootstrap,
        instance_id=instance_id,
        security_protocol=options["kafka_security"],
        ssl_ca_file=options["kafka_ca"],
        ssl_certificate_file=options["kafka_certificate"],
        ssl_key_file=options["kafka_key"],
        sasl_mechanism=options["kafka_sasl"],
        sasl_user=options["kafka_user"],
        sasl_password=options["kafka_password"],
    )


async def find_differences(
    settings: KafkaSettings, topics: Topics, *, correction_window_ms: int, allow_create_time: bool
) -> tuple[Finding, ...]:
    """What of the topics is not as it must or should be. Raises LogUnavailableError where Kafka does not answer."""
    admin = KafkaAdmin(settings)
    try:
        described = await admin.describe_topics(topics.names)
    finally:
        await admin.close()
    return check_topics(
        {
            name: TopicDescription(partitions=one.partitions, replication=one.replication, configs=one.configs)
            for name, one in described.items()
        },
        topics=topics,
        correction_window_ms=correction_window_ms,
        allow_create_time=allow_create_time,
    )
