"""The table events of one partition, folded: what becomes of each, which rounds are held, and their results."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from tests.checker.parsing import Event, content
from tests.checker.state import CARDS_OF_A_SHOE, COPIES, Place, Revision, RoundState, ShoeState

if TYPE_CHECKING:
    from tests.checker.records import Rec

DAY_MS = 24 * 60 * 60 * 1000


class TableSink(Protocol):
    """Who is told what became of table events."""

    def dead(self, record: Rec, reason: str, shown: str | None = None) -> None:
        """It is a dead letter; `shown` is a card that nobody may see yet."""

    def duplicate(self, record: Rec) -> None:
        """It is counted, and that is all."""

    def part(self, record: Rec) -> None:
        """It is part of its round's output."""

    def held(self, record: Rec, event: Event, state: RoundState, reason: str) -> None:
        """A round became held by this record."""


class Deaf:
    """A sink for who only wants to know what the tables come to."""

    def dead(self, record: Rec, reason: str, shown: str | None = None) -> None:
        """Not asked for."""

    def duplicate(self, record: Rec) -> None:
        """Not asked for."""

    def part(self, record: Rec) -> None:
        """Not asked for."""

    def held(self, record: Rec, event: Event, state: RoundState, reason: str) -> None:
        """Not asked for."""


class Tables:
    """All tables of one partition."""

    def __init__(self, sink: TableSink, *, correction_window_ms: int = DAY_MS) -> None:
        """Nothing was read yet."""
        self.rounds: dict[tuple[str, str], RoundState] = {}
        self.due: list[RoundState] = []
        self._shoes: dict[tuple[str, str], ShoeState] = {}
        self._newest: dict[str, ShoeState] = {}
        self._last: dict[str, RoundState] = {}
        self._sink = sink
        self._window_ms = correction_window_ms

    def take(self, record: Rec, event: Event) -> None:
        """Fold one readable table event."""
        kind = event["type"]
        if kind == "shoe_started":
            self._shoe_started(record, event)
        elif kind == "round_opened":
            self._round_opened(record, event)
        else:
            self._of_a_round(record, event)

    def _shoe_started(self, record: Rec, event: Event) -> None:
        name = (event["table_id"], event["shoe_id"])
        known = self._shoes.get(name)
        if known is not None:
            self._again(record, is_same=known.content == content(event))
            return
        shoe = ShoeState.started(event, content(event))
        self._shoes[name] = self._newest[event["table_id"]] = shoe
        self._sink.part(record)

    def _round_opened(self, record: Rec, event: Event) -> None:
        table, name = event["table_id"], (event["table_id"], event["round_id"])
        known = self.rounds.get(name)
        if known is not None:
            self._again(record, is_same=known.content == content(event))
            return
        shoe = self._shoes.get((table, event["shoe_id"]))
        if shoe is None:
            self._sink.dead(record, "unknown_shoe")
            return
        if shoe is not self._newest[table] or shoe.last_round is not None:
            self._sink.dead(record, "round_out_of_order")
            return
        before = self._last.get(table)
        if before is not None and before.ended is None:
            was_held = before.is_held
            before.is_incomplete = True
            if not was_held:
                self._sink.held(record, event, before, "incomplete")
        shoe.gone += 1
        self.rounds[name] = self._last[table] = RoundState(table, event["round_id"], shoe, content(event))
        self._sink.part(record)

    def _of_a_round(self, record: Rec, event: Event) -> None:
        state = self.rounds.get((event["table_id"], event["round_id"]))
        if state is None:
            self._sink.dead(record, "unknown_round", event.get("card"))
            return
        mark = (event["type"], event["event_id"])
        if mark in state.seen:
            self._again(record, is_same=state.seen[mark] == content(event), shown=_hidden(state, event))
            return
        refused = self._apply(record, event, state)
        if refused is None or refused == "duplicate":
            state.seen[mark] = content(event)
        if refused is None:
            self._sink.part(record)
        elif refused == "duplicate":
            self._sink.duplicate(record)
        else:
            self._sink.dead(record, refused, _hidden(state, event))
        if state.ended is None and state.lacks_nothing:
            state.ended, state.ended_at, state.is_incomplete = "complete", record.timestamp, False
            self._result(state, record, event, is_void=False)

    def _apply(self, record: Rec, event: Event, state: RoundState) -> str | None:
        """Change the round; `duplicate` or a reason where nothing is to change."""
        kind = event["type"]
        if kind == "cut_card_drawn" and event["shoe_id"] != state.shoe.shoe_id:
            return "unknown_shoe"
        if kind == "round_cancelled":
            return self._cancel(record, event, state)
        if state.ended == "cancelled":
            return "round_out_of_order"
        apply = {"betting_closed": _close, "card_dealt": self._deal, "card_corrected": self._correct}.get(kind, _others)
        return apply(record, event, state)

    def _cancel(self, record: Rec, event: Event, state: RoundState) -> str | None:
        if state.ended == "cancelled":
            return "duplicate"
        if state.ended == "complete" and self._is_too_late(record, state):
            return "correction_too_late"
        if state.ended is None:
            state.ended_at = record.timestamp
        state.ended, state.cancelled_at = "cancelled", record.timestamp
        self._result(state, record, event, is_void=True)
        return None

    def _deal(self, record: Rec, event: Event, state: RoundState) -> str | None:
        place: Place = (event["seat"], event["position"])
        lying = state.cards.get(place)
        if lying == event["card"]:
            return "duplicate"
        if lying is not None or place in state.disputed:
            self._dispute(record, event, state, place, "seat_conflict")
            return "seat_conflict"
        refused = _impossible(state.shoe, None, event["card"])
        if refused is not None:
            self._dispute(record, event, state, place, refused)
            return refused
        _lay(state, place, event["card"])
        return None

    def _correct(self, record: Rec, event: Event, state: RoundState) -> str | None:
        place: Place = (event["seat"], event["position"])
        lying = state.cards.get(place)
        if lying == event["card"] and place not in state.disputed:
            return "duplicate"
        if state.ended == "complete" and self._is_too_late(record, state):
            return "correction_too_late"
        refused = _impossible(state.shoe, lying, event["card"])
        if refused is not None:
            self._dispute(record, event, state, place, refused)
            return refused
        state.disputed.discard(place)
        _lay(state, place, event["card"])
        if state.ended == "complete":
            self._result(state, record, event, is_void=False)
        return None

    def _dispute(self, record: Rec, event: Event, state: RoundState, place: Place, reason: str) -> None:
        if state.ended is not None:
            return
        was_held = state.is_held
        state.disputed.add(place)
        if not was_held:
            self._sink.held(record, event, state, reason)

    def _result(self, state: RoundState, record: Rec, event: Event, *, is_void: bool) -> None:
        state.revision += 1
        state.due.append(Revision(state.revision, record, event, None if is_void else dict(state.cards)))
        if state not in self.due:
            self.due.append(state)

    def _is_too_late(self, record: Rec, state: RoundState) -> bool:
        return record.timestamp - state.ended_at > self._window_ms

    def _again(self, record: Rec, *, is_same: bool, shown: str | None = None) -> None:
        if is_same:
            self._sink.duplicate(record)
        else:
            self._sink.dead(record, "id_conflict", shown)


def _others(record: Rec, event: Event, state: RoundState) -> str | None:
    """A cut card, a pause or its end."""
    del record
    if state.ended is not None:
        return "round_out_of_order"
    if event["type"] == "cut_card_drawn":
        if state.shoe.last_round not in (None, state.round_id):  # a shoe has one
            return "round_out_of_order"
        state.shoe.last_round = state.round_id
    else:
        state.is_paused = event["type"] == "round_paused"
    return None


def _close(record: Rec, event: Event, state: RoundState) -> str | None:
    del event
    if state.closed_at is not None:
        return "duplicate"
    state.closed_at = record.timestamp
    return None


def _impossible(shoe: ShoeState, lying: str | None, card: str) -> str | None:
    """Why a card cannot come to lie in place of another (or of none)."""
    if lying != card and shoe.copies[card] >= COPIES:
        return "ninth_copy"
    if lying is None and shoe.gone >= CARDS_OF_A_SHOE:
        return "shoe_exhausted"
    return None


def _lay(state: RoundState, place: Place, card: str) -> None:
    lying = state.cards.get(place)
    if lying is None:
        state.shoe.gone += 1
    else:
        state.shoe.copies[lying] -= 1
    state.cards[place] = card
    state.shoe.copies[card] += 1


def _hidden(state: RoundState, event: Event) -> str | None:
    """The card of an event that nobody may see, its round's betting not being closed."""
    return event.get("card") if state.closed_at is None else None
