"""From options to connections: Kafka's settings, a topic check. Loaded only by commands that use Kafka."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import click

from pokdeng.cli.secrets import secret
from pokdeng.stream.kafka import KafkaAdmin, KafkaSettings, NewTopicSpec
from pokdeng.wire import REQUIREMENTS, TopicKind
from pokdeng.wire.topic_check import Finding, TopicDescription, check_topics

if TYPE_CHECKING:
    from pokdeng.wire import Topics

DEFAULT_SASL: Final = "SCRAM-SHA-512"


def kafka_settings(*, bootstrap: str, instance_id: str | None = None, **options: Any) -> KafkaSettings:
    """The settings that the options of `options.kafka` say.

    Raises:
        click.UsageError: when they contradict each other, or a file is not what it should be.
    """
    security: str = options["kafka_security"]
    password = secret("--kafka-password", options["kafka_password"], options["kafka_password_file"])
    user, key, certificate = options["kafka_user"], options["kafka_key"], options["kafka_certificate"]
    tls = _given(options, "kafka_ca", "kafka_certificate", "kafka_key")
    sasl = _given(options, "kafka_sasl", "kafka_user", "kafka_password", "kafka_password_file")
    if tls and "SSL" not in security.split("_"):
        raise click.UsageError(f"{tls} would be ignored with --kafka-security {security}; use SSL or SASL_SSL")
    if sasl and not security.startswith("SASL"):
        raise click.UsageError(f"{sasl} would be ignored with --kafka-security {security}; use SASL_SSL")
    if security.startswith("SASL") and not (user and password):
        raise click.UsageError(
            f"--kafka-security {security} needs --kafka-user and --kafka-password: POKDENG_KAFKA_PASSWORD, "
            "or --kafka-password-file"
        )
    if key and not certificate:
        raise click.UsageError("--kafka-key needs --kafka-certificate")
    settings = KafkaSettings(
        bootstrap=bootstrap,
        set_by="--bootstrap and --kafka-security",
        instance_id=instance_id,
        security_protocol=security,
        ssl_ca_file=options["kafka_ca"],
        ssl_certificate_file=certificate,
        ssl_key_file=key,
        sasl_mechanism=options["kafka_sasl"] or DEFAULT_SASL,
        sasl_user=user,
        sasl_password=password,
    )
    try:
        settings.ssl_context()
    except (OSError, ValueError) as error:
        raise click.UsageError(f"{tls or '--kafka-security'}: {error}") from error
    return settings


def _given(options: dict[str, Any], *names: str) -> str:
    return " and ".join(f"--{name.replace('_', '-')}" for name in names if options[name])


def topic_specs(
    topics: Topics, *, partitions: int, replication: int, in_sync: int = 1, with_log_append_time: bool = True
) -> list[NewTopicSpec]:
    """All nine topics, to be created as they must be."""
    return [
        NewTopicSpec(
            name=topics.name(kind),
            partitions=partitions,
            replication=replication,
            configs={
                **REQUIREMENTS[kind].configs(with_log_append_time=with_log_append_time),
                "min.insync.replicas": str(in_sync),
            },
        )
        for kind in TopicKind
    ]


async def create_topics(settings: KafkaSettings, specs: list[NewTopicSpec]) -> frozenset[str]:
    """Create what does not exist; the names of what was created. Raises LogError or KafkaError."""
    admin = KafkaAdmin(settings)
    try:
        return await admin.create_topics(specs)
    finally:
        await admin.close()


async def describe_topics(settings: KafkaSettings, topics: Topics) -> dict[str, TopicDescription]:
    """The topics that exist, as the broker describes them. Raises LogUnavailableError where Kafka does not answer."""
    admin = KafkaAdmin(settings)
    try:
        described = await admin.describe_topics(topics.names)
    finally:
        await admin.close()
    return {
        name: TopicDescription(partitions=one.partitions, replication=one.replication, configs=one.configs)
        for name, one in described.items()
    }


async def why_not_join(settings: KafkaSettings, group: str, topics: Topics) -> list[str]:
    """Why a worker of these topics must not join a group: its members read topics of another prefix.

    Whoever leads a group shares out what all members read. A leader that may not see our topics, for it is of another
    prefix with a principal of its own, would give us nothing: we would stand by, ready, and bets would wait for ever.
    Where it may, each rebalance of the others is one of ours. Raises LogError.
    """
    admin = KafkaAdmin(settings)
    try:
        read = await admin.subscribed(group)
    finally:
        await admin.close()
    others = ", ".join(sorted(name for name in read if not topics.is_prefix_of(name)))
    why = (
        f"group {group} has members that read {others}: a group is for the workers of one prefix, "
        f"and ours is {topics.prefix}; name another with --group (POKDENG_GROUP)"
    )
    return [why] if others else []


async def find_differences(
    settings: KafkaSettings,
    topics: Topics,
    *,
    correction_window_ms: int,
    allow_create_time: bool,
    partitions: int | None,
) -> tuple[Finding, ...]:
    """What of the topics is not as it must or should be. Raises LogUnavailableError where Kafka does not answer."""
    return check_topics(
        await describe_topics(settings, topics),
        topics=topics,
        correction_window_ms=correction_window_ms,
        allow_create_time=allow_create_time,
        partitions=partitions,
    )
