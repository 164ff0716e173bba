"""Bugs of the ledger: what it applies twice, does not remember, or lets an outsider do."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from pokdeng.ledger import memory_decide
from pokdeng.ledger.memory import MemoryLedger
from pokdeng.ledger.memory_decide import Decision
from pokdeng.ledger.memory_store import After, Bet
from pokdeng.ledger.port import LedgerUnavailableError
from pokdeng.ledger.values import Answer, BetState, Status
from pokdeng.settlement import restoring
from tests.mutants.catalogue import mutant

if TYPE_CHECKING:
    import pytest

    from pokdeng.events.reasons import BetReason


@mutant
def settle_twice(patch: pytest.MonkeyPatch) -> None:
    """A bet that is settled again is paid again."""
    settle = Decision._settle

    def pays(self: Decision, operation: Any, balance: Any) -> Answer:
        known = self._bet(operation)
        if known is not None and known.record.state is BetState.SETTLED:
            after = self._move(operation.account, balance, available=operation.returned, held=0)
            return memory_decide._moved(after, is_fresh=True)
        return settle(self, operation, balance)

    patch.setattr(Decision, "_settle", pays)


@mutant
def hold_twice(patch: pytest.MonkeyPatch) -> None:
    """A hold that is sent again takes the money again: a retry without idempotence."""
    patch.setattr(Decision, "_known", lambda _self, _bet: None)


@mutant
def credit_twice(patch: pytest.MonkeyPatch) -> None:
    """A transfer that is read again is done again."""
    transfer = Decision._transfer

    def anew(self: Decision, operation: Any, balance: Any) -> Answer:
        bucket, name = self._bucket, (operation.kind, operation.account, operation.transfer)
        known = bucket.transfers.get(name)
        if known is not None and known.offset == operation.offset:
            del bucket.transfers[name]
            bucket.sources[operation.source].highest_offset = operation.offset - 1
        return transfer(self, operation, balance)

    patch.setattr(Decision, "_transfer", anew)


@mutant
def after_state_is_overwritten(patch: pytest.MonkeyPatch) -> None:
    """A decision that is asked again is answered with the balance of now, not with that right after it."""
    known = Decision._known

    def of_now(self: Decision, bet: Any) -> Answer | None:
        answer, balance = known(self, bet), self._balance(bet.account)
        if answer is None or answer.status is not Status.MOVED or balance is None:
            return answer
        return answer._replace(available=balance.available, held=balance.held, sequence=balance.sequence)

    patch.setattr(Decision, "_known", of_now)


@mutant
def settlement_overwrites_the_hold(patch: pytest.MonkeyPatch) -> None:
    """A settlement keeps its own after-state in place of the hold's."""
    settle = Decision._settle

    def overwrites(self: Decision, operation: Any, balance: Any) -> Answer:
        answer = settle(self, operation, balance)
        name = memory_decide._name(operation)
        if name in self._bets:
            bet = self._bets[name]
            self._bets[name] = Bet(bet.record, bet.after_end, bet.cancel_offset, bet.after_end)
        return answer

    patch.setattr(Decision, "_settle", overwrites)


@mutant
def refusal_is_not_recorded(patch: pytest.MonkeyPatch) -> None:
    """A bet that found no money is refused, but not remembered: read again after a deposit, it is taken."""

    def forgets(_self: Decision, _bet: Any, reason: BetReason) -> Answer:
        return Answer(Status.REFUSED, is_fresh=True, reason=reason.value)

    patch.setattr(Decision, "_refuse", forgets)


@mutant
def hold_is_not_recorded(patch: pytest.MonkeyPatch) -> None:
    """Money is held, and the record of it written only with the settlement: a crash in between holds it again."""
    write = Decision.write

    def without(self: Decision, *, transfers_expire_at_ms: int) -> None:
        write(self, transfers_expire_at_ms=transfers_expire_at_ms)
        for (round_, bet_id), bet in self._bets.items():
            if bet.record.state is BetState.ACCEPTED and bet.record.offset % 7 == 0:
                del self._bucket.rounds[round_][bet_id]

    patch.setattr(Decision, "write", without)


@mutant
def money_is_not_looked_at(patch: pytest.MonkeyPatch) -> None:
    """A bet is taken whether there is money or not."""
    hold = Decision._hold

    def generous(self: Decision, operation: Any, balance: Any) -> Answer:
        if balance is not None and balance.currency == operation.currency and balance.available < operation.taken:
            after = self._move(operation.account, balance, available=-operation.taken, held=operation.taken)
            record = memory_decide._record(operation, BetState.ACCEPTED, taken=operation.taken)
            self._bets[memory_decide._name(operation)] = Bet(record, after)
            return memory_decide._moved(after, is_fresh=True)
        return hold(self, operation, balance)

    patch.setattr(Decision, "_hold", generous)


@mutant
def float_money(patch: pytest.MonkeyPatch) -> None:
    """Balances are floats."""
    move = Decision._move

    def floating(self: Decision, account: Any, balance: Any, *, available: int, held: int) -> After:
        after = move(self, account, balance, available=available, held=held)
        return After(after.available * 1.0, after.held, after.sequence)  # type: ignore[arg-type]  # the bug

    patch.setattr(Decision, "_move", floating)


@mutant
def withdraws_twice(patch: pytest.MonkeyPatch) -> None:
    """A bet that is taken back again is given back again."""
    withdraw = Decision._withdraw

    def again(self: Decision, operation: Any, balance: Any) -> Answer:
        known = self._bet(operation)
        if known is not None and known.record.state is BetState.WITHDRAWN and balance is not None:
            taken = known.record.taken
            record = replace(known.record, state=BetState.ACCEPTED)
            self._bets[memory_decide._name(operation)] = Bet(record, known.after_hold)
            self._accounts[operation.account] = balance._replace(held=balance.held + taken)
            return withdraw(self, operation, self._accounts[operation.account])
        return withdraw(self, operation, balance)

    patch.setattr(Decision, "_withdraw", again)


@mutant
def incarnation_is_forgotten(patch: pytest.MonkeyPatch) -> None:
    """A server that is another one by now is written to as if it was the same."""
    patch.setattr(MemoryLedger, "_verified", lambda _self, _bucket: None)


@mutant
def incarnation_is_accepted_unseen(patch: pytest.MonkeyPatch) -> None:
    """A server that restarted is taken as it is, without a look at what was said."""

    async def unseen(*_: Any, **__: Any) -> int:
        return 0

    patch.setattr(restoring, "check_nothing_is_lost", unseen)


@mutant
def unanswered_is_done(patch: pytest.MonkeyPatch) -> None:
    """A call that was not answered is taken for done: nothing is said of it, and the worker goes on."""
    apply = MemoryLedger.apply

    async def hopeful(self: MemoryLedger, operations: Any) -> Any:
        try:
            return await apply(self, operations)
        except LedgerUnavailableError:
            return [Answer(Status.DUPLICATE, is_fresh=False) for _ in operations]

    patch.setattr(MemoryLedger, "apply", hopeful)


@mutant
def buckets_out_of_step(patch: pytest.MonkeyPatch) -> None:
    """Of two calls, only the first bucket's is counted: what fails later is not sent again."""
    apply = MemoryLedger.apply

    async def first_only(self: MemoryLedger, operations: Any) -> Any:
        answers = await apply(self, operations[: max(1, len(operations) - 1)])
        return answers + [Answer(Status.DUPLICATE, is_fresh=False)] * (len(operations) - len(answers))

    patch.setattr(MemoryLedger, "apply", first_only)
