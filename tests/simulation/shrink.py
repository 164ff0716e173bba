"""Fewer faults that still fail: delta debugging over the faults that happened in a world."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tests.simulation.faults import Fault
    from tests.simulation.world import Outcome


def shrink(faults: Sequence[Fault], play: Callable[[Sequence[Fault]], Outcome]) -> Outcome | None:
    """The outcome of a smallest list of faults of which none can be left out, None where the faults alone do not fail.

    `play` plays the world with these faults and no others. Costs about n log n plays for a few guilty faults.
    """
    best = play(faults)
    if not best.is_failed:
        return None
    kept = list(faults)
    parts = 2
    while kept:
        size = max(1, len(kept) // parts)
        for start in range(0, len(kept), size):
            rest = kept[:start] + kept[start + size :]
            outcome = play(rest)
            if outcome.is_failed:
                kept, best = rest, outcome
                parts = max(2, parts - 1)
                break
        else:
            if size == 1:
                break
            parts = min(len(kept), parts * 2)
    return best
