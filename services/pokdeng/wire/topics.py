"""The nine topics: their names under a prefix, what each is keyed by, and how each must be set up.

`check_topics` (in `topic_check`) compares this table with what a broker says.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

DAY_MS: Final = 86_400_000
PARTITIONS: Final = 12
"""The default number of partitions; no topic's number ever changes."""
INPUT_MESSAGE_BYTES: Final = 1_048_588
"""The brokers' default `max.message.bytes`: 1 MiB and the overhead of a batch."""
DEAD_LETTER_ROOM_BYTES: Final = 65_536
"""A dead letter is larger than its record, by far less than this."""
CORRECTION_WINDOW_MS: Final = DAY_MS
"""The default of `--correction-window`."""
KEPT_BEYOND_WINDOW_MS: Final = 7 * DAY_MS
"""Inputs are kept at least so much longer than the correction window."""


class TopicKind(StrEnum):
    """The topics; the value is the name without prefix and version."""

    TABLE_EVENTS = "table-events"
    BETS = "bets"
    FUNDS = "funds"
    BET_DECISIONS = "bet-decisions"
    FUNDS_DECISIONS = "funds-decisions"
    SETTLEMENTS = "settlements"
    ROUNDS = "rounds"
    DEAD_LETTERS = "dead-letters"
    CHECKPOINTS = "checkpoints"


INPUTS: Final = (TopicKind.TABLE_EVENTS, TopicKind.BETS, TopicKind.FUNDS)
CO_PARTITIONED: Final = (TopicKind.TABLE_EVENTS, TopicKind.BETS, TopicKind.ROUNDS)
"""The topics that have the same number of partitions, and the same owner for each."""


class KeyedBy(StrEnum):
    """What the key of a topic's records is."""

    TABLE_ID = "table_id"
    ACCOUNT_ID = "account_id"
    ORIGINAL = "as it came"
    INTERNAL = "internal"


@dataclass(frozen=True, slots=True, kw_only=True)
class Requirement:
    """How a topic must be set up. `retention_days` None is for ever, `max_message_bytes` None the broker's default."""

    keyed_by: KeyedBy
    retention_days: int | None = None
    has_log_append_time: bool = False
    is_compacted: bool = False
    max_message_bytes: int | None = None

    @property
    def retention_ms(self) -> int:
        """As Kafka takes it: milliseconds, -1 for ever."""
        return -1 if self.retention_days is None else self.retention_days * DAY_MS

    @property
    def cleanup_policy(self) -> str:
        """`delete`, or `compact` for the checkpoints."""
        return "compact" if self.is_compacted else "delete"

    def configs(self, *, with_log_append_time: bool = True) -> dict[str, str]:
        """The settings to create the topic with. `with_log_append_time` False: a broker that cannot stamp."""
        settings = {"cleanup.policy": self.cleanup_policy}
        if not self.is_compacted:
            settings["retention.ms"] = str(self.retention_ms)
            settings["retention.bytes"] = "-1"
        if self.has_log_append_time and with_log_append_time:
            settings["message.timestamp.type"] = "LogAppendTime"
        if self.max_message_bytes is not None:
            settings["max.message.bytes"] = str(self.max_message_bytes)
        return settings


REQUIREMENTS: Final[Mapping[TopicKind, Requirement]] = {
    TopicKind.TABLE_EVENTS: Requirement(
        keyed_by=KeyedBy.TABLE_ID,
        retention_days=14,
        has_log_append_time=True,
        max_message_bytes=INPUT_MESSAGE_BYTES,
    ),
    TopicKind.BETS: Requirement(
        keyed_by=KeyedBy.TABLE_ID,
        retention_days=14,
        has_log_append_time=True,
        max_message_bytes=INPUT_MESSAGE_BYTES,
    ),
    TopicKind.FUNDS: Requirement(keyed_by=KeyedBy.ACCOUNT_ID, retention_days=30, max_message_bytes=INPUT_MESSAGE_BYTES),
    TopicKind.BET_DECISIONS: Requirement(keyed_by=KeyedBy.ACCOUNT_ID),
    TopicKind.FUNDS_DECISIONS: Requirement(keyed_by=KeyedBy.ACCOUNT_ID),
    TopicKind.SETTLEMENTS: Requirement(keyed_by=KeyedBy.ACCOUNT_ID),
    TopicKind.ROUNDS: Requirement(keyed_by=KeyedBy.TABLE_ID, has_log_append_time=True),
    TopicKind.DEAD_LETTERS: Requirement(
        keyed_by=KeyedBy.ORIGINAL,
        retention_days=90,
        max_message_bytes=INPUT_MESSAGE_BYTES + DEAD_LETTER_ROOM_BYTES,
    ),
    TopicKind.CHECKPOINTS: Requirement(keyed_by=KeyedBy.INTERNAL, is_compacted=True),
}
"""Source: the contract, "Topics"."""


@dataclass(frozen=True, slots=True)
class Topics:
    """The topics' names under a prefix.

    >>> Topics().bets
    'pokdeng.bets.v1'
    >>> Topics("staging").name(TopicKind.ROUNDS), Topics("staging").source
    ('staging.rounds.v1', '/staging/settlement')
    """

    prefix: str = "pokdeng"

    def name(self, kind: TopicKind) -> str:
        """A topic's name."""
        return f"{self.prefix}.{kind}.v1"

    def kind_of(self, name: str) -> TopicKind | None:
        """Which topic has this name, None if none of ours.

        >>> Topics().kind_of("pokdeng.bets.v1"), Topics().kind_of("other.bets.v1")
        (<TopicKind.BETS: 'bets'>, None)
        """
        return next((kind for kind in TopicKind if self.name(kind) == name), None)

    def is_prefix_of(self, name: str) -> bool:
        """Whether a topic belongs to this prefix, be it one that another version has.

        >>> names = ("pokdeng.bets.v1", "pokdeng.bets.v2", "pokdeng.two.bets.v1", "house.bets.v1")
        >>> [Topics().is_prefix_of(name) for name in names]
        [True, True, False, False]
        """
        start, _, version = name.rpartition(".")
        prefix, _, kind = start.rpartition(".")
        return prefix == self.prefix and bool(kind and version)

    @property
    def inputs(self) -> tuple[str, ...]:
        """Those that others write: table events, bets and funds."""
        return (self.table_events, self.bets, self.funds)

    @property
    def names(self) -> tuple[str, ...]:
        """All nine, in the order of `TopicKind`."""
        return tuple(map(self.name, TopicKind))

    @property
    def source(self) -> str:
        """The CloudEvents source of every fact: what `headers` takes."""
        return f"/{self.prefix}/settlement"

    @property
    def table_events(self) -> str:
        """Shoes, rounds and cards, in."""
        return self.name(TopicKind.TABLE_EVENTS)

    @property
    def bets(self) -> str:
        """Bets and their cancels, in."""
        return self.name(TopicKind.BETS)

    @property
    def funds(self) -> str:
        """Deposits and withdrawals, in."""
        return self.name(TopicKind.FUNDS)

    @property
    def bet_decisions(self) -> str:
        """Each bet accepted or rejected, out."""
        return self.name(TopicKind.BET_DECISIONS)

    @property
    def funds_decisions(self) -> str:
        """Each transfer credited, debited or rejected, out."""
        return self.name(TopicKind.FUNDS_DECISIONS)

    @property
    def settlements(self) -> str:
        """Each accepted bet's result, refund or reversal, out."""
        return self.name(TopicKind.SETTLEMENTS)

    @property
    def rounds(self) -> str:
        """Each round's result as a whole, out, and read back."""
        return self.name(TopicKind.ROUNDS)

    @property
    def dead_letters(self) -> str:
        """What could not be used, with why."""
        return self.name(TopicKind.DEAD_LETTERS)

    @property
    def checkpoints(self) -> str:
        """Balances and open bets as of a point of the log; internal, compacted."""
        return self.name(TopicKind.CHECKPOINTS)
