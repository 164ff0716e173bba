"""Records by the million, from a seed: good ones, ones that break their schema in one or more ways, and noise.

Half of what comes is a table's ordinary evening, so that what is bad meets rounds that are open and accounts that have
money. The rest: events of every type about things that are or are not there; such events with fields changed, left
out, renamed, repeated; their bytes cut, flipped, spliced; texts that look like JSON; random bytes.
"""

from __future__ import annotations

import json
import random
from collections import deque
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from tests.checker.parsing import FIELDS, KEY_FIELD, SEATS
from tests.checker.records import BETS, FUNDS, TABLE_EVENTS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

TABLES: Final = ("T-1", "T-2")
"""Here rounds are played to their end."""
UNFINISHED: Final = "T-3"
"""Here rounds are opened, and never completed."""
ACCOUNTS: Final = tuple(f"A-{number}" for number in range(1, 9))
_RANKS: Final = "A23456789TJQK"
_CARDS: Final = tuple(rank + suit for rank in _RANKS for suit in "cdhs")
_BETS: Final = tuple(f"player_{number}{pair}" for number in range(1, 6) for pair in ("", "_pair"))
_TYPES: Final = tuple((kind, name) for kind, types in FIELDS.items() for name in types)
_ROUNDS_A_SHOE: Final = 12
_BETS_A_ROUND: Final = 20
_CANCELS: Final = 0.1
_APART: Final = 0.9
"""So many of the odd table events go where no round is completed, so that most others are."""
_MADE_AS: Final = {"burn_card": "card", "amount": "stake", "transfer_id": "bet_id"}
_LARGEST: Final = 65_536

HOSTILE: Final[tuple[str, ...]] = (
    "null", "true", "false", "0", "-0", "-1", "1.0", "1e2", "1E400", "1.5", "01", "+1", "0x10", "1_000", ".5", "5.",
    "1000000000000", "1000000000001", "9007199254740993", "9223372036854775807", "9223372036854775808",
    "18446744073709551616", "1" * 400, "NaN", "Infinity", "-Infinity", '""', '" 100 "', '"100"', '"1e3"', '"x"',
    '"\\u0000"', '"\\ud800"', '"\\udc00\\ud800"', '"\\ud83d\\ude00"', '"ก"', '"é"', '"e\\u0301"', '"A-1 "', '" A-1"',
    '"a-1"', '"A-1\\n"', '"}x"', '"{"', '"*"', '"../x"', '"A|1"', '"%s"', '"\\\\"', '"\\""', '"' + "A" * 64 + '"',
    '"' + "A" * 65 + '"', '"' + "A" * 4000 + '"', "[]", "{}", "[1]", '{"a":1,"a":2}', "[" * 62 + "]" * 62,
    "[" * 70 + "]" * 70, '{"a":' * 70 + "1" + "}" * 70, '"2026-02-30T00:00:00Z"', '"2026-01-01"', '"24:00"',
    '"THB"', '"thb"', '"TH"', '"THBB"', '"player_1"', '"player_6"', '"banker"', '"Th"', '"10h"', '"1h"', '"tH"',
    '"ThTh"', "1", "2", "3", "8", "7",
)  # fmt: skip
"""Texts that may stand where a value belongs; a few of them belong there."""
_LOOKALIKES: Final[tuple[bytes, ...]] = (
    b"", b" ", b"null", b"true", b"0", b'""', b"[]", b"{}", b"[{}]", b"not json", b"\xff\xfe{\x00}\x00",
    b"\xef\xbb\xbf{}", b'{"type":"bet_placed"}', b'{"type":null}', b'{"type":1}', b'{"type":"Bet_Placed"}',
    b'{"type":"insurance_bet"}', b'{"type":"funds_deposited"}', b'{"type":"card_dealt"}', b"{'type':'bet_placed'}",
    b'{"type":"bet_placed",}',
    b"{" * 2000, b"[" * 5000 + b"]" * 5000, b'{"a":' * 3000, b"\x00", b"\x80", b'{"type":"\xed\xa0\x80"}', b"// {}",
    b"{}{}", b"{} x", b'{"type":"bet_placed"' * 50, b"\xf0\x9f\x82\xa1", b"1" * 5000, b"-", b"1e999999", b'"\\u12"',
)  # fmt: skip
_SNIPPETS: Final[tuple[bytes, ...]] = (
    b'"', b"\\", b"{", b"}", b"[", b"]", b":", b",", b" ", b"\n", b"\t", b"\x00", b"\xff", b"\xc3", b"\xef\xbb\xbf",
    b"\\u0041", b"\\ud800", b"null", b"true", b"1", b"-", b".", b"e", b'"type":"bet_placed",', b'"stake":1,',
    b'"stak\\u0065":5,', b'"amount":7,', b'"":0,', b'"x":{"a":1,"a":1},', b"/**/",
)  # fmt: skip


class FuzzRecord(NamedTuple):
    """One record to append, and its broker time."""

    kind: str
    key: bytes | None
    value: bytes | None
    headers: tuple[tuple[str, bytes], ...]
    at_ms: int
    is_astray: bool
    """Whether it goes to a partition that is not its key's."""


class Fuzzer:
    """The same seed makes the same records, for ever."""

    def __init__(self, seed: int) -> None:
        """Nothing is made yet."""
        self._random = random.Random(seed)
        self._at_ms = 1_767_225_600_000
        self._number = 0
        self._round_number = dict.fromkeys((*TABLES, UNFINISHED), 0)
        self._evening: deque[tuple[str, dict[str, Any]]] = deque()
        self._past: deque[tuple[str, dict[str, Any]]] = deque(maxlen=200)
        self._ways: tuple[tuple[int, Callable[[], tuple[str, bytes | None, bytes | None]]], ...] = (
            (40, self._ordinary),
            (14, self._any_event),
            (6, self._again),
            (26, self._broken_fields),
            (10, self._broken_bytes),
            (2, self._lookalike),
            (2, self._noise),
        )
        self._weights = [weight for weight, _ in self._ways]

    def records(self, count: int) -> Iterator[FuzzRecord]:
        """So many records, in the order of their broker time."""
        for account in ACCOUNTS:
            self._evening.append((FUNDS, self._event(FUNDS, "funds_deposited", account_id=account, amount=10**9)))
        choose, ways = self._random.choices, [way for _, way in self._ways]
        for way in choose(ways, self._weights, k=count):
            self._at_ms += self._random.choice((0, 0, 1, 1, 2, 5))
            kind, key, value = way()
            yield FuzzRecord(kind, key, value, self._headers(), self._at_ms, self._random.random() < 0.01)

    # What is good

    def _ordinary(self) -> tuple[str, bytes | None, bytes | None]:
        """The next of the evening: a table's event, a bet or a transfer between."""
        if not self._evening:
            self._next_round(self._random.choice((*TABLES, *TABLES, UNFINISHED)))
        return self._whole(*self._evening.popleft())

    def _next_round(self, table: str) -> None:
        number = self._round_number[table] = self._round_number[table] + 1
        shoe, round_id = f"S-{number // _ROUNDS_A_SHOE}", f"R-{number}"
        if number == 1 or number % _ROUNDS_A_SHOE == 0:
            self._script(table, "shoe_started", shoe_id=shoe, decks=8, burn_card=self._random.choice(_CARDS))
        self._script(table, "round_opened", shoe_id=shoe, round_id=round_id)
        if table == UNFINISHED:
            return
        for _ in range(_BETS_A_ROUND):
            bet = self._event(BETS, "bet_placed", table_id=table, round_id=round_id)
            self._evening.append((BETS, bet))
            if self._random.random() < _CANCELS:
                named = {name: bet[name] for name in ("table_id", "round_id", "bet_id", "account_id")}
                self._evening.append((BETS, self._event(BETS, "bet_cancelled", **named)))
        cards = iter(self._random.sample(_CARDS, 12))
        self._script(table, "betting_closed", round_id=round_id)
        for seat in SEATS:
            for position in (1, 2):
                self._script(table, "card_dealt", round_id=round_id, seat=seat, position=position, card=next(cards))

    def _script(self, table: str, name: str, **fields: Any) -> None:
        self._evening.append((TABLE_EVENTS, self._event(TABLE_EVENTS, name, table_id=table, **fields)))

    def _any_event(self) -> tuple[str, bytes | None, bytes | None]:
        """An event of any type, sound by its schema, about anything."""
        return self._whole(*self._sound())

    def _again(self) -> tuple[str, bytes | None, bytes | None]:
        """One of the last again: the same bytes, or the same id with other content."""
        if not self._past:
            return self._any_event()
        kind, event = self._random.choice(self._past)
        if self._random.random() < 0.4:
            fresh = self._event(kind, event["type"], table_id=event.get("table_id", TABLES[0]))
            name = self._random.choice(list(event))
            event = {**event, name: fresh.get(name, event[name])}
        return self._whole(kind, event)

    def _sound(self) -> tuple[str, dict[str, Any]]:
        kind, name = self._random.choice(_TYPES)
        is_apart = kind == TABLE_EVENTS and self._random.random() < _APART
        table = UNFINISHED if is_apart else self._random.choice((*TABLES, UNFINISHED))
        return kind, self._event(kind, name, table_id=table)

    def _event(self, kind: str, name: str, **given: Any) -> dict[str, Any]:
        self._number += 1
        chance, choose, below = self._random.random, self._random.choice, self._random.randrange
        table = given.get("table_id", TABLES[0])
        newest = self._round_number[table]
        makers: dict[str, Callable[[], Any]] = {
            "table_id": lambda: table,
            "round_id": lambda: f"R-{max(0, newest - choose((0, 0, 0, 0, 1, 1, 2, 7, -1)))}",
            "shoe_id": lambda: f"S-{max(0, newest // _ROUNDS_A_SHOE - choose((0, 0, 0, 1, -1)))}",
            "account_id": lambda: choose(ACCOUNTS) if chance() < 0.97 else f"N-{below(50)}",
            "bet_id": lambda: f"b{self._number}" if chance() < 0.8 else f"b{max(0, self._number - below(400))}",
            "stake": lambda: choose((1, 100, 1000, 54_321, 10**6, 10**9, 10**12)) if chance() < 0.3 else 100,
            "currency": lambda: "THB" if chance() < 0.95 else choose(("EUR", "JPY", "KWD")),
            "card": lambda: choose(_CARDS) if chance() < 0.9 else choose(("10h", "10c")),
            "bet": lambda: choose(_BETS),
            "seat": lambda: choose(SEATS),
            "position": lambda: choose((1, 2)),
            "decks": lambda: 8,
            "reason": lambda: choose(("camera fault", "ก", "x" * 200)),
        }
        event = {
            "type": name,
            "event_id": f"e{self._number}" if chance() < 0.95 else f"e{below(self._number)}",
            "occurred_at": "2026-01-01T12:00:00Z",
        }
        event |= {field: makers[_MADE_AS.get(field, field)]() for field in FIELDS[kind][name]}
        return event | given

    # What is not

    def _broken_fields(self) -> tuple[str, bytes | None, bytes | None]:
        """A sound event with one to three of its fields broken, or something beside them."""
        kind, event = self._sound()
        texts = {f'"{name}"': json.dumps(value) for name, value in event.items()}
        pairs = list(texts.items())
        for _ in range(self._random.choice((1, 1, 1, 2, 3))):
            at = self._random.randrange(len(pairs)) if pairs else 0
            match self._random.randrange(8):
                case 0 | 1 | 2:
                    pairs[at : at + 1] = [(pairs[at][0], self._random.choice(HOSTILE))] if pairs else []
                case 3:
                    del pairs[at : at + 1]
                case 4:
                    pairs.insert(at, (f'"{self._random.choice(("stake", "tip", "type", "x", "amount"))}"', "100"))
                case 5:
                    pairs.insert(at, self._random.choice(pairs) if pairs else ('"x"', "1"))
                case 6:
                    name = pairs[at][0] if pairs else '"x"'
                    other = self._random.choice(
                        (name.upper(), name[:-1] + ' "', '"\\u0073take"', name[:-1] + '_minor"')
                    )
                    pairs[at : at + 1] = [(other, pairs[at][1] if pairs else "1")]
                case _:
                    pairs.insert(at, ('"extra"', self._random.choice(HOSTILE)))
        colon, comma = self._random.choice(((":", ","), (": ", ", "), (" :\n", " ,\t")))
        text = "{" + comma.join(name + colon + value for name, value in pairs) + "}"
        key = self._key(str(event[KEY_FIELD[kind]]))
        return kind, key, text.encode("utf-8", "surrogatepass")

    def _broken_bytes(self) -> tuple[str, bytes | None, bytes | None]:
        """A sound event whose bytes were cut, flipped or spliced."""
        kind, event = self._sound()
        raw = json.dumps(event, ensure_ascii=False).encode()
        for _ in range(self._random.choice((1, 1, 2, 4))):
            at = self._random.randrange(len(raw) + 1)
            match self._random.randrange(6):
                case 0:
                    raw = raw[:at]
                case 1:
                    raw = raw[:at] + self._random.choice(_SNIPPETS) + raw[at:]
                case 2:
                    raw = raw[:at] + bytes((self._random.randrange(256),)) + raw[at + 1 :]
                case 3:
                    raw = raw[:at] + raw[at + self._random.randrange(30) :]
                case 4:
                    raw = raw + raw[at:]
                case _:
                    raw = raw[:at] + raw[max(0, at - 40) : at] + raw[at:]
        return kind, self._key(str(event[KEY_FIELD[kind]])), raw

    def _lookalike(self) -> tuple[str, bytes | None, bytes | None]:
        kind = self._random.choice((TABLE_EVENTS, BETS, FUNDS))
        if self._random.random() < 0.1:
            size = _LARGEST + self._random.choice((-1, 0, 1, 1000))
            value = b'{"type":"bet_placed","x":"'.ljust(size - 2, b"a") + b'"}'
        else:
            value = self._random.choice(_LOOKALIKES)
        return kind, self._key("T-1"), value

    def _noise(self) -> tuple[str, bytes | None, bytes | None]:
        kind = self._random.choice((TABLE_EVENTS, BETS, FUNDS))
        value = None if self._random.random() < 0.2 else self._random.randbytes(self._random.randrange(300))
        return kind, self._key("T-1"), value

    # What is around a value

    def _whole(self, kind: str, event: dict[str, Any]) -> tuple[str, bytes | None, bytes | None]:
        self._past.append((kind, event))
        return kind, self._key(str(event[KEY_FIELD[kind]])), json.dumps(event, ensure_ascii=False).encode()

    def _key(self, right: str) -> bytes | None:
        if self._random.random() < 0.985:
            return right.encode()
        return self._random.choice(
            (
                None,
                b"",
                b"\xff\xfe",
                b"T-2",
                b"A-1",
                right.lower().encode(),
                right.encode() + b" ",
                b"k" * (_LARGEST + 1),
            )
        )

    def _headers(self) -> tuple[tuple[str, bytes], ...]:
        if self._random.random() < 0.95:
            return ()
        return self._random.choice(
            (
                (("trace", b"\x00\xff"),),
                (("dlq.reason", b"tombstone"), ("dlq.offset", b"7")),
                (("ce_id", b"x"), ("ce_id", b"y")),
                (("pokdeng-resume", b"{}"),),
                (("", b""),),
            )
        )
