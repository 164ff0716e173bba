"""The story of one round, folded from its records: what happened in order, what each bet got and why. Pure.

What became of a table event is worked out here anew, from the events and the dead letters alone. Cards are part of it
only once the round's betting is closed (`has_cards`): before that nobody may see one, not even in a dead letter.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, TypeAlias

from pokdeng.events.inputs import (
    BetPlaced,
    BettingClosed,
    CardCorrected,
    CardDealt,
    CutCardDrawn,
    RoundCancelled,
    RoundOpened,
    RoundPaused,
    RoundResumed,
)
from pokdeng.events.outputs import (
    BetAccepted,
    BetRefunded,
    BetRejected,
    BetReversed,
    BetSettled,
    BetWithdrawn,
    CancelRejected,
    RoundHeld,
    RoundRefunded,
    RoundSettled,
)
from pokdeng.rules import Bet, Card, Hand, Seat, hand_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pokdeng.events.inputs import BetEvent, TableEvent
    from pokdeng.events.outputs import OutputEvent
    from pokdeng.history.letters import Letter
    from pokdeng.history.round_records import RoundRecords
    from pokdeng.stream.port import Record

BetResult: TypeAlias = BetSettled | BetRefunded | BetReversed
BetVerdict: TypeAlias = BetAccepted | BetRejected


class Became(StrEnum):
    """What became of an input record."""

    COUNTED = "counted"
    REPEATED = "repeated"
    """It says what was known: a duplicate."""
    DEAD_LETTER = "dead_letter"


class Status(StrEnum):
    """How a round stands."""

    OPEN = "open"
    CLOSED = "closed"
    """Betting is closed; cards or bets are still awaited."""
    PAUSED = "paused"
    HELD = "held"
    CANCELLED = "cancelled"
    """Cancelled, its refunds not said yet."""
    COMPLETE = "complete"
    """Nothing is missing, its settlements not said yet."""
    SETTLED = "settled"
    REFUNDED = "refunded"


@dataclass(frozen=True, slots=True, kw_only=True)
class TableMoment:
    """One table event, and what became of it."""

    record: Record
    event: TableEvent
    became: Became
    letter: Letter | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Saying:
    """One record of `rounds`: the round became held, settled or refunded."""

    record: Record
    fact: RoundHeld | RoundSettled | RoundRefunded


@dataclass(slots=True, kw_only=True)
class BetStory:
    """One bet: its records, what was decided, and each revision's result. Made by `story_of`."""

    bet_id: str
    asked: list[tuple[Record, BetEvent]] = field(default_factory=list)
    """Its `bet_placed` and `bet_cancelled` records, copies too, in order."""
    verdicts: list[tuple[Record, BetVerdict]] = field(default_factory=list)
    """Its decision; a second one only where it was said twice."""
    withdrawn: tuple[Record, BetWithdrawn] | None = None
    refused_cancels: list[tuple[Record, CancelRejected]] = field(default_factory=list)
    results: list[tuple[Record, BetResult]] = field(default_factory=list)
    """In the order of the account's movements."""

    @property
    def accepted(self) -> BetAccepted | None:
        """That it was accepted, if it was."""
        return next((fact for _, fact in self.verdicts if isinstance(fact, BetAccepted)), None)

    @property
    def rejected(self) -> BetRejected | None:
        """That it was rejected, if the first decision was that."""
        first = self.verdicts[0][1] if self.verdicts else None
        return first if isinstance(first, BetRejected) else None

    @property
    def last_result(self) -> BetSettled | BetRefunded | None:
        """What it got in the newest revision, None before it has any."""
        last = self.results[-1][1] if self.results else None
        return None if isinstance(last, BetReversed) else last

    @property
    def placed(self) -> tuple[Record, BetPlaced] | None:
        """The record that was decided, else the first that placed it."""
        placed = [(record, event) for record, event in self.asked if isinstance(event, BetPlaced)]
        if self.verdicts:
            cause = self.verdicts[0][1].cause
            decided = [pair for pair in placed if pair[0].offset == cause.offset]
            placed = decided or placed
        return placed[0] if placed else None


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundStory:
    """Everything that happened to one round, as far as the log still holds it."""

    table_id: str
    round_id: str
    shoe_id: str | None
    status: Status
    moments: tuple[TableMoment, ...]
    sayings: tuple[Saying, ...]
    bets: tuple[BetStory, ...]
    letters: tuple[Letter, ...]
    places: dict[tuple[Seat, int], Card]
    """The cards that lie. Not to be shown while `has_cards` is False."""
    has_cards: bool
    """Whether betting is closed, so that cards may be shown."""
    opened_at_ms: int | None
    closed_at_ms: int | None
    has_inputs: bool
    bets_from_ms: int
    bets_until_ms: int | None

    @property
    def ends(self) -> list[tuple[Record, RoundSettled | RoundRefunded]]:
        """The round's results as a whole, by revision."""
        found = {
            one.fact.revision: (one.record, one.fact) for one in self.sayings if not isinstance(one.fact, RoundHeld)
        }
        return [found[revision] for revision in sorted(found)]

    @property
    def hands(self) -> dict[Seat, Hand]:
        """The hands that both cards lie of; none before betting is closed."""
        if not self.has_cards:
            return {}
        pairs = {seat: (self.places.get((seat, 1)), self.places.get((seat, 2))) for seat in Seat}
        return {seat: hand_of(first, second) for seat, (first, second) in pairs.items() if first and second}

    def cards_of(self, seat: Seat) -> str:
        """A seat's cards as they lie, `--` for one that does not; hidden before betting is closed."""
        if not self.has_cards:
            return "face down"
        return " ".join(str(self.places.get((seat, position), "--")) for position in (1, 2))

    def late_ms(self, record: Record) -> int | None:
        """How long after the close a record of a bet was appended; None where it was not later."""
        if self.closed_at_ms is None or record.timestamp <= self.closed_at_ms:
            return None
        return record.timestamp - self.closed_at_ms

    def bet(self, bet_id: str) -> BetStory | None:
        """One bet's story."""
        return next((bet for bet in self.bets if bet.bet_id == bet_id), None)


def story_of(records: RoundRecords) -> RoundStory:
    """Fold the records of a round."""
    table = _TableFold(records)
    sayings = tuple(Saying(record=record, fact=fact) for record, fact in _once(records.rounds))
    ends = [one.fact for one in sayings if not isinstance(one.fact, RoundHeld)]
    shoe_id = next((one.fact.shoe_id for one in sayings), None) or table.shoe_id
    if not records.has_inputs:
        table.lay(ends)
    return RoundStory(
        table_id=records.table_id,
        round_id=records.round_id,
        shoe_id=shoe_id,
        status=_status(table, ends),
        moments=tuple(table.moments),
        sayings=sayings,
        bets=tuple(_bets_of(records)),
        letters=tuple(records.letters),
        places=table.places,
        has_cards=table.closed_at_ms is not None or any(isinstance(fact, RoundSettled) for fact in ends),
        opened_at_ms=table.opened_at_ms,
        closed_at_ms=table.closed_at_ms,
        has_inputs=records.has_inputs,
        bets_from_ms=records.bets_from_ms,
        bets_until_ms=records.bets_until_ms,
    )


class _TableFold:
    """Table events in their order: what each did."""

    def __init__(self, records: RoundRecords) -> None:
        self.moments: list[TableMoment] = []
        self.places: dict[tuple[Seat, int], Card] = {}
        self.shoe_id: str | None = None
        self.opened_at_ms: int | None = None
        self.closed_at_ms: int | None = None
        self.is_paused = self.is_cut = self.is_cancelled = False
        self.disputes: set[tuple[Seat, int]] = set()
        self.is_left_behind = any(
            isinstance(fact, RoundHeld) and fact.reason.value == "incomplete" for _, fact in records.rounds
        )
        self._seen: set[tuple[str, str]] = set()
        dead = records.dead
        for record, event in records.events:
            letter = dead.get((record.topic, record.partition, record.offset))
            if letter is not None:
                became = Became.DEAD_LETTER
                self._disputed(event, letter)
            else:
                became = Became.COUNTED if self._counts(record, event) else Became.REPEATED
            self.moments.append(TableMoment(record=record, event=event, became=became, letter=letter))

    @property
    def is_complete(self) -> bool:
        """Whether nothing is missing."""
        is_free = not (self.is_paused or self.disputes)
        return self.closed_at_ms is not None and len(self.places) == 2 * len(Seat) and is_free

    def lay(self, ends: Sequence[RoundSettled | RoundRefunded]) -> None:
        """The cards as the round's own record says, where its events are no longer kept."""
        settled = [fact for fact in ends if isinstance(fact, RoundSettled)]
        for seat, cards in (
            (seat, cards)
            for fact in settled[-1:]
            for seat, cards in ((Seat.BANKER, fact.banker.cards), *((one.seat, one.cards) for one in fact.players))
        ):
            for position, card in enumerate(cards, 1):
                self.places[seat, position] = Card.parse(card)

    def _disputed(self, event: TableEvent, letter: Letter) -> None:
        if isinstance(event, CardDealt | CardCorrected) and letter.info.reason.value in {
            "seat_conflict",
            "ninth_copy",
            "shoe_exhausted",
        }:
            self.disputes.add((event.seat, event.position))

    def _counts(self, record: Record, event: TableEvent) -> bool:
        """Whether the event changes anything; if so, it does."""
        name = (event.event_type, event.event_id)
        if name in self._seen or (self.is_cancelled and not isinstance(event, RoundOpened)):
            return False
        self._seen.add(name)
        match event:
            case RoundOpened():
                is_new = self.opened_at_ms is None
                if is_new:
                    self.opened_at_ms, self.shoe_id = record.timestamp, event.shoe_id
            case BettingClosed():
                is_new = self.closed_at_ms is None
                if is_new:
                    self.closed_at_ms = record.timestamp
            case CardDealt() | CardCorrected():
                is_new = self._laid(event)
            case RoundPaused() | RoundResumed():
                is_new = self.is_paused is not isinstance(event, RoundPaused)
                self.is_paused = isinstance(event, RoundPaused)
            case CutCardDrawn():
                is_new, self.is_cut = not self.is_cut, True
            case RoundCancelled():
                is_new, self.is_cancelled = True, True
            case _:
                is_new = True
        return is_new

    def _laid(self, event: CardDealt | CardCorrected) -> bool:
        place = (event.seat, event.position)
        was_disputed = place in self.disputes and isinstance(event, CardCorrected)
        if was_disputed:
            self.disputes.discard(place)
        if self.places.get(place) is event.card:
            return was_disputed
        self.places[place] = event.card
        return True


def _status(table: _TableFold, ends: Sequence[RoundSettled | RoundRefunded]) -> Status:
    if ends and not (table.is_cancelled and isinstance(ends[-1], RoundSettled)):
        return Status.SETTLED if isinstance(ends[-1], RoundSettled) else Status.REFUNDED
    if table.is_cancelled:
        return Status.CANCELLED
    if table.disputes or (table.is_left_behind and not table.is_complete):
        return Status.HELD
    if table.is_paused:
        return Status.PAUSED
    if table.is_complete:
        return Status.COMPLETE
    return Status.OPEN if table.closed_at_ms is None else Status.CLOSED


def _once(
    said: Sequence[tuple[Record, RoundHeld | RoundSettled | RoundRefunded]],
) -> list[tuple[Record, RoundHeld | RoundSettled | RoundRefunded]]:
    """Each fact once, however often it was said."""
    first: dict[str, tuple[Record, RoundHeld | RoundSettled | RoundRefunded]] = {}
    for record, fact in said:
        first.setdefault(fact.event_id, (record, fact))
    return list(first.values())


def _bets_of(records: RoundRecords) -> list[BetStory]:
    bets: dict[str, BetStory] = {}
    for record, event in records.bets:
        bets.setdefault(event.bet_id, BetStory(bet_id=event.bet_id)).asked.append((record, event))
    said: dict[str, tuple[Record, OutputEvent]] = {}
    for record, fact in (*records.decisions, *records.settlements):
        said.setdefault(fact.event_id, (record, fact))
    for record, fact in said.values():
        match fact:
            case BetAccepted() | BetRejected():
                bets.setdefault(fact.bet_id, BetStory(bet_id=fact.bet_id)).verdicts.append((record, fact))
            case BetWithdrawn():
                bets.setdefault(fact.bet_id, BetStory(bet_id=fact.bet_id)).withdrawn = (record, fact)
            case CancelRejected():
                bets.setdefault(fact.bet_id, BetStory(bet_id=fact.bet_id)).refused_cancels.append((record, fact))
            case BetSettled() | BetRefunded() | BetReversed():
                bets.setdefault(fact.bet_id, BetStory(bet_id=fact.bet_id)).results.append((record, fact))
    for bet in bets.values():
        bet.results.sort(key=lambda result: result[1].balance.sequence)
    return list(bets.values())


def option_name(bet: Bet) -> str:
    """An option as people say it.

    >>> option_name(Bet.PLAYER_1_PAIR)
    'player 1 pair'
    """
    return bet.value.replace("_", " ")
