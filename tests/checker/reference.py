"""The reference: the contract's settlement written as plainly as can be, one record after the other, all in memory.

An oracle for tests, never fast and never restarted. Of all interleavings that the contract allows it plays the one
where every topic and partition is read by broker time.
"""

from __future__ import annotations

import heapq
import json
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tests.checker.collector import without_collector
from tests.checker.facts import Fact, taken_by
from tests.checker.parsing import Event, read
from tests.checker.partition import Partition
from tests.checker.records import BETS, DEAD_LETTERS, FUNDS, TABLE_EVENTS, Partitions, Plain, Rec, Topics
from tests.checker.seals import Seals
from tests.checker.transfers import Transfers

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from tests.checker.state import RoundState

LARGEST_AFTER_DEPOSIT = 10**15


@dataclass(slots=True)
class Account:
    """What an account has. No currency before its first credited deposit."""

    available: int = 0
    held: int = 0
    sequence: int = 0
    currency: str | None = None


@dataclass(slots=True)
class Settled:
    """What the reference said, record by record, and what became of the accounts."""

    outputs: list[Plain] = field(default_factory=list)
    accounts: dict[str, Account] = field(default_factory=dict)
    duplicates: Counter[str] = field(default_factory=Counter)

    def balances(self) -> dict[str, tuple[int, int, int, str]]:
        """Per account: available, held, sequence, currency."""
        return {
            name: (account.available, account.held, account.sequence, account.currency)
            for name, account in self.accounts.items()
            if account.currency is not None
        }


def settle(inputs: Iterable[Rec], *, partitions: Partitions, prefix: str = "pokdeng") -> Settled:
    """Settle a whole log.

    Args:
        inputs: the records of the three input topics, those of one partition in the order of their offsets.
        partitions: how many partitions each topic has.
        prefix: of the topics.
    """
    with without_collector():
        return _Reference(list(inputs), Topics(prefix, partitions)).run()


class _Reference:
    """The sink of the folds: it knows the money and writes the records."""

    def __init__(self, inputs: Sequence[Rec], topics: Topics) -> None:
        self._inputs = inputs
        self._topics = topics
        self._seals = Seals(record for record in inputs if topics.kind(record.topic) == BETS)
        self._done = Settled()
        self._ends: Counter[tuple[str, int]] = Counter()
        self._now = 0

    def run(self) -> Settled:
        partitions: dict[int, Partition] = {}
        transfers = Transfers(self)
        for kind, record in self._ordered():
            self._now = record.timestamp
            taken = read(record, kind, self._topics)
            if kind == FUNDS:
                transfers.take(record, taken)
            else:
                if record.partition not in partitions:
                    partitions[record.partition] = Partition(self)
                partitions[record.partition].take(kind, record, taken)
        for partition in partitions.values():
            partition.finish()
        return self._done

    def _ordered(self) -> Iterator[tuple[str, Rec]]:
        lanes: dict[tuple[int, int], list[Rec]] = {}
        ranks = (FUNDS, TABLE_EVENTS, BETS)
        for record in self._inputs:
            rank = ranks.index(self._topics.kind(record.topic))
            lanes.setdefault((rank, record.partition), []).append(record)
        streams = [
            [(record.timestamp, rank, partition, record.offset, record) for record in records]
            for (rank, partition), records in lanes.items()
        ]
        for _, rank, _, _, record in heapq.merge(*streams, key=lambda entry: entry[:4]):
            yield ranks[rank], record

    def hold(self, record: Rec, event: Event) -> str | None:
        """Whether the account can pay for a bet."""
        del record
        return self._lacks(event, taken_by(event))

    def transfer(self, record: Rec, event: Event) -> str | None:
        """Whether the account can take the transfer."""
        del record
        if event["type"] == "funds_withdrawn":
            return self._lacks(event, event["amount"])
        account = self._account(event)
        if account.currency not in {None, event["currency"]}:
            return "currency_mismatch"
        if account.available + account.held + event["amount"] > LARGEST_AFTER_DEPOSIT:
            return "amount_out_of_range"
        account.currency = event["currency"]
        return None

    def _lacks(self, event: Event, amount: int) -> str | None:
        account = self._account(event)
        if account.currency is None:
            return "insufficient_funds"
        if account.currency != event["currency"]:
            return "currency_mismatch"
        return "insufficient_funds" if account.available < amount else None

    def _account(self, event: Event) -> Account:
        return self._done.accounts.setdefault(event["account_id"], Account())

    def seal(self, state: RoundState, partition: int) -> int:
        """The seal, as the log says."""
        return self._seals.first_after(state, partition)

    def is_behind_seal(self, state: RoundState, record: Rec) -> bool:
        """Never: the whole log is known."""
        del state, record
        return False

    def is_ever_closed(self, state: RoundState, partition: int) -> bool:
        """Not asked for: here nothing lies behind a seal that is in time."""
        del partition
        return state.closed_at is not None

    def say(self, fact: Fact) -> None:
        """Write a fact, and move its money."""
        body = fact.body
        if fact.move is not None:
            account = self._account(body)
            account.available += fact.move[0]
            account.held += fact.move[1]
            account.sequence += 1
            balance: dict[str, Any] = {
                "available": account.available,
                "held": account.held,
                "sequence": account.sequence,
            }
            body = body | {"balance": balance | ({"overdrawn": True} if account.available < 0 else {})}
        topic = self._topics.name(fact.kind)
        headers = (
            ("ce_id", body["event_id"].encode()),
            ("ce_type", body["type"].encode()),
            ("ce_time", body["occurred_at"].encode()),
            ("ce_source", f"/{self._topics.prefix}/settlement".encode()),
            ("ce_specversion", b"1.0"),
            ("content-type", b"application/json"),
        )
        value = json.dumps(body, separators=(",", ":"), ensure_ascii=False).encode()
        self._append(topic, self._topics.partition(topic, fact.key), fact.key, value, headers)

    def dead(self, record: Rec, reason: str, shown: str | None = None) -> None:
        """Write a dead letter."""
        del shown
        topic = self._topics.name(DEAD_LETTERS)
        why = {
            "dlq.reason": reason,
            "dlq.detail": f"the record is unusable: {reason}",
            "dlq.topic": record.topic,
            "dlq.partition": str(record.partition),
            "dlq.offset": str(record.offset),
            "dlq.timestamp": str(record.timestamp),
        }
        headers = (*record.headers, *((name, text.encode()) for name, text in why.items()))
        if record.key is None:
            place = record.partition % self._topics.count(topic)
        else:
            place = self._topics.partition(topic, record.key)
        self._append(topic, place, record.key, record.value, headers)

    def duplicate(self, record: Rec) -> None:
        """Count a duplicate."""
        self._done.duplicates[record.topic] += 1

    def part(self, record: Rec) -> None:
        """Nothing is said of it alone."""

    def _append(
        self,
        topic: str,
        partition: int,
        key: bytes | None,
        value: bytes | None,
        headers: tuple[tuple[str, bytes], ...],
    ) -> None:
        offset = self._ends[topic, partition]
        self._ends[topic, partition] += 1
        self._done.outputs.append(Plain(topic, partition, offset, self._now, key, value, headers))
