"""Any valid event, made from the definitions: strategies for hypothesis, and one plain example of each input."""

from __future__ import annotations

import string
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from enum import StrEnum
from types import UnionType
from typing import Any, Final, Literal, get_args, get_origin, get_type_hints

from hypothesis import strategies as st

from pokdeng.events import ids
from pokdeng.events.inputs import InputEvent
from pokdeng.events.outputs import OutputEvent
from pokdeng.rules import CARDS, VALUES, Card, Odds, PayLine
from pokdeng.wire import encode

_LETTERS_AND_DIGITS: Final = string.ascii_letters + string.digits
IDS: Final = st.builds(
    str.__add__, st.sampled_from(_LETTERS_AND_DIGITS), st.text(_LETTERS_AND_DIGITS + "._:-", max_size=63)
)
AMOUNTS: Final = st.integers(1, 10**12)
BALANCES: Final = st.integers(-(2**53) + 1, 2**53 - 1)
TEXTS: Final = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=200)
CURRENCIES: Final = st.text(string.ascii_uppercase, min_size=3, max_size=3)
TIMES: Final = st.builds(
    "{:%Y-%m-%dT%H:%M:%S}{}{}".format,
    st.datetimes(),
    st.sampled_from(["", ".1", ".123456", ".000000000000"]),
    st.sampled_from(["Z", "+07:00", "-23:59"]),
).filter(lambda text: len(text.split("-")[0]) == 4)
CARD_CODES: Final = st.sampled_from([str(card) for card in CARDS])

_BY_TYPE: Final[dict[Any, st.SearchStrategy[Any]]] = {
    **dict.fromkeys((ids.EventId, ids.TableId, ids.ShoeId, ids.RoundId, ids.BetId, ids.AccountId, ids.TransferId), IDS),
    ids.Currency: CURRENCIES,
    ids.Timestamp: TIMES,
    ids.Reason: TEXTS,
    ids.Minor: AMOUNTS,
    Card: st.sampled_from(CARDS),
    int: st.integers(1, 2**53),
    bool: st.booleans(),
    str: TEXTS,
}
_BY_NAME: Final[dict[str, st.SearchStrategy[Any]]] = {
    "available": BALANCES,
    "cards": st.tuples(CARD_CODES, CARD_CODES),
    "house_net": BALANCES,
    "net": BALANCES,
    "odds": st.sampled_from([*map(str, Odds), None]),
    "overdrawn": st.sampled_from([True, None]),
    "points": st.integers(0, 9),
    "rule": st.sampled_from([line.value for line in PayLine]),
    "value": st.sampled_from(VALUES),
}


def events(event_class: Any) -> st.SearchStrategy[Any]:
    """Any valid instance of a dataclass of the events."""
    hints = get_type_hints(event_class)
    by_name = {
        field.name: _BY_NAME[field.name] if field.name in _BY_NAME else _values(field.name, hints[field.name])
        for field in fields(event_class)
    }
    return st.builds(event_class, **by_name)


def _values(name: str, annotation: Any) -> st.SearchStrategy[Any]:
    if annotation in _BY_TYPE:
        return _BY_TYPE[annotation]
    if is_dataclass(annotation):
        return events(annotation)
    arguments = get_args(annotation)
    if get_origin(annotation) is Literal or (isinstance(annotation, type) and issubclass(annotation, StrEnum)):
        return st.sampled_from(arguments or annotation)
    if isinstance(annotation, UnionType):
        return st.one_of(*(st.none() if kind is type(None) else _values(name, kind) for kind in arguments))
    if get_origin(annotation) is Mapping:
        return st.dictionaries(CURRENCIES, _values(name, arguments[1]), max_size=4)
    if name == "players":
        return st.tuples(*[_values(name, arguments[0])] * 5)
    raise TypeError(f"no examples of {name}: {annotation}")


INPUT_CLASSES: Final[tuple[Any, ...]] = get_args(InputEvent)
OUTPUT_CLASSES: Final[tuple[Any, ...]] = get_args(OutputEvent)
INPUTS: Final = st.one_of(*map(events, INPUT_CLASSES))
OUTPUTS: Final = st.one_of(*map(events, OUTPUT_CLASSES))

_PLAIN: Final[dict[str, Any]] = {
    "event_id": "e-1",
    "occurred_at": "2026-01-02T03:04:05.678Z",
    "table_id": "T-1",
    "shoe_id": "S-1",
    "round_id": "R-1",
    "bet_id": "b1",
    "account_id": "A-1",
    "transfer_id": "t1",
    "decks": 8,
    "burn_card": Card.parse("2h"),
    "seat": "player_1",
    "position": 1,
    "card": Card.parse("Th"),
    "reason": "the dealer was slow",
    "bet": "player_1",
    "stake": 1000,
    "amount": 10000,
    "currency": "THB",
}


def plain(event_class: Any) -> Any:
    """One plain instance of an input."""
    hints = get_type_hints(event_class)
    members = {}
    for field in fields(event_class):
        value, kind = _PLAIN[field.name], hints[field.name]
        members[field.name] = kind(value) if isinstance(kind, type) and issubclass(kind, StrEnum) else value
    return event_class(**members)


def record(event_class: Any, **members: bytes) -> bytes:
    """The bytes of a plain input, some of its members' values written as given."""
    raw = encode(plain(event_class))
    for name, value in members.items():
        start = raw.index(f'"{name}":'.encode()) + len(name) + 3
        end = min(place for place in (raw.find(b",", start), raw.rindex(b"}")) if place >= 0)
        raw = raw[:start] + value + raw[end:]
    return raw
