"""What the demo has seen so far, as plain values: for the live view, the summary and `--json`."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import sqrt
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pokdeng.rounds import RoadMark
    from pokdeng.rules import Bet


@dataclass(frozen=True, slots=True, kw_only=True)
class Latency:
    """From the broker time of a record to its acknowledged output, in milliseconds; None where nothing was measured."""

    p50_ms: float | None = None
    p99_ms: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class OptionLine:
    """What became of the settled bets on one option, in minor units of the snapshot's currency."""

    bet: Bet
    bets: int
    taken: int
    returned: int
    expected: float
    """What those bets return on average."""
    variance: float
    """Of what they return, minor units squared."""

    @property
    def ratio(self) -> float | None:
        """The payout ratio: the part of the amount taken that was returned."""
        return self.returned / self.taken if self.taken else None

    @property
    def expected_ratio(self) -> float | None:
        """What the ratio is on average, over these very bets."""
        return self.expected / self.taken if self.taken else None

    @property
    def deviations(self) -> float | None:
        """How many standard deviations the return is away from its expectation."""
        return (self.returned - self.expected) / sqrt(self.variance) if self.variance > 0 else None


@dataclass(frozen=True, slots=True, kw_only=True)
class BookLine:
    """The books of one currency, minor units."""

    currency: str
    deposits: int
    withdrawals: int
    house_net: int
    available: int
    held: int

    @property
    def is_balanced(self) -> bool:
        """Whether what accounts have is what came in, less what went out and what the house won."""
        return self.available + self.held == self.deposits - self.withdrawals - self.house_net


@dataclass(frozen=True, slots=True, kw_only=True)
class RoadLine:
    """The road map of one table: the marks of its settled rounds, spots 1 .. 5 each, the newest round last."""

    table_id: str
    rounds: tuple[tuple[RoadMark, ...], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class DemoSnapshot:
    """Everything that is shown of a demo at a moment."""

    seed: int
    elapsed_seconds: float
    is_over: bool = False
    rounds_settled: int = 0
    rounds_refunded: int = 0
    rounds_open: int = 0
    rounds_held: int = 0
    accepted: int = 0
    rejected: int = 0
    withdrawn: int = 0
    settled: int = 0
    refunded: int = 0
    reasons: Mapping[str, int] = field(default_factory=dict)
    """Rejected bets by reason."""
    bets_per_second: float = 0.0
    decision: Latency = field(default_factory=Latency)
    settlement: Latency = field(default_factory=Latency)
    dead_letters: int = 0
    duplicates: int = 0
    currency: str = "THB"
    """Of the options' amounts."""
    options: tuple[OptionLine, ...] = ()
    books: tuple[BookLine, ...] = ()
    """Empty while the demo runs."""
    roads: tuple[RoadLine, ...] = ()

    @property
    def bets(self) -> int:
        """All decided bets; a withdrawn one was accepted before."""
        return self.accepted + self.rejected

    @property
    def is_balanced(self) -> bool:
        """Whether the books of every currency balance."""
        return all(book.is_balanced for book in self.books)


def to_json(snapshot: DemoSnapshot) -> dict[str, Any]:
    """The object of `pokdeng demo --json`. Amounts are minor units. Source: the contract, "Command line"."""
    return {
        "rounds": snapshot.rounds_settled + snapshot.rounds_refunded,
        "bets": snapshot.bets,
        "accepted": snapshot.accepted,
        "rejected": snapshot.rejected,
        "withdrawn": snapshot.withdrawn,
        "settled": snapshot.settled,
        "refunded": snapshot.refunded,
        "books": {
            book.currency: {
                "deposits": book.deposits,
                "withdrawals": book.withdrawals,
                "house_net": book.house_net,
                "available": book.available,
                "held": book.held,
                "balanced": book.is_balanced,
            }
            for book in snapshot.books
        },
        "options": {
            option.bet.value: {
                "taken": option.taken,
                "returned": option.returned,
                "ratio": option.ratio,
                "expected": option.expected_ratio,
                "deviations": option.deviations,
            }
            for option in snapshot.options
        },
        "seed": snapshot.seed,
        "seconds": round(snapshot.elapsed_seconds, 3),
    }
