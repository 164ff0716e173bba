"""What the checker reads: records as they lie in the log, the names of topics, and Kafka's own partitioner.

Nothing of the service is used here: a checker that shares code with what it checks shares its defects.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import NamedTuple, Protocol, TypeAlias

TABLE_EVENTS = "table-events"
BETS = "bets"
FUNDS = "funds"
INPUT_KINDS = (TABLE_EVENTS, BETS, FUNDS)
BET_DECISIONS = "bet-decisions"
FUNDS_DECISIONS = "funds-decisions"
SETTLEMENTS = "settlements"
ROUNDS = "rounds"
DEAD_LETTERS = "dead-letters"
OUTPUT_KINDS = (BET_DECISIONS, FUNDS_DECISIONS, SETTLEMENTS, ROUNDS, DEAD_LETTERS)


class Rec(Protocol):
    """A record, of whichever client."""

    @property
    def topic(self) -> str:
        """The topic's full name."""

    @property
    def partition(self) -> int:
        """Where it lies in the topic."""

    @property
    def offset(self) -> int:
        """Where it lies in the partition."""

    @property
    def timestamp(self) -> int:
        """Broker time, milliseconds."""

    @property
    def key(self) -> bytes | None:
        """A table or an account, or anything."""

    @property
    def value(self) -> bytes | None:
        """JSON, or anything."""

    @property
    def headers(self) -> Sequence[tuple[str, bytes]]:
        """In their order."""


class Plain(NamedTuple):
    """A record written by hand or by the reference."""

    topic: str
    partition: int
    offset: int
    timestamp: int
    key: bytes | None
    value: bytes | None
    headers: Sequence[tuple[str, bytes]] = ()


Partitions: TypeAlias = int | Mapping[str, int]
"""How many partitions each topic has, by full name; or one number for all."""


class Topics(NamedTuple):
    """The topics under one prefix, and how many partitions each has."""

    prefix: str
    partitions: Partitions

    def name(self, kind: str) -> str:
        """The full name of a kind of topic."""
        return f"{self.prefix}.{kind}.v1"

    def kind(self, topic: str) -> str:
        """The kind of a topic; its whole name where it is none of ours."""
        return topic.removeprefix(f"{self.prefix}.").removesuffix(".v1")

    def count(self, topic: str) -> int:
        """How many partitions a topic has."""
        return self.partitions if isinstance(self.partitions, int) else self.partitions[topic]

    def partition(self, topic: str, key: bytes) -> int:
        """Where a key belongs."""
        return place_of(key, self.count(topic))


@cache
def place_of(key: bytes, count: int) -> int:
    """The partition of a key: the low 31 bits of murmur2, modulo the number of partitions.

    >>> place_of(b"T-1", 12), place_of(b"", 12)
    (8, 9)
    """
    return (murmur2(key) & 0x7FFFFFFF) % count


def murmur2(data: bytes) -> int:
    """The 32-bit murmur2 that Kafka's Java client uses, as an unsigned number.

    >>> murmur2(b"foobar") == -790332482 & 0xFFFFFFFF
    True
    """
    factor = 0x5BD1E995
    mask = 0xFFFFFFFF
    length = len(data)
    state = (0x9747B28C ^ length) & mask
    whole = length - length % 4
    for start in range(0, whole, 4):
        part = int.from_bytes(data[start : start + 4], "little") * factor & mask
        part ^= part >> 24
        state = (state * factor & mask) ^ (part * factor & mask)
    rest = data[whole:]
    if rest:
        state = (state ^ int.from_bytes(rest, "little")) * factor & mask
    state ^= state >> 13
    state = state * factor & mask
    return state ^ state >> 15
