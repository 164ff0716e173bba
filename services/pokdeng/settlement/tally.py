"""What a batch counted: plain numbers by name, given to the metrics once the batch is acknowledged.

Facts are counted when they are applied for the first time, never on a replay (`Answer.is_fresh`).
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Final, TypeAlias

from pokdeng.events.reasons import BetReason, DeadLetterReason, TransferReason
from pokdeng.rules import Bet, Outcome

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from pokdeng.wire import Topics

Key: TypeAlias = tuple[str, ...]
"""A metric's short name and its labels, in the order of the metric."""

Tally: TypeAlias = "defaultdict[Key, float]"

ACCEPTED: Final[Key] = ("bets", "accepted", "")
WITHDRAWN_BETS: Final[Key] = ("bets", "withdrawn", "")
BEHIND_SEAL: Final[Key] = ("behind_seal",)
ROUND_SETTLED: Final[Key] = ("rounds", "settled")
ROUND_REFUNDED: Final[Key] = ("rounds", "refunded")
ROUND_REVISED: Final[Key] = ("rounds", "revised")
TRUNCATED: Final[Key] = ("truncated",)


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


def expected(bet: Bet, currency: str) -> Key:
    """Minor units that settled bets return on average."""
    return ("expected", bet.value, currency)


def variance(option: str, currency: str) -> Key:
    """Minor units squared: the variance of what settled rounds return on `player`, `pair` or `all` bets."""
    return ("variance", option, currency)


def reversed_amounts(bet: Bet, currency: str) -> tuple[Key, Key, Key]:
    """Minor units taken and returned of what a later revision reversed, and what of it was expected to return."""
    return (
        ("reversed_taken", bet.value, currency),
        ("reversed_returned", bet.value, currency),
        ("reversed_expected", bet.value, currency),
    )


def reversed_variance(option: str, currency: str) -> Key:
    """Minor units squared: the variance of rounds that were cancelled after their settlement."""
    return ("reversed_variance", option, currency)


def dead_letters(topic: str, reason: DeadLetterReason) -> Key:
    """Records that could not be used."""
    return ("dead_letters", topic, reason.value)


def duplicates(topic: str) -> Key:
    """Records that said what was known."""
    return ("duplicates", topic)


def known_keys(topics: Topics, currencies: Iterable[str]) -> Iterator[Key]:
    """Every key whose labels are known before anything is counted; `currencies` are those the house names, if any.

    Shown as 0 from the start: a query for what a counter grew by does not see the growth that made its series appear,
    so the first dead letter, or the first bet behind a seal, would raise no alarm.
    """
    yield ACCEPTED
    yield WITHDRAWN_BETS
    yield from (bets_rejected(reason) for reason in BetReason)
    yield from (settled(bet, outcome) for bet in Bet for outcome in (*Outcome, "refunded", "reversed"))
    yield from (("rounds", result) for result in ("settled", "refunded", "revised"))
    yield from (funds(decision, None) for decision in ("credited", "debited"))
    yield from (funds("rejected", reason) for reason in TransferReason)
    for topic in topics.inputs:
        yield duplicates(topic)
        yield from (dead_letters(topic, reason) for reason in DeadLetterReason)
    yield from (("recoveries", cause) for cause in ("cold", "check", "behind"))
    for currency in currencies:
        yield from keys_of_currency(currency)


def keys_of_currency(currency: str) -> Iterator[Key]:
    """Every key of one currency: shown as 0 as soon as one of them is counted."""
    for amount in ("taken", "returned", "expected", "reversed_taken", "reversed_returned", "reversed_expected"):
        yield from ((amount, bet.value, currency) for bet in Bet)
    for amount in ("variance", "reversed_variance"):
        yield from ((amount, option, currency) for option in ("player", "pair", "all"))


_REJECTED: dict[BetReason, Key] = {}
