"""The cashier's desk: one partition of `funds`, deposits and withdrawals in log order."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

from pokdeng.events.inputs import FundsDeposited
from pokdeng.events.reasons import DeadLetterReason, TransferKind, TransferReason
from pokdeng.ledger.values import Source, Status, Transfer
from pokdeng.settlement import tally
from pokdeng.settlement.keys import KeyCheck
from pokdeng.stream.port import TopicPartition
from pokdeng.wire import MalformedRecordError, decode_funds_event

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pokdeng.events.inputs import FundsEvent
    from pokdeng.ledger.values import Answer
    from pokdeng.settlement.batch import Batch
    from pokdeng.settlement.house import House
    from pokdeng.stream.port import Record


class Cashier:
    """One partition of funds of a worker, from its assignment to its revocation."""

    def __init__(self, partition: int, house: House, *, next_transfer: int) -> None:
        """`next_transfer` is where reading begins."""
        self.partition = partition
        self.source = Source(f"f{partition}")
        self.next_transfer = next_transfer
        """What is acknowledged up to: the next offset to commit."""
        self.newest: tuple[int, int] | None = None
        """Offset and broker time of the newest acknowledged record."""
        self._house = house
        self._queue: deque[Record] = deque()
        self._keys = KeyCheck(house.funds_partitions)
        self._on_decided = self._decided

    def offer(self, records: Sequence[Record]) -> None:
        """Queue records that arrived."""
        self._queue.extend(records)

    @property
    def waiting(self) -> int:
        """How many records are queued."""
        return len(self._queue)

    def fold(self, batch: Batch, limit: int) -> None:
        """Take up to `limit` records into a batch."""
        taken = min(limit, len(self._queue))
        if not taken:
            return
        batch.records[TopicPartition(self._house.topics.funds, self.partition)] = taken
        for _ in range(taken):
            record = self._queue.popleft()
            try:
                event = decode_funds_event(record.value, record.key)
                self._keys.check(record, event.account_id)
            except MalformedRecordError as error:
                batch.dead_letter(record, error.reason, error.detail)
            else:
                self._ask(batch, record, event)
        batch.acknowledged.append(lambda: self._advance(record))

    def _advance(self, record: Record) -> None:
        self.newest = (record.offset, record.timestamp)
        self.next_transfer = max(self.next_transfer, record.offset + 1)

    def _ask(self, batch: Batch, record: Record, event: FundsEvent) -> None:
        kind = TransferKind.DEPOSIT if isinstance(event, FundsDeposited) else TransferKind.WITHDRAWAL
        refused = None
        if kind is TransferKind.DEPOSIT and not self._house.limits.takes_currency(event.currency):
            refused = TransferReason.CURRENCY_MISMATCH
        transfer = Transfer(
            self.source,
            record.offset,
            kind,
            event.account_id,
            event.transfer_id,
            event.amount,
            event.currency,
            refused,
        )
        batch.ask(transfer, self._on_decided, (batch, record, event, kind))

    def _decided(
        self, answers: Sequence[Answer], subjects: list[tuple[Batch, Record, FundsEvent, TransferKind]]
    ) -> None:
        for answer, subject in zip(answers, subjects, strict=True):
            self._say(answer, *subject)

    def _say(self, answer: Answer, batch: Batch, record: Record, event: FundsEvent, kind: TransferKind) -> None:
        status = answer.status
        if status is Status.MOVED:
            if answer.is_fresh:
                decision = "credited" if kind is TransferKind.DEPOSIT else "debited"
                batch.tally[tally.funds(decision, None)] += 1
            self._house.voice.transfer_moved(batch, record, event, kind, answer)
        elif status is Status.REFUSED:
            reason = TransferReason(answer.reason or "")
            if answer.is_fresh:
                batch.tally[tally.funds("rejected", reason)] += 1
            self._house.voice.transfer_rejected(batch, record, event, kind, reason)
        elif status is Status.CONFLICT:
            batch.dead_letter(
                record, DeadLetterReason.ID_CONFLICT, f"{kind} {event.transfer_id} came with other content"
            )
        else:
            batch.duplicate(record)
