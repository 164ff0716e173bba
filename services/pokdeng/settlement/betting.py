"""Bets and cancels against the books of a co-partition: what to ask of the ledger, what to say of its answers.

Source: the contract, "Inputs" (duplicates and conflicts) and "Rejection reasons of bets".
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pokdeng.events.reasons import BetReason, CancelReason, DeadLetterReason
from pokdeng.ledger.values import FOR_EVER, BetState, Hold, Refuse, Status, Withdraw
from pokdeng.rounds import is_in_time, refusal_of_bet, refusal_of_cancel
from pokdeng.settlement.book import REFUSED, TAKEN, WITHDRAWN, Book, Entry
from pokdeng.settlement.memory import cancel_note
from pokdeng.settlement.tally import ACCEPTED, BEHIND_SEAL, WITHDRAWN_BETS, bets_rejected

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pokdeng.events.inputs import BetCancelled, BetPlaced
    from pokdeng.ledger.values import Answer, Source
    from pokdeng.settlement.batch import Batch
    from pokdeng.settlement.house import House
    from pokdeng.settlement.memory import RoundMemory
    from pokdeng.stream.port import Record

_TOO_LATE = frozenset({BetReason.BETTING_CLOSED.value, BetReason.ROUND_CANCELLED.value})


class Betting:
    """Decides bets and cancels; one a desk. `batch` is the one being folded, set anew for each."""

    def __init__(self, source: Source, house: House) -> None:
        """For the co-partition `source`."""
        self._source = source
        self._house = house
        self._voice = house.voice
        self._limits = house.limits
        self._on_decided = self._decided
        self._on_withdrawn = self._withdrawn
        self.said_below = 0
        """What lies below this offset was decided, and what follows from it said, before the partition was assigned."""
        self.batch: Batch

    def place(self, record: Record, bet: BetPlaced, book: Book) -> None:
        """Decide a bet on a round whose book is open."""
        offset = record.offset
        if offset < book.absorbed:
            return  # read again: decided and said before the round was put aside
        known = book.bets.get(bet.bet_id) or book.strays.get(bet.bet_id)
        if known is not None:
            self._known(record, bet, is_same=known.says_the_same(bet) or book.is_done(record.timestamp))
            return
        book.touch(offset)
        entry = book.bets[bet.bet_id] = Entry(bet, offset)
        reason = None
        if (
            not book.takes_bets
            or book.cancels
            or book.seal is not None
            or record.timestamp < book.table_round.opened.at_ms
        ):
            reason = self._refusal_of_bet(record, bet, book)
        if reason is None and not self._limits.takes_stake(bet.table_id, bet.currency, bet.stake):
            reason = BetReason.STAKE_OUT_OF_RANGE
        if reason is None:
            hold = (
                self._source,
                offset,
                bet.account_id,
                bet.table_id,
                bet.round_id,
                bet.bet_id,
                bet.bet,
                bet.stake,
                bet.currency,
                entry.taken,
            )
            self.batch.ask(tuple.__new__(Hold, hold), self._on_decided, (record, entry, book))
        else:
            self._refuse(record, entry, book, reason)

    def _refusal_of_bet(self, record: Record, bet: BetPlaced, book: Book) -> BetReason | None:
        offset, seal = record.offset, book.seal
        if book.was_cancelled_before(bet, offset):
            return BetReason.CANCELLED_BEFORE
        is_behind = seal is not None and offset >= seal
        if is_behind and is_in_time(book.table_round, record.timestamp):
            self.batch.count(record, BEHIND_SEAL)
        return refusal_of_bet(book.table_round, record.timestamp, is_behind_seal=is_behind)

    def cancel(self, record: Record, cancel: BetCancelled, book: Book) -> None:
        """Decide a cancel on a round whose book is open."""
        name = (cancel.account_id, cancel.bet_id)
        offset = record.offset
        if offset < book.absorbed:
            return  # as of a bet
        known = book.cancels.get(name)
        if known is not None and known[0] != offset:
            self.batch.duplicate(record)
            return
        book.touch(offset)
        reason = known[1] if known is not None else self._refusal_of_cancel(record, cancel, book)
        if reason is not None:
            self._refuse_cancel(record, cancel, book, reason)
            return
        book.cancels[name] = (offset, None)
        self.batch.ask(
            Withdraw(self._source, offset, cancel.account_id, cancel.table_id, cancel.round_id, cancel.bet_id),
            self._on_withdrawn,
            (record, cancel, book),
        )

    def _refusal_of_cancel(self, record: Record, cancel: BetCancelled, book: Book) -> CancelReason | None:
        is_behind = book.seal is not None and record.offset >= book.seal
        reason = refusal_of_cancel(book.table_round, record.timestamp, is_behind_seal=is_behind)
        if reason is not None:
            return reason
        entry = book.bets.get(cancel.bet_id)
        if entry is None or entry.bet.account_id != cancel.account_id or entry.state == REFUSED:
            return CancelReason.BET_UNKNOWN
        return None

    def place_without_book(
        self, record: Record, bet: BetPlaced, memory: RoundMemory, reason: BetReason, *, is_in_time: bool = False
    ) -> None:
        """Refuse a bet on a round that is not open here (never opened, or finished), once."""
        stray = memory.strays.get(bet.bet_id)
        if stray is not None:
            known, said = stray
            if known.offset == record.offset:
                self._voice.bet_rejected(self.batch, record, bet, BetReason(said))
            else:
                self._known(record, bet, is_same=known.says_the_same(bet) or memory.finished is not None)
            return
        decided = memory.known.get(bet.bet_id)
        if decided is not None:
            if decided.offset == record.offset and decided.reason is not None and decided.account == bet.account_id:
                self._voice.bet_rejected(self.batch, record, bet, decided.reason)
            else:
                self.batch.duplicate(record)
            return
        if record.offset < self.said_below:
            self.batch.duplicate(record)  # read again when it is forgotten: what was to be said of it is said
            return
        cancel = memory.cancels.get((bet.account_id, bet.bet_id))
        if cancel is not None and cancel[0] < record.offset:
            reason = BetReason.CANCELLED_BEFORE
        elif is_in_time:
            self.batch.count(record, BEHIND_SEAL)
        self.batch.notes.append(memory.add_bet(self._source, record.offset, bet, reason, self._house.remember_ms))
        self.batch.tally[bets_rejected(reason)] += 1
        self._voice.bet_rejected(self.batch, record, bet, reason)

    def cancel_without_book(
        self, record: Record, cancel: BetCancelled, memory: RoundMemory, reason: CancelReason
    ) -> None:
        """Refuse a cancel on a round that is not open here, once."""
        known = memory.cancels.get((cancel.account_id, cancel.bet_id))
        if known is not None:
            offset, said = known
            if offset == record.offset:
                self._voice.cancel_rejected(self.batch, record, cancel, CancelReason(said))
            else:
                self.batch.duplicate(record)
            return
        if record.offset < self.said_below:
            self.batch.duplicate(record)  # read again when it is forgotten
            return
        bet = memory.known.get(cancel.bet_id)
        if bet is not None and bet.state is BetState.WITHDRAWN and bet.account == cancel.account_id:
            self.batch.duplicate(record)  # of the cancel that withdrew it
            return
        self.batch.notes.append(memory.add_cancel(self._source, record.offset, cancel, reason, self._house.remember_ms))
        self._voice.cancel_rejected(self.batch, record, cancel, reason)

    def _known(self, record: Record, bet: BetPlaced, *, is_same: bool) -> None:
        if is_same:
            self.batch.duplicate(record)
        else:
            self.batch.dead_letter(record, DeadLetterReason.ID_CONFLICT, f"bet {bet.bet_id} came with other content")

    def _refuse(self, record: Record, entry: Entry, book: Book, reason: BetReason) -> None:
        bet = entry.bet
        self.batch.ask(
            Refuse(
                self._source,
                entry.offset,
                bet.account_id,
                bet.table_id,
                bet.round_id,
                bet.bet_id,
                bet.bet,
                bet.stake,
                bet.currency,
                reason,
            ),
            self._on_decided,
            (record, entry, book),
        )

    def _decided(self, answers: Sequence[Answer], subjects: list[tuple[Record, Entry, Book]]) -> None:
        """Say what became of bets: the ledger's first answers stand, whatever was asked this time."""
        batch, say_accepted, said_below = self.batch, self._voice.bet_accepted, self.said_below
        fresh = 0
        for answer, (record, entry, book) in zip(answers, subjects, strict=True):
            if answer.status is Status.MOVED:
                entry.state = TAKEN
                if answer.is_fresh:
                    fresh += 1
                elif record.offset < said_below:
                    continue  # read again for its round's sake: its decision is known to be in the log
                say_accepted(batch, record, entry, answer, book)
            else:
                self._not_accepted(answer, record, entry, book)
        if fresh:
            batch.tally[ACCEPTED] += fresh

    def _not_accepted(self, answer: Answer, record: Record, entry: Entry, book: Book) -> None:
        entry.state = REFUSED
        if answer.status is Status.REFUSED:
            reason = BetReason(answer.reason or "")
            if answer.is_fresh:
                self.batch.tally[bets_rejected(reason)] += 1
            elif reason.value in _TOO_LATE and (book.wait_ms is None or record.timestamp <= book.wait_ms):
                book.cap(entry.offset)
            self._voice.bet_rejected(self.batch, record, entry.bet, reason)
        elif answer.status is Status.CONFLICT:
            self._known(record, entry.bet, is_same=False)
        else:
            self.batch.duplicate(record)

    def _withdrawn(self, answers: Sequence[Answer], subjects: list[tuple[Record, BetCancelled, Book]]) -> None:
        for answer, (record, cancel, book) in zip(answers, subjects, strict=True):
            entry = book.bets[cancel.bet_id]
            if answer.status is Status.MOVED:
                entry.state = WITHDRAWN
                if answer.is_fresh:
                    self.batch.tally[WITHDRAWN_BETS] += 1
                self._voice.bet_withdrawn(self.batch, record, cancel, entry, answer)
            elif answer.status is Status.DUPLICATE:
                entry.state = WITHDRAWN
                self.batch.duplicate(record)
            else:
                self._refuse_cancel(record, cancel, book, CancelReason.BET_UNKNOWN)

    def _refuse_cancel(self, record: Record, cancel: BetCancelled, book: Book, reason: CancelReason) -> None:
        book.cancels[cancel.account_id, cancel.bet_id] = (record.offset, reason)
        # What is known of an unfinished round does not expire: its time begins when the round is noted as finished.
        self.batch.notes.append(cancel_note(self._source, record.offset, cancel, reason, FOR_EVER))
        self._voice.cancel_rejected(self.batch, record, cancel, reason)
