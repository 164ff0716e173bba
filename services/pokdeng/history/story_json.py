"""The story of a round as JSON: for programs, and for pages. Amounts in minor units, times RFC 3339. Pure.

Shows no card before the round's betting is closed, and then no more of a dead letter than why it died.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import msgspec

from pokdeng.events.inputs import (
    BetCancelled,
    CardCorrected,
    CardDealt,
    CutCardDrawn,
    RoundCancelled,
    RoundOpened,
    RoundPaused,
    RoundResumed,
)
from pokdeng.events.outputs import RoundHeld, RoundRefunded, RoundSettled
from pokdeng.rules import Seat
from pokdeng.wire import encode

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pokdeng.events.outputs import OutputEvent
    from pokdeng.history.letters import Letter
    from pokdeng.history.story import BetStory, RoundStory, Saying, TableMoment
    from pokdeng.stream.port import Record


def time_text(at_ms: int | None) -> str | None:
    """A broker time as RFC 3339 with milliseconds, in UTC.

    >>> time_text(1_767_268_800_010)
    '2026-01-01T12:00:00.010Z'
    """
    if at_ms is None:
        return None
    return datetime.fromtimestamp(at_ms / 1000, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def json_of_story(story: RoundStory) -> dict[str, Any]:
    """All of it."""
    return {
        "table_id": story.table_id,
        "round_id": story.round_id,
        "shoe_id": story.shoe_id,
        "status": story.status,
        "opened_at": time_text(story.opened_at_ms),
        "closed_at": time_text(story.closed_at_ms),
        "hands": _hands(story),
        "events": [_event(story, moment) for moment in story.moments],
        "bets": [json_of_bet(story, bet) for bet in story.bets],
        "rounds": [_saying(saying) for saying in story.sayings],
        "dead_letters": [json_of_letter(letter) for letter in story.letters],
        "inputs_kept": story.has_inputs,
        "bets_looked_for": {"from": time_text(story.bets_from_ms), "until": time_text(story.bets_until_ms)},
    }


def json_of_bet(story: RoundStory, bet: BetStory) -> dict[str, Any]:
    """One bet: its records, its decision, its results by revision."""
    placed = bet.placed
    about: dict[str, Any] = {"bet_id": bet.bet_id}
    facts = [fact for _, fact in (*bet.verdicts, *bet.results)]
    source = placed[1] if placed is not None else (facts[0] if facts else None)
    if source is not None:
        about |= {name: getattr(source, name) for name in ("account_id", "bet", "stake", "currency")}
    if placed is not None:
        about |= {"placed": _place(placed[0]), "late_ms": story.late_ms(placed[0])}
    about["records"] = [
        _place(record) | {"type": event.event_type, "late_ms": story.late_ms(record)} for record, event in bet.asked
    ]
    decisions: list[tuple[Record, OutputEvent]] = [*bet.verdicts, *bet.refused_cancels]
    if bet.withdrawn is not None:
        decisions.append(bet.withdrawn)
    about["decisions"] = [_fact(*pair) for pair in decisions]
    about["results"] = [_fact(*pair) for pair in bet.results]
    about["cancels"] = sum(isinstance(event, BetCancelled) for _, event in bet.asked)
    return about


def json_of_letter(letter: Letter) -> dict[str, Any]:
    """A dead letter without its value."""
    info = letter.info
    action = letter.action
    return {
        "place": f"{letter.record.partition}:{letter.record.offset}",
        "at": time_text(letter.record.timestamp),
        "reason": info.reason,
        "detail": info.detail,
        "type": letter.event_type,
        "key": letter.shown_key,
        "topic": info.topic,
        "partition": info.partition,
        "offset": info.offset,
        "appended_at": time_text(info.timestamp_ms),
        "truncated": info.is_truncated,
        "bytes": len(letter.record.value or b""),
        "action": None if action is None else {"action": action.action, "by": action.by, "note": action.note},
    }


def _hands(story: RoundStory) -> Mapping[str, Any] | None:
    if not story.has_cards:
        return None
    hands = story.hands
    shown: dict[str, Any] = {}
    for seat in Seat:
        cards = [str(card) for position in (1, 2) if (card := story.places.get((seat, position))) is not None]
        hand = hands.get(seat)
        shown[seat] = {"cards": cards} | (
            {}
            if hand is None
            else {
                "value": hand.value,
                "points": hand.points,
                "combination": hand.combination,
                "pair": hand.is_pair,
                "flush": hand.is_flush,
            }
        )
    return shown


def _event(story: RoundStory, moment: TableMoment) -> dict[str, Any]:
    event = moment.event
    said = _place(moment.record) | {"type": event.event_type, "became": moment.became}
    match event:
        case RoundOpened() | CutCardDrawn():
            said["shoe_id"] = event.shoe_id
        case CardDealt() | CardCorrected():
            said |= {"seat": event.seat, "position": event.position}
            said["card"] = str(event.card) if story.has_cards else None
        case RoundPaused() | RoundResumed() | RoundCancelled() if story.has_cards or not isinstance(
            event, RoundPaused | RoundResumed
        ):
            said["reason"] = event.reason
        case _:
            pass
    if moment.letter is not None:
        said |= {"dead_letter": moment.letter.info.reason, "detail": moment.letter.info.detail}
    return said


def _saying(saying: Saying) -> dict[str, Any]:
    match saying.fact:
        case RoundSettled() | RoundRefunded() | RoundHeld():
            return _fact(saying.record, saying.fact)


def _place(record: Record) -> dict[str, Any]:
    return {
        "topic": record.topic,
        "partition": record.partition,
        "offset": record.offset,
        "at": time_text(record.timestamp),
    }


def _fact(record: Record, fact: OutputEvent) -> dict[str, Any]:
    """A fact as it was said, and where. It shows hands only where the round was settled."""
    said: dict[str, Any] = msgspec.json.decode(encode(fact))
    return _place(record) | said
