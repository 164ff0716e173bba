"""Performs a script: beats to wherever they are sent, as fast as it takes them or at a rate of bets a second."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Protocol

from pokdeng.simulator.steps import Kind

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable, Sequence

    from pokdeng.simulator.steps import Beat, Step
    from pokdeng.wire import TopicKind

_SLICE_SECONDS: Final = 0.01
_SHORTEST_BEAT_SECONDS: Final = 0.02
_BETS: Final = frozenset(
    {
        Kind.BET,
        Kind.LATE_BET,
        Kind.UNKNOWN_ROUND_BET,
        Kind.OVERDRAFT,
        Kind.OTHER_CURRENCY,
        Kind.PHOTO_FINISH,
        Kind.CONFLICT,
    }
)


class Sender(Protocol):
    """Where steps go."""

    async def send(self, steps: Sequence[Step]) -> None:
        """Append steps, those of one partition in order; return when all are acknowledged."""

    async def barrier(self) -> None:
        """Return when whatever is sent from now on gets a later broker time."""


@dataclass(slots=True)
class Sent:
    """What was sent so far: records by kind and by topic, and how long it took."""

    by_kind: Counter[Kind] = field(default_factory=Counter)
    by_topic: Counter[TopicKind] = field(default_factory=Counter)
    beats: int = 0
    seconds: float = 0.0

    @property
    def records(self) -> int:
        """All of them."""
        return self.by_topic.total()

    @property
    def bets(self) -> int:
        """Bets placed, good and bad; deliveries again not among them."""
        return sum(self.by_kind[kind] for kind in _BETS)


async def perform(
    beats: Iterable[Beat],
    sender: Sender,
    *,
    bets_per_second: float = 0,
    opened: Callable[[], Awaitable[None]] | None = None,
    told: Callable[[Sent], None] | None = None,
) -> Sent:
    """Send a play from its first beat to its last.

    Args:
        beats: of `script`.
        sender: where to.
        bets_per_second: 0 is as fast as possible; else each beat takes as long as its bets must, spread over it.
        opened: awaited after the first deposits, so that the caller can wait until they are credited.
        told: called after each beat with what was sent so far.
    """
    sent = Sent()
    begun = time.monotonic()
    due = begun
    for beat in beats:
        kinds = Counter([step.kind for step in beat.steps])
        if bets_per_second and not beat.is_opening:
            count = sum(kinds[kind] for kind in _BETS)
            lasts = max(count / bets_per_second, _SHORTEST_BEAT_SECONDS)
            await _send_paced(beat, sender, max(due, time.monotonic() - lasts), lasts)
            due = max(due, time.monotonic() - lasts) + lasts
        elif beat.steps:
            await sender.send(beat.steps)
        if beat.steps:
            await sender.barrier()
        sent.by_kind.update(kinds)
        sent.by_topic.update([step.topic for step in beat.steps])
        sent.beats += 1
        sent.seconds = time.monotonic() - begun
        if beat.is_opening:
            if opened is not None:
                await opened()
            due = time.monotonic()
        if told is not None:
            told(sent)
    return sent


async def _send_paced(beat: Beat, sender: Sender, begins: float, lasts: float) -> None:
    """Send a beat's steps when they are due, in slices; it begins at a moment of the monotonic clock."""
    scale = lasts / beat.lasts_ms
    steps = beat.steps
    first = 0
    while first < len(steps):
        now = time.monotonic()
        due_ms = beat.starts_at_ms + (now - begins) / scale
        last = first
        while last < len(steps) and steps[last].at_ms <= due_ms:
            last += 1
        if last > first:
            await sender.send(steps[first:last])
            first = last
        else:
            await asyncio.sleep(_SLICE_SECONDS)
    rest = begins + lasts - time.monotonic()
    if rest > 0:
        await asyncio.sleep(rest)
