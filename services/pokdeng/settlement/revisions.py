"""Corrections of settled rounds that are asked for, but not said yet: a queue for each round of a co-partition.

A revision is begun when the one before is acknowledged, its `rounds` record too. So whoever reads again meets at most
one that was applied and not said. The log is not let go below a correction that waits here: a restart reads it again.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pokdeng.events.ids import RoundId, TableId
    from pokdeng.events.inputs import CardCorrected, RoundCancelled
    from pokdeng.rounds import Mark, Round
    from pokdeng.settlement.book import Ending
    from pokdeng.settlement.finished import Finished

LOOK_AGAIN_S = 30.0
"""A correction that was stopped, for a record was missing, is tried again so much later."""


@dataclass(frozen=True, slots=True)
class Correction:
    """A table event that reverses a settled round, and settles or refunds it anew."""

    mark: Mark
    event: CardCorrected | RoundCancelled
    ending: Ending
    """The round, its shoe and its table right after it."""


class _Queue:
    """The corrections of one round, in the order of the log."""

    __slots__ = ("is_begun", "is_stopped", "known", "next_look", "waiting")

    def __init__(self) -> None:
        self.waiting: deque[Correction] = deque()
        self.known: Finished | None = None
        """How the round was said last, None while its first settlement is not said."""
        self.is_begun = False
        self.is_stopped = False
        self.next_look = 0.0


class Revisions:
    """The queues of a co-partition."""

    def __init__(self) -> None:
        """Nothing waits."""
        self._queues: dict[tuple[TableId, RoundId], _Queue] = {}

    def __bool__(self) -> bool:
        """Whether anything waits."""
        return bool(self._queues)

    def __contains__(self, key: tuple[TableId, RoundId]) -> bool:
        """Whether a correction of this round waits."""
        return key in self._queues

    def ask(self, key: tuple[TableId, RoundId], correction: Correction, known: Finished | None) -> None:
        """A correction counts. `known`: how the round was said last, None while it is not said."""
        queue = self._queues.get(key)
        if queue is None:
            queue = self._queues[key] = _Queue()
            queue.known = known
        queue.waiting.append(correction)

    def newest(self, key: tuple[TableId, RoundId]) -> Round | None:
        """A round as its newest waiting correction leaves it, None where none waits."""
        queue = self._queues.get(key)
        return None if queue is None else queue.waiting[-1].ending.round

    def cancelled_at_ms(self, key: tuple[TableId, RoundId]) -> int | None:
        """The broker time of a cancellation that waits, None where there is none."""
        round_ = self.newest(key)
        return None if round_ is None or round_.cancelled is None else round_.cancelled.mark.at_ms

    def due(self, now: float) -> Iterator[tuple[tuple[TableId, RoundId], Correction, Finished]]:
        """The next correction of each round that can be begun, and how the round was said last."""
        for key, queue in self._queues.items():
            if queue.known is not None and not queue.is_begun and queue.next_look <= now:
                yield key, queue.waiting[0], queue.known

    def begin(self, key: tuple[TableId, RoundId]) -> None:
        """The next correction of a round is being applied."""
        self._queues[key].is_begun, self._queues[key].is_stopped = True, False

    def stop(self, key: tuple[TableId, RoundId], now: float) -> bool:
        """The next correction of a round cannot be begun; whether that is news."""
        queue = self._queues[key]
        was_stopped, queue.is_stopped, queue.next_look = queue.is_stopped, True, now + LOOK_AGAIN_S
        return not was_stopped

    def said(self, key: tuple[TableId, RoundId], finished: Finished) -> None:
        """The round, or the revision that was begun, is acknowledged."""
        queue = self._queues.get(key)
        if queue is None:
            return
        if queue.is_begun:
            queue.is_begun = False
            queue.waiting.popleft()
        queue.known = finished
        if not queue.waiting:
            del self._queues[key]

    @property
    def oldest_needed(self) -> Mark | None:
        """Where the oldest correction that waits lies, None where none does."""
        return min((queue.waiting[0].mark for queue in self._queues.values()), default=None)

    def has_table(self, table_id: TableId, *, but: tuple[TableId, RoundId] | None = None) -> bool:
        """Whether a correction of a table's round waits, of another than `but` if that is named."""
        return any(key[0] == table_id and key != but for key in self._queues)

    @property
    def are_under_way(self) -> bool:
        """Whether any waits that is not stopped."""
        return any(not queue.is_stopped for queue in self._queues.values())

    @property
    def stopped(self) -> int:
        """How many rounds have a correction that cannot be begun."""
        return sum(queue.is_stopped for queue in self._queues.values())
