"""Records that are no events: each reason of a dead letter that needs no state, many ways each."""

from __future__ import annotations

import json
from itertools import cycle
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from pokdeng.simulator.clock import time_text
from pokdeng.simulator.steps import Kind, Step
from pokdeng.wire import BYTES_MAX, TopicKind

if TYPE_CHECKING:
    from collections.abc import Callable

    from pokdeng.simulator.crowd import Player

_DEEP: Final = "[" * 70 + "]" * 70
_BAD_BETS: Final[tuple[dict[str, Any], ...]] = (
    {"stake": "100"},
    {"stake": True},
    {"stake": None},
    {"stake": 0},
    {"stake": -100},
    {"stake": 10**12 + 1},
    {"stake": 2**63},
    {"stake": 100.5},
    {"bet": "banker"},
    {"bet": "player_6"},
    {"currency": "thb"},
    {"currency": "BAHT"},
    {"account_id": "}x"},
    {"account_id": ""},
    {"account_id": "a" * 65},
    {"bet_id": " b"},
    {"round_id": 7},
    {"occurred_at": "2026-01-01T00:00:00"},
    {"occurred_at": "yesterday"},
    {"event_id": None},
    {"type": None},
)
_BAD_CARDS: Final[tuple[dict[str, Any], ...]] = (
    {"position": 3},
    {"position": "1"},
    {"position": True},
    {"seat": "player_6"},
    {"seat": "Banker"},
    {"card": "1h"},
    {"card": "th"},
    {"card": ""},
    {"round_id": "-r"},
)
_BAD_TRANSFERS: Final[tuple[dict[str, Any], ...]] = (
    {"amount": 0},
    {"amount": "5000"},
    {"amount": 10**12 + 1},
    {"currency": None},
    {"transfer_id": "a/b"},
)


class Raw(NamedTuple):
    """A record as it is to be sent."""

    topic: TopicKind
    key: bytes | None
    value: bytes | None
    astray: bool = False


class Good(NamedTuple):
    """An event that would be taken, to be spoiled."""

    topic: TopicKind
    key: bytes
    event: dict[str, Any]

    @property
    def text(self) -> str:
        """As JSON."""
        return json.dumps(self.event, separators=(",", ":"))

    def raw(self, text: str | bytes) -> Raw:
        """Another value under its key."""
        return Raw(self.topic, self.key, text.encode() if isinstance(text, str) else text)

    def with_fields(self, **fields: Any) -> Raw:
        """Other fields."""
        return self.raw(json.dumps(self.event | fields))

    def without(self, name: str) -> Raw:
        """A field less."""
        return self.raw(json.dumps({other: value for other, value in self.event.items() if other != name}))


class Spoiler:
    """Goes through all ways to spoil a record, one after the other."""

    def __init__(self) -> None:
        """Begin with the first."""
        self._ways = cycle(_WAYS)
        self._count = 0

    def step(self, at_ms: int, table_id: str, round_id: str, player: Player) -> Step:
        """The next unusable record; it names a real table, round and account, and ids of its own."""
        self._count += 1
        common = {"event_id": f"e-{round_id}-m{self._count}", "occurred_at": time_text(at_ms)}
        topic, spoil = next(self._ways)
        raw = spoil(_good(topic, common, table_id, round_id, player, self._count))
        return Step(at_ms, raw.topic, raw.key, raw.value, Kind.MALFORMED, raw.astray)


def _good(topic: TopicKind, common: dict[str, Any], table_id: str, round_id: str, player: Player, number: int) -> Good:
    if topic is TopicKind.TABLE_EVENTS:
        place = {"seat": "banker", "position": 2, "card": "Th"}
        event = {"type": "card_dealt", **common, "table_id": table_id, "round_id": round_id, **place}
        return Good(topic, table_id.encode(), event)
    account = {"account_id": player.account_id}
    if topic is TopicKind.BETS:
        names = {"bet_id": f"m{number}", "table_id": table_id, "round_id": round_id}
        stake = {"bet": "player_1", "stake": 100, "currency": player.money.currency}
        return Good(topic, table_id.encode(), {"type": "bet_placed", **common, **names, **account, **stake})
    money = {"transfer_id": f"{round_id}-m{number}", "amount": 100, "currency": player.money.currency}
    return Good(topic, player.key, {"type": "funds_deposited", **common, **account, **money})


def _changed(fields: dict[str, Any]) -> Callable[[Good], Raw]:
    return lambda good: good.with_fields(**fields)


def _rewritten(rewrite: Callable[[str], str | bytes]) -> Callable[[Good], Raw]:
    return lambda good: good.raw(rewrite(good.text))


def _keyed(key: bytes | None) -> Callable[[Good], Raw]:
    return lambda good: good.raw(good.text)._replace(key=key)


def _extra(member: str) -> Callable[[Good], Raw]:
    return _rewritten(lambda text: f"{text[:-1]},{member}}}")


_ANY_TOPIC: Final[tuple[Callable[[Good], Raw], ...]] = (
    lambda good: Raw(good.topic, good.key, None),
    _rewritten(lambda _: "not json"),
    _rewritten(lambda _: ""),
    _rewritten(lambda _: b"\xff\xfe{}"),
    _rewritten(lambda text: "\ufeff" + text),
    _rewritten(lambda text: text[:-1]),
    _extra('"note":"\\ud800"'),
    _extra('"note":NaN'),
    _extra(f'"note":{_DEEP}'),
    _rewritten(lambda text: f"[{text}]"),
    _extra('"event_id":"e-twice"'),
    _extra('"note":{"a":1,"a":2}'),
    _changed({"type": "insurance_bet"}),
    _changed({"type": ["card_dealt"]}),
    lambda good: good.without("event_id"),
    _extra(f'"note":"{"x" * BYTES_MAX}"'),
    _keyed(None),
    _keyed(b""),
    _keyed(b"\xff"),
    _keyed(b"somebody-else"),
    lambda good: good.raw(good.text)._replace(astray=True),
)
_OF_A_TOPIC: Final[dict[TopicKind, tuple[Callable[[Good], Raw], ...]]] = {
    TopicKind.BETS: (
        *map(_changed, _BAD_BETS),
        _changed({"type": "Bet_Placed"}),
        _changed({"type": "funds_deposited"}),
        _rewritten(lambda text: text.replace('"stake":100', '"stake":100.0')),
        _rewritten(lambda text: text.replace('"stake":100', '"stake":1e3')),
        _rewritten(lambda text: text.replace('"stake":100', '"stake":-0')),
        _rewritten(lambda text: text.replace('"stake":100', f'"stake":{"9" * 5000}')),
        _rewritten(lambda text: text.replace('"stake":100', '"stake_minor":100')),
    ),
    TopicKind.TABLE_EVENTS: tuple(map(_changed, _BAD_CARDS)),
    TopicKind.FUNDS: tuple(map(_changed, _BAD_TRANSFERS)),
}
_WAYS: Final = tuple((topic, way) for topic, ways in _OF_A_TOPIC.items() for way in (*_ANY_TOPIC, *ways))
