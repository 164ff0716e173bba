"""What each option paid out, against what it pays on average: by currency, after all corrections."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from math import sqrt
from typing import TYPE_CHECKING

from pokdeng.rules import Bet, odds_of

if TYPE_CHECKING:
    from pokdeng.history.audit.round_state import Revision


@dataclass(frozen=True, slots=True, kw_only=True)
class OptionBooks:
    """One option in one currency; amounts in minor units."""

    bets: int
    taken: int
    returned: int
    expected: float
    """What those bets return on average."""
    deviation: float
    """The standard deviation of what they return: stakes on the option summed per round first."""

    @property
    def ratio(self) -> float | None:
        """Returned / taken."""
        return self.returned / self.taken if self.taken else None

    @property
    def expected_ratio(self) -> float | None:
        """The same on average."""
        return self.expected / self.taken if self.taken else None

    @property
    def sigma(self) -> float | None:
        """How many standard deviations above the average."""
        return (self.returned - self.expected) / self.deviation if self.deviation else None


class Options:
    """The ten options, in each currency. A round counts once it is judged, and again when it is corrected."""

    def __init__(self) -> None:
        """Nothing counted."""
        self._rows: defaultdict[tuple[str, str], list[int]] = defaultdict(lambda: [0, 0, 0, 0, 0])
        """By option and currency: bets, stakes, taken, returned, squares of the stakes of a round."""

    def add(self, revision: Revision) -> None:
        """A revision's settled bets count."""
        self._count(revision, 1)

    def take_back(self, reversal: Revision) -> None:
        """A revision's settled bets were reversed: they do not count any more."""
        self._count(reversal, -1)

    def books(self) -> dict[str, dict[Bet, OptionBooks]]:
        """By currency and option."""
        found: dict[str, dict[Bet, OptionBooks]] = {}
        for currency in sorted({currency for _, currency in self._rows}):
            found[currency] = {}
            for bet in Bet:
                bets, stakes, taken, returned, squares = self._rows[bet.value, currency]
                odds = odds_of(bet)
                found[currency][bet] = OptionBooks(
                    bets=bets,
                    taken=taken,
                    returned=returned,
                    expected=float(odds.expected_returned * stakes),
                    deviation=sqrt(odds.variance * squares) if squares else 0.0,
                )
        return found

    def _count(self, revision: Revision, sign: int) -> None:
        for key, (bets, stakes, taken, returned) in revision.options.items():
            row = self._rows[key]
            for place, number in enumerate((bets, stakes, taken, returned, stakes * stakes)):
                row[place] += sign * number
