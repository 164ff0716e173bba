"""A small log and its outputs, written by hand: two rounds, three accounts, a little of everything.

Every number of the outputs is written down here, none is computed; only what is the same in all records (ids, headers,
partitions) is filled in.
"""

from __future__ import annotations

import json
import uuid
from dataclasses import dataclass
from typing import Any

from tests.checker.records import Plain, place_of

PARTITIONS = 3
NAMESPACE = uuid.UUID("6f1c3f0e-1d0b-5a9e-9d55-0a0d5e771e00")
NOON = "2026-01-01T12:00:00Z"
TABLE = place_of(b"T-1", PARTITIONS)

ROUND_1 = {"table_id": "T-1", "round_id": "R-1"}
ROUND_2 = {"table_id": "T-1", "round_id": "R-2"}
DEAL = (
    ("player_1", "9c", "Td"),
    ("player_2", "5s", "3s"),
    ("player_3", "2c", "5h"),
    ("player_4", "Jc", "2d"),
    ("player_5", "3c", "3h"),
    ("banker", "4h", "3d"),
)
BANKER = {
    "cards": ["4h", "3d"],
    "value": "7",
    "points": 7,
    "combination": None,
    "pair": False,
    "flush": False,
}
PLAYER_1 = {
    "cards": ["9c", "Td"],
    "value": "9",
    "points": 9,
    "combination": None,
    "pair": False,
    "flush": False,
}
PLAYER_5 = {
    "cards": ["3c", "3h"],
    "value": "6",
    "points": 6,
    "combination": None,
    "pair": True,
    "flush": False,
}
PLAYERS = [
    {"seat": "player_1", "result": "win", **PLAYER_1},
    {
        "seat": "player_2",
        "result": "win",
        "cards": ["5s", "3s"],
        "value": "8",
        "points": 8,
        "combination": None,
        "pair": False,
        "flush": True,
    },
    {
        "seat": "player_3",
        "result": "tie",
        "cards": ["2c", "5h"],
        "value": "7",
        "points": 7,
        "combination": None,
        "pair": False,
        "flush": False,
    },
    {
        "seat": "player_4",
        "result": "lose",
        "cards": ["Jc", "2d"],
        "value": "2",
        "points": 2,
        "combination": None,
        "pair": False,
        "flush": False,
    },
    {"seat": "player_5", "result": "lose", **PLAYER_5},
]


def bet(bet_id: str, account_id: str, option: str, stake: int, **other: Any) -> dict[str, Any]:
    """A bet's fields."""
    fields = {"bet_id": bet_id, **ROUND_1, "account_id": account_id, "bet": option, "stake": stake, "currency": "THB"}
    return fields | other


B1 = bet("b1", "A-1", "player_1", 1000)
B2 = bet("b2", "A-2", "player_5_pair", 500)
B3 = bet("b3", "A-2", "player_2", 1000)
B4 = bet("b4", "A-2", "player_1", 9000)
B5 = bet("b5", "A-1", "player_1", 100)
B6 = bet("b6", "A-1", "player_4", 1000, **ROUND_2)
B7 = bet("b7", "A-1", "player_4", 1000, **ROUND_2)
B8 = bet("b8", "A-3", "player_4", 1000, currency="EUR")


def inputs() -> list[Plain]:
    """The input topics."""
    made: list[Plain] = []

    def lay(kind: str, at_ms: int, body: dict[str, Any] | bytes, key: bytes) -> None:
        topic = f"pokdeng.{kind}.v1"
        partition = place_of(key, PARTITIONS)
        offset = sum(1 for record in made if (record.topic, record.partition) == (topic, partition))
        if isinstance(body, dict):
            body = json.dumps({"event_id": f"e-{kind}-{len(made)}", "occurred_at": NOON} | body).encode()
        made.append(Plain(topic, partition, offset, at_ms, key, body, (("trace", b"x"),)))

    def funds(at_ms: int, kind: str, transfer: str, account: str, amount: int) -> None:
        names = {"type": kind, "transfer_id": transfer, "account_id": account}
        lay("funds", at_ms, {**names, "amount": amount, "currency": "THB"}, account.encode())

    def table(at_ms: int, kind: str, **fields: Any) -> None:
        lay("table-events", at_ms, {"type": kind, **fields}, b"T-1")

    def bets(at_ms: int, fields: dict[str, Any] | bytes) -> None:
        lay("bets", at_ms, {"type": "bet_placed", **fields} if isinstance(fields, dict) else fields, b"T-1")

    def cancel(at_ms: int, bet_id: str, account: str) -> None:
        names = {"type": "bet_cancelled", "bet_id": bet_id, **ROUND_1, "account_id": account}
        lay("bets", at_ms, names, b"T-1")

    funds(10, "funds_deposited", "d1", "A-1", 10_000)
    funds(20, "funds_deposited", "d2", "A-2", 5_000)
    funds(30, "funds_withdrawn", "w1", "A-2", 99_999)
    funds(40, "funds_deposited", "d1", "A-1", 10_000)
    funds(50, "funds_deposited", "d3", "A-3", 700)
    table(900, "shoe_started", table_id="T-1", shoe_id="S-1", decks=8, burn_card="2h")
    table(1000, "round_opened", shoe_id="S-1", **ROUND_1)
    bets(2000, B1)
    bets(2001, B1)
    bets(2002, B1 | {"stake": 2500})
    bets(2003, B2)
    bets(2004, B3)
    cancel(2005, "b3", "A-2")
    bets(2006, B4)
    bets(2007, b"not json")
    bets(2008, B8)
    table(3000, "betting_closed", **ROUND_1)
    bets(3001, B5)
    cancel(3002, "b1", "A-1")
    at_ms = 4000
    for position in (1, 2):
        for seat, *cards in DEAL:
            table(at_ms, "card_dealt", **ROUND_1, seat=seat, position=position, card=cards[position - 1])
            at_ms += 1
    table(5000, "round_opened", shoe_id="S-1", **ROUND_2)
    bets(5001, B6)
    table(5100, "card_dealt", **ROUND_2, seat="banker", position=2, card="5h")
    table(5101, "card_dealt", **ROUND_2, seat="banker", position=2, card="3d")
    bets(5200, B7)
    table(5300, "round_cancelled", **ROUND_2, reason="camera")
    table(5400, "card_dealt", **ROUND_2 | {"round_id": "R-9"}, seat="banker", position=1, card="3d")
    return made


@dataclass(slots=True)
class Out:
    """An output that a test can spoil before it becomes a record."""

    topic: str
    key: bytes | None
    body: dict[str, Any] | bytes
    headers: list[tuple[str, bytes]]
    partition: int
    raw: bytes | None = None

    def record(self, offset: int) -> Plain:
        """The record."""
        value = self.raw
        if value is None:
            value = self.body if isinstance(self.body, bytes) else json.dumps(self.body).encode()
        return Plain(f"pokdeng.{self.topic}.v1", self.partition, offset, 9000, self.key, value, tuple(self.headers))


def fact(topic: str, cause: tuple[str, int], name: tuple[str, ...], **fields: Any) -> Out:
    """A fact: `cause` is a topic and an offset (in the table's or account's partition), `name` are its id's parts."""
    kind = str(fields["type"])
    key = str(fields["table_id"] if topic == "rounds" else fields["account_id"]).encode()
    source = place_of(key, PARTITIONS) if cause[0] == "funds" else TABLE
    event_id = str(uuid.uuid5(NAMESPACE, "\n".join((kind, *name))))
    place = {"topic": f"pokdeng.{cause[0]}.v1", "partition": source, "offset": cause[1]}
    body = {"type": kind, "event_id": event_id, "occurred_at": NOON, "cause": place, **fields}
    headers = [
        ("ce_id", event_id.encode()),
        ("ce_type", kind.encode()),
        ("ce_time", NOON.encode()),
        ("ce_source", b"/pokdeng/settlement"),
        ("ce_specversion", b"1.0"),
        ("content-type", b"application/json"),
    ]
    return Out(topic, key, body, headers, place_of(key, PARTITIONS))


def letter(source: Plain, reason: str) -> Out:
    """A dead letter."""
    headers = [
        *source.headers,
        ("dlq.reason", reason.encode()),
        ("dlq.detail", b"because"),
        ("dlq.topic", source.topic.encode()),
        ("dlq.partition", str(source.partition).encode()),
        ("dlq.offset", str(source.offset).encode()),
        ("dlq.timestamp", str(source.timestamp).encode()),
    ]
    key = source.key or b""
    return Out("dead-letters", key, source.value or b"", headers, place_of(key, PARTITIONS))


def balance(available: int, held: int, sequence: int) -> dict[str, int]:
    """An account after a movement."""
    return {"available": available, "held": held, "sequence": sequence}


def _transfer(transfer: str, account: str, amount: int) -> dict[str, Any]:
    return {"transfer_id": transfer, "account_id": account, "amount": amount, "currency": "THB"}


def _funds_offsets() -> dict[str, int]:
    """Where the transfers lie, as (transfer, account) share partitions by the accounts' hashes."""
    return {
        json.loads(record.value or b"")["transfer_id"]: record.offset
        for record in reversed(inputs())
        if record.topic == "pokdeng.funds.v1"
    }


def outputs() -> list[Out]:
    """What must be said of the inputs."""
    at = _funds_offsets()
    source = {(record.topic, record.timestamp): record for record in inputs()}
    first, second = ("T-1", "R-1"), ("T-1", "R-2")
    settled = {"banker": BANKER, "ruleset": "pokdeng-1", "revision": 1}
    wins = "The player's hand is higher and plain: the bet wins 1:1."
    pair = "The player's two cards have the same rank: the pair bet wins 11:1."
    b1_paid = {"taken": 2000, "outcome": "win", "odds": "1:1", "returned": 3000, "net": 1000, "player": PLAYER_1}
    b2_paid = {"taken": 500, "outcome": "win", "odds": "11:1", "returned": 6000, "net": 5500, "player": PLAYER_5}
    refund = {"taken": 2000, "returned": 2000, "reason": "camera", "revision": 1}
    credited, rejected = "funds_credited", "bet_rejected"
    table, result = "table-events", "bet_settled"
    made = [
        fact("funds-decisions", ("funds", at["d1"]), ("A-1", "d1"), type=credited, **_transfer("d1", "A-1", 10_000)),
        fact("funds-decisions", ("funds", at["d2"]), ("A-2", "d2"), type=credited, **_transfer("d2", "A-2", 5_000)),
        fact("funds-decisions", ("funds", at["d3"]), ("A-3", "d3"), type=credited, **_transfer("d3", "A-3", 700)),
        fact(
            "funds-decisions",
            ("funds", at["w1"]),
            ("A-2", "w1", "withdrawal"),
            type="funds_rejected",
            **_transfer("w1", "A-2", 99_999),
            transfer="withdrawal",
            reason="insufficient_funds",
        ),
        fact("bet-decisions", ("bets", 0), (*first, "b1"), type="bet_accepted", **B1, taken=2000),
        fact("bet-decisions", ("bets", 3), (*first, "b2"), type="bet_accepted", **B2, taken=500),
        fact("bet-decisions", ("bets", 4), (*first, "b3"), type="bet_accepted", **B3, taken=2000),
        fact("bet-decisions", ("bets", 5), (*first, "b3"), type="bet_withdrawn", **B3, taken=2000, returned=2000),
        fact("bet-decisions", ("bets", 6), (*first, "b4"), type=rejected, **B4, reason="insufficient_funds"),
        fact("bet-decisions", ("bets", 8), (*first, "b8"), type=rejected, **B8, reason="currency_mismatch"),
        fact("bet-decisions", ("bets", 9), (*first, "b5"), type=rejected, **B5, reason="betting_closed"),
        fact(
            "bet-decisions",
            ("bets", 10),
            (*first, "A-1", "b1"),
            type="cancel_rejected",
            **ROUND_1,
            bet_id="b1",
            account_id="A-1",
            reason="betting_closed",
        ),
        fact("settlements", (table, 14), (*first, "b1", "1"), type=result, **B1, **b1_paid, **settled, rule=wins),
        fact("settlements", (table, 14), (*first, "b2", "1"), type=result, **B2, **b2_paid, **settled, rule=pair),
        fact(
            "rounds",
            (table, 14),
            (*first, "1"),
            type="round_settled",
            **ROUND_1,
            shoe_id="S-1",
            players=PLAYERS,
            bets=2,
            totals={"THB": {"taken": 2500, "returned": 9000, "house_net": -6500}},
            seal=9,
            **settled,
        ),
        fact("bet-decisions", ("bets", 11), (*second, "b6"), type="bet_accepted", **B6, taken=2000),
        fact("bet-decisions", ("bets", 12), (*second, "b7"), type=rejected, **B7, reason="round_held"),
        fact(
            "rounds",
            (table, 17),
            (*second, str(TABLE), "17"),
            type="round_held",
            **ROUND_2,
            shoe_id="S-1",
            reason="seat_conflict",
        ),
        fact("settlements", (table, 18), (*second, "b6", "1"), type="bet_refunded", **B6, **refund),
        fact(
            "rounds",
            (table, 18),
            (*second, "1"),
            type="round_refunded",
            **ROUND_2,
            shoe_id="S-1",
            reason="camera",
            bets=1,
            totals={"THB": {"taken": 2000, "returned": 2000, "house_net": 0}},
            seal=13,
            revision=1,
        ),
        letter(source["pokdeng.bets.v1", 2002], "id_conflict"),
        letter(source["pokdeng.bets.v1", 2007], "not_json"),
        letter(source["pokdeng.table-events.v1", 5101], "seat_conflict"),
        letter(source["pokdeng.table-events.v1", 5400], "unknown_round"),
    ]
    balances = {
        0: balance(10_000, 0, 1),
        1: balance(5_000, 0, 1),
        2: balance(700, 0, 1),
        4: balance(8_000, 2_000, 2),
        5: balance(4_500, 500, 2),
        6: balance(2_500, 2_500, 3),
        7: balance(4_500, 500, 4),
        12: balance(11_000, 0, 3),
        13: balance(10_500, 0, 5),
        15: balance(9_000, 2_000, 4),
        18: balance(11_000, 0, 5),
    }
    for index, after in balances.items():
        body = made[index].body
        if isinstance(body, dict):
            body["balance"] = after
    return made


BALANCES = {"A-1": (11_000, 0, 5, "THB"), "A-2": (10_500, 0, 5, "THB"), "A-3": (700, 0, 1, "THB")}
