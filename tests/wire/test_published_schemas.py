"""The published schemas: every valid event conforms, and what the decoder refuses for its form does not."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from jsonschema import Draft202012Validator  # type: ignore[import-untyped]  # it has no types

from pokdeng.events.inputs import BetPlaced, CardDealt
from pokdeng.wire import OUTPUTS_OF, TopicKind, Topics, encode
from pokdeng.wire.asyncapi import asyncapi_document
from pokdeng.wire.schemas import event_schemas, schema_file_name
from tests.wire.examples import INPUT_CLASSES, INPUTS, OUTPUT_CLASSES, OUTPUTS, plain, record

VALIDATORS = {event_type: Draft202012Validator(schema) for event_type, schema in event_schemas().items()}
DOCUMENT = asyncapi_document()


@pytest.mark.parametrize("event_type", VALIDATORS)
def test_each_schema_is_a_schema(event_type: str) -> None:
    """Of draft 2020-12, with a title and a sentence on what the event says."""
    schema = VALIDATORS[event_type].schema
    Draft202012Validator.check_schema(schema)
    assert isinstance(schema, dict)
    assert schema["title"] == event_type
    assert schema["description"].endswith(".")


def test_there_is_a_schema_for_each_event() -> None:
    """Inputs and facts."""
    assert [*VALIDATORS] == [event_class.event_type for event_class in INPUT_CLASSES + OUTPUT_CLASSES]


@settings(max_examples=100, deadline=None)
@given(INPUTS | OUTPUTS)
def test_every_valid_event_conforms(event: Any) -> None:
    """What this service takes and says is what it publishes."""
    VALIDATORS[event.event_type].validate(json.loads(encode(event)))


@pytest.mark.parametrize("event_class", INPUT_CLASSES)
def test_inputs_may_have_more_fields_but_not_fewer(event_class: Any) -> None:
    """A newer producer is tolerated; each field of the contract is needed."""
    validator = VALIDATORS[event_class.event_type]
    members = json.loads(encode(plain(event_class)))
    assert validator.is_valid(members | {"tip_jar": 1})
    for name in members:
        assert not validator.is_valid({other: value for other, value in members.items() if other != name})


@settings(max_examples=30, deadline=None)
@given(OUTPUTS)
def test_facts_have_no_other_fields(event: Any) -> None:
    """What is not in the schema is never written."""
    assert not VALIDATORS[event.event_type].is_valid(json.loads(encode(event)) | {"tip_jar": 1})


@pytest.mark.parametrize(
    "raw",
    [
        *(record(BetPlaced, stake=text) for text in (b"0", b"true", b'"100"', b"100.5", b"null", b"1000000000001")),
        *(record(BetPlaced, bet_id=text) for text in (b'""', b'"}x"', b"5", b'".a"')),
        record(BetPlaced, bet=b'"player_6"'),
        record(BetPlaced, currency=b'"thb"'),
        record(BetPlaced, type=b'"bet_cancelled"'),
        record(BetPlaced, occurred_at=b'"2026-02-30T03:04:05Z"'),
    ],
)
def test_what_is_refused_for_its_form_does_not_conform(raw: bytes) -> None:
    """Producers can find their mistakes before they send."""
    assert not VALIDATORS["bet_placed"].is_valid(json.loads(raw))


def test_cards_are_written_either_way_by_producers() -> None:
    """`10h` is `Th`; `th` is nothing."""
    validator = VALIDATORS["card_dealt"]
    for text, is_card in ((b'"10h"', True), (b'"Th"', True), (b'"th"', False), (b'"1h"', False)):
        assert validator.is_valid(json.loads(record(CardDealt, card=text))) is is_card


def test_numbers_say_that_they_are_written_with_digits_only() -> None:
    """For JSON Schema 100.0 is an integer; only words can say that it is not."""
    schema = event_schemas()["bet_placed"]["properties"]["stake"]
    assert schema["multipleOf"] == 1
    assert "Digits only" in schema["description"]


def test_asyncapi_names_every_topic_and_every_event() -> None:
    """Eight channels (checkpoints are internal), each message once, bodies by their files."""
    topics = Topics()
    assert DOCUMENT["asyncapi"] == "3.0.0"
    assert [channel["address"] for channel in DOCUMENT["channels"].values()] == [
        name for name in topics.names if name != topics.checkpoints
    ]
    messages = DOCUMENT["components"]["messages"]
    assert {*messages} == {*VALIDATORS, "dead_letter"}
    for event_type in VALIDATORS:
        assert messages[event_type]["payload"] == {"$ref": f"./{schema_file_name(event_type)}"}
    for kind in OUTPUTS_OF:
        assert DOCUMENT["operations"][f"send-{kind}"]["action"] == "send"
    for kind in (TopicKind.TABLE_EVENTS, TopicKind.BETS, TopicKind.FUNDS):
        assert DOCUMENT["operations"][f"receive-{kind}"]["action"] == "receive"


def test_every_reference_of_the_asyncapi_document_leads_somewhere() -> None:
    """Within the document, or to a schema's file."""
    files = {f"./{schema_file_name(event_type)}" for event_type in VALIDATORS}

    def references(value: Any) -> list[str]:
        if isinstance(value, dict):
            own = [value["$ref"]] if "$ref" in value else []
            return own + [reference for inner in value.values() for reference in references(inner)]
        return [reference for inner in value for reference in references(inner)] if isinstance(value, list) else []

    for reference in references(DOCUMENT):
        if reference in files:
            continue
        target: Any = DOCUMENT
        for step in reference.removeprefix("#/").split("/"):
            target = target[step]
        assert target
