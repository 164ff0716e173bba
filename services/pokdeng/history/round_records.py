"""All records about one round: its table events and bets, what was decided, settled and said of it, its dead letters.

Only the stretches of the log that can hold them are read: the table's partition while the round lasted and as long as
it may be corrected, the partitions of the accounts that bet. What is expected is known (a decision for each bet, as
many settlements as the round's record counts), so reading ends when all of it was found.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from pokdeng.events.inputs import BetEvent, BetPlaced, BettingClosed, RoundCancelled, RoundOpened, ShoeStarted
from pokdeng.events.outputs import (
    BetAccepted,
    BetRefunded,
    BetRejected,
    BetReversed,
    BetSettled,
    BetWithdrawn,
    CancelRejected,
    OutputEvent,
    RoundFact,
    RoundHeld,
)
from pokdeng.history.letters import Letter, letters_of
from pokdeng.history.round_search import Found, find_round, is_about
from pokdeng.wire import (
    MalformedOutputError,
    MalformedRecordError,
    TopicKind,
    decode_bet_event,
    decode_output,
    decode_table_event,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pokdeng.events.inputs import TableEvent
    from pokdeng.history.reading import Past
    from pokdeng.stream.port import Record, TopicPartition

MARGIN_MS: Final = 300_000
"""How far before a round opened and after its betting ended its bets are looked for."""
WITHIN_MS: Final = 26 * 3_600_000
"""How long after what is known of a round more of it is looked for: the correction window and two hours."""
CLOCKS_MS: Final = 60_000
"""How far the clocks of workers, which stamp decisions and settlements, may be from the brokers'."""


@dataclass(slots=True, kw_only=True)
class RoundRecords:
    """What the log holds about one round, in the order of each partition."""

    table_id: str
    round_id: str
    events: list[tuple[Record, TableEvent]] = field(default_factory=list)
    bets: list[tuple[Record, BetEvent]] = field(default_factory=list)
    decisions: list[tuple[Record, OutputEvent]] = field(default_factory=list)
    settlements: list[tuple[Record, OutputEvent]] = field(default_factory=list)
    rounds: list[tuple[Record, RoundFact]] = field(default_factory=list)
    letters: list[Letter] = field(default_factory=list)
    has_inputs: bool = True
    """False where the inputs are no longer kept: then what was rejected may be missing."""
    bets_from_ms: int = 0
    bets_until_ms: int | None = None
    """The broker times between which bets were looked for; None: up to the log's end."""

    @property
    def dead(self) -> dict[tuple[str, int, int], Letter]:
        """The dead letters by the record that died."""
        return {letter.origin: letter for letter in self.letters}


async def records_of_round(
    past: Past,
    table_id: str,
    round_id: str,
    *,
    before_ms: int | None = None,
    within_ms: int = WITHIN_MS,
    margin_ms: int = MARGIN_MS,
) -> RoundRecords:
    """Gather them.

    Raises:
        RoundNotFoundError: when the log holds nothing of that round.
    """
    found = await find_round(past, table_id, round_id, before_ms=before_ms)
    return await _Gathering(past, table_id, round_id, found, within_ms, margin_ms).gathered()


class _Gathering:
    """One round's records while they are gathered."""

    def __init__(self, past: Past, table_id: str, round_id: str, found: Found, within_ms: int, margin_ms: int) -> None:
        self._past = past
        self._found = found
        self._within_ms = within_ms
        self._margin_ms = margin_ms
        self._out = RoundRecords(table_id=table_id, round_id=round_id, has_inputs=found.opened is not None)
        self._needle = round_id.encode()

    async def gathered(self) -> RoundRecords:
        """All of them."""
        await self._read_table()
        await self._read_letters()
        await self._read_bets()
        await self._read_decisions()
        await self._read_settlements()
        return self._out

    # The table's own partitions

    async def _read_table(self) -> None:
        """Table events and the round's records, as long as one found brings more."""
        opened, out = self._found.opened, self._out
        events = self._past.place(TopicKind.TABLE_EVENTS, out.table_id)
        rounds = self._past.place(TopicKind.ROUNDS, out.table_id)
        last_ms = self._found.from_ms
        at_event = await self._past.beginning(events) if opened is None else opened.offset
        at_round = (await self._past.between(rounds, last_ms - self._margin_ms, None))[0]
        while True:
            until_ms = last_ms + self._within_ms
            _, end_event = await self._past.between(events, until_ms, until_ms)
            _, end_round = await self._past.between(rounds, until_ms, until_ms)
            if end_event <= at_event and end_round <= at_round:
                return
            if opened is not None:
                for record in await self._about(events, at_event, end_event):
                    self._add_event(record)
                    last_ms = max(last_ms, record.timestamp)
            for record in await self._about(rounds, at_round, end_round):
                fact = _fact_of(TopicKind.ROUNDS, record)
                if isinstance(fact, RoundFact):
                    out.rounds.append((record, fact))
                    last_ms = max(last_ms, record.timestamp)
            at_event, at_round = max(at_event, end_event), max(at_round, end_round)

    def _add_event(self, record: Record) -> None:
        try:
            event = decode_table_event(record.value, record.key)
        except MalformedRecordError:
            return
        if not isinstance(event, ShoeStarted):
            self._out.events.append((record, event))

    async def _read_letters(self) -> None:
        """Dead letters are rare, so all partitions are looked through: one with a wrong key lies anywhere."""
        out = self._out
        places = self._past.places(TopicKind.DEAD_LETTERS)
        from_ms = self._found.from_ms - self._margin_ms
        spans = await self._spans(places, from_ms, self._last_ms() + self._within_ms)
        self._begin("dead letters", spans)
        parts = await asyncio.gather(*(self._all(place, start, end) for place, (start, end) in spans.items()))
        letters = letters_of(record for part in parts for record in part)
        name = (out.table_id, out.round_id)
        out.letters = [letter for letter in letters if letter.round_name == name]

    # Bets, and what became of them

    async def _read_bets(self) -> None:
        out = self._out
        if not out.has_inputs:
            return
        place = self._past.place(TopicKind.BETS, out.table_id)
        ended_ms = self._betting_ended_ms()
        out.bets_from_ms = max(0, self._found.from_ms - self._margin_ms)
        out.bets_until_ms = None if ended_ms is None else ended_ms + self._margin_ms
        start, end = await self._past.between(place, out.bets_from_ms, out.bets_until_ms)
        for record in await self._about(place, start, end, "bets"):
            try:
                event = decode_bet_event(record.value, record.key)
            except MalformedRecordError:
                continue
            out.bets.append((record, event))

    async def _read_decisions(self) -> None:
        """Until every bet and cancel has its decision, in each account's partition."""
        out, dead = self._out, self._out.dead
        alive = [event for record, event in out.bets if (record.topic, record.partition, record.offset) not in dead]
        expected: dict[TopicPartition, set[tuple[str, ...]]] = {}
        for event in alive:
            place = self._past.place(TopicKind.BET_DECISIONS, event.account_id)
            expected.setdefault(place, set()).add(_asked(event))
        if out.has_inputs:
            from_ms = min((record.timestamp for record, _ in out.bets), default=0) - CLOCKS_MS
            until_ms = max((record.timestamp for record, _ in out.bets), default=0) + self._within_ms
        else:
            places = self._past.places(TopicKind.BET_DECISIONS)
            expected = {place: {("everything",)} for place in places}
            from_ms = self._found.from_ms - self._within_ms // 24
            until_ms = self._found.from_ms + self._margin_ms
        spans = await self._spans(expected, from_ms, until_ms)
        self._begin("decisions", spans)
        found = await asyncio.gather(*(self._decisions(place, *span, expected[place]) for place, span in spans.items()))
        out.decisions = [pair for part in found for pair in part]

    async def _decisions(
        self, place: TopicPartition, start: int, end: int, expected: set[tuple[str, ...]]
    ) -> list[tuple[Record, OutputEvent]]:
        found: list[tuple[Record, OutputEvent]] = []
        async for record in self._past.records(place, start, end, containing=self._needle):
            if is_about(record, self._out.table_id, self._out.round_id):
                fact = _fact_of(TopicKind.BET_DECISIONS, record)
                if fact is not None:
                    found.append((record, fact))
                    expected.discard(_decided(fact))
            if not expected:
                break
        return found

    async def _read_settlements(self) -> None:
        """As many as the round's records count; looked for wider where they are not all where they should be."""
        out = self._out
        ends = [(record, fact) for record, fact in out.rounds if not isinstance(fact, RoundHeld)]
        ended_ms = self._ended_ms()
        if not ends and ended_ms is None:
            return
        accounts = {fact.account_id for _, fact in out.decisions if isinstance(fact, BetAccepted)}
        places = self._past.places(TopicKind.SETTLEMENTS)
        if out.has_inputs:
            places = sorted({self._past.place(TopicKind.SETTLEMENTS, account) for account in accounts})
        wanted = sum(fact.bets * (1 if fact.revision == 1 else 2) for fact in {f.revision: f for _, f in ends}.values())
        times = {record.timestamp for record, _ in ends} | ({ended_ms} if ended_ms is not None else set())
        for before_ms, after_ms in ((CLOCKS_MS, CLOCKS_MS), (10 * CLOCKS_MS, self._within_ms)):
            out.settlements = await self._settlements(places, times, before_ms, after_ms)
            if ends and len({_settled(fact) for _, fact in out.settlements}) >= wanted:
                return

    async def _settlements(
        self, places: list[TopicPartition], times: Iterable[int], before_ms: int, after_ms: int
    ) -> list[tuple[Record, OutputEvent]]:
        stretches: list[list[int]] = []
        for at_ms in sorted(times):
            if stretches and at_ms - before_ms <= stretches[-1][1]:
                stretches[-1][1] = at_ms + after_ms
            else:
                stretches.append([at_ms - before_ms, at_ms + after_ms])
        found: list[tuple[Record, OutputEvent]] = []
        for from_ms, until_ms in stretches:
            spans = await self._spans(places, from_ms, until_ms)
            self._begin("settlements", spans)
            parts = await asyncio.gather(*(self._about(place, *span) for place, span in spans.items()))
            facts = ((record, _fact_of(TopicKind.SETTLEMENTS, record)) for part in parts for record in part)
            found += [(record, fact) for record, fact in facts if fact is not None]
        return found

    # What is known so far

    def _betting_ended_ms(self) -> int | None:
        """The broker time of the first close, else of the cancellation; None while betting goes on."""
        dead = self._out.dead
        for event_class in (BettingClosed, RoundCancelled):
            for record, event in self._out.events:
                is_dead = (record.topic, record.partition, record.offset) in dead
                if isinstance(event, event_class) and not is_dead:
                    return record.timestamp
        return None

    def _ended_ms(self) -> int | None:
        """The newest table event that can have ended the round, if its betting has ended at all."""
        times = [record.timestamp for record, event in self._out.events if not isinstance(event, RoundOpened)]
        return max(times, default=None) if self._betting_ended_ms() is not None else None

    def _last_ms(self) -> int:
        known = [record.timestamp for record, _ in (*self._out.events, *self._out.rounds)]
        return max(known, default=self._found.from_ms)

    # Reading

    async def _about(self, place: TopicPartition, start: int, end: int, what: str | None = None) -> list[Record]:
        name = (self._out.table_id, self._out.round_id)
        if what is not None:
            self._past.progress.begin(f"reading {what}", max(0, end - start))
        records = self._past.records(place, start, end, containing=self._needle)
        return [record async for record in records if is_about(record, *name)]

    async def _all(self, place: TopicPartition, start: int, end: int) -> list[Record]:
        return [record async for record in self._past.records(place, start, end)]

    async def _spans(
        self, places: Iterable[TopicPartition], from_ms: int, until_ms: int | None
    ) -> dict[TopicPartition, tuple[int, int]]:
        places = list(places)
        found = await asyncio.gather(*(self._past.between(place, from_ms, until_ms) for place in places))
        return dict(zip(places, found, strict=True))

    def _begin(self, what: str, spans: dict[TopicPartition, tuple[int, int]]) -> None:
        self._past.progress.begin(f"reading {what}", sum(end - start for start, end in spans.values()))


def _fact_of(kind: TopicKind, record: Record) -> OutputEvent | None:
    """The fact of a record; None where another program wrote it: `pokdeng audit` finds those."""
    try:
        return decode_output(kind, record.value or b"")
    except MalformedOutputError:
        return None


def _asked(event: BetEvent) -> tuple[str, ...]:
    if isinstance(event, BetPlaced):
        return ("bet", event.bet_id)
    return ("cancel", event.account_id, event.bet_id)


def _decided(fact: OutputEvent) -> tuple[str, ...]:
    match fact:
        case BetAccepted() | BetRejected():
            return ("bet", fact.bet_id)
        case BetWithdrawn() | CancelRejected():
            return ("cancel", fact.account_id, fact.bet_id)
        case _:
            return ()


def _settled(fact: OutputEvent) -> tuple[object, ...]:
    match fact:
        case BetSettled() | BetRefunded() | BetReversed():
            return (fact.event_type, fact.bet_id, fact.revision)
        case _:
            return ()
