"""Bugs about progress: what is committed too early, read too late, or forgotten over a restart."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pokdeng.events.reasons import BetReason
from pokdeng.ledger.memory import MemoryLedger
from pokdeng.settlement import engine, recovery
from pokdeng.settlement.book import Book
from pokdeng.settlement.cashier import Cashier
from pokdeng.settlement.desk import Desk
from pokdeng.settlement.floor import Floor
from pokdeng.settlement.speaker import Speaker
from pokdeng.stream.memory.log import MemoryLog
from tests.mutants.catalogue import mutant

if TYPE_CHECKING:
    import pytest


@mutant
def commit_before_produce(patch: pytest.MonkeyPatch) -> None:
    """A batch counts as progress before it is said."""
    publish = Speaker._publish

    async def early(self: Speaker, saying: Any, before: Any) -> None:
        saying.batch.acknowledge()
        await publish(self, saying, before)

    patch.setattr(Speaker, "_publish", early)


@mutant
def rounds_said_before_facts(patch: pytest.MonkeyPatch) -> None:
    """A round's commit mark is said before its settlements: after a crash in between nobody says them."""
    publish = Speaker._publish

    async def marks_first(self: Speaker, saying: Any, before: Any) -> None:
        if saying.batch.round_facts:
            await self._transport.publish(saying.batch.round_facts)
            saying.batch.round_facts.clear()
        await publish(self, saying, before)

    patch.setattr(Speaker, "_publish", marks_first)


@mutant
def watermark_one_too_high(patch: pytest.MonkeyPatch) -> None:
    """What is committed for bets and table events is one record too far."""
    marks = Desk.watermarks.fget  # type: ignore[attr-defined]  # a property

    def high(self: Desk) -> tuple[int, int]:
        event, bet = marks(self)
        return event + 1, bet + 1

    patch.setattr(Desk, "watermarks", property(high))


@mutant
def watermark_of_funds_one_too_high(patch: pytest.MonkeyPatch) -> None:
    """What is committed for funds is one record too far."""
    advance = Cashier._advance

    def high(self: Cashier, record: Any) -> None:
        advance(self, record)
        self.next_transfer += 1

    patch.setattr(Cashier, "_advance", high)


@mutant
def watermark_without_open_rounds(patch: pytest.MonkeyPatch) -> None:
    """What is committed is what was said, though open rounds need older records again."""
    patch.setattr(Desk, "watermarks", property(lambda self: (self.next_event, self.next_bet)))


@mutant
def watermark_without_table_events(patch: pytest.MonkeyPatch) -> None:
    """What is committed holds the bets of open rounds, but not their cards."""
    patch.setattr(Floor, "oldest_needed", property(lambda _: None))


@mutant
def no_read_back(patch: pytest.MonkeyPatch) -> None:
    """A worker does not read its own rounds back: finished rounds are opened anew."""

    async def nothing(*_: Any) -> int:
        return 0

    patch.setattr(engine, "read_all_back", nothing)


@mutant
def read_back_too_late(patch: pytest.MonkeyPatch) -> None:
    """Only the newest of the rounds is read back."""

    async def newest(_log: Any, _topics: Any, _desk: Any, _rounds: Any, end: int) -> int:
        return max(0, end - 1)

    patch.setattr(recovery, "_start", newest)


@mutant
def begins_one_record_too_late(patch: pytest.MonkeyPatch) -> None:
    """After a commit, reading begins one record behind it."""
    own = MemoryLog._own

    def late(self: MemoryLog, assignment: Any) -> None:
        own(self, assignment)
        for partition in self._group.committed.keys() & self._positions.keys():
            self._positions[partition] += 1

    patch.setattr(MemoryLog, "_own", late)


@mutant
def desks_kept_over_a_rebalance(patch: pytest.MonkeyPatch) -> None:
    """What is revoked is finished, but not forgotten: two workers then own one partition."""
    revoked = engine.Engine.revoked

    async def keeps(self: engine.Engine) -> None:
        desks = dict(self.owned._desks)
        await revoked(self)
        self.owned._desks.update(desks)

    patch.setattr(engine.Engine, "revoked", keeps)


@mutant
def read_again_is_decided_anew(patch: pytest.MonkeyPatch) -> None:
    """Bets of a finished round that are read again are taken for late ones."""
    without = Desk._without_book

    def anew(self: Desk, record: Any, event: Any) -> None:
        key = (event.table_id, event.round_id)
        finished = self.finished.get(key) or self._memory.round(*key).finished
        if finished is not None and record.offset < finished.seal:
            self._memory.round(*key).finished = None
            self._betting.place_without_book(record, event, self._memory.round(*key), BetReason.BETTING_CLOSED)
            return
        without(self, record, event)

    patch.setattr(Desk, "_without_book", anew)


@mutant
def forgotten_copies_are_decided_anew(patch: pytest.MonkeyPatch) -> None:
    """What was said before the assignment, and is forgotten since, is decided again when it is read again."""
    patch.setattr(Desk, "said_before", lambda _self, **_offsets: None)


@mutant
def passed_rounds_are_not_noted(patch: pytest.MonkeyPatch) -> None:
    """Rounds leave memory without a note of them in the ledger."""
    patch.setattr(Desk, "notes_of", lambda _self, _passed: [])


@mutant
def lives_forget_at_once(patch: pytest.MonkeyPatch) -> None:
    """Bets may be forgotten half a day after they are decided, finished or not: a long outage forgets them."""
    decide = MemoryLedger._decide

    def mortal(self: MemoryLedger, number: int, operations: Any, bucket: Any) -> Any:
        answers = decide(self, number, operations, bucket)
        for operation in operations:
            if hasattr(operation, "round"):
                name = (operation.table, operation.round)
                bucket.expiry["rounds", name] = self._store.clock() + 12 * 3_600_000
        return answers

    patch.setattr(MemoryLedger, "_decide", mortal)


@mutant
def held_rounds_are_not_put_back(patch: pytest.MonkeyPatch) -> None:
    """A round that was put aside, and passed by what is committed, is not found again by the next worker."""

    async def nothing(*_: Any) -> int:
        return 0

    patch.setattr(engine, "put_back", nothing)


@mutant
def held_rounds_lose_the_bets_behind_their_note(patch: pytest.MonkeyPatch) -> None:
    """A round put aside keeps nothing of the log any more, whatever comes for it afterwards."""
    needed = Book.oldest_needed.fget  # type: ignore[attr-defined]  # a property
    patch.setattr(Book, "oldest_needed", property(lambda self: None if self.held_ms is not None else needed(self)))


@mutant
def snapshots_over_rounds_that_are_not_said(patch: pytest.MonkeyPatch) -> None:
    """A table's snapshot absorbs the events of a round that ended before, but is said later."""
    patch.setattr(Desk, "_is_before_another", lambda *_: False)
