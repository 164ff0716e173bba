"""Ids of facts: what `uuid.uuid5` gives, from the parts that the contract names."""

from __future__ import annotations

from typing import Any
from uuid import UUID, uuid5

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pokdeng.events import outputs
from pokdeng.events.ids import Cause
from pokdeng.wire import NAMED_BY, EventIds, event_id, event_id_of
from tests.wire.examples import IDS, OUTPUT_CLASSES, OUTPUTS, TEXTS, events

NAMESPACE = UUID("6f1c3f0e-1d0b-5a9e-9d55-0a0d5e771e00")


@given(st.lists(TEXTS, max_size=4))
def test_an_id_is_the_uuid5_of_type_and_parts_joined_by_line_feeds(parts: list[str]) -> None:
    """Lower-case text, as the standard library writes it."""
    assert event_id("bet_settled", *parts) == str(uuid5(NAMESPACE, "\n".join(["bet_settled", *parts])))


@given(IDS, IDS, IDS, st.integers(1, 99))
def test_prepared_ids_are_the_same_ids(table: str, round_: str, bet: str, revision: int) -> None:
    """With a part in the middle that varies, again and again."""
    settled = EventIds("bet_settled", table, round_, last=(revision,))
    accepted = EventIds("bet_accepted", table, round_)
    for _ in range(2):
        assert settled(bet) == event_id("bet_settled", table, round_, bet, revision)
        assert accepted(bet) == event_id("bet_accepted", table, round_, bet)


def test_known_ids_stay_what_they_are() -> None:
    """An id that was ever said is said for ever: these were computed by the standard library."""
    assert event_id("bet_accepted", "T-1", "R-1", "b1") == "07efc3c9-a72b-50c0-8548-2c2fc9f038af"
    assert event_id("funds_rejected", "A-1", "t1", "deposit") == str(
        uuid5(NAMESPACE, "funds_rejected\nA-1\nt1\ndeposit")
    )


EXPECTED_PARTS = {
    "bet_accepted": ["T", "R", "B"],
    "bet_rejected": ["T", "R", "B"],
    "bet_withdrawn": ["T", "R", "B"],
    "cancel_rejected": ["T", "R", "A", "B"],
    "funds_credited": ["A", "X"],
    "funds_debited": ["A", "X"],
    "funds_rejected": ["A", "X", "withdrawal"],
    "bet_settled": ["T", "R", "B", "2"],
    "bet_refunded": ["T", "R", "B", "2"],
    "bet_reversed": ["T", "R", "B", "2"],
    "round_settled": ["T", "R", "2"],
    "round_refunded": ["T", "R", "2"],
    "round_held": ["T", "R", "3", "14"],
}
"""The contract's column "named by"."""


class Named:
    """Every part that may name a fact."""

    table_id, round_id, bet_id, account_id, transfer_id, transfer, revision = "T", "R", "B", "A", "X", "withdrawal", 2
    cause = Cause(topic="pokdeng.table-events.v1", partition=3, offset=14)


@pytest.mark.parametrize("event_class", OUTPUT_CLASSES)
def test_each_fact_is_named_as_the_contract_says(event_class: Any) -> None:
    """Which parts, and in which order."""
    parts = []
    for name in NAMED_BY[event_class]:
        part: Any = Named
        for step in name.split("."):
            part = getattr(part, step)
        parts.append(str(part))
    assert parts == EXPECTED_PARTS[event_class.event_type]


@settings(max_examples=60, deadline=None)
@given(OUTPUTS)
def test_a_fact_can_be_asked_for_the_id_that_it_must_have(event: Any) -> None:
    """From its own parts, whatever id it carries."""
    parts = []
    for name in NAMED_BY[type(event)]:
        part: Any = event
        for step in name.split("."):
            part = getattr(part, step)
        parts.append(str(part))
    assert event_id_of(event) == str(uuid5(NAMESPACE, "\n".join([event.event_type, *parts])))


@settings(max_examples=40, deadline=None)
@given(events(outputs.BetAccepted), events(outputs.BetAccepted))
def test_two_bets_have_two_ids_unless_they_are_the_same_bet(one: Any, other: Any) -> None:
    """Ids cannot be joined in two ways, since none has a line feed in it."""
    is_same = all(getattr(one, name) == getattr(other, name) for name in ("table_id", "round_id", "bet_id"))
    assert (event_id_of(one) == event_id_of(other)) is is_same
