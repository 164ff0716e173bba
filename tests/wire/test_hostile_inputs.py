"""Hostile records and the exact reason that each is refused with (the contract, "Inputs" and "Dead letters")."""

from __future__ import annotations

import time
from typing import Any, Final

import pytest

from pokdeng.events.inputs import BetCancelled, BetPlaced, CardCorrected, CardDealt, FundsDeposited, ShoeStarted
from pokdeng.events.reasons import DeadLetterReason as Why
from pokdeng.wire import BYTES_MAX, EventDecoder, MalformedRecordError
from pokdeng.wire.inputs import DECODERS
from pokdeng.wire.topics import TopicKind
from tests.wire.examples import plain, record

BETS, FUNDS, TABLE = DECODERS[TopicKind.BETS], DECODERS[TopicKind.FUNDS], DECODERS[TopicKind.TABLE_EVENTS]
BET: Final = record(BetPlaced)
DEALT: Final = record(CardDealt)


def bet(**members: bytes) -> bytes:
    """A plain bet with members written as given."""
    return record(BetPlaced, **members)


def more(members: bytes, raw: bytes = BET) -> bytes:
    """A plain record with more members at its end."""
    return raw[:-1] + b"," + members + b"}"


def padded(size: int) -> bytes:
    """A plain bet of this many bytes."""
    return BET + b" " * (size - len(BET))


NOT_AN_EVENT = [
    *(
        (f"stake {text.decode()[:24]}", bet(stake=text))
        for text in (
            b"true", b'"100"', b"100.0", b"1e2", b"1E2", b"1e3", b'" 100 "', b'"1_000"', b"100.5", b"null", b"-100",
            b"0", b"-0", b"1000000000001", b"9223372036854775808", b'"x"', b"[]", b"{}", b"1" * 5000, b"1e99999",
            b"-0.0", b"100e-1", b"false",
        )
    ),
    ("a renamed field", BET.replace(b'"stake":', b'"stake_minor":')),
    ("no stake", BET.replace(b'"stake":1000,', b"")),
    ("no event_id", BET.replace(b'"event_id":"e-1",', b"")),
    ("account }x", bet(account_id=b'"}x"')),
    ("account {", bet(account_id=b'"{"')),
    ("an empty account", bet(account_id=b'""')),
    ("account null", bet(account_id=b"null")),
    ("account 5", bet(account_id=b"5")),
    ("an id of 65", bet(bet_id=b'"' + b"a" * 65 + b'"')),
    ("an id that begins with a dot", bet(bet_id=b'".a"')),
    ("an id that ends with a line feed", bet(bet_id=b'"a\\n"')),
    ("an id with a space", bet(bet_id=b'"a b"')),
    ("an id with a letter beyond ASCII", bet(bet_id='"é"'.encode())),
    ("an id with a digit beyond ASCII", bet(bet_id='"1٣"'.encode())),
    ("an id with a NUL", bet(bet_id=b'"a\\u0000"')),
    ("no such option", bet(bet=b'"player_6"')),
    ("the banker cannot be bet on", bet(bet=b'"banker"')),
    ("an option in capitals", bet(bet=b'"PLAYER_1"')),
    ("an option with a space", bet(bet=b'"player_1 "')),
    ("option 0", bet(bet=b"0")),
    ("a currency in small letters", bet(currency=b'"thb"')),
    ("a currency of four", bet(currency=b'"THBX"')),
    ("a currency that ends with a line feed", bet(currency=b'"THB\\n"')),
    ("a currency beyond ASCII", bet(currency='"ÄÖÜ"'.encode())),
    *(
        (f"time {text}", bet(occurred_at=f'"{text}"'.encode()))
        for text in (
            "", "2026-01-02", "2026-01-02T03:04:05", "2026-01-02 03:04:05Z", "2026-13-02T03:04:05Z",
            "2026-00-02T03:04:05Z", "2026-01-32T03:04:05Z", "2026-01-00T03:04:05Z", "2026-02-30T03:04:05Z",
            "2026-04-31T03:04:05Z", "2025-02-29T03:04:05Z", "1900-02-29T03:04:05Z", "2026-01-02T24:04:05Z",
            "2026-01-02T03:60:05Z", "2026-01-02T03:04:61Z", "2026-01-02T03:04:05+24:00", "2026-01-02T03:04:05+0700",
            "2026-01-02T03:04:05.Z", "2026-01-02T03:04:05Zx", "x2026-01-02T03:04:05Z", "26-01-02T03:04:05Z",
            "٢٠٢٦-01-02T03:04:05Z", "2026-01-02T03:04Z", "1767323045",
        )
    ),
    ("a time as a number", bet(occurred_at=b"1767323045")),
    ("a name twice", more(b'"stake":1000')),
    ("a name twice, spaced", more(b'"stake" : 1000')),
    ("a name twice, the last sound", BET.replace(b'"stake":1000', b'"stake":-1,"stake" \n:\t1000')),
    ("a name twice, once escaped", more(b'"sta\\u006be":1000')),
    ("a name twice, unknown", more(b'"x":1,"x":2')),
    ("the empty name twice", more(b'"":1,"":2')),
    ("a name twice, deep inside", more(b'"x":[{"y":[{"z":1,"z":2}]}]')),
    ("type twice, the same", more(b'"type":"bet_placed"')),
    ("type twice, the last known", BET.replace(b'"type":"bet_placed"', b'"type":"x","type":"bet_placed"')),
    ("type 5", bet(type=b"5")),
    ("type null", bet(type=b"null")),
    ("type as a list", bet(type=b'["bet_placed"]')),
    ("type of another type and an unknown text before", b'{"type":"x","type":5}'),
    ("no type", BET.replace(b'"type":"bet_placed",', b"")),
    ("an empty object", b"{}"),
    ("a list", b"[]"),
    ("a list of an event", b"[" + BET + b"]"),
    ("a text", b'"bet_placed"'),
    ("a number", b"5"),
    ("a very long number", b"7" * 60_000),
    ("true", b"true"),
    ("null as JSON", b"null"),
]  # fmt: skip
NOT_JSON = [
    ("words", b"not json"),
    ("no bytes", b""),
    ("spaces", b"  \n"),
    ("not UTF-8", b"\xff\xfe"),
    ("not UTF-8 in an extra text", more(b'"x":"\xc3"')),
    ("UTF-8 longer than need be", more(b'"x":"\xc0\x80"')),
    ("UTF-16", BET.decode().encode("utf-16")),
    ("a byte order mark", b"\xef\xbb\xbf" + BET),
    ("a lone surrogate as UTF-8", more(b'"x":"\xed\xa0\x80"')),
    ("a lone high surrogate, escaped", more(b'"x":"\\ud800"')),
    ("a lone low surrogate, escaped", more(b'"x":"\\uDC00"')),
    ("two high surrogates", more(b'"x":"\\ud800\\ud800"')),
    ("surrogates the wrong way round", more(b'"x":"\\udc00\\ud800"')),
    ("a lone surrogate in a name", more(b'"\\ud800":1')),
    ("a lone surrogate after a backslash", more(b'"x":"\\\\\\ud800"')),
    ("a lone surrogate in a field", bet(bet_id=b'"\\ud800"')),
    ("NaN", bet(stake=b"NaN")),
    ("NaN in an extra field", more(b'"x":NaN')),
    ("Infinity", bet(stake=b"Infinity")),
    ("-Infinity in an extra field", more(b'"x":[-Infinity]')),
    ("65 levels", more(b'"x":' + b"[" * 64 + b"]" * 64)),
    ("65 levels of objects", more(b'"x":' + b'{"a":' * 64 + b"1" + b"}" * 64)),
    ("65 levels, alone", b"[" * 65 + b"]" * 65),
    ("30,000 levels", b"[" * 30_000 + b"]" * 30_000),
    ("60,000 levels, never closed", b"[" * 60_000),
    ("12,000 levels of objects, never closed", b'{"a":' * 12_000),
    ("30,000 levels of both", b'[{"":' * 13_000),
    ("a leading zero", bet(stake=b"01000")),
    ("a plus", bet(stake=b"+1000")),
    ("a dot first", bet(stake=b".5")),
    ("a dot last", bet(stake=b"5.")),
    ("hexadecimal", bet(stake=b"0x10")),
    ("digits beyond ASCII", bet(stake="1٣".encode())),
    ("underscores", bet(stake=b"1_000")),
    ("single quotes", BET.replace(b'"', b"'")),
    ("a comment", more(b'/* x */"y":1')),
    ("a comma too many", BET[:-1] + b",}"),
    ("two values", BET + BET),
    ("something after it", BET + b"x"),
    ("a NUL after it", BET + b"\x00"),
    ("cut short", BET[:-1]),
    ("cut in a text", BET[:20]),
    ("a control character in a text", more(b'"x":"\x01"')),
    ("a line feed in a text", bet(bet_id=b'"a\n"')),
    ("an unknown escape", more(b'"x":"\\x41"')),
    ("a short escape", more(b'"x":"\\u12"')),
    ("a form feed between", BET.replace(b",", b",\x0c", 1)),
    ("a hard space between", BET.replace(b",", ",\u00a0".encode(), 1)),
    ("a name twice and cut short", more(b'"stake":1')[:-1]),
    ("an unknown type and NaN", b'{"type":"x","y":NaN}'),
    ("an unknown type, a name twice and a lone surrogate", b'{"type":"x","y":1,"y":"\\ud800"}'),
]
UNKNOWN_TYPE = [
    ("a new kind of bet", bet(type=b'"insurance_bet"')),
    ("in capitals", bet(type=b'"Bet_Placed"')),
    ("of another topic", record(FundsDeposited)),
    ("the empty text", bet(type=b'""')),
    ("with a space", bet(type=b'"bet_placed "')),
    ("nothing else", b'{"type":"x"}'),
    ("a name twice as well", b'{"type":"x","y":1,"y":2}'),
    ("type twice, the last unknown", more(b'"type":"x"')),
    ("what would be no event either", b'{"type":"x","stake":-1}'),
    ("a card", b'{"type":"Th"}'),
]
ON_TABLES = [
    *(
        (f"card {text}", record(CardDealt, card=text.encode()))
        for text in (
            '"th"', '"TH"', '"T"', '"11h"', '"1h"', '"0h"', '"Th "', '" Th"', '"hT"', '""', '"010h"', '"Thh"', "5",
            "null", '["Th"]', '"T♥"', '"Th\u0300"', '"Th\\n"',
        )
    ),
    ("seat player_6", record(CardDealt, seat=b'"player_6"')),
    ("seat player_1_pair", record(CardDealt, seat=b'"player_1_pair"')),
    ("seat 1", record(CardDealt, seat=b"1")),
    *(
        (f"position {text}", record(CardDealt, position=text.encode()))
        for text in ("0", "3", "true", "1.0", '"1"', "-1", "1e0", "null")
    ),
    *((f"decks {text}", record(ShoeStarted, decks=text.encode())) for text in ("7", "9", "8.0", '"8"', "true")),
    ("an empty reason", record(CardCorrected, reason=b'""')),
    ("a reason of 201", record(CardCorrected, reason=f'"{"ก" * 201}"'.encode())),
    ("a reason of 201 beyond the first plane", record(CardCorrected, reason=f'"{"🂡" * 201}"'.encode())),
    ("no reason", record(CardDealt, type=b'"card_corrected"')),
    ("an open text with a bracket", record(CardDealt, table_id=b'"["')),
]  # fmt: skip
OTHERS: list[tuple[str, EventDecoder[Any], bytes, Why]] = [
    ("a cancel without an account", BETS, b'{"type":"bet_cancelled","event_id":"e-1"}', Why.NOT_AN_EVENT),
    ("an amount of 0", FUNDS, record(FundsDeposited, amount=b"0"), Why.NOT_AN_EVENT),
    ("an amount above 10^12", FUNDS, record(FundsDeposited, amount=b"1000000000001"), Why.NOT_AN_EVENT),
    ("a bet on funds", FUNDS, BET, Why.UNKNOWN_TYPE),
    ("a bet on table-events", TABLE, BET, Why.UNKNOWN_TYPE),
    ("a card on bets", BETS, DEALT, Why.UNKNOWN_TYPE),
    ("a reason with a lone surrogate", TABLE, record(CardCorrected, reason=b'"\\ud800"'), Why.NOT_JSON),
    ("a reason with a raw lone surrogate", TABLE, record(CardCorrected, reason=b'"\xed\xa0\x80"'), Why.NOT_JSON),
    ("a reason with a raw control character", TABLE, record(CardCorrected, reason=b'"\x1f"'), Why.NOT_JSON),
    ("a reason that is not UTF-8", TABLE, record(CardCorrected, reason=b'"\xf0\x9f"'), Why.NOT_JSON),
    ("a reason with a byte order mark before all", TABLE, b"\xef\xbb\xbf" + record(CardCorrected), Why.NOT_JSON),
    ("one byte too large", BETS, padded(BYTES_MAX + 1), Why.TOO_LARGE),
    ("too large and not JSON", BETS, b"[" * (BYTES_MAX + 1), Why.TOO_LARGE),
]
ALL = [
    *((what, BETS, raw, Why.NOT_AN_EVENT) for what, raw in NOT_AN_EVENT),
    *((what, BETS, raw, Why.NOT_JSON) for what, raw in NOT_JSON),
    *((what, BETS, raw, Why.UNKNOWN_TYPE) for what, raw in UNKNOWN_TYPE),
    *((what, TABLE, raw, Why.NOT_AN_EVENT) for what, raw in ON_TABLES),
    *OTHERS,
]


def reason(decoder: EventDecoder[Any], raw: bytes | None, key: bytes | None = None) -> Why | None:
    """Why a record is refused; None where it is not. Both ways must say the same."""
    said: list[Why | None] = []
    for decode in (decoder.decode, decoder.decode_closely):
        try:
            decode(raw, key)
        except MalformedRecordError as error:
            said.append(error.reason)
        else:
            said.append(None)
    assert said[0] is said[1]
    return said[0]


@pytest.mark.parametrize(
    ("decoder", "raw", "expected"),
    [pytest.param(decoder, raw, why, id=f"{why}: {what}") for what, decoder, raw, why in ALL],
)
def test_a_hostile_record_is_refused_with_the_first_reason_that_fits(
    decoder: EventDecoder[Any], raw: bytes, expected: Why
) -> None:
    """Each row of the tables above."""
    assert reason(decoder, raw) is expected


@pytest.mark.parametrize("decoder", [BETS, FUNDS, TABLE])
def test_a_null_value_is_a_tombstone_whatever_its_key(decoder: EventDecoder[Any]) -> None:
    """A tombstone comes first, also under a key that is too large."""
    assert reason(decoder, None) is Why.TOMBSTONE
    assert reason(decoder, None, b"k" * (BYTES_MAX + 1)) is Why.TOMBSTONE


def test_64_kib_are_taken_and_not_one_byte_more() -> None:
    """65,536 bytes of value or key are fine; 65,537 are too large."""
    assert reason(BETS, padded(BYTES_MAX), b"k" * BYTES_MAX) is None
    assert reason(BETS, padded(BYTES_MAX + 1)) is Why.TOO_LARGE
    assert reason(BETS, BET, b"k" * (BYTES_MAX + 1)) is Why.TOO_LARGE
    assert reason(BETS, b"not json", b"k" * (BYTES_MAX + 1)) is Why.TOO_LARGE


SOUND = [
    ("an extra field", more(b'"tip_jar":1')),
    ("an extra field named like a topic's other", more(b'"amount":-1')),
    ("an extra list", more(b'"x":[1,2.5,1e9,null,true,{"y":"z"}]')),
    ("an extra number of 5,000 digits", more(b'"x":' + b"9" * 5000)),
    ("an extra number of 60,000 digits", more(b'"x":' + b"9" * 60_000)),
    ("an extra number beyond floats", more(b'"x":1e99999')),
    ("an extra text of escapes", more(b'"x":"\\ud83c\\udca1\\\\ud800\\"\\/\\b"')),
    ("an extra text of brackets", more(b'"x":"' + b"[" * 5000 + b'"')),
    ("64 levels", more(b'"x":' + b"[" * 63 + b"]" * 63)),
    ("64 levels next to 64 levels", more(b'"x":' + b"[" * 63 + b"]" * 63 + b',"y":' + b"[" * 63 + b"]" * 63)),
    ("the same name in two objects", more(b'"x":{"stake":1},"y":[{"z":1},{"z":1}]')),
    ("a byte order mark in an extra text", more(b'"x":"\xef\xbb\xbf"')),
    ("spaces everywhere", BET.replace(b",", b" ,\r\n\t ").replace(b":", b" : ", 2)),
    ("escapes in names and values", BET.replace(b"stake", b"\\u0073take").replace(b"bet_placed", b"bet\\u005fplaced")),
    ("type last", b'{"x":0,' + BET[1:-1].replace(b'"type":"bet_placed",', b"") + b',"type":"bet_placed"}'),
]


@pytest.mark.parametrize("raw", [pytest.param(raw, id=what) for what, raw in SOUND])
def test_a_sound_record_is_taken_however_it_is_written(raw: bytes) -> None:
    """Extra fields, spacing, order and escapes change nothing."""
    assert reason(BETS, raw) is None
    assert BETS.decode(raw) == BETS.decode_closely(raw) == plain(BetPlaced)


TAKEN_FIELDS = [
    (BETS, bet(stake=b"1")),
    (BETS, bet(stake=b"1000000000000")),
    (BETS, bet(bet_id=b'"' + b"a" * 64 + b'"')),
    (BETS, bet(bet_id=b'"0._:-"')),
    (BETS, bet(occurred_at=b'"2024-02-29T23:59:60.123456789+14:00"')),
    (BETS, bet(occurred_at=b'"2000-02-29t00:00:00z"')),
    (BETS, bet(occurred_at=b'"0000-12-31T23:59:59-00:00"')),
    (BETS, record(BetCancelled)),
    (TABLE, record(CardDealt, card=b'"10h"')),
    (TABLE, record(CardCorrected, reason=f'"{"🂡" * 200}"'.encode())),
    (TABLE, record(CardCorrected, reason=b'"\\u0000\x7f"')),
    (TABLE, record(CardCorrected, reason=b'"\\ud83c\\udca1 \\" \\\\ [ {"')),
]


@pytest.mark.parametrize(("decoder", "raw"), TAKEN_FIELDS)
def test_what_lies_just_within_the_limits_is_taken(decoder: EventDecoder[Any], raw: bytes) -> None:
    """The smallest and largest of each field."""
    assert reason(decoder, raw) is None
    assert decoder.decode(raw) == decoder.decode_closely(raw)


SLOW = [
    ("quotes that open texts", b'"' + b'\\"' * 32_000),
    ("quotes and backslashes", b'\\"' * 32_000),
    ("quotes", b'"' * 65_000),
    ("brackets", b"[]," * 21_000),
    ("empty objects", b'{"a":[' + b"{}," * 21_000 + b"{}]}"),
    ("a long number", b"1" * 65_000),
    ("a long number with a dot", b"1." + b"1" * 65_000),
    ("a long exponent", b"1e" + b"1" * 65_000),
    ("escapes", b'"' + b"\\ud83c\\udca1" * 5_000 + b'"'),
    ("half escapes", b'"' + b"\\u" * 32_000 + b'"'),
    ("a long id", bet(bet_id=b'"' + b"a" * 65_000 + b'"')),
    ("a long time", bet(occurred_at=b'"2026-01-02T03:04:05.' + b"1" * 64_000 + b'Z"')),
    ("names", b'{"type":"bet_placed",' + b",".join(b'"%d":1' % number for number in range(6_000)) + b"}"),
    ("a name many times", b'{"type":"bet_placed",' + b'"":1,' * 12_000 + b'"":1}'),
    ("spaces", b" " * 65_000),
    ("line feeds", b"\n" * 65_000 + b"x"),
]


@pytest.mark.parametrize("raw", [pytest.param(raw, id=what) for what, raw in SLOW])
def test_no_record_takes_long(raw: bytes) -> None:
    """What makes careless parsers quadratic costs a few milliseconds of one core."""
    start = time.process_time()
    for _ in range(3):
        reason(BETS, raw)
    assert time.process_time() - start < 3 * 2 * 0.1


@pytest.mark.parametrize(("what", "decoder", "raw", "why"), ALL)
def test_no_detail_shows_a_card_or_is_too_long(what: str, decoder: EventDecoder[Any], raw: bytes, why: Why) -> None:
    """The detail names fields and rules, in at most 1 KiB, and holds nothing of the record's values."""
    with pytest.raises(MalformedRecordError) as caught:
        decoder.decode(raw)
    assert caught.value.reason is why
    assert caught.value.detail, what
    assert len(caught.value.detail.encode()) <= 1024
    assert '"' not in caught.value.detail
    assert "Th" not in caught.value.detail


@pytest.mark.parametrize(
    "raw",
    [
        record(CardDealt, position=b"7"),
        record(CardDealt, card=b'"Kd ?"'),
        record(CardDealt, seat=b'"Kd"', table_id=b'"Kd!"', position=b'"Kd"'),
        more(b'"Kd":1,"Kd":2', DEALT),
        more(b'"x":"Kd', DEALT),
        more(b'"Kd":NaN', DEALT),
        b'{"type":"Kd"}',
        b'{"type":["Kd"]}',
        b"Kd",
        b'"Kd"',
    ],
)
def test_a_card_anywhere_in_a_record_stays_unsaid(raw: bytes) -> None:
    """No output shows a card before the close, and a detail is an output."""
    raw = raw.replace(b"Th", b"Kd")
    with pytest.raises(MalformedRecordError) as caught:
        TABLE.decode(raw)
    assert "Kd" not in str(caught.value)


def test_a_detail_names_each_field_and_its_rule() -> None:
    """People can see from it what to mend."""
    with pytest.raises(MalformedRecordError) as caught:
        BETS.decode(bet(stake=b"100.0", currency=b'"baht"').replace(b'"round_id":"R-1",', b""))
    assert caught.value.detail == (
        "round_id: missing; stake: must be a whole number of 1 .. 10^12, digits only; "
        "currency: must be three capital letters"
    )
