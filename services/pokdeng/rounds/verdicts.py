"""What becomes of a table event: it counts, it repeats what is known, or it cannot be used."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from pokdeng.events.ids import RoundId
    from pokdeng.events.reasons import DeadLetterReason, HoldReason


@dataclass(frozen=True, slots=True)
class Applied:
    """The event counts.

    `held` names a round that became held by it, and why; `over` one that it ended; `revised` a settled one that is to
    be reversed and settled or refunded anew.
    """

    held: tuple[RoundId, HoldReason] | None = None
    over: RoundId | None = None
    revised: RoundId | None = None


@dataclass(frozen=True, slots=True)
class Duplicate:
    """The event says what is known already: counted, nothing changes."""


@dataclass(frozen=True, slots=True)
class Refused:
    """The event cannot be used: a dead letter. It may have made its round held all the same.

    `detail` says to people what is wrong. It names rounds, shoes, seats and positions; never a card, and never an event
    id, which whoever writes the events may have made of the card.
    """

    reason: DeadLetterReason
    detail: str
    held: tuple[RoundId, HoldReason] | None = None


Verdict: TypeAlias = Applied | Duplicate | Refused

APPLIED = Applied()
"""It counts, and no round is held or over by it."""

DUPLICATE = Duplicate()
