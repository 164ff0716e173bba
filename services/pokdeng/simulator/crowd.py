"""The crowd: accounts and what they bet, plausible stakes in their own currency."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple

from pokdeng.rules import Bet
from pokdeng.simulator.clock import time_text
from pokdeng.simulator.steps import Kind, Step
from pokdeng.wire import TopicKind

if TYPE_CHECKING:
    from pokdeng.simulator.play import Play

_OPTIONS: Final = tuple(bet for bet in Bet for _ in range(1 if bet.is_pair else 3))
"""Three bets in four are on a player, one on a pair."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Money:
    """How people of a currency play, in minor units: their chips (the usual ones twice), and what they bring."""

    currency: str
    chips: tuple[int, ...]
    brings: tuple[int, int]

    def bets(self) -> tuple[str, ...]:
        """The ends of their bets, as JSON members; one drawn at random is a plausible bet."""
        return tuple(
            f'"bet":"{bet}","stake":{chip},"currency":"{self.currency}"}}' for bet in _OPTIONS for chip in self.chips
        )


_THB = Money(
    currency="THB",
    chips=(2_000, 2_000, 5_000, 5_000, 5_000, 10_000, 10_000, 10_000, 20_000, 20_000, 50_000, 100_000, 12_345),
    brings=(1_000_000, 20_000_000),
)
_EUR = Money(currency="EUR", chips=(100, 100, 200, 500, 500, 1_000, 2_000, 5_000, 999), brings=(30_000, 500_000))
_JPY = Money(currency="JPY", chips=(100, 100, 200, 500, 500, 1_000, 5_000, 333), brings=(50_000, 1_000_000))
_MONEY_OF: Final = {7: _EUR, 13: _JPY}
_ONE_IN: Final = 20
_BETS_OF: Final = {money.currency: money.bets() for money in (_THB, _EUR, _JPY)}


class Player(NamedTuple):
    """An account, its bets and itself as JSON members."""

    account_id: str
    key: bytes
    money: Money
    bets: tuple[str, ...]
    tail: str


def player(number: int) -> Player:
    """The account of a number, 1 or more. Its currency depends on that only, so that every play agrees.

    >>> player(7).account_id, player(7).money.currency, player(8).money.currency
    ('A-000007', 'EUR', 'THB')
    """
    account_id = f"A-{number:06d}"
    money = _MONEY_OF.get(number % _ONE_IN, _THB)
    return Player(account_id, account_id.encode(), money, _BETS_OF[money.currency], f'"account_id":"{account_id}",')


class Transfer(NamedTuple):
    """Money in or out, before it has an id: `funds_deposited` or `funds_withdrawn`, minor units."""

    event_type: str
    amount: int
    currency: str


class Crowd:
    """All accounts of a play."""

    def __init__(self, play: Play) -> None:
        """Depends on the seed only."""
        self._rng = random.Random(f"{play.seed}/crowd")
        self._seed = play.seed
        self._transfers = 0
        self.players = [player(number) for number in range(1, play.accounts + 1)]

    def anyone(self) -> Player:
        """An account at random."""
        return self.players[int(self._rng.random() * len(self.players))]

    def opening(self, at_ms: int) -> list[Step]:
        """A first deposit for every account."""
        return [self.deposit(player, at_ms) for player in self.players]

    def deposit(self, player: Player, at_ms: int) -> Step:
        """A deposit of what such a player brings."""
        least, most = player.money.brings
        amount = self._rng.randint(least // 1000, most // 1000) * 1000
        return self.transfer(player, Transfer("funds_deposited", amount, player.money.currency), at_ms, Kind.DEPOSIT)

    def transfer(self, player: Player, transfer: Transfer, at_ms: int, kind: Kind) -> Step:
        """Money in or out, under a new id."""
        self._transfers += 1
        name = f"{self._seed}-{self._transfers}"
        value = (
            f'{{"type":"{transfer.event_type}","event_id":"e-{name}","occurred_at":"{time_text(at_ms)}",'
            f'"transfer_id":"{name}",{player.tail}"amount":{transfer.amount},"currency":"{transfer.currency}"}}'
        )
        return Step(at_ms, TopicKind.FUNDS, player.key, value.encode(), kind)
