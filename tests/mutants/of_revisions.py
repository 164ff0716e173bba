"""Bugs of corrections and cancellations after settlement: reversals, their order, and what is remembered of them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from pokdeng.ledger import memory_decide
from pokdeng.ledger.memory_decide import Decision
from pokdeng.ledger.memory_store import After
from pokdeng.rounds import aftermath as of_rounds
from pokdeng.settlement import aftermath, revising
from pokdeng.settlement.desk import Desk
from pokdeng.settlement.revising import Revision, Standing
from pokdeng.settlement.revisions import Revisions
from tests.mutants.catalogue import mutant

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pytest

    from pokdeng.ledger.values import Answer


@mutant
def reverses_twice(patch: pytest.MonkeyPatch) -> None:
    """A revision that is asked again, since its answer was lost, reverses and pays again."""
    revise = Decision._revise

    def again(self: Decision, operation: Any, balance: Any) -> Answer:
        known = self._bet(operation)
        if known is None or balance is None or known.record.revision != operation.revision:
            return revise(self, operation, balance)
        available = balance.available - operation.reversed + operation.returned
        after = After(available, balance.held, balance.sequence + 2)
        self._accounts[operation.account] = balance._replace(available=available, sequence=after.sequence)
        return memory_decide._moved(after, is_fresh=True)

    patch.setattr(Decision, "_revise", again)


@mutant
def revision_is_not_recorded(patch: pytest.MonkeyPatch) -> None:
    """Money moves, but the bet's record stays that of the revision before."""
    revise = Decision._revise

    def forgets(self: Decision, operation: Any, balance: Any) -> Answer:
        name, before = memory_decide._name(operation), self._bet(operation)
        answer = revise(self, operation, balance)
        if before is not None:
            self._bets[name] = before
        return answer

    patch.setattr(Decision, "_revise", forgets)


@mutant
def reversal_stops_at_zero(patch: pytest.MonkeyPatch) -> None:
    """Winnings that are spent are not taken back: the house pays for them, and nobody is told."""
    revise = Decision._revise

    def spares(self: Decision, operation: Any, balance: Any) -> Answer:
        answer = revise(self, operation, balance)
        after = self._accounts.get(operation.account)
        if not answer.is_fresh or after is None or after.available >= 0:
            return answer
        self._accounts[operation.account] = after._replace(available=0)
        return answer._replace(available=0)

    patch.setattr(Decision, "_revise", spares)


@mutant
def overdrawn_is_not_paid(patch: pytest.MonkeyPatch) -> None:
    """An account below zero is refused its settlement, like a bet."""
    settle = Decision._settle

    def refuses(self: Decision, operation: Any, balance: Any) -> Answer:
        if balance is not None and balance.available < 0:
            return memory_decide._ABSENT
        return settle(self, operation, balance)

    patch.setattr(Decision, "_settle", refuses)


@mutant
def overdrawn_may_bet(patch: pytest.MonkeyPatch) -> None:
    """A debt is passed over: an account below zero bets as if it had what was reversed."""
    hold = Decision._hold

    def lends(self: Decision, operation: Any, balance: Any) -> Answer:
        if balance is None or balance.available >= 0:
            return hold(self, operation, balance)
        return hold(self, operation, balance._replace(available=operation.taken))

    patch.setattr(Decision, "_hold", lends)


@mutant
def between_is_not_overdrawn(patch: pytest.MonkeyPatch) -> None:
    """Where only the reversal takes an account below zero, and what follows brings it back, nothing is said of it."""
    reversed_ = Revision._reversed

    def silent(self: Revision, *args: Any) -> Any:
        fact = reversed_(self, *args)
        return replace(fact, balance=replace(fact.balance, overdrawn=None))

    patch.setattr(Revision, "_reversed", silent)


@mutant
def any_time_is_in_the_window(patch: pytest.MonkeyPatch) -> None:
    """A settled round is corrected however long ago it was."""
    patch.setattr(of_rounds, "_too_late", lambda *_: None)


@mutant
def newest_correction_comes_first(patch: pytest.MonkeyPatch) -> None:
    """Corrections of a round that wait are made in the wrong order."""

    def due(self: Revisions, now: float) -> Iterator[Any]:
        for key, queue in self._queues.items():
            if queue.known is not None and not queue.is_begun and queue.next_look <= now:
                queue.waiting.reverse()
                yield key, queue.waiting[0], queue.known

    patch.setattr(Revisions, "due", due)


@mutant
def revision_is_begun_again(patch: pytest.MonkeyPatch) -> None:
    """A correction is begun anew while it is under way: the one behind it is taken for done."""
    patch.setattr(Revisions, "begin", lambda *_: None)
    said = Revisions.said

    def counts_all(self: Revisions, key: Any, finished: Any) -> None:
        queue = self._queues.get(key)
        if queue is not None and finished.revision > 1:
            queue.is_begun = True
        said(self, key, finished)

    patch.setattr(Revisions, "said", counts_all)


@mutant
def waiting_corrections_are_let_go(patch: pytest.MonkeyPatch) -> None:
    """What is committed passes corrections that wait: a worker that dies has forgotten them."""
    patch.setattr(Revisions, "oldest_needed", property(lambda _self: None))


@mutant
def corrections_are_not_noted(patch: pytest.MonkeyPatch) -> None:
    """That a correction came is not remembered: the same one, delivered again after another, counts again."""
    heard = aftermath.Aftermath.revised

    def silent(self: aftermath.Aftermath, *args: Any) -> None:
        notes = len(self.batch.notes)
        heard(self, *args)
        del self.batch.notes[notes:]

    patch.setattr(aftermath.Aftermath, "revised", silent)


@mutant
def reverses_what_it_just_paid(patch: pytest.MonkeyPatch) -> None:
    """What is reversed is read from the record as it is, though a worker that died has applied the revision."""
    standing = revising.standing_bets

    def of_now(finished: Any, records: Any) -> list[Standing]:
        return [Standing(bet.record, bet.record.returned) for bet in standing(finished, records)]

    patch.setattr(revising, "standing_bets", of_now)


@mutant
def revised_round_is_forgotten(patch: pytest.MonkeyPatch) -> None:
    """A round that was noted before its correction leaves memory all the same, and its records may end."""

    def forgets(self: Desk, passed: Any) -> None:
        for key in passed:
            self.finished.pop(key, None)
            self.floor.forget_round(*key)

    patch.setattr(Desk, "forget", forgets)
    patch.setattr(Desk, "is_as_noted", lambda *_: True)
