"""Table events that came for a round after its end, as its page keeps them: so a repeat is known, whenever it comes.

Beside them those before its end that were impossible then: its shoe is not as it was when it is folded again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from pokdeng.rounds import Mark
from pokdeng.wire import decode_table_event, encode

if TYPE_CHECKING:
    from pokdeng.rounds import RoundEvent
    from pokdeng.rules import Card


class LateEvent(msgspec.Struct, frozen=True, array_like=True):
    """One such event: where it lies, and what it says. `replaced` is the card that it took away, of a correction."""

    offset: int
    at_ms: int
    text: str
    """The event as JSON."""
    replaced: str | None
    impossible: str | None = None
    """Of one that came before the end, and is kept for that alone: why its card could not be in its shoe then."""

    @property
    def mark(self) -> Mark:
        """Its record."""
        return Mark(self.offset, self.at_ms)

    @property
    def event(self) -> RoundEvent:
        """The event as rounds know it."""
        return decode_table_event(self.text.encode())  # type: ignore[return-value]  # it was made of one


def late_event(mark: Mark, event: RoundEvent, replaced: Card | None = None) -> LateEvent:
    """An event, to be kept. It shows no card before its time: the round is over."""
    return LateEvent(mark.offset, mark.at_ms, encode(event).decode(), None if replaced is None else str(replaced))


def impossible_event(offset: int, why: str) -> LateEvent:
    """An event that brought a card which its shoe could not have (`ninth_copy`, `shoe_exhausted`): it was not heard."""
    return LateEvent(offset, 0, "", None, why)


def decode_late(raw: bytes) -> LateEvent:
    """An event that was kept.

    Raises:
        msgspec.DecodeError: when the bytes are none.
    """
    return msgspec.json.decode(raw, type=LateEvent)
