"""What goes wrong in a world, and when: drawn from the seed at every await, or read from a list, to play it again.

A fault is named by its site and by how often that site was reached, so that a list of faults can be played again, and
parts of it: that is how a failing list is shrunk.
"""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    import random
    from collections.abc import Iterable, Mapping, Sequence


class Kind(StrEnum):
    """What happens. The first word says to what."""

    KILL = "worker killed"
    FREEZE = "worker stopped and continued"
    """SIGSTOP, SIGCONT: if it lasts longer than its session, it wakes up as a zombie."""
    THROW_OUT = "worker thrown out of its group"
    """Its coordinator gives it up, while it works on and does not know."""
    JOIN = "worker joins"
    LEAVE = "worker leaves"
    LONG_DOWN = "workers down longer than anything is remembered"
    LEDGER_LATE = "ledger answers late"
    LEDGER_LOST = "ledger call lost"
    LEDGER_LOST_AGAIN = "ledger call lost, sent again"
    LEDGER_UNANSWERED = "ledger call done, not answered"
    LEDGER_UNANSWERED_AGAIN = "ledger call done, not answered, sent again"
    LEDGER_RESTART = "ledger restarted"
    LEDGER_SET_BACK = "ledger restarted without its newest calls"
    LEDGER_PROMOTED = "ledger failed over to a replica that lags"
    LEDGER_FLUSH = "ledger emptied"
    LOG_LATE = "log answers late"
    LOG_FAILS = "log does not answer"
    LOG_DOWN = "log away"
    LOG_HIDES = "log shows a partition late"
    PRODUCE_FAILS = "produce fails before a message"
    PRODUCE_NEVER_ARRIVES = "produce does not arrive, and times out"
    PRODUCE_TIMES_OUT = "produce arrives, and times out"
    PRODUCE_TWICE = "produce arrives twice"
    COMMIT_FAILS = "commit fails"
    COMMIT_UNANSWERED = "commit counts, not answered"


LOSSES: Final = frozenset({Kind.LEDGER_SET_BACK, Kind.LEDGER_PROMOTED, Kind.LEDGER_FLUSH})
"""The ledger has forgotten what it acknowledged."""

_OF_THE_PROCESS: Final = (Kind.KILL, Kind.KILL, Kind.FREEZE)
BEFORE: Final = (*_OF_THE_PROCESS, Kind.LEDGER_LATE, Kind.LEDGER_LOST, Kind.LEDGER_LOST_AGAIN)
AFTER: Final = (*_OF_THE_PROCESS, Kind.LEDGER_LATE, Kind.LEDGER_UNANSWERED, Kind.LEDGER_UNANSWERED_AGAIN)
ANSWER: Final = (*_OF_THE_PROCESS, Kind.LOG_LATE, Kind.LOG_FAILS)
APPEND: Final = (Kind.KILL, Kind.PRODUCE_FAILS)
ACKNOWLEDGE: Final = (*_OF_THE_PROCESS, Kind.LOG_LATE, Kind.PRODUCE_TIMES_OUT)
PUBLISH: Final = (
    Kind.KILL,
    Kind.FREEZE,
    Kind.LOG_LATE,
    *(Kind.PRODUCE_NEVER_ARRIVES,) * 3,
    Kind.PRODUCE_TWICE,
)
COMMIT: Final = (Kind.KILL, Kind.COMMIT_FAILS)
COMMITTED: Final = (*_OF_THE_PROCESS, Kind.LOG_LATE, Kind.COMMIT_UNANSWERED)
BEAT: Final = (
    Kind.KILL,
    Kind.FREEZE,
    Kind.THROW_OUT,
    Kind.JOIN,
    Kind.JOIN,
    Kind.LEAVE,
    Kind.LOG_DOWN,
    Kind.LOG_HIDES,
    Kind.LOG_HIDES,
    Kind.LEDGER_RESTART,
    *(Kind.LEDGER_SET_BACK,) * 3,
    *(Kind.LEDGER_PROMOTED,) * 2,
    Kind.LEDGER_FLUSH,
    *(Kind.LONG_DOWN,) * 12,
)
"""What may happen where: some kinds more often than others."""

SESSION_S: Final = 3.0
"""After so long without a sign of life the group gives a member up."""
_SHORT_S: Final = (0.001, 0.003, 0.012, 0.05, 0.3, 1.5)
_LONG_S: Final = (0.002, 0.01, 0.05, 0.3, 2.0, 3.5, 5.0)


_RARE: Final = {
    **dict.fromkeys(("commit", "committed", "publish", "finish<", "finish>", "release<", "acquire<", "enter>"), 6),
    **dict.fromkeys(("acknowledge", "apply>"), 4),
    **dict.fromkeys(("remember<", "remember>", "apply<"), 2),
}
"""Sites where faults fall so many times as often: they are reached rarely, or matter most."""
_NEVER: Final = 2**60


class Fault(NamedTuple):
    """Something that goes wrong at the so-manieth visit of a site; `amount` (0 .. 1) says how much, or whom."""

    site: str
    nth: int
    kind: Kind
    amount: float

    @property
    def short_s(self) -> float:
        """How long something is late."""
        return _SHORT_S[int(self.amount * len(_SHORT_S))]

    @property
    def long_s(self) -> float:
        """How long a process or a broker is away."""
        return _LONG_S[int(self.amount * len(_LONG_S))]


class Fired(NamedTuple):
    """A fault that happened: when, to whom."""

    fault: Fault
    at_s: float
    whom: str


class Injector:
    """Says at each site whether something goes wrong now."""

    def __init__(
        self,
        rng: random.Random,
        *,
        kinds: Iterable[Kind],
        rate: float,
        beat_rate: float,
        most: int,
        script: Sequence[Fault] | None = None,
    ) -> None:
        """Draws faults of these kinds; with a script: these and no others.

        Args:
            rng: draws.
            kinds: what may go wrong in this world.
            rate: faults per visit of a site, 0 .. 1.
            beat_rate: of the site where the world itself is hit.
            most: no more than so many.
            script: faults to play again.
        """
        self._rng = rng
        self._kinds = frozenset(kinds)
        self._rate = rate
        self._beat_rate = beat_rate
        self._most = most
        self._script: Mapping[tuple[str, int], Fault] | None = None
        if script is not None:
            self._script = {(fault.site, fault.nth): fault for fault in script}
        self._visits: dict[str, int] = {}
        self._next: dict[str, int] = {}
        self.fired: list[Fired] = []
        self.is_over = False
        """Nothing goes wrong any more."""

    def visit(self, site: str, choices: Sequence[Kind]) -> Fault | None:
        """What goes wrong at this visit, if anything."""
        if self.is_over:
            return None
        nth = self._visits[site] = self._visits.get(site, 0) + 1
        if self._script is not None:
            fault = self._script.get((site, nth))
            return fault if fault is not None and fault.kind in choices else None
        due = self._next.get(site)
        if due is None:
            due = self._next[site] = self._gap(site)
        if nth < due:
            return None
        self._next[site] = nth + self._gap(site)
        possible = [kind for kind in choices if kind in self._kinds]
        kind = possible[int(self._rng.random() * len(possible))] if possible else None
        amount = self._rng.random()
        if kind is None or len(self.fired) >= self._most:
            return None
        return Fault(site, nth, kind, amount)

    def _gap(self, site: str) -> int:
        rate = self._beat_rate if site == "beat" else min(1.0, self._rate * _RARE.get(site, 1))
        return 1 + int(self._rng.expovariate(rate)) if rate else _NEVER
