"""The JSON Schemas (draft 2020-12) of all events, from their dataclasses: what others check their records with.

A schema cannot say everything: for JSON Schema `100.0` is the integer 100, and a name that stands twice is invisible.
The descriptions say so; the decoder of `inputs` decides.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any, Final, get_args, get_origin, get_type_hints

from pokdeng.events.ids import Minor
from pokdeng.events.inputs import InputEvent
from pokdeng.events.outputs import OutputEvent
from pokdeng.rules import VALUES, Odds
from pokdeng.wire.encode import NULLABLE
from pokdeng.wire.fields import JsonSchema, input_rule
from pokdeng.wire.inputs import input_rules
from pokdeng.wire.outputs import without_none

DRAFT: Final = "https://json-schema.org/draft/2020-12/schema"
_VERSION: Final = "v1"
_CARD_PATTERN = "^[A2-9TJQK][cdhs]$"
"""Facts write a ten as `T` only."""
_PLAIN: Final[Mapping[object, JsonSchema]] = {
    int: {"type": "integer", "multipleOf": 1},
    Minor: {
        "type": "integer",
        "multipleOf": 1,
        "description": "Minor units of the currency, written with digits only (and a sign below 0).",
    },
    str: {"type": "string"},
    bool: {"type": "boolean"},
}
_BEYOND_TYPES: Final[Mapping[str, JsonSchema]] = {
    "bets": {"minimum": 0},
    "cards": {"items": {"type": "string", "pattern": _CARD_PATTERN}},
    "held": {"minimum": 0},
    "house_net": {"description": "taken - returned"},
    "net": {"description": "returned - taken"},
    "odds": {"enum": [odds.value for odds in Odds], "description": "Absent on a tie."},
    "offset": {"minimum": 0},
    "overdrawn": {"const": True, "description": "There while available is below 0, else absent."},
    "partition": {"minimum": 0},
    "players": {"minItems": 5, "maxItems": 5},
    "points": {"minimum": 0, "maximum": 9},
    "returned": {"minimum": 0},
    "reversed": {"minimum": 0},
    "revision": {"minimum": 1},
    "seal": {"minimum": 0},
    "sequence": {"minimum": 1},
    "taken": {"minimum": 0},
    "value": {"enum": list(VALUES)},
}
"""What the fields of facts keep to besides their types, by name."""


def schema_file_name(event_type: str) -> str:
    """The name of an event type's file.

    >>> schema_file_name("bet_placed")
    'bet_placed.v1.schema.json'
    """
    return f"{event_type}.{_VERSION}.schema.json"


def event_schemas() -> dict[str, JsonSchema]:
    """The schema of each event by its type, inputs first, in the order of their definitions."""
    inputs = {event_class.event_type: _input_schema(event_class) for event_class in get_args(InputEvent)}
    return inputs | {event_class.event_type: _output_schema(event_class) for event_class in get_args(OutputEvent)}


def docstring(documented: Any) -> str:
    """A docstring as one line."""
    return " ".join((inspect.getdoc(documented) or "").split())


def _input_schema(event_class: Any) -> JsonSchema:
    rules = input_rules(event_class)
    properties = {name: rule.json_schema for name, rule in rules.items()}
    return _head(event_class) | _object(event_class.event_type, properties, list(properties), is_open=True)


def _output_schema(event_class: Any) -> JsonSchema:
    definitions: dict[str, JsonSchema] = {}
    properties, required = _members(event_class, definitions)
    schema = _head(event_class) | _object(event_class.event_type, properties, required, is_open=False)
    return schema | {"$defs": definitions}


def _head(event_class: Any) -> JsonSchema:
    return {
        "$schema": DRAFT,
        "$id": f"urn:pokdeng:event:{event_class.event_type}:{_VERSION}",
        "title": event_class.event_type,
        "description": docstring(event_class),
    }


def _object(event_type: str, properties: JsonSchema, required: list[str], *, is_open: bool) -> JsonSchema:
    return {
        "type": "object",
        "properties": {"type": {"const": event_type}} | properties,
        "required": ["type", *required],
        "additionalProperties": is_open,
    }


def _members(value_class: Any, definitions: dict[str, JsonSchema]) -> tuple[JsonSchema, list[str]]:
    """The properties of a dataclass, and the names of those that are always there."""
    hints = get_type_hints(value_class)
    properties, required = {}, []
    for field in fields(value_class):
        name = field.name
        given = without_none(hints[name])
        schema = _schema(given or hints[name], definitions) | _BEYOND_TYPES.get(name, {})
        if given is not None and name in NULLABLE:
            schema = {"anyOf": [schema, {"type": "null"}]}
        if given is None or name in NULLABLE:
            required.append(name)
        properties[name] = schema
    return properties, required


def _schema(annotation: Any, definitions: dict[str, JsonSchema]) -> JsonSchema:
    if annotation in _PLAIN:
        return dict(_PLAIN[annotation])
    if is_dataclass(annotation):
        return {"$ref": f"#/$defs/{_define(annotation, definitions)}"}
    arguments = get_args(annotation)
    if get_origin(annotation) is Mapping:
        names, values = (_schema(argument, definitions) for argument in arguments)
        return {"type": "object", "propertyNames": names, "additionalProperties": values}
    if get_origin(annotation) is not tuple:
        return dict(input_rule(annotation).json_schema)
    items: JsonSchema = {"type": "array", "items": _schema(arguments[0], definitions)}
    return items if arguments[-1] is ... else items | {"minItems": len(arguments), "maxItems": len(arguments)}


def _define(value_class: Any, definitions: dict[str, JsonSchema]) -> str:
    name: str = value_class.__name__
    if name not in definitions:
        properties, required = _members(value_class, definitions)
        definitions[name] = {
            "description": docstring(value_class),
            "type": "object",
            "properties": properties,
            "required": required,
            "additionalProperties": False,
        }
    return name
