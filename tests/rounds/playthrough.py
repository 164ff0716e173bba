"""Rounds as text: a line says what comes, and after the arrow what must become of it.

    started S-1 2h                          -> applied
    opened R-1 in S-1                       -> applied
    deal R-1 W but banker 2                 -> applied           each of the eleven cards
    dealt R-1 banker 2 5h #e1 @500          -> applied           event id e1, broker time 500
    again #e1                               -> duplicate         the same event once more
    bet R-1 @400 behind the seal            -> betting_closed    what the round says of a bet at that time
    cancel R-1 @400                         -> taken             the same of a bet's cancel
    closed R-1                              -> ends R-1
    deal R-2 W                              -> applied; last ends R-2
    corrected R-2 banker 1 5h               -> revises R-2

Event ids and broker times count up by themselves. A blank line says nothing, nor does what stands behind `;;`.
"""

from __future__ import annotations

import re
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from pokdeng.events.ids import EventId, Reason, RoundId, ShoeId, TableId, Timestamp
from pokdeng.events.inputs import (
    BettingClosed,
    CardCorrected,
    CardDealt,
    CutCardDrawn,
    RoundCancelled,
    RoundOpened,
    RoundPaused,
    RoundResumed,
    ShoeStarted,
    TableEvent,
)
from pokdeng.rounds import (
    Applied,
    Duplicate,
    Mark,
    Refused,
    Round,
    Shoe,
    Table,
    Verdict,
    evolve,
    place_of,
    refusal_of_bet,
    refusal_of_cancel,
)
from pokdeng.rules import CARDS, Card, Seat
from tests.rounds.deals import IN_ORDER, card_of

if TYPE_CHECKING:
    from collections.abc import Iterator

TABLE = TableId("T-1")
_CODES = {card.code for card in CARDS} | {f"10{suit}" for suit in "cdhs"}
_PLAIN: dict[str, type[Any]] = {
    "closed": BettingClosed,
    "paused": RoundPaused,
    "resumed": RoundResumed,
    "cancelled": RoundCancelled,
}


def said(verdict: Verdict) -> str:
    """A verdict as it is written behind the arrow."""
    match verdict:
        case Applied(revised=round_id) if round_id is not None:
            return f"revises {round_id}"
        case Applied(held=None, over=None):
            return "applied"
        case Applied(held=(round_id, why), over=None):
            return f"applied, holds {round_id} {why}"
        case Applied(over=round_id):
            return f"ends {round_id}"
        case Duplicate():
            return "duplicate"
        case Refused(held=held):
            return f"refused {verdict.reason}" + ("" if held is None else f", holds {held[0]} {held[1]}")


def shows_a_card(text: str) -> bool:
    """Whether a text has a card in it, as any word."""
    return any(word in _CODES for word in re.findall(r"[A-Za-z0-9]+", text))


def frozen(table: Table) -> Table:
    """The same table, of which nothing can be changed in place."""
    rounds = {
        name: round_._replace(disputes=MappingProxyType(round_.disputes), seen=MappingProxyType(round_.seen))
        for name, round_ in table.rounds.items()
    }
    return table._replace(shoes=MappingProxyType(table.shoes), rounds=MappingProxyType(rounds))


class Play:
    """A table and the log behind it."""

    def __init__(self, table: Table | None = None) -> None:
        """Nothing came yet, or what made `table`."""
        self.table = table or Table(TABLE)
        self.details: list[str] = []
        """What was said of each refusal."""
        self._offset = 0
        self._at_ms = 1000
        self._events: dict[str, TableEvent] = {}

    def play(self, text: str) -> Play:
        """Play lines, and check what becomes of each."""
        for line in text.splitlines():
            left, arrow, right = line.partition(";;")[0].partition("->")
            if not left.strip():
                continue
            assert arrow, f"no arrow in: {line}"
            got = self._line(left.strip())
            every, _, last = right.strip().partition("; last ")
            expected = [every] * (len(got) - 1) + [last or every]
            assert got == expected, f"{line.strip()}: got {got}"
        return self

    def round(self, round_id: str) -> Round:
        """A round as it is now."""
        return self.table.rounds[RoundId(round_id)]

    def shoe(self, shoe_id: str) -> Shoe:
        """A shoe as it is now."""
        return self.table.shoes[ShoeId(shoe_id)]

    def card(self, round_id: str, seat: str, position: int) -> str | None:
        """What lies at a place, as it is written."""
        card = self.round(round_id).places[place_of(Seat(seat), position)]
        return None if card is None else card.code

    def take(self, event: TableEvent, at_ms: int | None = None) -> Verdict:
        """One event at the end of the log."""
        self._at_ms = self._at_ms + 1 if at_ms is None else at_ms
        self._offset += 1
        self._events[event.event_id] = event
        self.table, verdict = evolve(frozen(self.table), event, Mark(self._offset, self._at_ms))
        if isinstance(verdict, Refused):
            self.details.append(verdict.detail)
            assert not shows_a_card(verdict.detail)
        return verdict

    def _line(self, left: str) -> list[str]:
        verb, *words = left.split()
        ids = [word[1:] for word in words if word.startswith("#")]
        times = [int(word[1:]) for word in words if word.startswith("@")]
        words = [word for word in words if word[0] not in "#@"]
        at_ms = times[0] if times else None
        if verb in {"bet", "cancel"}:
            return [self._refusal(verb, words, self._at_ms if at_ms is None else at_ms)]
        if verb == "again":
            return [said(self.take(self._events[name], at_ms)) for name in ids]
        events = self._events_of(verb, words, ids[0] if ids else None)
        return [said(self.take(event, at_ms)) for event in events]

    def _refusal(self, verb: str, words: list[str], at_ms: int) -> str:
        round_ = self.table.rounds.get(RoundId(words[0]))
        refusal = refusal_of_bet if verb == "bet" else refusal_of_cancel
        return refusal(round_, at_ms, is_behind_seal=words[1:] == ["behind", "the", "seal"]) or "taken"

    def _events_of(self, verb: str, words: list[str], event_id: str | None) -> Iterator[TableEvent]:
        match verb, words:
            case "started", [shoe, card]:
                common = self._common(event_id)
                yield ShoeStarted(**common, shoe_id=ShoeId(shoe), decks=8, burn_card=Card.parse(card))
            case "opened", [round_, "in", shoe]:
                yield RoundOpened(**self._common(event_id), round_id=RoundId(round_), shoe_id=ShoeId(shoe))
            case "cut", [round_, "in", shoe]:
                yield CutCardDrawn(**self._common(event_id), round_id=RoundId(round_), shoe_id=ShoeId(shoe))
            case "dealt" | "corrected", [round_, seat, position, card]:
                yield self._card(verb, event_id, round_, (Seat(seat), int(position)), Card.parse(card))
            case "deal", [round_, deal, *but]:
                left_out = (Seat(but[1]), int(but[2])) if but else None
                for place in IN_ORDER:
                    if place != left_out:
                        yield self._card("dealt", None, round_, place, card_of(deal, *place))
            case _, [round_, *why] if verb in _PLAIN:
                more = {} if verb == "closed" else {"reason": Reason(" ".join(why) or "as asked")}
                yield _PLAIN[verb](**self._common(event_id), round_id=RoundId(round_), **more)
            case _:
                raise ValueError(f"not a line: {verb} {' '.join(words)}")

    def _card(
        self, verb: str, event_id: str | None, round_: str, place: tuple[Seat, int], card: Card
    ) -> CardDealt | CardCorrected:
        seat, position = place
        assert position in {1, 2}
        at: dict[str, Any] = {"round_id": RoundId(round_), "seat": seat, "position": position, "card": card}
        if verb == "dealt":
            return CardDealt(**self._common(event_id), **at)
        return CardCorrected(**self._common(event_id), **at, reason=Reason("misread"))

    def _common(self, event_id: str | None) -> dict[str, Any]:
        name = event_id or f"auto-{self._offset + 1}"
        occurred_at = Timestamp(f"occurred-{self._offset + 1}")
        return {"event_id": EventId(name), "occurred_at": occurred_at, "table_id": TABLE}


def play(text: str) -> Play:
    """Play lines at a table without a past."""
    return Play().play(text)


def opened(text: str = "") -> Play:
    """Play lines at a table whose round R-1 of shoe S-1 was just opened."""
    return play("started S-1 2h -> applied\nopened R-1 in S-1 -> applied").play(text)
