"""What one pass over the log gathers: operations for the ledger, what to say of their answers, what to say anyway.

A batch is folded whole, applied to the ledger in one ordered pass, then said. Nothing of it counts as progress before
all of it is acknowledged.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from pokdeng.settlement.tally import TRUNCATED, dead_letters, duplicates, new_tally
from pokdeng.stream.port import TopicPartition

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from pokdeng.events.reasons import DeadLetterReason
    from pokdeng.ledger.values import Answer, Note, Operation, Revise, Source
    from pokdeng.settlement.tally import Key
    from pokdeng.stream.port import Message, Record

Reaction: TypeAlias = "Callable[[Sequence[Answer], list[Any]], None]"


Outbox: TypeAlias = "defaultdict[TopicPartition, list[Message]]"
"""Messages by partition, in the order they were decided."""


class LetterWriter(Protocol):
    """Writes dead letters: `voice.Voice`."""

    def dead_letter(self, record: Record, reason: DeadLetterReason, detail: str) -> tuple[TopicPartition, Message]:
        """A record cannot be used: it goes on as it came, with why."""

    def truncated(self, record: Record, reason: DeadLetterReason, detail: str) -> Message:
        """The same without what made it too large for the broker."""


class Batch:
    """Gathered by the desks and cashiers of a worker; see the module."""

    __slots__ = (
        "_reaction",
        "_revised",
        "_subjects",
        "acknowledged",
        "applied_at",
        "caused_at_ms",
        "dead_letters",
        "decided_at_ms",
        "decisions",
        "letters",
        "notes",
        "operations",
        "read_before",
        "records",
        "revisions",
        "round_facts",
        "rounds",
        "settlements",
        "sources",
        "spans",
        "tally",
        "voice",
    )

    def __init__(
        self,
        voice: LetterWriter,
        read_before: Mapping[TopicPartition, int] = MappingProxyType({}),
        sources: Sequence[Source] = (),
    ) -> None:
        """An empty batch of `sources`. Records below the offsets of `read_before` are read again: see `count`."""
        self.voice = voice
        self.sources = sources
        self.read_before = read_before
        self.records: dict[TopicPartition, int] = {}
        """How many records were read, by partition."""
        self.operations: list[Operation] = []
        self.spans: list[tuple[Reaction, list[Any]]] = []
        """Whom to tell the answers: for runs of operations, a callable and what each operation is about."""
        self._reaction: Reaction | None = None
        self._subjects: list[Any] = []
        self.revisions: list[Revise] = []
        """Bets to be settled anew, before the operations; and whom to tell the answers."""
        self._revised: list[tuple[Reaction, object]] = []
        self.notes: list[Note] = []
        self.decisions: Outbox = defaultdict(list)
        """Of bets, cancels and transfers; and that rounds are held."""
        self.settlements: Outbox = defaultdict(list)
        """Said when the decisions are acknowledged: whoever reads one can rely on having its bet's."""
        self.dead_letters: Outbox = defaultdict(list)
        self.letters: dict[TopicPartition, list[tuple[Record, DeadLetterReason, str]]] = {}
        """What each of `dead_letters` is about, for the broker may refuse one as too large."""
        self.round_facts: Outbox = defaultdict(list)
        self.rounds: list[Callable[[], None]] = []
        """Rounds that end with this batch: their own records are made when all answers are known, and said last."""
        self.acknowledged: list[Callable[[], None]] = []
        """What to do once all of it is acknowledged."""
        self.applied_at = math.inf
        """When the ledger was asked first, by the engine's clock: it may have had it since."""
        self.tally = new_tally()
        self.decided_at_ms: list[int] = []
        """The broker times of bets and transfers whose decisions are in it, for the latency."""
        self.caused_at_ms: list[tuple[int, int]] = []
        """The broker times of what completed its rounds, and how many bets each had."""

    def ask(self, operation: Operation, reaction: Reaction, subject: object) -> None:
        """Have the ledger apply an operation, and tell `reaction` what became of it.

        A reaction is called once for a run of operations: with their answers, and the subject of each. It must be the
        very same object for all of a run (a bound method is a new one each time it is looked up).
        """
        self.operations.append(operation)
        if reaction is not self._reaction:
            self._reaction, self._subjects = reaction, []
            self.spans.append((reaction, self._subjects))
        self._subjects.append(subject)

    def asking(self, reaction: Reaction) -> tuple[Callable[[Operation], None], Callable[[Any], None]]:
        """For many in a row, told to the same `reaction`: what takes each operation, and what takes its subject."""
        if reaction is not self._reaction:
            self._reaction, self._subjects = reaction, []
            self.spans.append((reaction, self._subjects))
        return self.operations.append, self._subjects.append

    def ask_revision(self, revise: Revise, reaction: Reaction, subject: object) -> None:
        """Have the ledger settle a bet anew, and tell `reaction` what became of it."""
        self.revisions.append(revise)
        self._revised.append((reaction, subject))

    def revised(self, answers: Sequence[Answer]) -> None:
        """Tell each answer to a revision to whom it concerns, in order."""
        told, self._revised, self.revisions = self._revised, [], []
        for answer, (reaction, subject) in zip(answers, told, strict=True):
            reaction([answer], [subject])

    def answered(self, answers: Sequence[Answer]) -> None:
        """Tell each answer to whom it concerns, in order; then make the records of the rounds that ended.

        What was asked is let go thereby: a round that ends knows its batch and is known to it, and thousands of such
        circles would wait for a collector.
        """
        spans, rounds = self.spans, self.rounds
        self.operations, self.spans, self.rounds = [], [], []
        self._reaction, self._subjects = None, []
        start = 0
        for reaction, subjects in spans:
            end = start + len(subjects)
            reaction(answers[start:end], subjects)
            start = end
        for end_round in rounds:
            end_round()

    def acknowledge(self) -> None:
        """All of it is acknowledged: do what waits for that, once."""
        waiting, self.acknowledged = self.acknowledged, []
        for act in waiting:
            act()

    def dead_letter(self, record: Record, reason: DeadLetterReason, detail: str) -> None:
        """A record cannot be used."""
        self.count(record, dead_letters(record.topic, reason))
        partition, message = self.voice.dead_letter(record, reason, detail)
        self.dead_letters[partition].append(message)
        self.letters.setdefault(partition, []).append((record, reason, detail))

    def truncate(self, partition: TopicPartition, index: int) -> None:
        """The broker refuses a dead letter: it goes with hashes in place of its value and headers."""
        self.tally[TRUNCATED] += 1
        record, reason, detail = self.letters[partition][index]
        self.dead_letters[partition][index] = self.voice.truncated(record, reason, detail)

    def dead_by_partition(self) -> dict[TopicPartition, int]:
        """How many dead letters came of each input partition."""
        return Counter(
            TopicPartition(record.topic, record.partition)
            for letters in self.letters.values()
            for record, _, _ in letters
        )

    def duplicate(self, record: Record) -> None:
        """A record says what is known: counted, nothing else."""
        self.count(record, duplicates(record.topic))

    def count(self, record: Record, key: Key) -> None:
        """Count what a record came to, where the ledger does not know it: not again when it is read again."""
        if record.offset >= self.read_before.get(TopicPartition(record.topic, record.partition), 0):
            self.tally[key] += 1

    @property
    def has_decided(self) -> bool:
        """Whether something will be said that the ledger is not asked for."""
        return bool(self.dead_letters or self.decisions or self.rounds)

    @property
    def is_empty(self) -> bool:
        """Whether nothing came of it: no record was read and no round ended."""
        return not (self.records or self.operations or self.rounds)
