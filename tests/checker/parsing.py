"""Reads an input record as the contract says it must be read: an event, or the reason why it is none."""

from __future__ import annotations

import json
import re
from datetime import date
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from tests.checker.records import BETS, FUNDS, TABLE_EVENTS, Rec, Topics

if TYPE_CHECKING:
    from collections.abc import Callable

Event: TypeAlias = dict[str, Any]
"""The contract's fields of an event, cards in their one spelling; what is not in the contract is left out."""

LARGEST_BYTES = 65_536
DEEPEST = 64
LARGEST_NUMBER = 10**12
LONGEST_INTEGER = 30
LONGEST_REASON = 200
DECKS = 8

_ROUND = ("table_id", "round_id")
_PLACE = (*_ROUND, "seat", "position", "card")
_TRANSFER = ("transfer_id", "account_id", "amount", "currency")
FIELDS: dict[str, dict[str, tuple[str, ...]]] = {
    TABLE_EVENTS: {
        "shoe_started": ("table_id", "shoe_id", "decks", "burn_card"),
        "round_opened": ("table_id", "shoe_id", "round_id"),
        "betting_closed": _ROUND,
        "card_dealt": _PLACE,
        "card_corrected": (*_PLACE, "reason"),
        "cut_card_drawn": ("table_id", "shoe_id", "round_id"),
        "round_paused": (*_ROUND, "reason"),
        "round_resumed": (*_ROUND, "reason"),
        "round_cancelled": (*_ROUND, "reason"),
    },
    BETS: {
        "bet_placed": ("bet_id", *_ROUND, "account_id", "bet", "stake", "currency"),
        "bet_cancelled": ("bet_id", *_ROUND, "account_id"),
    },
    FUNDS: {"funds_deposited": _TRANSFER, "funds_withdrawn": _TRANSFER},
}
KEY_FIELD = {TABLE_EVENTS: "table_id", BETS: "table_id", FUNDS: "account_id"}

SEATS = ("player_1", "player_2", "player_3", "player_4", "player_5", "banker")


class Read(NamedTuple):
    """What a record is: an event, or unusable for a reason (an event may be there all the same, for its texts)."""

    event: Event | None
    reason: str | None


class _NotJsonError(ValueError):
    pass


class _TwiceError(Exception):
    pass


class _Odd:
    """A number that no field takes: a fraction, an exponent, a sign, too many digits."""


_ODD = _Odd()


def read(record: Rec, kind: str, topics: Topics) -> Read:
    """Read one record of an input topic: the first reason that fits, of those that need no state."""
    value = record.value
    if value is None:
        return Read(None, "tombstone")
    if len(value) > LARGEST_BYTES or len(record.key or b"") > LARGEST_BYTES:
        return Read(None, "too_large")
    event, reason = _read_value(value, kind)
    if event is None:
        return Read(None, reason)
    key = event[KEY_FIELD[kind]].encode()
    if record.key != key:
        return Read(event, "key_mismatch")
    if topics.partition(record.topic, key) != record.partition:
        return Read(event, "wrong_partition")
    return Read(event, None)


def _read_value(value: bytes, kind: str) -> Read:
    try:
        data, is_clean = _load(value)
    except (ValueError, RecursionError):
        return Read(None, "not_json")
    event_type = data.get("type") if isinstance(data, dict) else None
    if isinstance(event_type, str) and event_type not in FIELDS[kind]:
        return Read(None, "unknown_type")
    event = _event(data, kind) if is_clean and isinstance(event_type, str) else None
    return Read(event, None if event is not None else "not_an_event")


def content(event: Event) -> tuple[object, ...]:
    """What two deliveries of one id must share: every field but `event_id` and `occurred_at`."""
    return tuple(value for name, value in event.items() if name not in {"event_id", "occurred_at"})


def _load(value: bytes) -> tuple[Any, bool]:
    """The JSON of a value, and whether no object in it has a name twice."""
    text = value.decode()
    if text.startswith("\ufeff"):
        raise _NotJsonError("a byte order mark")
    is_clean = True
    try:
        data = _CLEAN.decode(text)
    except _TwiceError:
        data, is_clean = _LENIENT.decode(text), False
    if "\\u" in text:
        _refuse_surrogates(_PAIRS.decode(text))
    if text.count("[") + text.count("{") > DEEPEST and _depth(text) > DEEPEST:
        raise _NotJsonError("nested too deep")
    return data, is_clean


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) != len(pairs):
        raise _TwiceError
    return made


def _integer(digits: str) -> int | _Odd:
    return _ODD if digits.startswith("-") or len(digits) > LONGEST_INTEGER else int(digits)


def _constant(name: str) -> float:
    raise _NotJsonError(name)


_CLEAN, _LENIENT, _PAIRS = (
    json.JSONDecoder(object_pairs_hook=hook, parse_int=_integer, parse_float=lambda _: _ODD, parse_constant=_constant)
    for hook in (_unique, dict, list)
)


def _refuse_surrogates(data: Any) -> None:
    if isinstance(data, str):
        data.encode()  # UnicodeEncodeError is a ValueError
    elif isinstance(data, list | tuple):
        for part in data:
            _refuse_surrogates(part)


def _depth(text: str) -> int:
    """How deep sound JSON is nested, whatever of it a name that stands twice hides."""
    deepest = level = 0
    for bracket in _BRACKETS.findall(_TEXTS.sub("", text)):
        level += 1 if bracket in "[{" else -1
        deepest = max(deepest, level)
    return deepest


def _event(data: dict[str, Any], kind: str) -> Event | None:
    event: Event = {"type": data["type"]}
    for name in ("event_id", "occurred_at", *FIELDS[kind][data["type"]]):
        value = data.get(name)
        if not _fits(name, value):
            return None
        event[name] = _same_spelling(value) if name in {"card", "burn_card"} else value
    return event


def _same_spelling(card: Any) -> str:
    return f"T{card[-1]}" if card.startswith("10") else str(card)


def _is_time(value: Any) -> bool:
    if not isinstance(value, str) or _TIME.fullmatch(value) is None:
        return False
    try:
        date.fromisoformat(value[:10])
    except ValueError:
        return False
    return True


def _whole(most: int) -> Callable[[Any], bool]:
    return lambda value: type(value) is int and 1 <= value <= most


def _text(pattern: str) -> Callable[[Any], bool]:
    matches = re.compile(pattern).fullmatch
    return lambda value: isinstance(value, str) and matches(value) is not None


_BRACKETS = re.compile(r"[\[\]{}]")
_TEXTS = re.compile(r'"(?:[^"\\]|\\.)*"', re.DOTALL)
_TIME = re.compile(
    r"\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])[Tt]([01]\d|2[0-3]):[0-5]\d:([0-5]\d|60)(\.\d+)?"
    r"([Zz]|[+-]([01]\d|2[0-3]):[0-5]\d)"
)
_RULES: dict[str, Callable[[Any], bool]] = {
    "stake": _whole(LARGEST_NUMBER),
    "amount": _whole(LARGEST_NUMBER),
    "position": _whole(2),
    "decks": lambda value: type(value) is int and value == DECKS,
    "occurred_at": _is_time,
    "card": _text(r"(10|[A2-9TJQK])[cdhs]"),
    "burn_card": _text(r"(10|[A2-9TJQK])[cdhs]"),
    "seat": _text("|".join(SEATS)),
    "bet": _text(r"player_[1-5](_pair)?"),
    "currency": _text(r"[A-Z]{3}"),
    "reason": lambda value: isinstance(value, str) and 1 <= len(value) <= LONGEST_REASON,
}
_fits_id = _text(r"[A-Za-z0-9][A-Za-z0-9._:-]{0,63}")


def _fits(name: str, value: Any) -> bool:
    return _RULES.get(name, _fits_id)(value)
