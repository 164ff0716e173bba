"""What desks and cashiers share: topics, limits, how long ids are remembered, and the voice they say facts with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from pokdeng.settlement.limits import Limits
    from pokdeng.settlement.voice import Voice
    from pokdeng.wire import Topics


QUIET_MS: Final = 60_000
"""Half of it until an earlier owner begins to say what it had decided (`speaker.SAID_WITHIN_S`), half for a publish."""


@dataclass(frozen=True, slots=True, kw_only=True)
class House:
    """Made once, at the start.

    `remember_ms`: how long bets, rounds and shoes are remembered once finished. `correction_window_ms`: how long after
    its settlement a round is corrected, by broker time.
    """

    topics: Topics
    limits: Limits
    voice: Voice
    remember_ms: int
    correction_window_ms: int
    table_partitions: int
    """Partitions of table-events, bets and rounds."""
    funds_partitions: int
    held_ms: int = 600_000
    """A round that is held for so long, by broker time, is put aside: it keeps nothing of the log any more."""
    quiet_ms: int = QUIET_MS
    """How long a source that changed hands may be spoken of by its earlier owner: until it begins to, and a request."""
