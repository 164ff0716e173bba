"""Whether a round takes a bet or a cancel: first match of the contract's reasons, by the broker time of the record.

What depends on money (`currency_mismatch`, `insufficient_funds`) is the ledger's to say; what depends on earlier
records of the same id (`cancelled_before`, `bet_unknown`, duplicates) is known to the book of the round.
Source: the contract, "Rejection reasons of bets, first match".
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pokdeng.events.reasons import BetReason, CancelReason

if TYPE_CHECKING:
    from pokdeng.rounds.state import Round


def refusal_of_bet(round_: Round | None, at_ms: int, *, is_behind_seal: bool) -> BetReason | None:
    """Why the round takes no bet of that broker time, None where it does."""
    closed = _is_closed(round_, at_ms, is_behind_seal=is_behind_seal)
    if closed is not None:
        return BetReason(closed.value)
    if round_ is not None and round_.is_held:
        return BetReason.ROUND_HELD
    if round_ is not None and round_.is_paused:
        return BetReason.ROUND_PAUSED
    return None


def refusal_of_cancel(round_: Round | None, at_ms: int, *, is_behind_seal: bool) -> CancelReason | None:
    """Why the round takes no cancel of that broker time, None where it does. Pauses and holds do not stop a cancel."""
    return _is_closed(round_, at_ms, is_behind_seal=is_behind_seal)


def is_in_time(round_: Round, at_ms: int) -> bool:
    """Whether a record's stamp alone is in time: not after the first close, and before a cancellation."""
    if round_.cancelled is not None and round_.cancelled.mark.at_ms <= at_ms:
        return False
    return round_.closed_at_ms is None or at_ms <= round_.closed_at_ms


def _is_closed(round_: Round | None, at_ms: int, *, is_behind_seal: bool) -> CancelReason | None:
    if round_ is None or at_ms < round_.opened.at_ms:
        return CancelReason.ROUND_UNKNOWN
    cancelled = round_.cancelled
    if cancelled is not None and cancelled.mark.at_ms <= at_ms:
        return CancelReason.ROUND_CANCELLED
    if round_.closed_at_ms is not None and at_ms > round_.closed_at_ms:
        return CancelReason.BETTING_CLOSED
    if is_behind_seal:
        was_open_when_cancelled = cancelled is not None and round_.closed_at_ms is None
        return CancelReason.ROUND_CANCELLED if was_open_when_cancelled else CancelReason.BETTING_CLOSED
    return None
