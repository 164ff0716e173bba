"""Bugs about decisions: bets, cancels, seals, duplicates, and the order in which the log is read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pokdeng.events.reasons import BetReason
from pokdeng.ledger import memory_decide
from pokdeng.ledger.memory_decide import Decision
from pokdeng.rounds import refusal_of_bet
from pokdeng.settlement import betting
from pokdeng.settlement.batch import Batch
from pokdeng.settlement.betting import Betting
from pokdeng.settlement.book import Book, Entry, Stray
from pokdeng.settlement.desk import Desk
from pokdeng.stream.merge import Merge
from tests.mutants.catalogue import mutant

if TYPE_CHECKING:
    import pytest


@mutant
def merge_without_barrier(patch: pytest.MonkeyPatch) -> None:
    """The head of one side goes while the other is empty, without asking whether that is all."""

    def anything(self: Merge, side: int, limit: int, out: list[Any]) -> None:
        queue = self._queues[side]
        count = min(limit, len(queue))
        out.extend((side, queue.popleft()) for _ in range(count))
        self._took(side, count)

    patch.setattr(Merge, "_take_covered", anything)


@mutant
def seals_at_what_is_read(patch: pytest.MonkeyPatch) -> None:
    """A round that is complete is sealed at what was read, without knowing that every bet up to its close was."""
    patch.setattr(Merge, "is_past", lambda _self, _timestamp: True)


@mutant
def seal_one_too_high(patch: pytest.MonkeyPatch) -> None:
    """The record that sealed a round belongs to it."""
    cap = Book.cap
    patch.setattr(Book, "cap", lambda self, offset: cap(self, offset + 1))


@mutant
def late_bet_is_in_time(patch: pytest.MonkeyPatch) -> None:
    """A bet after the close is taken while its round has not ended."""
    patch.setattr(betting, "refusal_of_bet", lambda *_args, **_kwargs: None)


@mutant
def bet_at_the_close_is_late(patch: pytest.MonkeyPatch) -> None:
    """A bet in the very millisecond of the close is refused."""
    refusal = refusal_of_bet

    def strict(round_: Any, at_ms: int, *, is_behind_seal: bool) -> Any:
        if round_ is not None and round_.closed_at_ms == at_ms:
            return BetReason.BETTING_CLOSED
        return refusal(round_, at_ms, is_behind_seal=is_behind_seal)

    patch.setattr(betting, "refusal_of_bet", strict)


@mutant
def late_bets_vanish(patch: pytest.MonkeyPatch) -> None:
    """A bet for a finished round is dropped in silence."""
    without = Desk._without_book

    def silent(self: Desk, record: Any, event: Any) -> None:
        key = (event.table_id, event.round_id)
        if (self.finished.get(key) or self._memory.round(*key).finished) is None:
            without(self, record, event)

    patch.setattr(Desk, "_without_book", silent)


@mutant
def refused_cancel_is_forgotten(patch: pytest.MonkeyPatch) -> None:
    """A bet that comes after its refused cancel is taken."""
    patch.setattr(Book, "was_cancelled_before", lambda _self, _bet, _offset: False)


@mutant
def duplicate_is_answered(patch: pytest.MonkeyPatch) -> None:
    """A bet that is delivered twice is answered twice."""

    def answers(self: Betting, record: Any, bet: Any, *, is_same: bool) -> None:
        del is_same
        self._voice.bet_rejected(self.batch, record, bet, BetReason.BETTING_CLOSED)

    patch.setattr(Betting, "_known", answers)


@mutant
def conflict_is_a_duplicate(patch: pytest.MonkeyPatch) -> None:
    """The same id with other content is passed over."""
    for known in (Entry, Stray):
        patch.setattr(known, "says_the_same", lambda _self, _other: True)


@mutant
def dead_letters_vanish(patch: pytest.MonkeyPatch) -> None:
    """What cannot be used is counted, and not kept."""
    patch.setattr(Batch, "dead_letter", lambda *_args: None)


@mutant
def notes_are_not_written(patch: pytest.MonkeyPatch) -> None:
    """What is refused without a book is said, but not remembered."""
    answered = Batch.answered

    def without(self: Batch, answers: Any) -> None:
        answered(self, answers)
        self.notes.clear()

    patch.setattr(Batch, "answered", without)
    patch.setattr(Betting, "_refuse_cancel", _refuse_cancel_without_note)


def _refuse_cancel_without_note(self: Betting, record: Any, cancel: Any, book: Any, reason: Any) -> None:
    book.cancels[cancel.account_id, cancel.bet_id] = (record.offset, reason)
    self._voice.cancel_rejected(self.batch, record, cancel, reason)


@mutant
def withdrawn_bet_is_settled(patch: pytest.MonkeyPatch) -> None:
    """A bet that was taken back is asked to be paid all the same, and the ledger does not refuse it."""
    patch.setattr(Book, "standing", property(lambda self: list(self.bets.values())))
    patch.setattr(Decision, "_withdraw", _withdraw_without_record)


def _withdraw_without_record(self: Any, withdraw: Any, balance: Any) -> Any:
    known = self._bet(withdraw)
    if known is None or known.record.account != withdraw.account or known.record.reason is not None:
        return memory_decide._ABSENT
    after = self._move(withdraw.account, balance, available=known.record.taken, held=-known.record.taken)
    return memory_decide._moved(after, is_fresh=True)
