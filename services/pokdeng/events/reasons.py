"""Why something was refused: closed sets, each in the order of the contract (the first that fits is the reason)."""

from __future__ import annotations

from enum import StrEnum


class BetReason(StrEnum):
    """Why a bet was rejected. Source: the contract, "Rejection reasons of bets, first match"."""

    CANCELLED_BEFORE = "cancelled_before"
    ROUND_UNKNOWN = "round_unknown"
    ROUND_CANCELLED = "round_cancelled"
    BETTING_CLOSED = "betting_closed"
    ROUND_HELD = "round_held"
    ROUND_PAUSED = "round_paused"
    STAKE_OUT_OF_RANGE = "stake_out_of_range"
    CURRENCY_MISMATCH = "currency_mismatch"
    INSUFFICIENT_FUNDS = "insufficient_funds"


class CancelReason(StrEnum):
    """Why a cancel was refused."""

    ROUND_UNKNOWN = "round_unknown"
    ROUND_CANCELLED = "round_cancelled"
    BETTING_CLOSED = "betting_closed"
    BET_UNKNOWN = "bet_unknown"


class TransferReason(StrEnum):
    """Why a deposit or withdrawal was refused."""

    CURRENCY_MISMATCH = "currency_mismatch"
    INSUFFICIENT_FUNDS = "insufficient_funds"
    AMOUNT_OUT_OF_RANGE = "amount_out_of_range"


class TransferKind(StrEnum):
    """Which way money goes; deposits and withdrawals have ids of their own."""

    DEPOSIT = "deposit"
    WITHDRAWAL = "withdrawal"


class HoldReason(StrEnum):
    """Why a round waits for the supervisor."""

    INCOMPLETE = "incomplete"
    SEAT_CONFLICT = "seat_conflict"
    NINTH_COPY = "ninth_copy"
    SHOE_EXHAUSTED = "shoe_exhausted"


class DeadLetterReason(StrEnum):
    """Why a record could not be used. The first that fits, in this order."""

    TOMBSTONE = "tombstone"
    TOO_LARGE = "too_large"
    NOT_JSON = "not_json"
    UNKNOWN_TYPE = "unknown_type"
    NOT_AN_EVENT = "not_an_event"
    KEY_MISMATCH = "key_mismatch"
    WRONG_PARTITION = "wrong_partition"
    ID_CONFLICT = "id_conflict"
    UNKNOWN_ROUND = "unknown_round"
    UNKNOWN_SHOE = "unknown_shoe"
    ROUND_OUT_OF_ORDER = "round_out_of_order"
    CORRECTION_TOO_LATE = "correction_too_late"
    SEAT_CONFLICT = "seat_conflict"
    NINTH_COPY = "ninth_copy"
    SHOE_EXHAUSTED = "shoe_exhausted"
