"""What comes in: every event of the input topics, one definition each.

Source: the contract, "Inputs". Limits of the fields (`ids.py`) are enforced by `pokdeng.wire`, from these definitions.
The `event_type` of a class is the `type` of its records.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal, TypeAlias

from pokdeng.events.ids import (
    AccountId,
    BetId,
    Currency,
    EventId,
    Minor,
    Reason,
    RoundId,
    ShoeId,
    TableId,
    Timestamp,
    TransferId,
)
from pokdeng.rules import Bet, Card, Seat


@dataclass(frozen=True, slots=True, kw_only=True)
class ShoeStarted:
    """The dealer shuffled eight decks; `burn_card` was drawn face up and says how many cards are burned."""

    event_type: ClassVar[str] = "shoe_started"
    event_id: EventId
    occurred_at: Timestamp
    table_id: TableId
    shoe_id: ShoeId
    decks: Literal[8]
    burn_card: Card


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundOpened:
    """A round begins and takes bets; one card is burned face down."""

    event_type: ClassVar[str] = "round_opened"
    event_id: EventId
    occurred_at: Timestamp
    table_id: TableId
    shoe_id: ShoeId
    round_id: RoundId


@dataclass(frozen=True, slots=True, kw_only=True)
class BettingClosed:
    """The countdown ended: bets appended later are too late. The first one of a round counts."""

    event_type: ClassVar[str] = "betting_closed"
    event_id: EventId
    occurred_at: Timestamp
    table_id: TableId
    round_id: RoundId


@dataclass(frozen=True, slots=True, kw_only=True)
class CardDealt:
    """A card lies at a seat's first or second position. May come before or after the close, in any order."""

    event_type: ClassVar[str] = "card_dealt"
    event_id: EventId
    occurred_at: Timestamp
    table_id: TableId
    round_id: RoundId
    seat: Seat
    position: Literal[1, 2]
    card: Card


@dataclass(frozen=True, slots=True, kw_only=True)
class CardCorrected:
    """Replaces the card at a place, filled or empty, and settles a dispute about it."""

    event_type: ClassVar[str] = "card_corrected"
    event_id: EventId
    occurred_at: Timestamp
    table_id: TableId
    round_id: RoundId
    seat: Seat
    position: Literal[1, 2]
    card: Card
    reason: Reason


@dataclass(frozen=True, slots=True, kw_only=True)
class CutCardDrawn:
    """The cut card came: this round is the last of its shoe."""

    event_type: ClassVar[str] = "cut_card_drawn"
    event_id: EventId
    occurred_at: Timestamp
    table_id: TableId
    shoe_id: ShoeId
    round_id: RoundId


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundPaused:
    """The supervisor stopped the round; it takes no bets and does not settle until resumed."""

    event_type: ClassVar[str] = "round_paused"
    event_id: EventId
    occurred_at: Timestamp
    table_id: TableId
    round_id: RoundId
    reason: Reason


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundResumed:
    """Lifts a pause (never a hold)."""

    event_type: ClassVar[str] = "round_resumed"
    event_id: EventId
    occurred_at: Timestamp
    table_id: TableId
    round_id: RoundId
    reason: Reason


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundCancelled:
    """The round is void, for ever: every bet is refunded."""

    event_type: ClassVar[str] = "round_cancelled"
    event_id: EventId
    occurred_at: Timestamp
    table_id: TableId
    round_id: RoundId
    reason: Reason


@dataclass(frozen=True, slots=True, kw_only=True)
class BetPlaced:
    """A player's bet of `stake` minor units on one of the ten options."""

    event_type: ClassVar[str] = "bet_placed"
    event_id: EventId
    occurred_at: Timestamp
    bet_id: BetId
    table_id: TableId
    round_id: RoundId
    account_id: AccountId
    bet: Bet
    stake: Minor
    currency: Currency


@dataclass(frozen=True, slots=True, kw_only=True)
class BetCancelled:
    """A player takes back a bet while betting is open."""

    event_type: ClassVar[str] = "bet_cancelled"
    event_id: EventId
    occurred_at: Timestamp
    bet_id: BetId
    table_id: TableId
    round_id: RoundId
    account_id: AccountId


@dataclass(frozen=True, slots=True, kw_only=True)
class FundsDeposited:
    """Money came in: `amount` minor units for an account."""

    event_type: ClassVar[str] = "funds_deposited"
    event_id: EventId
    occurred_at: Timestamp
    transfer_id: TransferId
    account_id: AccountId
    amount: Minor
    currency: Currency


@dataclass(frozen=True, slots=True, kw_only=True)
class FundsWithdrawn:
    """A request to take money out; the cashier pays only after `funds_debited`."""

    event_type: ClassVar[str] = "funds_withdrawn"
    event_id: EventId
    occurred_at: Timestamp
    transfer_id: TransferId
    account_id: AccountId
    amount: Minor
    currency: Currency


CardEvent: TypeAlias = CardDealt | CardCorrected
TableEvent: TypeAlias = (
    ShoeStarted
    | RoundOpened
    | BettingClosed
    | CardDealt
    | CardCorrected
    | CutCardDrawn
    | RoundPaused
    | RoundResumed
    | RoundCancelled
)
BetEvent: TypeAlias = BetPlaced | BetCancelled
FundsEvent: TypeAlias = FundsDeposited | FundsWithdrawn
InputEvent: TypeAlias = TableEvent | BetEvent | FundsEvent
