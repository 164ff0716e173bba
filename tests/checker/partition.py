"""One partition of tables and bets, folded in the order of broker time: every record's fate, and every fact.

The reference and the checker both fold with this; they differ in who knows the money (`Sink.hold`) and the seals.
"""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING, Protocol

from tests.checker import facts
from tests.checker.facts import Fact, bet_name
from tests.checker.parsing import Event, Read, content
from tests.checker.records import BETS, TABLE_EVENTS, Rec
from tests.checker.state import BetState, RoundState
from tests.checker.tables import DAY_MS, Tables

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


class Sink(Protocol):
    """Who is told each record's fate, and asked for what the tables do not know."""

    def dead(self, record: Rec, reason: str, shown: str | None = None) -> None:
        """It is a dead letter; `shown` is a card that nobody may see yet."""

    def duplicate(self, record: Rec) -> None:
        """It is counted, and that is all."""

    def part(self, record: Rec) -> None:
        """It is part of its round's output."""

    def say(self, fact: Fact) -> None:
        """A fact that must be said."""

    def hold(self, record: Rec, event: Event) -> str | None:
        """Take a bet's money: None, or why not."""

    def seal(self, state: RoundState, partition: int) -> int:
        """The round's seal."""

    def is_behind_seal(self, state: RoundState, record: Rec) -> bool:
        """Whether a bet in time by its stamp lies behind its round's seal."""

    def is_ever_closed(self, state: RoundState, partition: int) -> bool:
        """Whether the round is closed anywhere in the log: it was not cancelled before."""


def merged(tables: Iterable[Rec], bets: Iterable[Rec]) -> Iterator[tuple[str, Rec]]:
    """The records of two topics as one, by broker time; at equal times table events come first."""
    table_records, bet_records = iter(tables), iter(bets)
    table, bet = next(table_records, None), next(bet_records, None)
    while table is not None or bet is not None:
        if bet is None or (table is not None and table.timestamp <= bet.timestamp):
            if table is not None:
                yield TABLE_EVENTS, table
            table = next(table_records, None)
        else:
            yield BETS, bet
            bet = next(bet_records, None)


class Partition:
    """The fold of one partition."""

    def __init__(self, sink: Sink, *, correction_window_ms: int = DAY_MS) -> None:
        """Nothing was read yet."""
        self.tables = Tables(self, correction_window_ms=correction_window_ms)
        self.bets: dict[tuple[str, str, str], BetState] = {}
        self._cancels: dict[tuple[str, str, str, str], bool] = {}
        self._sink = sink

    def take(self, kind: str, record: Rec, read: Read) -> None:
        """Fold the next record, in merged order."""
        self._pay(record.timestamp)
        if read.event is None or read.reason is not None:
            self._sink.dead(record, read.reason or "not_an_event", self._unseen(read.event))
        elif kind == TABLE_EVENTS:
            self.tables.take(record, read.event)
            self._pay(record.timestamp)
        elif read.event["type"] == "bet_placed":
            self._bet(record, read.event)
        else:
            self._cancel(record, read.event)

    def finish(self) -> None:
        """The log has ended: what is complete is settled."""
        self._pay(inf)

    def dead(self, record: Rec, reason: str, shown: str | None = None) -> None:
        """Pass it on."""
        self._sink.dead(record, reason, shown)

    def duplicate(self, record: Rec) -> None:
        """Pass it on."""
        self._sink.duplicate(record)

    def part(self, record: Rec) -> None:
        """Pass it on."""
        self._sink.part(record)

    def held(self, record: Rec, event: Event, state: RoundState, reason: str) -> None:
        """Say that a round is held."""
        self._sink.say(facts.held(record, event, state, reason))

    def _pay(self, now: float) -> None:
        """Say the results of the rounds whose bets were all read."""
        waiting: list[RoundState] = []
        for state in self.tables.due:
            if state.closed_at is not None and state.closed_at >= now and state.ended != "cancelled":
                waiting.append(state)
                continue
            for revision in state.due:
                seal = self._sink.seal(state, revision.record.partition)
                for fact in facts.result(state, revision, seal):
                    self._sink.say(fact)
            state.due.clear()
            state.settled = True
        self.tables.due[:] = waiting

    def _bet(self, record: Rec, event: Event) -> None:
        name = bet_name(event)
        state = self.tables.rounds.get(name[:2])
        known = self.bets.get(name)
        if known is not None:
            if known.content == content(event) or (state is not None and state.settled):
                self._sink.duplicate(record)
            else:
                self._sink.dead(record, "id_conflict")
            return
        if self._cancels.get((*name, event["account_id"])) is False:
            reason: str | None = "cancelled_before"
        else:
            reason = self._not_open(state, record) or _not_playing(state) or self._sink.hold(record, event)
        bet = BetState(event, record, content(event), facts.taken_by(event), reason is None)
        self.bets[name] = bet
        if reason is not None:
            self._sink.say(facts.rejected(record, event, reason))
            return
        self._sink.say(facts.accepted(record, event))
        if state is not None:
            state.bets.append(bet)

    def _cancel(self, record: Rec, event: Event) -> None:
        name = bet_name(event)
        mark = (*name, event["account_id"])
        if mark in self._cancels:
            self._sink.duplicate(record)
            return
        bet = self.bets.get(name)
        reason = self._not_open(self.tables.rounds.get(name[:2]), record)
        if reason is None and (bet is None or not bet.stands or bet.event["account_id"] != event["account_id"]):
            reason = "bet_unknown"
        self._cancels[mark] = reason is None
        if reason is not None or bet is None:
            self._sink.say(facts.cancel_rejected(record, event, reason or "bet_unknown"))
            return
        bet.stands = False
        self._sink.say(facts.withdrawn(record, event, bet))

    def _not_open(self, state: RoundState | None, record: Rec) -> str | None:
        if state is None:
            return "round_unknown"
        if state.cancelled_at is not None and state.cancelled_at <= record.timestamp:
            return "round_cancelled"
        if state.closed_at is not None and record.timestamp > state.closed_at:
            return "betting_closed"
        if self._sink.is_behind_seal(state, record):
            return "betting_closed" if self._sink.is_ever_closed(state, record.partition) else "round_cancelled"
        return None

    def _unseen(self, event: Event | None) -> str | None:
        """The card of an unusable table event whose round's betting is not known to be closed."""
        if event is None or "card" not in event:
            return None
        state = self.tables.rounds.get((event["table_id"], event["round_id"]))
        return event["card"] if state is None or state.closed_at is None else None


def _not_playing(state: RoundState | None) -> str | None:
    if state is None:
        return None
    if state.is_held:
        return "round_held"
    return "round_paused" if state.is_paused else None
