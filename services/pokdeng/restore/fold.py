"""The fold of facts: what the ledger must hold after them. Pure; it shares nothing with deciding.

Facts come in any order and any number of times; only their place in time, roughly, bounds what is kept meanwhile. Kept
are accounts, the bets of rounds that are not finished, and the names of rounds finished lately. What is only to be
remembered (bets of finished rounds, transfers, refusals) goes to a sink as soon as it is complete.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Protocol

import msgspec

from pokdeng.events.ids import AccountId, Currency, TransferId
from pokdeng.events.reasons import BetReason, TransferKind
from pokdeng.ledger.restoring import After, RestoredBet, RestoredTransfer
from pokdeng.ledger.values import Account, BetState
from pokdeng.restore.accounts import AccountBook
from pokdeng.restore.facts import BetFact, decode_bet_fact, decode_funds_fact, decode_round_fact

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from pokdeng.restore.facts import Balance
    from pokdeng.stream.port import Record

RESUME: Final = "pokdeng-resume"
"""The header of a `rounds` record that tells how its round ended."""
_UNKNOWN: Final = BetReason.ROUND_UNKNOWN.value
_CANCELLED: Final = BetReason.CANCELLED_BEFORE.value


class Sink(Protocol):
    """Where goes what is only to be remembered. Called in the order of reading; must not block."""

    def bet(self, bet: RestoredBet, *, is_early: bool) -> None:
        """A bet of a finished round. `is_early`: its decision lies before where a checkpoint would begin."""

    def transfer(self, transfer: RestoredTransfer) -> None:
        """A decided transfer."""

    def refusal(self, fact: BetFact, at_ms: int) -> None:
        """A bet or cancel that was refused and has no record of a bet."""

    def table(self, table_id: str, note: bytes) -> None:
        """A table's snapshot, as a checkpoint has it."""

    def finished(self, table_id: str, round_id: str, resume: bytes) -> bool:
        """A round was settled or refunded, or revised: how it ended. Whether its bets are still remembered."""


class Entry(msgspec.Struct, gc=False):
    """A bet: what began it, what ended it last, and the reversal before that. There is one for each bet."""

    began: BetFact | None = None
    ended: BetFact | None = None
    reversed: BetFact | None = None
    is_early: bool = False

    def end(self, fact: BetFact) -> None:
        """It was withdrawn, settled, refunded or reversed: the latest revision counts, whatever the order."""
        if fact.type == "bet_reversed":
            if self.reversed is None or self.reversed.revision < fact.revision:
                self.reversed = fact
        elif self.ended is None or self.ended.revision < fact.revision:
            self.ended = fact


RoundKey = tuple[str, str]
KEEP_FINISHED_MS: Final = 28 * 3_600_000
"""For so long after a round was finished facts about it may still be said; its name is kept, and while its bets are
remembered."""


class Fold:
    """Folds facts, record by record.

    Args:
        sink: takes what is only to be remembered; None where nothing is.
        horizon_ms: refusals said before are forgotten.
        funds_horizon_ms: transfers decided before are forgotten.
        transfer_ttl_ms: how long transfers are remembered.
        remember_ms: how long rounds are remembered.
        revised: rounds of which a later revision is remembered, though the first alone would not be.
        book: accounts to go on from.
    """

    def __init__(
        self,
        sink: Sink | None = None,
        *,
        horizon_ms: int = 0,
        funds_horizon_ms: int = 0,
        revised: frozenset[RoundKey] = frozenset(),
        book: AccountBook | None = None,
        transfer_ttl_ms: int = 32 * 86_400_000,
        remember_ms: int = 0,
    ) -> None:
        """Nothing is folded yet; `book` goes on from a checkpoint's accounts."""
        self.book = book or AccountBook()
        self.rounds: dict[RoundKey, dict[str, Entry]] = {}
        """The bets of rounds that are not finished."""
        self.finished: dict[RoundKey, tuple[int, bool]] = {}
        """Rounds that were finished lately: by which broker time, and whether their bets are remembered."""
        self.facts = 0
        self._sink = sink
        self._horizon_ms = horizon_ms
        self._funds_horizon_ms = funds_horizon_ms
        self._transfer_ttl_ms = transfer_ttl_ms
        self._revised = revised
        self._keep_ms = max(KEEP_FINISHED_MS, remember_ms)
        self._pruned_ms = 0
        self._strays: dict[tuple[str, str, str], int] = {}
        """Bets refused as cancelled before, and when: of rounds that may never have been opened."""

    def bets(self, records: Sequence[Record], *, is_early: bool = False, moves: bool = True) -> None:
        """Fold decisions on bets, or settlements. `moves` False: their money is in the accounts already."""
        rounds, move = self.rounds, self.book.move
        self.facts += len(records)
        for record in records:
            fact = decode_bet_fact(record.value)  # type: ignore[arg-type]  # a fact is never a tombstone
            balance = fact.balance
            if balance is None:
                self._refused(fact, record.timestamp, is_early=is_early)
                continue
            key = (fact.table_id, fact.round_id)
            bets = rounds.get(key)
            if bets is None:
                bets = rounds[key] = {}
            bet_id = fact.bet_id
            entry = bets.get(bet_id)
            if fact.type == "bet_accepted":
                taken = fact.taken
                if moves:
                    move(fact.account_id, fact.currency, balance, -taken, taken)
                if entry is None:
                    bets[bet_id] = Entry(fact, None, None, is_early)
                elif entry.began is None:
                    entry.began, entry.is_early = fact, is_early
                continue
            if moves:
                self._ended(fact, balance)
            if entry is None:
                entry = bets[bet_id] = Entry()
            entry.end(fact)

    def _ended(self, fact: BetFact, balance: Balance) -> None:
        """Count what the end of a bet moved, or its reversal."""
        if fact.type == "bet_reversed":
            available, held = -fact.reversed, fact.taken
        else:
            available, held = fact.returned, -fact.taken
        if self.book.move(fact.account_id, fact.currency, balance, available, held):
            self.book.total(fact.currency).house_net -= available + held

    def _refused(self, fact: BetFact, at_ms: int, *, is_early: bool) -> None:
        if fact.type == "cancel_rejected" or fact.reason == _UNKNOWN:
            self._note(fact, at_ms)
            return
        if fact.reason == _CANCELLED:
            self._strays[fact.table_id, fact.round_id, fact.bet_id] = at_ms
        entry = self.rounds.setdefault((fact.table_id, fact.round_id), {}).setdefault(fact.bet_id, Entry())
        if entry.began is None:
            entry.began, entry.is_early = fact, is_early

    def _note(self, fact: BetFact, at_ms: int) -> None:
        """It was said while the round was not open, or moves nothing: a note remembers it."""
        if self._sink is not None and at_ms >= self._horizon_ms:
            self._sink.refusal(fact, at_ms)

    def _note_strays(self) -> None:
        """Bets cancelled before they came are noted where nobody has ever heard of their round."""
        for (table_id, round_id, bet_id), at_ms in self._strays.items():
            bets = self.rounds.get((table_id, round_id))
            if bets is None or not all(is_stray(entry) for entry in bets.values()):
                continue
            entry = bets[bet_id]
            if entry.began is not None:
                self._note(entry.began, at_ms)

    def funds(self, records: Sequence[Record], *, moves: bool = True) -> None:
        """Fold decisions on transfers."""
        self.facts += len(records)
        for record in records:
            fact = decode_funds_fact(record.value)  # type: ignore[arg-type]  # as above
            balance = fact.balance
            is_deposit = fact.type == "funds_credited" or fact.transfer == TransferKind.DEPOSIT.value
            if balance is not None and moves:
                self._transferred(fact.account_id, fact.currency, fact.amount if is_deposit else -fact.amount, balance)
            age_floor_ms = record.timestamp - self._funds_horizon_ms
            if self._sink is not None and age_floor_ms > 0:
                self._sink.transfer(
                    RestoredTransfer(
                        TransferKind.DEPOSIT if is_deposit else TransferKind.WITHDRAWAL,
                        AccountId(fact.account_id),
                        TransferId(fact.transfer_id),
                        fact.cause.offset,
                        fact.amount,
                        Currency(fact.currency),
                        fact.reason,
                        _after(balance),
                        min(age_floor_ms, self._transfer_ttl_ms),
                    )
                )

    def _transferred(self, account: str, currency: str, amount: int, balance: Balance) -> None:
        if not self.book.move(account, currency, balance, amount, 0):
            return
        total = self.book.total(currency)
        if amount >= 0:
            total.deposits += amount
        else:
            total.withdrawals -= amount

    def rounds_said(self, records: Sequence[Record]) -> None:
        """Fold rounds: what is finished is remembered, or forgotten."""
        self.facts += len(records)
        for record in records:
            raw = next((value for name, value in record.headers if name == RESUME), None)
            if raw is None or record.value is None:
                continue  # a round that became held
            fact = decode_round_fact(record.value)
            key = (fact.table_id, fact.round_id)
            is_remembered = self._sink is not None and (self._sink.finished(*key, raw) or key in self._revised)
            self.finished[key] = (record.timestamp, is_remembered)

    def passed(self, at_ms: int) -> None:
        """All facts from before that time are folded: names of rounds long over need not be kept."""
        limit = at_ms - self._keep_ms
        if limit <= self._pruned_ms:
            return
        self.end()
        self._pruned_ms = limit + self._keep_ms // 20
        self.finished = {key: known for key, known in self.finished.items() if known[0] >= limit}

    def _end_round(self, key: RoundKey, *, drops_ends: bool = False) -> None:
        """The bets of a finished round that are complete go to the sink; the rest may still be read.

        `drops_ends`, of a round that is not remembered: an end is enough, and nothing waits for how its bet began.
        """
        bets = self.rounds.pop(key)
        _, is_remembered = self.finished[key]
        left: dict[str, Entry] = {}
        for bet_id, entry in bets.items():
            if self._strays:
                self._strays.pop((*key, bet_id), None)
            if _is_half(entry):
                if not (drops_ends and entry.ended):
                    left[bet_id] = entry
            elif is_remembered and self._sink is not None:
                self._sink.bet(restored_bet(entry), is_early=entry.is_early)
        if left:
            self.rounds[key] = left

    def sweep(self, *, drops_ends: bool = False) -> None:
        """Let go of finished rounds of which every bet is complete, as far as it was read.

        A round at a time: a ledger writes many bets of one round faster than one of many. `drops_ends`: rounds that are
        not remembered go without waiting for how their bets began, for a checkpoint tells what stands.
        """
        for key in [key for key in self.rounds if key in self.finished]:
            drops = drops_ends and not self.finished[key][1]
            if not any(_is_half(entry) and not (drops and entry.ended) for entry in self.rounds[key].values()):
                self._end_round(key, drops_ends=drops)

    def end(self) -> None:
        """Let go of all bets of finished rounds that are complete: so much was read that hardly more will come."""
        for key in [key for key in self.rounds if key in self.finished]:
            self._end_round(key)

    def standing(self) -> Iterator[RestoredBet]:
        """Bets of rounds that are not finished, as they must be in the ledger: all that were decided.

        Ask once, at the end: what must be noted instead goes to the sink then.
        """
        self._note_strays()
        for bets in self.rounds.values():
            if all(is_stray(entry) for entry in bets.values()):
                continue  # the round was never opened, as far as anybody has said
            for entry in bets.values():
                if entry.began is not None:
                    yield restored_bet(entry)

    def known(self) -> Iterator[RestoredBet]:
        """All that is known of bets of rounds that are not finished, also where their decision was not said."""
        for bets in self.rounds.values():
            for entry in bets.values():
                yield restored_bet(entry)

    def is_remembered(self, key: RoundKey) -> bool:
        """Whether a round was finished, and its bets are remembered."""
        return self.finished.get(key, (0, False))[1]

    def holds(self) -> dict[RoundKey, dict[str, RestoredBet]]:
        """Bets that were taken and are not settled, by round."""
        found: dict[RoundKey, dict[str, RestoredBet]] = {}
        for bet in self.known():
            if bet.state is BetState.ACCEPTED:
                found.setdefault((bet.table, bet.round), {})[bet.bet_id] = bet
        return found

    def accounts(self) -> Iterable[Account]:
        """Accounts as they must be in the ledger."""
        for name, state in self.book.states.items():
            available, held = state.balance
            yield Account(
                account=AccountId(name),
                currency=Currency(state.currency),
                available=available,
                held=held,
                sequence=state.sequence,
            )


def is_stray(entry: Entry) -> bool:
    """Whether a bet was refused for a cancel that came before it, which says nothing of its round."""
    return entry.began is not None and entry.began.reason == _CANCELLED


def _is_half(entry: Entry) -> bool:
    """Whether something of a bet of a finished round is not read yet: its decision, its end, or what was reversed."""
    began, ended = entry.began, entry.ended
    if ended is None:
        return began is None or began.balance is not None
    if entry.reversed is not None and entry.reversed.revision > ended.revision:
        return True
    if ended.revision > 1:
        return entry.reversed is None or entry.reversed.revision != ended.revision
    return began is None


def _after(balance: Balance | None) -> After | None:
    return None if balance is None else After(balance.available, balance.held, balance.sequence)


def _reversed(entry: Entry) -> int:
    """What the latest revision that was said to its end has reversed."""
    ended, undone = entry.ended, entry.reversed
    return undone.reversed if ended is not None and undone is not None and undone.revision == ended.revision else 0


def restored_bet(entry: Entry) -> RestoredBet:
    """A bet as the ledger remembers it."""
    began, ended = entry.began, entry.ended
    of = began or ended or entry.reversed
    if of is None:
        raise ValueError("a bet of which nothing was said")
    state, returned, cancel_offset = BetState.ACCEPTED, 0, -1
    if ended is not None:
        returned = ended.returned
        state = BetState.SETTLED
        if ended.type == "bet_withdrawn":
            state, cancel_offset = BetState.WITHDRAWN, ended.cause.offset
    elif of.balance is None:
        state = BetState.REFUSED
    return RestoredBet(
        of.account_id,
        of.table_id,
        of.round_id,
        of.bet_id,
        of.bet,
        of.stake,
        of.currency,
        -1 if began is None else began.cause.offset,
        state,
        of.reason if state is BetState.REFUSED else "",
        of.taken,
        returned,
        0 if ended is None else ended.revision,
        None if began is None else began.balance,
        cancel_offset,
        None if ended is None else ended.balance,
        None if entry.reversed is None else entry.reversed.balance,
        _reversed(entry),
        0 if entry.reversed is None else entry.reversed.reversed,
        0 if entry.reversed is None else entry.reversed.revision,
    )


def in_revision(bet: RestoredBet, revised: RestoredBet) -> RestoredBet:
    """A bet in a later revision, of which only the revision was told."""
    return bet._replace(
        state=revised.state,
        returned=revised.returned,
        revision=revised.revision,
        after_end=revised.after_end,
        after_reversal=revised.after_reversal,
        reversed=revised.reversed,
        undone=revised.undone,
        undone_in=revised.undone_in,
    )
