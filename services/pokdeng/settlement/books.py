"""The books: what the facts of the log come to. Folds outputs only, shares nothing with the ledger or the desks.

At rest, per currency: available + held over all accounts = deposits - withdrawals - house net, exactly.
Source: the contract, "What is promised", 4. Deterministic; the order of facts does not matter, and a fact that was said
twice counts once.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

import msgspec

from pokdeng.rules import Bet, odds_of
from pokdeng.wire import TopicKind

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from pokdeng.ledger.values import Account


class _Fact(msgspec.Struct):
    """What of any fact the books need."""

    type: str
    event_id: str
    table_id: str = ""
    round_id: str = ""
    bet: str = ""
    stake: int = 0
    currency: str = ""
    amount: int = 0
    taken: int = 0
    returned: int = 0
    reversed: int = 0


_decode = msgspec.json.Decoder(_Fact).decode


@dataclass(frozen=True, slots=True, kw_only=True)
class OptionBooks:
    """What one option came to in one currency, in minor units."""

    bets: int
    taken: int
    returned: int
    expected: float
    """What those bets return on average."""
    variance: float
    """Of what they return: stakes on the option summed per round first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CurrencyBooks:
    """One currency's books, in minor units."""

    deposits: int
    withdrawals: int
    house_net: int
    available: int
    held: int


class Books:
    """Folds facts; ask at any time."""

    def __init__(self) -> None:
        """Nothing folded yet."""
        self._seen: set[str] = set()
        self._deposits: defaultdict[str, int] = defaultdict(int)
        self._withdrawals: defaultdict[str, int] = defaultdict(int)
        self._house_net: defaultdict[str, int] = defaultdict(int)
        self._stakes: defaultdict[tuple[str, str, str, str], int] = defaultdict(int)
        """By table, round, bet and currency: settled stakes."""
        self._by_bet: defaultdict[tuple[str, str], list[int]] = defaultdict(lambda: [0, 0, 0])
        self.counts: defaultdict[str, int] = defaultdict(int)
        """How many facts of each type."""

    def add(self, value: bytes) -> None:
        """Fold one fact, once however often it comes."""
        fact = _decode(value)
        if fact.event_id in self._seen:
            return
        self._seen.add(fact.event_id)
        self.counts[fact.type] += 1
        match fact.type:
            case "funds_credited":
                self._deposits[fact.currency] += fact.amount
            case "funds_debited":
                self._withdrawals[fact.currency] += fact.amount
            case "bet_settled":
                self._house_net[fact.currency] += fact.taken - fact.returned
                self._stakes[fact.table_id, fact.round_id, fact.bet, fact.currency] += fact.stake
                row = self._by_bet[fact.bet, fact.currency]
                row[0] += 1
                row[1] += fact.taken
                row[2] += fact.returned
            case "bet_reversed":
                self._house_net[fact.currency] -= fact.taken - fact.reversed
                self._stakes[fact.table_id, fact.round_id, fact.bet, fact.currency] -= fact.stake
                row = self._by_bet[fact.bet, fact.currency]
                row[0] -= 1
                row[1] -= fact.taken
                row[2] -= fact.reversed

    def options(self, currency: str) -> dict[Bet, OptionBooks]:
        """The ten options in one currency."""
        stakes: defaultdict[str, int] = defaultdict(int)
        squares: defaultdict[str, int] = defaultdict(int)
        for (_, _, bet, of_currency), stake in self._stakes.items():
            if of_currency == currency:
                stakes[bet] += stake
                squares[bet] += stake * stake
        found = {}
        for bet in Bet:
            bets, taken, returned = self._by_bet[bet.value, currency]
            odds = odds_of(bet)
            found[bet] = OptionBooks(
                bets=bets,
                taken=taken,
                returned=returned,
                expected=float(odds.expected_returned * stakes[bet.value]),
                variance=float(odds.variance * squares[bet.value]),
            )
        return found

    def currencies(self, accounts: Iterable[Account]) -> Mapping[str, CurrencyBooks]:
        """Each currency's books against what accounts hold."""
        available: defaultdict[str, int] = defaultdict(int)
        held: defaultdict[str, int] = defaultdict(int)
        for account in accounts:
            available[account.currency] += account.available
            held[account.currency] += account.held
        return {
            currency: CurrencyBooks(
                deposits=self._deposits[currency],
                withdrawals=self._withdrawals[currency],
                house_net=self._house_net[currency],
                available=available[currency],
                held=held[currency],
            )
            for currency in sorted({*available, *self._deposits})
        }


FACT_TOPICS = (TopicKind.BET_DECISIONS, TopicKind.FUNDS_DECISIONS, TopicKind.SETTLEMENTS, TopicKind.ROUNDS)
"""Where the facts are that the books fold."""
