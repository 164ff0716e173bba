"""Who may do what with the topics: one list, for `pokdeng topics acls`, its test and the documents.

A right that is not in this list nobody has.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Final

from pokdeng.wire.topics import INPUTS, TopicKind

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from pokdeng.wire.topics import Topics


class Role(StrEnum):
    """Who connects to Kafka. One principal each, or several."""

    SETTLEMENT = "settlement"
    """The workers, and the commands that restore or check what they keep (`topics check`, `balances`)."""

    FLOOR = "floor"
    """The dealing floor."""

    GATEWAY = "gateway"
    """The bet gateway."""

    CASHIER = "cashier"
    SUPERVISOR = "supervisor"
    """A person with the commands that look into the log or write to inputs (`rounds`, `dead-letters`, `audit`)."""

    READER = "reader"
    """Whoever lives on the facts: wallets, reports, road maps."""

    ADMIN = "admin"
    """Creates the topics, once."""


class Operation(StrEnum):
    """As Kafka's tools write it."""

    READ = "Read"
    WRITE = "Write"
    CREATE = "Create"
    DESCRIBE = "Describe"
    DESCRIBE_CONFIGS = "DescribeConfigs"


class Resource(StrEnum):
    """What a right is about."""

    TOPIC = "topic"
    GROUP = "group"


@dataclass(frozen=True, slots=True, kw_only=True)
class Right:
    """One role may do one thing with one resource, or with all whose names begin so."""

    role: Role
    operation: Operation
    resource: Resource
    name: str
    is_prefix: bool = False


FACTS: Final = (
    TopicKind.BET_DECISIONS,
    TopicKind.FUNDS_DECISIONS,
    TopicKind.SETTLEMENTS,
    TopicKind.ROUNDS,
)
"""What other teams may read. Dead letters and table events may show cards of an open round."""

WRITES: Final[Mapping[Role, tuple[TopicKind, ...]]] = {
    Role.SETTLEMENT: (*FACTS, TopicKind.DEAD_LETTERS, TopicKind.CHECKPOINTS),
    Role.FLOOR: (TopicKind.TABLE_EVENTS,),
    Role.GATEWAY: (TopicKind.BETS,),
    Role.CASHIER: (TopicKind.FUNDS,),
    # What was done about a dead letter is recorded beside it.
    Role.SUPERVISOR: (*INPUTS, TopicKind.DEAD_LETTERS),
}
READS: Final[Mapping[Role, tuple[TopicKind, ...]]] = {
    Role.SETTLEMENT: (*INPUTS, *FACTS, TopicKind.CHECKPOINTS),
    Role.FLOOR: (TopicKind.ROUNDS,),
    Role.GATEWAY: (TopicKind.BET_DECISIONS, TopicKind.SETTLEMENTS),
    Role.CASHIER: (TopicKind.FUNDS_DECISIONS,),
    Role.SUPERVISOR: tuple(TopicKind),
    Role.READER: FACTS,
}
_SETTINGS: Final[Mapping[Role, tuple[TopicKind, ...]]] = {
    Role.SETTLEMENT: tuple(TopicKind),
    Role.SUPERVISOR: tuple(TopicKind),
    Role.ADMIN: tuple(TopicKind),
}
"""What `topics check` asks for; the worker asks it, too."""
_CREATES: Final[Mapping[Role, tuple[TopicKind, ...]]] = {Role.ADMIN: tuple(TopicKind)}
_TOPICS: Final = {
    Operation.WRITE: WRITES,
    Operation.READ: READS,
    Operation.DESCRIBE_CONFIGS: _SETTINGS,
    Operation.CREATE: _CREATES,
    Operation.DESCRIBE: _CREATES,
}


def rights(topics: Topics, group: str) -> Iterator[Right]:
    """Every right that is needed, role by role. `group` is the workers' consumer group.

    Who reads or writes a topic may describe it, too; who writes one may be an idempotent producer.
    """
    for role in Role:
        for operation, roles in _TOPICS.items():
            for kind in roles.get(role, ()):
                yield Right(role=role, operation=operation, resource=Resource.TOPIC, name=topics.name(kind))
        yield from _groups(role, topics, group)


def own_groups(topics: Topics, role: Role) -> str:
    """What the names of a role's consumer groups begin with."""
    return f"{topics.prefix}-{role}"


def _groups(role: Role, topics: Topics, group: str) -> Iterator[Right]:
    if role is Role.SETTLEMENT:
        yield Right(role=role, operation=Operation.READ, resource=Resource.GROUP, name=group)
        return
    if role is Role.SUPERVISOR:
        yield Right(role=role, operation=Operation.DESCRIBE, resource=Resource.GROUP, name=group)
    if role in READS:
        own = own_groups(topics, role)
        yield Right(role=role, operation=Operation.READ, resource=Resource.GROUP, name=own, is_prefix=True)
