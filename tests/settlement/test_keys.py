"""A record lies under the key, and in the partition, of what it is about."""

from __future__ import annotations

import pytest

from pokdeng.events.reasons import DeadLetterReason
from pokdeng.settlement import keys
from pokdeng.settlement.keys import KeyCheck
from pokdeng.stream.partitioner import partition_for
from pokdeng.stream.port import LogRecord
from pokdeng.wire import MalformedRecordError

COUNT = 12
HOME = partition_for(b"T-1", COUNT)


def record(key: bytes | None, partition: int = HOME) -> LogRecord:
    """A record under a key."""
    return LogRecord("pokdeng.bets.v1", partition, 0, 0, key, b"{}", ())


def reason_of(check: KeyCheck, found: LogRecord, named: str = "T-1") -> DeadLetterReason | None:
    """Why a record is refused, None where it is not."""
    try:
        check.check(found, named)
    except MalformedRecordError as error:
        return error.reason
    return None


def test_the_right_key_in_the_right_partition_is_taken() -> None:
    """Also the second time, when it is known."""
    check = KeyCheck(COUNT)
    assert [reason_of(check, record(b"T-1")) for _ in range(2)] == [None, None]


@pytest.mark.parametrize("key", [None, b"", b"T-2", b"t-1", b"T-1 ", b"\xff", b'"T-1"'])
def test_any_other_key_is_a_mismatch(key: bytes | None) -> None:
    """Bytes are compared, in whatever partition it lies, whether the right key is known or not."""
    check = KeyCheck(COUNT)
    for _ in range(2):
        assert reason_of(check, record(key)) is DeadLetterReason.KEY_MISMATCH
        assert reason_of(check, record(key, (HOME + 1) % COUNT)) is DeadLetterReason.KEY_MISMATCH
        assert reason_of(check, record(b"T-1")) is None


def test_the_right_key_in_another_partition_is_refused() -> None:
    """`wrong_partition`, and the message names both."""
    check = KeyCheck(COUNT)
    with pytest.raises(MalformedRecordError, match=f"T-1 belongs to partition {HOME} of {COUNT}"):
        check.check(record(b"T-1", (HOME + 1) % COUNT), "T-1")


def test_what_is_remembered_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Many keys do not fill the memory, and are still checked."""
    monkeypatch.setattr(keys, "_KNOWN_MAX", 10)
    check = KeyCheck(1)
    for number in range(35):
        check.check(record(f"T-{number}".encode(), 0), f"T-{number}")
        assert len(check.known) <= 10
    assert reason_of(check, record(b"T-3", 0), "T-4") is DeadLetterReason.KEY_MISMATCH
