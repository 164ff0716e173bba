"""Seals: up to which bet a round was closed, as the log itself says."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tests.checker.records import Rec
    from tests.checker.state import RoundState


class _Bets(NamedTuple):
    latest: list[int]
    """The latest broker time up to and with each record."""
    offsets: list[int]


class Seals:
    """The bets topic, as the seals of rounds ask for it."""

    def __init__(self, bets: Iterable[Rec]) -> None:
        """Read the bets, those of one partition in the order of their offsets."""
        self._partitions: dict[int, _Bets] = {}
        for record in bets:
            known = self._partitions.setdefault(record.partition, _Bets([], []))
            before = known.latest[-1] if known.latest else record.timestamp
            known.latest.append(max(before, record.timestamp))
            known.offsets.append(record.offset)

    def first_after(self, state: RoundState, partition: int) -> int:
        """The first bet later than the close; of a round cancelled before it, the first not earlier than that."""
        known = self._partitions.get(partition, _Bets([], []))
        return _offset(known, _first(known, state))

    def bounds(self, state: RoundState, partition: int) -> tuple[int, int]:
        """The lowest and the highest seal that can be right while the leaders' clocks agree.

        They differ only for a round cancelled before its close, and by the bets of that very millisecond.
        """
        known = self._partitions.get(partition, _Bets([], []))
        lowest = _offset(known, _first(known, state))
        if state.closed_at is not None or state.cancelled_at is None:
            return lowest, lowest
        return lowest, _offset(known, bisect_right(known.latest, state.cancelled_at))


def _first(known: _Bets, state: RoundState) -> int:
    if state.closed_at is not None:
        return bisect_right(known.latest, state.closed_at)
    return bisect_left(known.latest, state.cancelled_at or 0)


def _offset(known: _Bets, index: int) -> int:
    if index < len(known.offsets):
        return known.offsets[index]
    return known.offsets[-1] + 1 if known.offsets else 0
