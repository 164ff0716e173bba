"""How facts are said: which partition, key, headers and bytes. Everything follows from the inputs and the answers.

The same decision said twice is said in the same bytes. Facts that come by the thousand are written from templates.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from pokdeng.events.ids import Cause, Currency, EventId, Minor, RoundId, TableId
from pokdeng.events.outputs import (
    Balance,
    BetWithdrawn,
    CancelRejected,
    FundsCredited,
    FundsDebited,
    FundsRejected,
    OutputEvent,
    RoundHeld,
    Totals,
)
from pokdeng.events.reasons import TransferKind, TransferReason
from pokdeng.settlement.texts import RoundTexts, Routes
from pokdeng.stream.partitioner import partition_for
from pokdeng.stream.port import Message, TopicPartition
from pokdeng.wire import encode, event_id_of, expected_key, headers
from pokdeng.wire.dead_letters import dead_letter, truncated_dead_letter

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pokdeng.events.inputs import BetCancelled, BetPlaced, FundsEvent
    from pokdeng.events.outputs import SettlementFact
    from pokdeng.events.reasons import BetReason, CancelReason, DeadLetterReason, HoldReason
    from pokdeng.ledger.values import Answer
    from pokdeng.rounds import Round
    from pokdeng.settlement.batch import Batch, Outbox
    from pokdeng.settlement.book import Book, Entry
    from pokdeng.stream.port import Record
    from pokdeng.wire import Topics

_ROUND_TEXTS_MAX = 2_000
"""Of rounds without a book, for late bets, nothing else lets go; 2.4 kB each."""


class Voice:
    """Says facts into a batch's outboxes."""

    def __init__(self, topics: Topics, partition_counts: Mapping[str, int]) -> None:
        """`partition_counts` of all output topics, by name."""
        self._topics = topics
        self._counts = dict(partition_counts)
        self._source = topics.source
        _, self._accepted, _, *self._after_time = headers("bet_accepted", "", "", topics.source)
        by_account = (topics.bet_decisions, topics.settlements, topics.funds_decisions)
        self.routes = Routes(by_account, self._counts)
        self._texts: dict[tuple[TableId, RoundId], RoundTexts] = {}

    def headers(self, event_type: str, event_id: str, occurred_at: str) -> list[tuple[str, bytes]]:
        """The CloudEvents headers of a fact."""
        return headers(event_type, event_id, occurred_at, self._source)

    def bet_accepted(self, batch: Batch, record: Record, entry: Entry, answer: Answer, book: Book) -> None:
        """A bet stands; `book` is that of its round."""
        bet = entry.bet
        texts = book.texts
        if texts is None:
            texts = book.texts = self._of_round(bet, record)
        event_id = texts.accepted_id(bet.bet_id)
        route = self.routes[bet.account_id]
        occurred_at = bet.occurred_at
        _, _, _, available, held, sequence = answer
        value = texts.accepted(
            event_id,
            occurred_at,
            record.offset,
            bet.bet_id,
            bet.account_id,
            bet.bet,
            bet.stake,
            bet.currency,
            entry.taken,
            available,
            held,
            sequence,
        )
        said = [("ce_id", event_id.encode()), self._accepted, ("ce_time", occurred_at.encode()), *self._after_time]
        batch.decisions[route.decisions].append(tuple.__new__(Message, (route.key, value, said)))
        batch.decided_at_ms.append(record.timestamp)

    def bet_rejected(self, batch: Batch, record: Record, bet: BetPlaced, reason: BetReason) -> None:
        """A bet does not stand."""
        texts = self._of_round(bet, record)
        event_id = texts.rejected_id(bet.bet_id)
        route = self.routes[bet.account_id]
        value = texts.rejected(
            event_id=event_id,
            occurred_at=bet.occurred_at,
            offset=record.offset,
            bet_id=bet.bet_id,
            account_id=bet.account_id,
            bet=bet.bet,
            stake=bet.stake,
            currency=bet.currency,
            reason=reason,
        )
        message = Message(route.key, value, headers("bet_rejected", event_id, bet.occurred_at, self._source))
        batch.decisions[route.decisions].append(message)
        batch.decided_at_ms.append(record.timestamp)

    def bet_withdrawn(self, batch: Batch, record: Record, cancel: BetCancelled, entry: Entry, answer: Answer) -> None:
        """A bet was taken back in time; `record` is the cancel's."""
        bet = entry.bet
        fact = BetWithdrawn(
            event_id=EventId(""),
            occurred_at=cancel.occurred_at,
            cause=cause_of(record),
            bet_id=bet.bet_id,
            table_id=bet.table_id,
            round_id=bet.round_id,
            account_id=bet.account_id,
            bet=bet.bet,
            stake=bet.stake,
            currency=bet.currency,
            taken=entry.taken,
            returned=entry.taken,
            balance=balance_of(answer),
        )
        self._say(batch.decisions, self.routes[bet.account_id].decisions, fact)

    def cancel_rejected(self, batch: Batch, record: Record, cancel: BetCancelled, reason: CancelReason) -> None:
        """A cancel was refused."""
        fact = CancelRejected(
            event_id=EventId(""),
            occurred_at=cancel.occurred_at,
            cause=cause_of(record),
            bet_id=cancel.bet_id,
            table_id=cancel.table_id,
            round_id=cancel.round_id,
            account_id=cancel.account_id,
            reason=reason,
        )
        self._say(batch.decisions, self.routes[cancel.account_id].decisions, fact)

    def transfer_moved(
        self, batch: Batch, record: Record, event: FundsEvent, kind: TransferKind, answer: Answer
    ) -> None:
        """A deposit was credited or a withdrawal debited."""
        fact_class = FundsCredited if kind is TransferKind.DEPOSIT else FundsDebited
        fact = fact_class(
            event_id=EventId(""),
            occurred_at=event.occurred_at,
            cause=cause_of(record),
            transfer_id=event.transfer_id,
            account_id=event.account_id,
            amount=event.amount,
            currency=event.currency,
            balance=balance_of(answer),
        )
        self._say(batch.decisions, self.routes[event.account_id].funds_decisions, fact)
        batch.decided_at_ms.append(record.timestamp)

    def transfer_rejected(
        self, batch: Batch, record: Record, event: FundsEvent, kind: TransferKind, reason: TransferReason
    ) -> None:
        """A deposit or withdrawal was refused."""
        fact = FundsRejected(
            event_id=EventId(""),
            occurred_at=event.occurred_at,
            cause=cause_of(record),
            transfer_id=event.transfer_id,
            account_id=event.account_id,
            amount=event.amount,
            currency=event.currency,
            transfer=kind,
            reason=reason,
        )
        self._say(batch.decisions, self.routes[event.account_id].funds_decisions, fact)
        batch.decided_at_ms.append(record.timestamp)

    def round_held(
        self, batch: Batch, record: Record, occurred_at: str, table_id: TableId, round_: Round, reason: HoldReason
    ) -> None:
        """A round became held by this record."""
        fact = RoundHeld(
            event_id=EventId(""),
            occurred_at=occurred_at,  # type: ignore[arg-type]  # a Timestamp of the event
            cause=cause_of(record),
            table_id=table_id,
            shoe_id=round_.shoe_id,
            round_id=round_.round_id,
            reason=reason,
        )
        self._say(batch.decisions, TopicPartition(self._topics.rounds, record.partition), fact)

    def say_settlement(self, batch: Batch, fact: SettlementFact) -> None:
        """What became of one bet in a revision of its round."""
        self._say(batch.settlements, self.routes[fact.account_id].settlements, fact)

    def say_round(self, outbox: Outbox, partition: int, fact: OutputEvent, own: tuple[str, bytes]) -> None:
        """A round's own record, with a header of our own behind those of CloudEvents."""
        self._say(outbox, TopicPartition(self._topics.rounds, partition), fact, own)

    def dead_letter(self, record: Record, reason: DeadLetterReason, detail: str) -> tuple[TopicPartition, Message]:
        """A record cannot be used: it goes on as it came, with why."""
        count = self._counts[self._topics.dead_letters]
        partition = record.partition % count if record.key is None else partition_for(record.key, count)
        return TopicPartition(self._topics.dead_letters, partition), Message(*dead_letter(record, reason, detail))

    def truncated(self, record: Record, reason: DeadLetterReason, detail: str) -> Message:
        """A dead letter without what made it too large for the broker."""
        return Message(*truncated_dead_letter(record, reason, detail))

    def _of_round(self, bet: BetPlaced, record: Record) -> RoundTexts:
        name = (bet.table_id, bet.round_id)
        try:
            return self._texts[name]
        except KeyError:
            if len(self._texts) >= _ROUND_TEXTS_MAX:
                self._texts.clear()
            texts = self._texts[name] = RoundTexts(bet.table_id, bet.round_id, record.topic, record.partition)
            return texts

    def forget_round(self, table_id: TableId, round_id: RoundId) -> None:
        """The round is finished; what was written for its decisions is needed no more."""
        self._texts.pop((table_id, round_id), None)

    def _say(
        self, outbox: Outbox, partition: TopicPartition, fact: OutputEvent, own: tuple[str, bytes] | None = None
    ) -> None:
        fact = replace(fact, event_id=event_id_of(fact))
        said = self.headers(fact.event_type, fact.event_id, fact.occurred_at)
        if own is not None:
            said.append(own)
        outbox[partition].append(Message(expected_key(fact), encode(fact), said))


def cause_of(record: Record) -> Cause:
    """Where the record that caused a fact lies."""
    return Cause(record.topic, record.partition, record.offset)


def balance_of(answer: Answer) -> Balance:
    """An account right after a movement."""
    return Balance(
        available=Minor(answer.available),
        held=Minor(answer.held),
        sequence=answer.sequence,
        overdrawn=True if answer.available < 0 else None,
    )


def totals_of(sums: Mapping[str, tuple[int, int]]) -> dict[Currency, Totals]:
    """A round's totals from (taken, returned) by currency."""
    return {
        Currency(currency): Totals(taken=Minor(taken), returned=Minor(returned), house_net=Minor(taken - returned))
        for currency, (taken, returned) in sums.items()
    }
