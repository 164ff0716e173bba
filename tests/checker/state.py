"""What a table has come to: shoes, rounds, bets, as plain mutable state of the fold."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from tests.checker.parsing import Event
    from tests.checker.records import Rec

Place: TypeAlias = tuple[str, int]
"""A seat and a position."""

CARDS_OF_A_ROUND = 12
CARDS_OF_A_SHOE = 416
COPIES = 8
_BURNED = {"A": 1, "T": 10, "J": 10, "Q": 10, "K": 10}


@dataclass(slots=True, eq=False)
class ShoeState:
    """A shoe: how many cards are gone, which faces stand how often, whether its last round has begun."""

    shoe_id: str
    content: tuple[object, ...]
    gone: int
    copies: Counter[str]
    last_round: str | None = None
    """Where its one cut card came."""

    @classmethod
    def started(cls, event: Event, content: tuple[object, ...]) -> ShoeState:
        """The shoe after its burn card."""
        rank = event["burn_card"][0]
        burned = _BURNED[rank] if rank in _BURNED else int(rank)
        return cls(event["shoe_id"], content, 1 + burned, Counter([event["burn_card"]]))


@dataclass(slots=True, eq=False)
class BetState:
    """A decided bet. `stands` until it is withdrawn; a refused one never stood."""

    event: Event
    record: Rec
    content: tuple[object, ...]
    taken: int
    stands: bool
    returned: int = 0


@dataclass(slots=True, eq=False)
class Revision:
    """A result of a round: the cards as they lie then, or, without cards, a cancellation."""

    number: int
    record: Rec
    event: Event
    cards: dict[Place, str] | None


@dataclass(slots=True, eq=False)
class RoundState:
    """A round. `ended` is `complete` or `cancelled`; `settled` once the results in `due` were said."""

    table: str
    round_id: str
    shoe: ShoeState
    content: tuple[object, ...]
    cards: dict[Place, str] = field(default_factory=dict)
    disputed: set[Place] = field(default_factory=set)
    seen: dict[tuple[str, str], tuple[object, ...]] = field(default_factory=dict)
    bets: list[BetState] = field(default_factory=list)
    closed_at: int | None = None
    is_paused: bool = False
    is_incomplete: bool = False
    ended: str | None = None
    ended_at: int = 0
    cancelled_at: int | None = None
    revision: int = 0
    due: list[Revision] = field(default_factory=list)
    settled: bool = False

    @property
    def is_held(self) -> bool:
        """It waits for the supervisor."""
        return self.ended is None and (bool(self.disputed) or self.is_incomplete)

    @property
    def lacks_nothing(self) -> bool:
        """It has all that a result needs."""
        return (
            self.closed_at is not None
            and len(self.cards) == CARDS_OF_A_ROUND
            and not self.is_paused
            and not self.disputed
        )
