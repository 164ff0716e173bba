"""The crowd: accounts and what they bet, plausible stakes in their own currency."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

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

    @property
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


class Player:
    """An account. Its currency depends on its number only, so that every play agrees."""

    __slots__ = ("account_id", "bets", "key", "money", "tail")

    def __init__(self, number: int, bets_of: dict[str, tuple[str, ...]]) -> None:
        """The account of a number, 1 or more."""
        self.account_id = f"A-{number:06d}"
        self.key = self.account_id.encode()
        self.money = _MONEY_OF.get(number % _ONE_IN, _THB)
        self.bets = bets_of.setdefault(self.money.currency, self.money.bets)
        self.tail = f'"account_id":"{self.account_id}",'


class Crowd:
    """All accounts of a play."""

    def __init__(self, play: Play) -> None:
        """Depends on the seed only."""
        self._rng = random.Random(f"{play.seed}/crowd")
        self._seed = play.seed
        self._transfers = 0
        bets_of: dict[str, tuple[str, ...]] = {}
        self.players = [Player(number, bets_of) for number in range(1, play.accounts + 1)]

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
        return self.transfer(player, "funds_deposited", amount, at_ms, Kind.DEPOSIT)

    def transfer(
        self, player: Player, event_type: str, amount: int, at_ms: int, kind: Kind, currency: str | None = None
    ) -> Step:
        """Money in or out, under a new id."""
        self._transfers += 1
        name = f"{self._seed}-{self._transfers}"
        value = (
            f'{{"type":"{event_type}","event_id":"e-{name}","occurred_at":"{time_text(at_ms)}",'
            f'"transfer_id":"{name}",{player.tail}"amount":{amount},"currency":"{currency or player.money.currency}"}}'
        )
        return Step(at_ms, TopicKind.FUNDS, player.key, value.encode(), kind)
