"""What is known of a table: its shoes, its rounds, the cards that lie. Frozen values; `evolve` makes the next one.

Nothing here knows the log, Redis, time or money. Bets are not part of it: `bets.py` decides them against a round.
The three that change with each card are named tuples: the next value costs a fifth of a frozen dataclass's `replace`.
"""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from pokdeng.events.inputs import (
    BettingClosed,
    CardCorrected,
    CardDealt,
    CutCardDrawn,
    RoundCancelled,
    RoundPaused,
    RoundResumed,
)
from pokdeng.rules import NO_COPIES, Card, Copies, Seat, burned_by, with_card

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pokdeng.events.ids import EventId, Reason, RoundId, ShoeId, TableId
    from pokdeng.events.reasons import HoldReason

RoundEvent: TypeAlias = (
    BettingClosed | CardDealt | CardCorrected | CutCardDrawn | RoundPaused | RoundResumed | RoundCancelled
)
"""The table events that come after their round was opened."""

SEATS: tuple[Seat, ...] = tuple(Seat)
"""In the order of the deal; the banker is last."""

PLACES = 2 * len(SEATS)
"""Where cards lie in a round: two positions at six seats."""

Place: TypeAlias = int
"""A seat's position, 0 .. 11: 2 x seat + position - 1."""

Places: TypeAlias = tuple[Card | None, ...]

NOTHING_DEALT: Places = (None,) * PLACES

_FIRST_OF_SEAT = {seat: 2 * index for index, seat in enumerate(SEATS)}


def place_of(seat: Seat, position: int) -> Place:
    """Where a card lies.

    >>> place_of(Seat.PLAYER_1, 1), place_of(Seat.BANKER, 2)
    (0, 11)
    """
    return _FIRST_OF_SEAT[seat] + position - 1


class Mark(NamedTuple):
    """A record of the table-events log: its offset and its broker time in milliseconds."""

    offset: int
    at_ms: int


@dataclass(frozen=True, slots=True)
class Cancelled:
    """A round was cancelled, by which record and why."""

    mark: Mark
    occurred_at: str
    reason: Reason


@dataclass(frozen=True, slots=True)
class Completed:
    """A round was complete: the record after which nothing was missing."""

    mark: Mark
    occurred_at: str


class Shoe(NamedTuple):
    """A shoe of eight decks. `gone` cards have left it; `copies` counts the faces seen (burn card, standing cards)."""

    shoe_id: ShoeId
    decks: int
    burn_card: Card
    gone: int
    copies: Copies
    last_round: RoundId | None = None
    """The round of the cut card: no round opens in this shoe after it."""


def new_shoe(shoe_id: ShoeId, decks: int, burn_card: Card) -> Shoe:
    """A shoe from which the burn card, and the cards it burns, are gone. Source: docs/rules.md, PD-2.

    >>> from pokdeng.events.ids import ShoeId
    >>> new_shoe(ShoeId("S-1"), 8, Card.parse("2h")).gone
    3
    """
    return Shoe(shoe_id, decks, burn_card, 1 + burned_by(burn_card), with_card(NO_COPIES, burn_card))


class Round(NamedTuple):
    """One round. It is complete once closed, with twelve cards, not paused and not in dispute."""

    round_id: RoundId
    shoe_id: ShoeId
    opened: Mark
    first: int
    """Offset of its first table event."""
    last: int
    """Offset of the last table event that changed it or was a repeat, so far: a replay needs no later one."""
    closed_at_ms: int | None = None
    is_paused: bool = False
    is_incomplete: bool = False
    """The table opened its next round before this one was complete."""
    places: Places = NOTHING_DEALT
    disputes: Mapping[Place, HoldReason] = MappingProxyType({})
    cancelled: Cancelled | None = None
    completed: Completed | None = None
    seen: Mapping[tuple[str, EventId], RoundEvent] = MappingProxyType({})
    """The events of it that counted or were repeats, by type and event id: so a repeat is known, and a conflict."""

    @property
    def is_held(self) -> bool:
        """Whether the round waits for the supervisor; one that is cancelled keeps what held it, and waits no more."""
        return bool(self.disputes) or self.is_incomplete

    @property
    def is_over(self) -> bool:
        """Whether nothing more is awaited from the table: it was completed or cancelled."""
        return self.completed is not None or self.cancelled is not None


class Table(NamedTuple):
    """A table's shoes and rounds, as far as they are remembered; the newest of each is named."""

    table_id: TableId
    shoes: Mapping[ShoeId, Shoe] = MappingProxyType({})
    newest_shoe: ShoeId | None = None
    newest_round: RoundId | None = None
    rounds: Mapping[RoundId, Round] = MappingProxyType({})
