"""What goes out: every fact this service says, one definition each, fields in the order they are written.

Source: the contract, "Outputs". A field of None is not written, but `combination` of a hand (written as null).
`event_type` is the `type` of the record; how a fact is named (`event_id`) is `pokdeng.wire`'s.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, TypeAlias

from pokdeng.events.ids import (
    AccountId,
    BetId,
    Cause,
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
from pokdeng.events.reasons import BetReason, CancelReason, HoldReason, TransferKind, TransferReason
from pokdeng.rules import Bet, Combination, Outcome, Seat


@dataclass(frozen=True, slots=True, kw_only=True)
class Balance:
    """An account after a movement. `sequence` counts its movements from 1; `overdrawn` is True or absent."""

    available: Minor
    held: Minor
    sequence: int
    overdrawn: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class HandShown:
    """A hand as others see it: cards by position, value as text, `combination` null where none makes the value."""

    cards: tuple[str, str]
    value: str
    points: int
    combination: Combination | None
    pair: bool
    flush: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class SeatResult:
    """One player spot of a settled round: its result and its hand."""

    seat: Seat
    result: Outcome
    cards: tuple[str, str]
    value: str
    points: int
    combination: Combination | None
    pair: bool
    flush: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Totals:
    """What a round took and gave back in one currency, minor units; `house_net` = taken - returned."""

    taken: Minor
    returned: Minor
    house_net: Minor


@dataclass(frozen=True, slots=True, kw_only=True)
class BetAccepted:
    """A bet stands; `taken` moved from available to held."""

    event_type: ClassVar[str] = "bet_accepted"
    event_id: EventId
    occurred_at: Timestamp
    cause: Cause
    bet_id: BetId
    table_id: TableId
    round_id: RoundId
    account_id: AccountId
    bet: Bet
    stake: Minor
    currency: Currency
    taken: Minor
    balance: Balance


@dataclass(frozen=True, slots=True, kw_only=True)
class BetRejected:
    """A bet does not stand; nothing moved."""

    event_type: ClassVar[str] = "bet_rejected"
    event_id: EventId
    occurred_at: Timestamp
    cause: Cause
    bet_id: BetId
    table_id: TableId
    round_id: RoundId
    account_id: AccountId
    bet: Bet
    stake: Minor
    currency: Currency
    reason: BetReason


@dataclass(frozen=True, slots=True, kw_only=True)
class BetWithdrawn:
    """An accepted bet was taken back in time; all that was taken is returned."""

    event_type: ClassVar[str] = "bet_withdrawn"
    event_id: EventId
    occurred_at: Timestamp
    cause: Cause
    bet_id: BetId
    table_id: TableId
    round_id: RoundId
    account_id: AccountId
    bet: Bet
    stake: Minor
    currency: Currency
    taken: Minor
    returned: Minor
    balance: Balance


@dataclass(frozen=True, slots=True, kw_only=True)
class CancelRejected:
    """A cancel was refused; a bet of that id, round and account that comes later is `cancelled_before`."""

    event_type: ClassVar[str] = "cancel_rejected"
    event_id: EventId
    occurred_at: Timestamp
    cause: Cause
    bet_id: BetId
    table_id: TableId
    round_id: RoundId
    account_id: AccountId
    reason: CancelReason


@dataclass(frozen=True, slots=True, kw_only=True)
class FundsCredited:
    """A deposit was added to available."""

    event_type: ClassVar[str] = "funds_credited"
    event_id: EventId
    occurred_at: Timestamp
    cause: Cause
    transfer_id: TransferId
    account_id: AccountId
    amount: Minor
    currency: Currency
    balance: Balance


@dataclass(frozen=True, slots=True, kw_only=True)
class FundsDebited:
    """A withdrawal was taken from available; now, and not before, the cashier may pay it out."""

    event_type: ClassVar[str] = "funds_debited"
    event_id: EventId
    occurred_at: Timestamp
    cause: Cause
    transfer_id: TransferId
    account_id: AccountId
    amount: Minor
    currency: Currency
    balance: Balance


@dataclass(frozen=True, slots=True, kw_only=True)
class FundsRejected:
    """A deposit or withdrawal was refused; nothing moved."""

    event_type: ClassVar[str] = "funds_rejected"
    event_id: EventId
    occurred_at: Timestamp
    cause: Cause
    transfer_id: TransferId
    account_id: AccountId
    amount: Minor
    currency: Currency
    transfer: TransferKind
    reason: TransferReason


@dataclass(frozen=True, slots=True, kw_only=True)
class BetSettled:
    """What an accepted bet got. `odds` is absent on a tie; `rule` is the line of the pay table that decided."""

    event_type: ClassVar[str] = "bet_settled"
    event_id: EventId
    occurred_at: Timestamp
    cause: Cause
    bet_id: BetId
    table_id: TableId
    round_id: RoundId
    account_id: AccountId
    bet: Bet
    stake: Minor
    currency: Currency
    taken: Minor
    outcome: Outcome
    odds: str | None
    returned: Minor
    net: int
    player: HandShown
    banker: HandShown
    rule: str
    ruleset: str
    revision: int
    balance: Balance


@dataclass(frozen=True, slots=True, kw_only=True)
class BetRefunded:
    """The round was cancelled; all that was taken is returned."""

    event_type: ClassVar[str] = "bet_refunded"
    event_id: EventId
    occurred_at: Timestamp
    cause: Cause
    bet_id: BetId
    table_id: TableId
    round_id: RoundId
    account_id: AccountId
    bet: Bet
    stake: Minor
    currency: Currency
    taken: Minor
    returned: Minor
    reason: Reason
    revision: int
    balance: Balance


@dataclass(frozen=True, slots=True, kw_only=True)
class BetReversed:
    """An earlier revision was undone; `revision` is that which follows, `reversed` what the earlier one returned."""

    event_type: ClassVar[str] = "bet_reversed"
    event_id: EventId
    occurred_at: Timestamp
    cause: Cause
    bet_id: BetId
    table_id: TableId
    round_id: RoundId
    account_id: AccountId
    bet: Bet
    stake: Minor
    currency: Currency
    taken: Minor
    reversed: Minor
    reason: Reason
    revision: int
    balance: Balance


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundSettled:
    """A round's result as a whole: its commit mark, said after all its bets' facts are acknowledged."""

    event_type: ClassVar[str] = "round_settled"
    event_id: EventId
    occurred_at: Timestamp
    cause: Cause
    table_id: TableId
    shoe_id: ShoeId
    round_id: RoundId
    banker: HandShown
    players: tuple[SeatResult, ...]
    bets: int
    totals: Mapping[Currency, Totals]
    seal: int
    ruleset: str
    revision: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundRefunded:
    """A cancelled round as a whole: its commit mark."""

    event_type: ClassVar[str] = "round_refunded"
    event_id: EventId
    occurred_at: Timestamp
    cause: Cause
    table_id: TableId
    shoe_id: ShoeId
    round_id: RoundId
    reason: Reason
    bets: int
    totals: Mapping[Currency, Totals]
    seal: int
    revision: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundHeld:
    """A round became held: it waits for the supervisor. Said once each time it becomes held."""

    event_type: ClassVar[str] = "round_held"
    event_id: EventId
    occurred_at: Timestamp
    cause: Cause
    table_id: TableId
    shoe_id: ShoeId
    round_id: RoundId
    reason: HoldReason


BetDecision: TypeAlias = BetAccepted | BetRejected | BetWithdrawn | CancelRejected
FundsDecision: TypeAlias = FundsCredited | FundsDebited | FundsRejected
SettlementFact: TypeAlias = BetSettled | BetRefunded | BetReversed
RoundFact: TypeAlias = RoundSettled | RoundRefunded | RoundHeld
OutputEvent: TypeAlias = BetDecision | FundsDecision | SettlementFact | RoundFact
