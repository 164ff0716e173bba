"""What stands around a fact: its CloudEvents headers and its key."""

from __future__ import annotations

from typing import Any

from hypothesis import given

from pokdeng.wire import OUTPUTS_OF, REQUIREMENTS, Topics, expected_key, headers
from tests.wire.examples import OUTPUTS


def test_a_fact_has_six_headers_in_one_order() -> None:
    """CloudEvents 1.0, binary mode."""
    assert headers("bet_settled", "e-1", "2026-01-02T03:04:05Z", Topics("staging").source) == [
        ("ce_id", b"e-1"),
        ("ce_type", b"bet_settled"),
        ("ce_time", b"2026-01-02T03:04:05Z"),
        ("ce_source", b"/staging/settlement"),
        ("ce_specversion", b"1.0"),
        ("content-type", b"application/json"),
    ]


def test_each_call_gives_a_list_of_its_own() -> None:
    """A caller may add headers without changing another record's."""
    one = headers("bet_settled", "e-1", "2026-01-02T03:04:05Z", "/pokdeng/settlement")
    one.append(("own", b"1"))
    assert len(headers("bet_settled", "e-1", "2026-01-02T03:04:05Z", "/pokdeng/settlement")) == 6


@given(OUTPUTS)
def test_a_fact_is_keyed_by_what_its_topic_says(event: Any) -> None:
    """Rounds by table, everything else by account."""
    kind = next(kind for kind, classes in OUTPUTS_OF.items() if type(event) in classes)
    assert expected_key(event) == getattr(event, REQUIREMENTS[kind].keyed_by.value).encode()
