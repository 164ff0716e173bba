"""What names things: ids, money, places in the log. Types only; their limits are enforced where records are decoded."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NewType

EventId = NewType("EventId", str)
TableId = NewType("TableId", str)
ShoeId = NewType("ShoeId", str)
RoundId = NewType("RoundId", str)
BetId = NewType("BetId", str)
AccountId = NewType("AccountId", str)
TransferId = NewType("TransferId", str)

Currency = NewType("Currency", str)
"""Three capital letters, an ISO 4217 code."""

Minor = NewType("Minor", int)
"""Money: minor units of a currency (satang, cents), a whole number."""

Timestamp = NewType("Timestamp", str)
"""RFC 3339 with a zone: the very text of the input. For people; nothing is decided by it."""

Reason = NewType("Reason", str)
"""A supervisor's text of 1 .. 200 characters."""


@dataclass(frozen=True, slots=True)
class Cause:
    """The input record that caused a fact: where it lies in the log."""

    topic: str
    partition: int
    offset: int
