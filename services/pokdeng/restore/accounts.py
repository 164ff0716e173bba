"""Accounts as the facts say: the newest balance, and the sum of all movements. Where both are whole they agree.

Facts of an account that plays at several tables are not in the order of its movements, and may be said twice: a
movement counts once, by its sequence. A movement that was applied and never said leaves a *hole*: what it moved will be
decided again, so the balance of that account is the sum of what was said, not what the newest fact says.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from pokdeng.restore.facts import Balance


_MANY = 1_000
"""So many movements beyond a hole are kept one by one."""


class AccountState:
    """One account. Changed in place: there is a step for each movement."""

    __slots__ = ("available", "beyond", "currency", "held", "ranges", "sequence", "sum_available", "sum_held", "upto")

    def __init__(self, currency: str) -> None:
        """No movement yet."""
        self.currency = currency
        self.available = 0
        self.held = 0
        self.sequence = 0
        """The newest balance that was said, and its sequence."""
        self.sum_available = 0
        self.sum_held = 0
        self.upto = 0
        """All movements up to this one are counted."""
        self.beyond: set[int] | None = None
        """Those counted beyond a hole."""
        self.ranges: list[tuple[int, int]] = []
        """The same, where very many lie beyond it: first and last, ascending."""

    def admit(self, sequence: int) -> bool:
        """Count a movement, whatever its order; False where it was counted before."""
        beyond = self.beyond
        if sequence <= self.upto or (beyond is not None and sequence in beyond):
            return False
        if self.ranges and any(first <= sequence <= last for first, last in self.ranges):
            return False
        if sequence != self.upto + 1:
            if beyond is None:
                beyond = self.beyond = set()
            beyond.add(sequence)
            if len(beyond) > _MANY:
                self.ranges = self.counted
                beyond.clear()
            return True
        self.upto = sequence
        if beyond is not None:
            self._close_up(beyond)
        return True

    def _close_up(self, beyond: set[int]) -> None:
        """What lay beyond a hole that is filled now is counted on."""
        while True:
            following = self.upto + 1
            if following in beyond:
                beyond.remove(following)
                self.upto = following
            elif self.ranges and self.ranges[0][0] == following:
                self.upto = self.ranges.pop(0)[1]
            else:
                break
        if not beyond and not self.ranges:
            self.beyond = None

    @property
    def counted(self) -> list[tuple[int, int]]:
        """The movements counted beyond a hole, as ranges."""
        return _joined([*self.ranges, *((one, one) for one in self.beyond or ())])

    @property
    def holes(self) -> list[tuple[int, int]]:
        """Movements that nobody has said, though later ones were: first and last."""
        before, found = self.upto, []
        for first, last in self.counted:
            found.append((before + 1, first - 1))
            before = last
        return found

    @property
    def balance(self) -> tuple[int, int]:
        """Available and held: as the newest fact says, or as the movements sum up where one is missing."""
        return (self.available, self.held) if self.beyond is None else (self.sum_available, self.sum_held)


def _joined(ranges: list[tuple[int, int]]) -> list[tuple[int, int]]:
    out: list[tuple[int, int]] = []
    for first, last in sorted(ranges):
        if out and out[-1][1] + 1 >= first:
            out[-1] = (out[-1][0], max(last, out[-1][1]))
        else:
            out.append((first, last))
    return out


class Hole(NamedTuple):
    """Movements `first` to `last` of an account were applied and never said."""

    account: str
    first: int
    last: int

    @property
    def movements(self) -> str:
        """As the beginning of a sentence.

        >>> Hole("A-1", 6, 6).movements, Hole("A-1", 6, 9).movements
        ('movement 6 was', 'movements 6 to 9 were')
        """
        return (
            f"movement {self.first} was" if self.first == self.last else f"movements {self.first} to {self.last} were"
        )


@dataclass(slots=True)
class Totals:
    """One currency's movements, in minor units."""

    deposits: int = 0
    withdrawals: int = 0
    house_net: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class CurrencyBooks:
    """One currency's books: they balance where `difference` is 0."""

    deposits: int
    withdrawals: int
    house_net: int
    available: int
    held: int

    @property
    def difference(self) -> int:
        """What accounts have beyond what follows from deposits, withdrawals and play."""
        return self.available + self.held - (self.deposits - self.withdrawals - self.house_net)


class AccountBook:
    """All accounts, and the totals per currency."""

    def __init__(self) -> None:
        """Nothing moved yet."""
        self.states: dict[str, AccountState] = {}
        self.totals: dict[str, Totals] = {}

    def move(self, account: str, currency: str, balance: Balance, available: int, held: int) -> bool:
        """Count a movement and the balance after it; False where it was counted before."""
        state = self.states.get(account)
        if state is None:
            state = self.states[account] = AccountState(currency)
        sequence = balance.sequence
        if sequence == state.upto + 1 and state.beyond is None:
            state.upto = sequence
        elif not state.admit(sequence):
            return False
        state.sum_available += available
        state.sum_held += held
        if sequence > state.sequence:
            state.sequence, state.available, state.held = sequence, balance.available, balance.held
        return True

    def total(self, currency: str) -> Totals:
        """One currency's totals."""
        known = self.totals.get(currency)
        if known is None:
            known = self.totals[currency] = Totals()
        return known

    @property
    def holes(self) -> list[Hole]:
        """Every movement that is missing."""
        return [
            Hole(name, *hole)
            for name, state in sorted(self.states.items())
            if state.beyond is not None
            for hole in state.holes
        ]

    def books(self) -> dict[str, CurrencyBooks]:
        """Each currency's books."""
        sums = {currency: [0, 0] for currency in self.totals}
        for state in self.states.values():
            available, held = state.balance
            row = sums.setdefault(state.currency, [0, 0])
            row[0] += available
            row[1] += held
        return {
            currency: CurrencyBooks(
                deposits=self.total(currency).deposits,
                withdrawals=self.total(currency).withdrawals,
                house_net=self.total(currency).house_net,
                available=available,
                held=held,
            )
            for currency, (available, held) in sorted(sums.items())
        }
