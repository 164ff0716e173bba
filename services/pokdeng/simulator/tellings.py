"""What a table says: its events, before they are given an id and a time."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from pokdeng.rules import DECKS
from pokdeng.simulator.clock import time_text
from pokdeng.simulator.steps import Kind, Step
from pokdeng.wire import TopicKind

if TYPE_CHECKING:
    from pokdeng.rules import Card, Seat

REASONS = ("camera fault", "a card fell", "dealer changed", "scanner read twice", "table inspection")
"""What supervisors write."""


class Telling(NamedTuple):
    """An event of a table. `body` are its own fields as JSON members; `event_id` None: the next one is given."""

    kind: Kind
    event_type: str
    body: str
    event_id: str | None = None

    def step(self, table_id: str, key: bytes, event_id: str, at_ms: int) -> Step:
        """The record, said at a moment."""
        value = (
            f'{{"type":"{self.event_type}","event_id":"{self.event_id or event_id}",'
            f'"occurred_at":"{time_text(at_ms)}","table_id":"{table_id}",{self.body}}}'
        )
        return Step(at_ms, TopicKind.TABLE_EVENTS, key, value.encode(), self.kind)


def started(shoe_id: str, burn_card: Card, kind: Kind = Kind.SHOE) -> Telling:
    """A new shoe."""
    return Telling(kind, "shoe_started", f'"shoe_id":"{shoe_id}","decks":{DECKS},"burn_card":"{burn_card}"')


def opened(round_id: str, shoe_id: str, kind: Kind = Kind.ROUND) -> Telling:
    """A round begins."""
    return Telling(kind, "round_opened", f'"shoe_id":"{shoe_id}","round_id":"{round_id}"')


def closed(round_id: str, kind: Kind = Kind.CLOSE) -> Telling:
    """Betting ends."""
    return Telling(kind, "betting_closed", f'"round_id":"{round_id}"')


def cut_card(round_id: str, shoe_id: str, kind: Kind = Kind.CUT_CARD) -> Telling:
    """The cut card was drawn."""
    return Telling(kind, "cut_card_drawn", f'"shoe_id":"{shoe_id}","round_id":"{round_id}"')


def dealt(round_id: str, place: tuple[Seat, int], card: Card, kind: Kind = Kind.CARD) -> Telling:
    """A card at a place. The ten of hearts is written `10h`, as some tables do."""
    return Telling(kind, "card_dealt", _laid(round_id, place, card))


def corrected(round_id: str, place: tuple[Seat, int], card: Card, reason: str = REASONS[0]) -> Telling:
    """A card replaces what lies at a place."""
    return Telling(Kind.CORRECTION, "card_corrected", f'{_laid(round_id, place, card)},"reason":"{reason}"')


def paused(round_id: str, reason: str, kind: Kind = Kind.PAUSE) -> Telling:
    """A round is stopped."""
    return Telling(kind, "round_paused", f'"round_id":"{round_id}","reason":"{reason}"')


def resumed(round_id: str, reason: str) -> Telling:
    """A round goes on."""
    return Telling(Kind.RESUME, "round_resumed", f'"round_id":"{round_id}","reason":"{reason}"')


def cancelled(round_id: str, reason: str) -> Telling:
    """A round is void."""
    return Telling(Kind.ROUND_CANCEL, "round_cancelled", f'"round_id":"{round_id}","reason":"{reason}"')


def _laid(round_id: str, place: tuple[Seat, int], card: Card) -> str:
    seat, position = place
    text = f"10{card.suit}" if card.code == "Th" else card.code
    return f'"round_id":"{round_id}","seat":"{seat}","position":{position},"card":"{text}"'
