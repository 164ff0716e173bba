"""What producers say, as text: a line is a record. Readable first; the service's own events are not used.

    deposit A-1 10000               withdraw A-1 500
    shoe S-1 2h                     open R-1
    bet b1 A-1 player_1 1000        cancel b1 A-1
    close R-1                       deal R-1 W             twelve records, one for each card
    deal R-1 W but banker 2         eleven of them
    card R-1 banker 2 5h            correct R-1 banker 2 3d
    pause R-1    resume R-1    void R-1    cut R-1
    again e7                        the record with event id e7, byte for byte
    raw bets T-1 {...}              any value under any key; `-` is no value, or no key

Behind a line, in any order: `at T-2` (else T-1), `of R-2` (bets; else R-1), `in S-2` (rounds; else S-1), `in EUR`
(money; else THB), `#e7` (event id; else the next), `@+5`, `@-1`, `@0` (broker time in milliseconds from noon; else ten
after the line before), `saying 11:00` (occurred_at; else the broker time). What stands behind `;;` is said to people.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from tests.rounds.deals import IN_ORDER, card_of

NOON_MS = 1_767_268_800_000
"""2026-01-01T12:00:00Z: broker time 0 of the texts."""
_STEP_MS = 10
_FROM_THE_START_MS = -100_000

_DEFAULTS = {"at": "T-1", "of": "R-1"}
_WORDS = re.compile(r"\S+")


@dataclass(frozen=True, slots=True)
class Spoken:
    """One record of a producer, and its broker time."""

    topic: str
    key: bytes | None
    value: bytes | None
    at_ms: int


@dataclass(slots=True)
class Talk:
    """Turns texts into records; goes on counting where the text before ended."""

    now_ms: int = NOON_MS + _FROM_THE_START_MS
    _number: int = 0
    _said: dict[str, Spoken] = field(default_factory=dict)

    def tell(self, text: str) -> list[Spoken]:
        """The records of a text, in its order.

        >>> [spoken.at_ms - NOON_MS for spoken in Talk().tell("shoe S-1 2h @0 ;; noon sharp")]
        [0]
        """
        spoken: list[Spoken] = []
        for line in text.splitlines():
            said, *_ = line.split(";;")
            if said.strip():
                spoken += self._line(said.strip())
        return spoken

    def _line(self, line: str) -> list[Spoken]:
        if line.startswith("raw "):
            return [self._raw(line)]
        words, options = _options(line)
        verb, *rest = words
        if verb == "again":
            first = self._said[rest[0]]
            return [Spoken(first.topic, first.key, first.value, self._time(options))]
        if verb == "deal":
            return self._deal(rest, options)
        topic, key, body = _BODIES[verb](rest, options)
        return [self._record(topic, key, body, options)]

    def _deal(self, words: list[str], options: dict[str, str]) -> list[Spoken]:
        round_id, deal, *but = words
        missing = (but[1], int(but[2])) if but else None
        cards = []
        for seat, position in IN_ORDER:
            if (seat.value, position) != missing:
                card = str(card_of(deal, seat, position))
                _, key, body = _card([round_id, seat.value, str(position), card], options)
                cards.append(self._record("table-events", key, body, options))
                options.pop("@", None)
        return cards

    def _record(self, topic: str, key: str, body: dict[str, Any], options: dict[str, str]) -> Spoken:
        self._number += 1
        at_ms = self._time(options)
        event_id = options.get("#", f"e{self._number}")
        occurred_at = options.get("saying", time_text(at_ms))
        event = {"type": body["type"], "event_id": event_id, "occurred_at": occurred_at, **body}
        spoken = Spoken(topic, key.encode(), json.dumps(event).encode(), at_ms)
        self._said[event_id] = spoken
        return spoken

    def _raw(self, line: str) -> Spoken:
        _, topic, key, value = line.split(" ", 3)
        at_ms = self._time({})
        return Spoken(topic, None if key == "-" else key.encode(), None if value == "-" else value.encode(), at_ms)

    def _time(self, options: dict[str, str]) -> int:
        at = options.get("@")
        self.now_ms = self.now_ms + _STEP_MS if at is None else NOON_MS + int(at)
        return self.now_ms


def time_text(at_ms: int) -> str:
    """A broker time as people write it."""
    return datetime.fromtimestamp(at_ms / 1000, UTC).isoformat(timespec="milliseconds")


def bet_value(**fields: str) -> str:
    """A bet of 100 by A-1, as JSON text; a field is replaced by any text, or left out where that is empty.

    >>> bet_value(stake="true")[-33:]
    '"stake": true, "currency": "THB"}'
    """
    texts = {
        "type": '"bet_placed"',
        "event_id": '"e-raw"',
        "occurred_at": '"2026-01-01T12:00:00Z"',
        "bet_id": '"b-raw"',
        "table_id": '"T-1"',
        "round_id": '"R-1"',
        "account_id": '"A-1"',
        "bet": '"player_1"',
        "stake": "100",
        "currency": '"THB"',
    } | fields
    return "{" + ", ".join(f'"{name}": {text}' for name, text in texts.items() if text) + "}"


def _options(line: str) -> tuple[list[str], dict[str, str]]:
    words: list[str] = []
    options: dict[str, str] = {}
    said = iter(_WORDS.findall(line))
    for word in said:
        if word[0] in "@#":
            options[word[0]] = word[1:]
        elif word in {"at", "of", "in", "saying"}:
            options[word] = next(said)
        else:
            words.append(word)
    if "saying" in options:
        options["saying"] = f"2026-01-01T{options['saying']}:00Z"
    return words, options


def _of(options: dict[str, str], name: str) -> str:
    return options.get(name, _DEFAULTS[name])


def _money(options: dict[str, str]) -> str:
    return options.get("in", "THB")


def _shoe(words: list[str], options: dict[str, str]) -> tuple[str, str, dict[str, Any]]:
    table = _of(options, "at")
    body = {"type": "shoe_started", "table_id": table, "shoe_id": words[0], "decks": 8, "burn_card": words[1]}
    return "table-events", table, body


def _open(words: list[str], options: dict[str, str]) -> tuple[str, str, dict[str, Any]]:
    table = _of(options, "at")
    shoe = options.get("in", "S-1")
    return "table-events", table, {"type": "round_opened", "table_id": table, "shoe_id": shoe, "round_id": words[0]}


def _cut(words: list[str], options: dict[str, str]) -> tuple[str, str, dict[str, Any]]:
    topic, table, body = _open(words, options)
    return topic, table, body | {"type": "cut_card_drawn"}


def _close(words: list[str], options: dict[str, str]) -> tuple[str, str, dict[str, Any]]:
    table = _of(options, "at")
    return "table-events", table, {"type": "betting_closed", "table_id": table, "round_id": words[0]}


def _supervisor(event_type: str) -> Any:
    def body(words: list[str], options: dict[str, str]) -> tuple[str, str, dict[str, Any]]:
        table = _of(options, "at")
        said = {"type": event_type, "table_id": table, "round_id": words[0], "reason": "camera fault"}
        return "table-events", table, said

    return body


def _card(words: list[str], options: dict[str, str]) -> tuple[str, str, dict[str, Any]]:
    table = _of(options, "at")
    round_id, seat, position, card = words
    body = {
        "type": "card_dealt",
        "table_id": table,
        "round_id": round_id,
        "seat": seat,
        "position": int(position),
        "card": card,
    }
    return "table-events", table, body


def _correct(words: list[str], options: dict[str, str]) -> tuple[str, str, dict[str, Any]]:
    topic, table, body = _card(words, options)
    return topic, table, body | {"type": "card_corrected", "reason": "misread"}


def _bet(words: list[str], options: dict[str, str]) -> tuple[str, str, dict[str, Any]]:
    bet_id, account, bet, stake = words
    table = _of(options, "at")
    body = {
        "type": "bet_placed",
        "bet_id": bet_id,
        "table_id": table,
        "round_id": _of(options, "of"),
        "account_id": account,
        "bet": bet,
        "stake": int(stake),
        "currency": _money(options),
    }
    return "bets", table, body


def _cancel(words: list[str], options: dict[str, str]) -> tuple[str, str, dict[str, Any]]:
    bet_id, account = words
    table = _of(options, "at")
    body = {
        "type": "bet_cancelled",
        "bet_id": bet_id,
        "table_id": table,
        "round_id": _of(options, "of"),
        "account_id": account,
    }
    return "bets", table, body


def _transfer(event_type: str) -> Any:
    def body(words: list[str], options: dict[str, str]) -> tuple[str, str, dict[str, Any]]:
        account, amount, *named = words
        transfer = named[0] if named else f"{event_type.removeprefix('funds_')}-{account}-{amount}"
        said = {
            "type": event_type,
            "transfer_id": transfer,
            "account_id": account,
            "amount": int(amount),
            "currency": _money(options),
        }
        return "funds", account, said

    return body


_BODIES: dict[str, Any] = {
    "shoe": _shoe,
    "open": _open,
    "close": _close,
    "card": _card,
    "correct": _correct,
    "cut": _cut,
    "pause": _supervisor("round_paused"),
    "resume": _supervisor("round_resumed"),
    "void": _supervisor("round_cancelled"),
    "bet": _bet,
    "cancel": _cancel,
    "deposit": _transfer("funds_deposited"),
    "withdraw": _transfer("funds_withdrawn"),
}

FIVE_ACCOUNTS = "\n".join(f"deposit A-{number} 10000" for number in range(1, 6))
"""A-1 .. A-5 hold 10000/0/1."""

S1_R1 = "shoe S-1 2h\nopen R-1"
"""A fresh shoe, and its first round."""
