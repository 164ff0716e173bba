"""Records that say what people did about a dead letter."""

from __future__ import annotations

import pytest

from pokdeng.events.reasons import DeadLetterReason
from pokdeng.stream.port import LogRecord
from pokdeng.wire import ActionInfo, LetterAction, action_record, dead_letter, parse_place, read_action, read_info

INFO = ActionInfo(action=LetterAction.DISCARDED, by="ana", note="a test rig, Zoë", partition=3, offset=17)


def test_an_action_is_a_record_without_a_value_beside_its_letter() -> None:
    """Key as the letter's, no value, and four headers in their order."""
    record = action_record(b"T-1", INFO)
    assert (record.key, record.value) == (b"T-1", None)
    assert [name for name, _ in record.headers] == ["dlq.action", "dlq.by", "dlq.note", "dlq.of"]
    assert dict(record.headers)["dlq.of"] == b"3:17"


def test_an_action_comes_back_as_it_was_written() -> None:
    """What was written is read."""
    assert read_action(action_record(None, INFO).headers) == INFO


def test_a_letter_is_no_action_whatever_its_producer_wrote() -> None:
    """Headers of an action that came with a record do not make its dead letter one."""
    forged = action_record(b"T-1", INFO).headers
    came = LogRecord("pokdeng.bets.v1", 0, 5, 1, b"T-1", b"{}", forged)
    letter = dead_letter(came, DeadLetterReason.NOT_AN_EVENT, "type: missing")
    assert read_action(letter.headers) is None
    assert read_info(letter.headers).original_headers == tuple(forged)


@pytest.mark.parametrize("name", ["dlq.by", "dlq.note", "dlq.of"])
def test_half_an_action_is_none(name: str) -> None:
    """A record that lacks a header is neither letter nor action, and says so."""
    headers = [header for header in action_record(b"T-1", INFO).headers if header[0] != name]
    with pytest.raises(ValueError, match="not an action"):
        read_action(headers)


@pytest.mark.parametrize("text", ["", "3", "3:", ":17", "-1:2", "3:17:1", "a:b", "03:1", "3:1 "])
def test_a_place_is_two_numbers(text: str) -> None:
    """Anything else is refused with what to write."""
    with pytest.raises(ValueError, match="PARTITION:OFFSET"):
        parse_place(text)
