"""The audit as a whole: every record to the folds that it concerns, and what they come to."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import msgspec

from pokdeng.history.audit.accounts import MOVES, Accounts
from pokdeng.history.audit.facts import Fact, Said, decode_fact, decode_said
from pokdeng.history.audit.findings import Findings, Promise
from pokdeng.history.audit.inputs import Inputs
from pokdeng.history.audit.marks import TYPES_OF, Marks
from pokdeng.history.audit.options import OptionBooks, Options
from pokdeng.history.audit.rounds import Rounds
from pokdeng.history.audit.sweep import sweep
from pokdeng.wire import TopicKind, read_action, read_info

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pokdeng.history.reading import Past
    from pokdeng.rules import Bet
    from pokdeng.stream.port import Record, TopicPartition
    from pokdeng.wire import Topics

ORDER: Final = (
    TopicKind.TABLE_EVENTS,
    TopicKind.BETS,
    TopicKind.FUNDS,
    TopicKind.DEAD_LETTERS,
    TopicKind.FUNDS_DECISIONS,
    TopicKind.BET_DECISIONS,
    TopicKind.SETTLEMENTS,
    TopicKind.ROUNDS,
)
"""In which the records of one time are folded: causes before what follows from them."""
_MONEY: Final = (TopicKind.FUNDS_DECISIONS, TopicKind.BET_DECISIONS, TopicKind.SETTLEMENTS)
_TICK_MS: Final = 60_000
"""So often, in log time, what is quiet by now is judged."""
_MORE_TIMES: Final = 5
"""So often the log is read on where movements are missing at its end: they may be on their way."""
_MORE_AFTER_S: Final = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class CurrencyBooks:
    """One currency's books, in minor units; `taken` and `returned` are those of settled bets, after corrections."""

    deposits: int
    withdrawals: int
    taken: int
    returned: int
    house_net: int
    available: int
    held: int

    @property
    def difference(self) -> int:
        """What is left over: 0 where the books balance."""
        return self.deposits - self.withdrawals - self.house_net - self.available - self.held


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """What an audit comes to."""

    books: Mapping[str, CurrencyBooks]
    options: Mapping[str, Mapping[Bet, OptionBooks]]
    findings: Findings
    facts: int
    repeats: int
    inputs: int
    dead_letters: int
    duplicates: int
    accounts: int
    rounds: int
    unfinished_rounds: int
    undecided: int
    overdrawn: int
    is_at_rest: bool
    """Whether nothing was added to the log meanwhile."""


class Auditor:
    """Folds records in about the order of time; ask for the report at the end."""

    def __init__(
        self, topics: Topics, counts: Mapping[str, int], kept_from: Mapping[TopicPartition, int], *, most: int = 20
    ) -> None:
        """`counts`: partitions by topic; `kept_from`: the first offsets read; `most` findings of a kind are kept."""
        self._topics = topics
        self.findings = Findings(most)
        self._accounts = Accounts(self.findings, self._moved)
        self._options = Options()
        self._rounds = Rounds(self.findings, self._options, topics.table_events)
        names = (topics.bets, topics.funds)
        inputs = {(place.topic, place.partition): at for place, at in kept_from.items() if place.topic in names}
        self._inputs = Inputs(self.findings, self._rounds, inputs)
        self._marks = Marks(self.findings, topics.prefix, counts)
        self._adders = {
            topics.table_events: self._table_event,
            topics.bets: self._inputs.add,
            topics.funds: self._inputs.add,
            topics.dead_letters: self._dead_letter,
        } | {topics.name(TopicKind(kind)): self._fact for kind in TYPES_OF}
        self._types = {topics.name(TopicKind(kind)): types for kind, types in TYPES_OF.items()}
        self._ticked_ms = 0
        self._table_events = 0
        self._dead_letters = 0
        self.facts = 0

    def add(self, records: Sequence[Record]) -> None:
        """Fold records of one partition."""
        add = self._adders[records[0].topic]
        for record in records:
            add(record)

    def tick(self, now_ms: int) -> None:
        """Log time has come so far."""
        if now_ms - self._ticked_ms >= _TICK_MS:
            self._ticked_ms = now_ms
            self._rounds.tick(now_ms)
            self._inputs.tick()

    @property
    def has_gaps(self) -> bool:
        """Whether movements are missing so far."""
        return self._accounts.has_gaps

    def has_doubts(self) -> bool:
        """Whether copies came so late that the log must be read once more to compare them."""
        return bool(self._accounts.doubtful)

    def compare(self, record: Record) -> None:
        """The second reading: hold a first fact against its late copies."""
        fact = self._decoded(record)
        if fact is None or fact.balance is None:
            return
        sequence = fact.balance.sequence
        for _ in self._accounts.compare(fact.account_id, sequence, hash(record.value)):
            what = f"another fact with sequence {sequence} of {fact.account_id} was said later"
            self.findings.add(Promise.TWO_FACTS_ONE_SEQUENCE, record, what)

    def report(self, *, is_at_rest: bool) -> Report:
        """What it all comes to; nothing can be added any more."""
        self._accounts.finish()
        undecided = self._inputs.finish(is_at_rest=is_at_rest)
        self._rounds.finish(is_at_rest=is_at_rest)
        books = self._books()
        for currency, one in books.items():
            if one.difference:
                what = (
                    f"{currency}: deposits - withdrawals - house net differs from available + held by {one.difference}"
                )
                self.findings.add(Promise.BOOKS, currency, what)
        standing = self._rounds.standing_taken()
        for currency, held in sorted(self._accounts.held().items()):
            if is_at_rest and held != standing.get(currency, 0):
                what = f"{currency}: {held} is held, {standing.get(currency, 0)} was taken for bets without a result"
                self.findings.add(Promise.BOOKS, currency, what)
        return Report(
            books=books,
            options=self._options.books(),
            findings=self.findings,
            facts=self.facts,
            repeats=self._accounts.repeats,
            inputs=self._inputs.records + self._table_events,
            dead_letters=self._dead_letters,
            duplicates=self._inputs.duplicates,
            accounts=len(self._accounts),
            rounds=self._rounds.count,
            unfinished_rounds=self._rounds.unfinished,
            undecided=undecided,
            overdrawn=sum(1 for _ in self._accounts.overdrawn()),
            is_at_rest=is_at_rest,
        )

    def _books(self) -> dict[str, CurrencyBooks]:
        accounts = self._accounts
        available, held = accounts.available(), accounts.held()
        return {
            currency: CurrencyBooks(
                deposits=accounts.deposits[currency],
                withdrawals=accounts.withdrawals[currency],
                taken=accounts.taken[currency],
                returned=accounts.returned[currency],
                house_net=accounts.taken[currency] - accounts.returned[currency],
                available=available[currency],
                held=held[currency],
            )
            for currency in sorted(available)
        }

    # Record by record

    def _table_event(self, record: Record) -> None:
        self._table_events += 1
        try:
            said: Said | None = None if record.value is None else decode_said(record.value)
        except (msgspec.DecodeError, UnicodeDecodeError):
            return
        if said is not None and said.round_id and record.key == said.table_id.encode():
            self._rounds.event(record, said)

    def _dead_letter(self, record: Record) -> None:
        try:
            if read_action(record.headers) is not None:
                return
            info = read_info(record.headers)
        except ValueError as error:
            self.findings.add(Promise.NO_FACT, record, str(error))
            return
        self._dead_letters += 1
        place = (info.topic, info.partition, info.offset)
        self._rounds.dead.add(place)
        self._inputs.died(place)

    def _decoded(self, record: Record) -> Fact | None:
        try:
            fact = decode_fact(record.value or b"")
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            self.findings.add(Promise.NO_FACT, record, str(error))
            return None
        if fact.type not in self._types[record.topic]:
            self.findings.add(Promise.NO_FACT, record, f"{fact.type} is no fact of this topic")
            return None
        return fact

    def _fact(self, record: Record) -> None:
        self.facts += 1
        fact = self._decoded(record)
        if fact is None:
            return
        self._marks.look(record, fact)
        if fact.type in MOVES:
            self._accounts.add(record, fact)
        elif fact.type == "bet_rejected":
            self._rounds.rejected(record, fact, self._inputs.decided(record, fact))
        elif fact.type == "funds_rejected":
            self._inputs.decided(record, fact)
            self._inputs.transfer(record, fact)
        elif fact.type == "cancel_rejected":
            self._inputs.decided(record, fact)
            self._rounds.cancel(record, fact)
        elif fact.type != "round_held":
            self._rounds.said(record, fact)

    def _moved(self, record: Record, fact: Fact) -> None:
        """A fact that moved money: for the first time, and in the order of its account."""
        match fact.type:
            case "bet_settled" | "bet_refunded":
                self._rounds.settled(record, fact)
            case "bet_reversed":
                self._rounds.reversed(record, fact)
            case "bet_accepted":
                self._rounds.accepted(record, fact, self._inputs.decided(record, fact))
            case "bet_withdrawn":
                self._inputs.decided(record, fact)
                self._rounds.cancel(record, fact)
                self._rounds.withdrawn(record, fact)
            case _:
                self._inputs.decided(record, fact)
                self._inputs.transfer(record, fact)


async def audit(past: Past, *, most: int = 20) -> Report:
    """Fold the whole log of a prefix. `past` must know all topics of `ORDER`. `most` findings of a kind are kept.

    Where outputs are added meanwhile the end of the log may look unfinished; what is not yet said is no finding then.
    """
    names = [past.topics.name(kind) for kind in ORDER]
    places = [place for kind in ORDER for place in past.places(kind)]
    begins = await past.log.beginning_offsets(places)
    ends: dict[TopicPartition, int] = {}
    for kind in reversed(ORDER):  # what follows first: whatever caused it lies before the ends that are asked for later
        ends |= await past.log.end_offsets(past.places(kind))
    auditor = Auditor(
        past.topics, {name: past.count(kind) for name, kind in zip(names, ORDER, strict=True)}, begins, most=most
    )
    await _fold(past, auditor, names, {place: (begins[place], ends[place]) for place in places})
    is_at_rest = True
    for _ in range(_MORE_TIMES):
        now = await past.log.end_offsets(places)
        if now == ends:
            break
        is_at_rest = False
        if not auditor.has_gaps:
            break
        await _fold(past, auditor, names, {place: (ends[place], now[place]) for place in places})
        ends = now
        await asyncio.sleep(_MORE_AFTER_S)
    if auditor.has_doubts():
        money = [place for kind in _MONEY for place in past.places(kind)]
        past.progress.begin("comparing copies", sum(ends[place] - begins[place] for place in money))
        for place in money:
            async for record in past.records(place, begins[place], ends[place]):
                auditor.compare(record)
                if not auditor.has_doubts():
                    break
    return auditor.report(is_at_rest=is_at_rest)


async def _fold(
    past: Past, auditor: Auditor, names: Sequence[str], spans: Mapping[TopicPartition, tuple[int, int]]
) -> None:
    past.progress.begin("auditing", sum(end - start for start, end in spans.values()))
    async for now_ms, slices in sweep(past, names, spans):
        for records in slices:
            auditor.add(records)
        auditor.tick(now_ms)
