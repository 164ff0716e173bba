"""The bytes of facts: their form is fixed, and they come back as the same facts."""

from __future__ import annotations

import json
from dataclasses import fields, replace
from typing import Any

import pytest
from hypothesis import given, settings

from pokdeng.events.ids import (
    AccountId,
    BetId,
    Cause,
    Currency,
    EventId,
    Minor,
    Reason,
    RoundId,
    ShoeId,
    TableId,
    Timestamp,
)
from pokdeng.events.outputs import Balance, BetSettled, HandShown, RoundRefunded, Totals
from pokdeng.rules import RULESET, Bet, Combination, Outcome
from pokdeng.wire import OUTPUTS_OF, MalformedOutputError, TopicKind, decode_output, encode
from tests.wire.examples import OUTPUT_CLASSES, OUTPUTS

SETTLED = BetSettled(
    event_id=EventId("e-1"),
    occurred_at=Timestamp("2026-01-02T03:04:05Z"),
    cause=Cause(topic="pokdeng.table-events.v1", partition=3, offset=14),
    bet_id=BetId("b1"),
    table_id=TableId("T-1"),
    round_id=RoundId("R-1"),
    account_id=AccountId("A-1"),
    bet=Bet.PLAYER_1,
    stake=Minor(1000),
    currency=Currency("THB"),
    taken=Minor(2000),
    outcome=Outcome.WIN,
    odds="1:1",
    returned=Minor(3000),
    net=1000,
    player=HandShown(cards=("9c", "Td"), value="9", points=9, combination=None, pair=False, flush=False),
    banker=HandShown(
        cards=("Jc", "Kd"), value="7.3", points=0, combination=Combination.FACE_CARDS, pair=False, flush=False
    ),
    rule="The rule.",
    ruleset=RULESET,
    revision=1,
    balance=Balance(available=Minor(11000), held=Minor(0), sequence=3),
)
REFUNDED = RoundRefunded(
    event_id=EventId("e-2"),
    occurred_at=Timestamp("2026-01-02T03:04:05Z"),
    cause=Cause(topic="pokdeng.table-events.v1", partition=3, offset=15),
    table_id=TableId("T-1"),
    shoe_id=ShoeId("S-1"),
    round_id=RoundId("R-1"),
    reason=Reason('ไพ่ "หล่น"'),
    bets=2,
    totals={
        Currency("THB"): Totals(taken=Minor(5), returned=Minor(5), house_net=Minor(0)),
        Currency("EUR"): Totals(taken=Minor(7), returned=Minor(9), house_net=Minor(-2)),
    },
    seal=99,
    revision=1,
)


def kind_of(event: Any) -> TopicKind:
    """The topic of a fact."""
    return next(kind for kind, classes in OUTPUTS_OF.items() if type(event) in classes)


def test_a_settlement_has_these_very_bytes() -> None:
    """Compact, `type` first, fields in the order of the definition, `combination` null, no `overdrawn`."""
    assert encode(SETTLED).decode() == (
        '{"type":"bet_settled","event_id":"e-1","occurred_at":"2026-01-02T03:04:05Z",'
        '"cause":{"topic":"pokdeng.table-events.v1","partition":3,"offset":14},'
        '"bet_id":"b1","table_id":"T-1","round_id":"R-1","account_id":"A-1","bet":"player_1","stake":1000,'
        '"currency":"THB","taken":2000,"outcome":"win","odds":"1:1","returned":3000,"net":1000,'
        '"player":{"cards":["9c","Td"],"value":"9","points":9,"combination":null,"pair":false,"flush":false},'
        '"banker":{"cards":["Jc","Kd"],"value":"7.3","points":0,"combination":"face_cards","pair":false,"flush":false},'
        '"rule":"The rule.","ruleset":"pokdeng-1","revision":1,'
        '"balance":{"available":11000,"held":0,"sequence":3}}'
    )


def test_what_is_none_is_not_written() -> None:
    """No `odds` on a tie; `overdrawn` is true or absent."""
    tie = replace(SETTLED, outcome=Outcome.TIE, odds=None)
    assert "odds" not in json.loads(encode(tie))
    overdrawn = replace(SETTLED, balance=replace(SETTLED.balance, available=Minor(-1), overdrawn=True))
    assert json.loads(encode(overdrawn))["balance"]["overdrawn"] is True


def test_totals_are_sorted_and_text_is_utf_8() -> None:
    """The same fact has the same bytes, in whatever order its totals were added up."""
    raw = encode(REFUNDED)
    assert 'ไพ่ \\"หล่น\\"'.encode() in raw
    assert raw.index(b'"EUR"') < raw.index(b'"THB"')
    assert (
        encode(replace(REFUNDED, totals={name: REFUNDED.totals[name] for name in reversed([*REFUNDED.totals])})) == raw
    )


@settings(max_examples=150, deadline=None)
@given(OUTPUTS)
def test_a_fact_comes_back_equal_and_gives_the_same_bytes_again(event: Any) -> None:
    """Exact round trip of every fact, whatever is in it."""
    raw = encode(event)
    back = decode_output(kind_of(event), raw)
    assert back == event
    assert type(back) is type(event)
    assert encode(back) == raw
    assert json.loads(raw)["type"] == event.event_type
    assert [*json.loads(raw)][1:] == [field.name for field in fields(event) if getattr(event, field.name) is not None]


def test_every_fact_has_just_one_topic() -> None:
    """As the contract's table says."""
    listed = [event_class for classes in OUTPUTS_OF.values() for event_class in classes]
    assert sorted(listed, key=str) == sorted(OUTPUT_CLASSES, key=str)


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"null",
        b"[]",
        b'{"type":"bet_placed"}',
        encode(REFUNDED),
        encode(SETTLED).replace(b'"net":1000', b'"net":"1000"'),
        encode(SETTLED).replace(b'"net":1000', b'"net":1e3'),
        encode(SETTLED).replace(b'"net":1000,', b""),
        encode(SETTLED).replace(b'"combination":null,', b""),
        encode(SETTLED).replace(b'"odds":"1:1"', b'"odds":null'),
        encode(SETTLED).replace(b'"pair":false', b'"pair":0'),
        encode(SETTLED).replace(b'["9c","Td"]', b'["9c"]'),
        encode(SETTLED).replace(b'"sequence":3', b'"sequence":true'),
        encode(SETTLED).replace(b'"A-1"', b'"A 1"'),
        b"[" * 50_000,
    ],
)
def test_what_is_no_fact_of_the_topic_is_refused(raw: bytes) -> None:
    """Something else wrote there, or the log is damaged: never half a fact."""
    with pytest.raises(MalformedOutputError):
        decode_output(TopicKind.SETTLEMENTS, raw)


def test_a_fact_of_a_newer_version_can_be_read() -> None:
    """An older worker reads on after a newer one; whoever must know compares the bytes."""
    raw = encode(SETTLED)[:-1] + b',"a_newer_field":1}'
    assert decode_output(TopicKind.SETTLEMENTS, raw) == SETTLED
    assert encode(decode_output(TopicKind.SETTLEMENTS, raw)) != raw
