"""The books: what the facts of the log come to. Folds outputs only, shares nothing with the ledger or the desks.

At rest, per currency: available + held over all accounts = deposits - withdrawals - house net, exactly.
Source: the contract, "What is promised", 4. Deterministic; the order of facts does not matter, and a fact that was said
twice counts once.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from math import sqrt
from typing import TYPE_CHECKING

import msgspec

from pokdeng.rules import Bet, odds_of
from pokdeng.wire import TopicKind

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from pokdeng.ledger.port import Account


class _Balance(msgspec.Struct):
    sequence: int


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
    revision: int = 0
    outcome: str = ""
    balance: _Balance | None = None


_decode = msgspec.json.Decoder(_Fact).decode


@dataclass(frozen=True, slots=True, kw_only=True)
class OptionBooks:
    """What one option came to, over all currencies of the play, in minor units."""

    bets: int
    taken: int
    returned: int
    expected: float
    """What those bets return on average."""
    variance: float
    """Of what they return: stakes on the option summed per round first."""

    @property
    def ratio(self) -> float | None:
        """Returned of taken; None where nothing was."""
        return self.returned / self.taken if self.taken else None

    @property
    def expected_ratio(self) -> float | None:
        """What the ratio is on average."""
        return self.expected / self.taken if self.taken else None

    @property
    def deviations(self) -> float | None:
        """How many standard deviations what was returned lies above what was expected."""
        return (self.returned - self.expected) / sqrt(self.variance) if self.variance else None


@dataclass(frozen=True, slots=True, kw_only=True)
class CurrencyBooks:
    """One currency's books, in minor units."""

    deposits: int
    withdrawals: int
    house_net: int
    available: int
    held: int

    @property
    def balanced(self) -> bool:
        """Whether what accounts hold is what came in, less what went out, less what the house won."""
        return self.available + self.held == self.deposits - self.withdrawals - self.house_net


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
        self._by_bet: dict[str, list[int]] = {bet.value: [0, 0, 0] for bet in Bet}
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
                row = self._by_bet[fact.bet]
                row[0] += 1
                row[1] += fact.taken
                row[2] += fact.returned
            case "bet_reversed":
                self._house_net[fact.currency] -= fact.taken - fact.reversed

    def options(self) -> dict[Bet, OptionBooks]:
        """The ten options."""
        stakes: defaultdict[str, int] = defaultdict(int)
        squares: defaultdict[str, int] = defaultdict(int)
        for (_, _, bet, _), stake in self._stakes.items():
            stakes[bet] += stake
            squares[bet] += stake * stake
        return {
            bet: OptionBooks(
                bets=self._by_bet[bet][0],
                taken=self._by_bet[bet][1],
                returned=self._by_bet[bet][2],
                expected=float(odds_of(bet).expected_returned * stakes[bet]),
                variance=float(odds_of(bet).variance * squares[bet]),
            )
            for bet in Bet
        }

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
