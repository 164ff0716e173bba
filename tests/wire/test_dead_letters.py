"""Dead letters: the record as it came, and why."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING

import pytest

from pokdeng.events.reasons import DeadLetterReason
from pokdeng.wire.dead_letters import dead_letter, read_info, truncated_dead_letter

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True)
class Logged:
    """A record of a log."""

    key: bytes | None = b"T-1"
    value: bytes | None = b"\xff\x00 not json"
    headers: Sequence[tuple[str, bytes]] = (("b", b"\xff"), ("a", b""), ("b", b"2"))
    topic: str = "pokdeng.bets.v1"
    partition: int = 3
    offset: int = 14
    timestamp: int = 1767323045678


WHY = [
    ("dlq.reason", b"not_json"),
    ("dlq.detail", b"not UTF-8 at byte 0"),
    ("dlq.topic", b"pokdeng.bets.v1"),
    ("dlq.partition", b"3"),
    ("dlq.offset", b"14"),
    ("dlq.timestamp", b"1767323045678"),
]


def test_key_value_and_headers_stay_as_they_came() -> None:
    """Byte for byte and in order, repeated names too; six headers follow."""
    record = Logged()
    letter = dead_letter(record, DeadLetterReason.NOT_JSON, "not UTF-8 at byte 0")
    assert (letter.key, letter.value) == (record.key, record.value)
    assert [*letter.headers] == [*record.headers, *WHY]


def test_null_stays_null() -> None:
    """A tombstone without a key is a dead letter without either."""
    letter = dead_letter(Logged(key=None, value=None, headers=()), DeadLetterReason.TOMBSTONE, "no value")
    assert (letter.key, letter.value) == (None, None)


@pytest.mark.parametrize("detail", ["x" * 5000, "é" * 5000, "🂡" * 5000, "\ud800" * 5000])
def test_a_detail_is_at_most_1_kib_of_utf_8(detail: str) -> None:
    """Cut at a character's end, whatever is in it."""
    said = dict(dead_letter(Logged(), DeadLetterReason.NOT_JSON, detail).headers)["dlq.detail"]
    assert 1020 < len(said) <= 1024
    assert said.decode()


def test_one_that_the_broker_refuses_goes_with_hashes_and_lengths() -> None:
    """Key and reasons stay; value and headers can be recognised by their hashes."""
    record = Logged()
    letter = truncated_dead_letter(record, DeadLetterReason.NOT_JSON, "not UTF-8 at byte 0")
    assert record.value is not None
    assert letter.key == record.key
    assert letter.value == b'{"sha256":"%s","length":11}' % sha256(record.value).hexdigest().encode()
    serialized = b"".join(
        [
            b"\x00\x00\x00\x01b\x00\x00\x00\x01\xff",
            b"\x00\x00\x00\x01a\x00\x00\x00\x00",
            b"\x00\x00\x00\x01b\x00\x00\x00\x012",
        ]
    )
    assert [*letter.headers] == [
        ("dlq.headers-sha256", sha256(serialized).hexdigest().encode()),
        ("dlq.headers-length", b"5"),
        *WHY,
        ("dlq.truncated", b"true"),
    ]
    assert truncated_dead_letter(Logged(value=None), DeadLetterReason.TOMBSTONE, "").value is None


def test_a_truncated_dead_letter_is_small_whatever_the_record() -> None:
    """A megabyte becomes a kilobyte or two."""
    record = Logged(value=b"x" * 1_000_000, headers=[("h" * 1000, b"y" * 1000)] * 500)
    letter = truncated_dead_letter(record, DeadLetterReason.TOO_LARGE, "x" * 5000)
    assert letter.value is not None
    assert len(letter.value) + sum(len(name) + len(value) for name, value in letter.headers) < 2048


def test_what_a_dead_letter_says_can_be_read_again() -> None:
    """Also of a record that died, was replayed as it was, and died again: the last death counts."""
    record = Logged()
    letter = dead_letter(record, DeadLetterReason.NOT_JSON, "not UTF-8 at byte 0")
    info = read_info(letter.headers)
    assert (info.reason, info.detail) == (DeadLetterReason.NOT_JSON, "not UTF-8 at byte 0")
    assert (info.topic, info.partition, info.offset, info.timestamp_ms) == ("pokdeng.bets.v1", 3, 14, 1767323045678)
    assert [*info.original_headers] == [*record.headers]
    assert not info.is_truncated
    again = dead_letter(Logged(headers=letter.headers, offset=99), DeadLetterReason.TOO_LARGE, "too large")
    assert read_info(again.headers).offset == 99
    assert [*read_info(again.headers).original_headers] == [*letter.headers]
    truncated = read_info(truncated_dead_letter(record, DeadLetterReason.NOT_JSON, "x").headers)
    assert truncated.is_truncated
    assert truncated.original_headers == ()


@pytest.mark.parametrize("headers", [[], [("a", b"b")], WHY[:3], [("dlq.reason", b"no such reason"), *WHY[1:]]])
def test_what_is_no_dead_letter_is_refused(headers: list[tuple[str, bytes]]) -> None:
    """Rather than half understood."""
    with pytest.raises(ValueError, match="not a"):
        read_info(headers)
