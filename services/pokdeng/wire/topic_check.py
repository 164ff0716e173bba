"""Whether topics are set up as they must be: a pure comparison of `REQUIREMENTS` with what a broker says."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Final

from pokdeng.wire.topics import (
    CO_PARTITIONED,
    CORRECTION_WINDOW_MS,
    DAY_MS,
    DEAD_LETTER_ROOM_BYTES,
    INPUT_MESSAGE_BYTES,
    INPUTS,
    KEPT_BEYOND_WINDOW_MS,
    REQUIREMENTS,
    TopicKind,
    Topics,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

REPLICATION_LEAST: Final = 3
IN_SYNC_LEAST: Final = 2
_FOR_EVER = -1
_BROKER_DEFAULTS: Final[Mapping[str, str]] = {
    "cleanup.policy": "delete",
    "max.message.bytes": str(INPUT_MESSAGE_BYTES),
    "message.timestamp.type": "CreateTime",
    "min.insync.replicas": "1",
    "retention.bytes": "-1",
    "retention.ms": str(7 * DAY_MS),
    "unclean.leader.election.enable": "false",
}


class Severity(StrEnum):
    """With an error, `topics check` exits 1 and the worker takes no record; with a warning, records may get lost."""

    ERROR = "error"
    WARNING = "warning"


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One thing about a topic that is not as it must or should be."""

    severity: Severity
    topic: str
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicDescription:
    """A topic as a broker describes it. A setting that is not in `configs` is taken to be Kafka's default."""

    partitions: int
    replication: int
    configs: Mapping[str, str] = field(default_factory=dict)

    def text(self, setting: str) -> str:
        """A setting's value."""
        return self.configs.get(setting, _BROKER_DEFAULTS[setting])

    def number(self, setting: str) -> int:
        """A setting's value as a number. Raises ValueError where the broker says something else."""
        return int(self.text(setting))


def check_topics(
    described: Mapping[str, TopicDescription],
    *,
    topics: Topics,
    correction_window_ms: int = CORRECTION_WINDOW_MS,
    allow_create_time: bool = False,
    partitions: int | None = None,
) -> tuple[Finding, ...]:
    """What differs, errors and warnings, in the order of the topics; empty where all is well.

    `described` holds the topics that exist, by name; others in it do not matter. `allow_create_time` is for brokers
    that cannot stamp records: a wrong `message.timestamp.type` is then a warning. `partitions` is how many the topics
    were created with, None where nobody says: another number of those that are read as one is an error, of any other
    topic a warning, for it may have been created so.

    >>> found = check_topics({}, topics=Topics())
    >>> len(found), found[0].message
    (9, 'does not exist, or is hidden from this principal')
    """
    findings: list[Finding] = []
    for kind in TopicKind:
        name = topics.name(kind)
        if name not in described:
            findings.append(_error(name, "does not exist, or is hidden from this principal"))
            continue
        topic = described[name]
        findings += _check_cleanup(name, kind, topic)
        findings += _check_retention(name, kind, topic, correction_window_ms)
        findings += _check_timestamps(name, kind, topic, allow_create_time=allow_create_time)
        findings += _check_durability(name, topic)
    if partitions is None:
        findings += _check_same_partitions(topics, described)
    else:
        findings += _check_partitions(topics, described, partitions)
    findings += _check_dead_letter_room(topics, described)
    return tuple(findings)


def _check_cleanup(name: str, kind: TopicKind, topic: TopicDescription) -> Iterator[Finding]:
    wanted = REQUIREMENTS[kind].cleanup_policy
    policy = topic.text("cleanup.policy")
    if policy != wanted:
        yield _error(name, f"cleanup.policy is {policy}, must be {wanted}")


def _check_retention(name: str, kind: TopicKind, topic: TopicDescription, window_ms: int) -> Iterator[Finding]:
    requirement = REQUIREMENTS[kind]
    if requirement.is_compacted:
        return
    kept_ms = topic.number("retention.ms")
    if requirement.retention_days is None:
        if kept_ms != _FOR_EVER:
            yield _warning(name, f"keeps records for {_days(kept_ms)} only: what is older can never be rebuilt")
    else:
        needed_ms = max(requirement.retention_ms, window_ms + KEPT_BEYOND_WINDOW_MS if kind in INPUTS else 0)
        if kept_ms != _FOR_EVER and kept_ms < needed_ms:
            yield _error(name, f"retention.ms is {kept_ms} ({_days(kept_ms)}), must be at least {needed_ms} or -1")
    kept_bytes = topic.number("retention.bytes")
    if kept_bytes != _FOR_EVER:
        yield _warning(name, f"retention.bytes is {kept_bytes}: records may go before their time")


def _check_timestamps(
    name: str, kind: TopicKind, topic: TopicDescription, *, allow_create_time: bool
) -> Iterator[Finding]:
    stamp = topic.text("message.timestamp.type")
    if REQUIREMENTS[kind].has_log_append_time and stamp != "LogAppendTime":
        say = _warning if allow_create_time else _error
        yield say(name, f"message.timestamp.type is {stamp}, must be LogAppendTime")


def _check_durability(name: str, topic: TopicDescription) -> Iterator[Finding]:
    if topic.replication < REPLICATION_LEAST:
        yield _warning(name, f"replication is {topic.replication}, should be {REPLICATION_LEAST} or more")
    in_sync = topic.number("min.insync.replicas")
    if in_sync < IN_SYNC_LEAST:
        yield _warning(name, f"min.insync.replicas is {in_sync}, should be {IN_SYNC_LEAST} or more")
    if topic.text("unclean.leader.election.enable") == "true":
        yield _warning(name, "unclean.leader.election.enable is true: acknowledged records may be lost")


def _check_partitions(topics: Topics, described: Mapping[str, TopicDescription], wanted: int) -> Iterator[Finding]:
    for kind in TopicKind:
        name = topics.name(kind)
        if name not in described or (count := described[name].partitions) == wanted:
            continue
        if kind in CO_PARTITIONED:
            yield _error(name, f"has {count} partitions, must have {wanted}")
        else:
            yield _warning(name, f"has {count} partitions, should have {wanted}; right only if it was created so")


def _check_same_partitions(topics: Topics, described: Mapping[str, TopicDescription]) -> Iterator[Finding]:
    counts = {name: described[name].partitions for kind in CO_PARTITIONED if (name := topics.name(kind)) in described}
    if len(set(counts.values())) > 1:
        said = ", ".join(f"{name} {count}" for name, count in counts.items())
        yield _error(topics.table_events, f"numbers of partitions differ, must be the same: {said}")


def _check_dead_letter_room(topics: Topics, described: Mapping[str, TopicDescription]) -> Iterator[Finding]:
    if topics.dead_letters not in described:
        return
    room = described[topics.dead_letters].number("max.message.bytes")
    inputs = [described[name] for kind in INPUTS if (name := topics.name(kind)) in described]
    needed = max((topic.number("max.message.bytes") for topic in inputs), default=0) + DEAD_LETTER_ROOM_BYTES
    if inputs and room < needed:
        yield _error(
            topics.dead_letters,
            f"max.message.bytes is {room}, must be at least {needed}: the largest of the inputs' and 64 KiB",
        )


def _days(milliseconds: int) -> str:
    return f"{milliseconds / DAY_MS:g} days"


def _error(topic: str, message: str) -> Finding:
    return Finding(severity=Severity.ERROR, topic=topic, message=message)


def _warning(topic: str, message: str) -> Finding:
    return Finding(severity=Severity.WARNING, topic=topic, message=message)
