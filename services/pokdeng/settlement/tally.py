"""What a batch counted: plain numbers by name, given to the metrics once the batch is acknowledged.

Facts are counted when they are applied for the first time, never on a replay (`Answer.is_fresh`).
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Final, TypeAlias

if TYPE_CHECKING:
    from pokdeng.events.reasons import BetReason, DeadLetterReason, TransferReason
    from pokdeng.rules import Bet

Key: TypeAlias = tuple[str, ...]
"""A metric's short name and its labels, in the order of the metric."""

Tally: TypeAlias = "defaultdict[Key, float]"

ACCEPTED: Final[Key] = ("bets", "accepted", "")
WITHDRAWN_BETS: Final[Key] = ("bets", "withdrawn", "")
BEHIND_SEAL: Final[Key] = ("behind_seal",)
ROUND_SETTLED: Final[Key] = ("rounds", "settled")
ROUND_REFUNDED: Final[Key] = ("rounds", "refunded")
ROUND_REVISED: Final[Key] = ("rounds", "revised")


def new_tally() -> Tally:
    """Nothing counted."""
    return defaultdict(int)


def bets_rejected(reason: BetReason) -> Key:
    """Bets rejected for a reason."""
    return _REJECTED.get(reason) or _REJECTED.setdefault(reason, ("bets", "rejected", reason.value))


def funds(decision: str, reason: TransferReason | None) -> Key:
    """Transfers credited, debited or rejected."""
    return ("funds", decision, "" if reason is None else reason.value)


def settled(bet: Bet, outcome: str) -> Key:
    """Bets settled or refunded, by option and outcome."""
    return ("settled", bet.value, outcome)


def taken(bet: Bet, currency: str) -> Key:
    """Minor units taken for settled bets."""
    return ("taken", bet.value, currency)


def returned(bet: Bet, currency: str) -> Key:
    """Minor units returned for settled bets."""
    return ("returned", bet.value, currency)


def reversed_taken(bet: Bet, currency: str) -> Key:
    """Minor units that were taken for settled bets whose settlement was reversed."""
    return ("reversed_taken", bet.value, currency)


def reversed_returned(bet: Bet, currency: str) -> Key:
    """Minor units that reversed settlements had returned."""
    return ("reversed_returned", bet.value, currency)


def expected(bet: Bet, currency: str) -> Key:
    """Minor units that settled bets return on average."""
    return ("expected", bet.value, currency)


def variance(option: str, currency: str) -> Key:
    """Minor units squared: the variance of what settled rounds return on `player`, `pair` or `all` bets."""
    return ("variance", option, currency)


def reversed_expected(bet: Bet, currency: str) -> Key:
    """Minor units that bets return on average, of rounds cancelled after settlement."""
    return ("reversed_expected", bet.value, currency)


def reversed_variance(option: str, currency: str) -> Key:
    """Minor units squared: the variance of what rounds return that were cancelled after settlement."""
    return ("reversed_variance", option, currency)


def dead_letters(topic: str, reason: DeadLetterReason) -> Key:
    """Records that could not be used."""
    return ("dead_letters", topic, reason.value)


def duplicates(topic: str) -> Key:
    """Records that said what was known."""
    return ("duplicates", topic)


_REJECTED: dict[BetReason, Key] = {}
