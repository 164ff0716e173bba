"""Cards that come late: their rounds are held meanwhile, and other things of their tables happen."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    import random

    from pokdeng.simulator import Step

_BEATS: Final = (3, 10, 30, 60)
"""How late."""


class LateCards:
    """Keeps cards back, each for a while."""

    def __init__(self, rng: random.Random, *, share: float, beat_ms: int) -> None:
        """`share` of the cards, 0 .. 1."""
        self._rng = rng
        self._share = share
        self._beat_ms = beat_ms
        self._now_ms = 0
        self._waiting: list[tuple[int, Step]] = []
        """By the number of beats that it waits still."""

    @property
    def are_waiting(self) -> bool:
        """Whether any is kept back."""
        return bool(self._waiting)

    def pass_on(self, steps: list[Step]) -> list[Step]:
        """What is appended in a beat: its own steps but those that will be late, and those that were."""
        self._now_ms = max([self._now_ms + self._beat_ms, *(step.at_ms for step in steps)])
        due = [step._replace(at_ms=self._now_ms) for beats, step in self._waiting if beats <= 1]
        self._waiting = [(beats - 1, step) for beats, step in self._waiting if beats > 1]
        now: list[Step] = []
        for step in steps:
            if self._share and b'"card_dealt"' in (step.value or b"") and self._rng.random() < self._share:
                self._waiting.append((self._rng.choice(_BEATS), step))
            else:
                now.append(step)
        return now + due
