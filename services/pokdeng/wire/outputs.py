"""Bytes of the output topics back to facts: for replays, audits and tests. What `encode` wrote comes back equal.

Strict about what a fact has; a field that this version does not know is ignored, so that an older worker can read on
after a newer one. Whoever must know that nothing else is there compares `encode` of the fact with the bytes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from types import UnionType
from typing import Any, Final, Union, get_args, get_origin, get_type_hints

from pydantic_core import CoreSchema, SchemaValidator, ValidationError, core_schema

from pokdeng.events.ids import Minor
from pokdeng.events.outputs import BetDecision, FundsDecision, OutputEvent, RoundFact, SettlementFact
from pokdeng.wire.encode import NULLABLE
from pokdeng.wire.errors import MalformedOutputError
from pokdeng.wire.fields import input_rule
from pokdeng.wire.topics import TopicKind

OUTPUTS_OF: Final[Mapping[TopicKind, tuple[type[OutputEvent], ...]]] = {
    TopicKind.BET_DECISIONS: get_args(BetDecision),
    TopicKind.FUNDS_DECISIONS: get_args(FundsDecision),
    TopicKind.SETTLEMENTS: get_args(SettlementFact),
    TopicKind.ROUNDS: get_args(RoundFact),
}
"""Which facts each output topic carries."""


def decode_output(kind: TopicKind, raw: bytes) -> OutputEvent:
    """The fact of a record of an output topic.

    Raises:
        MalformedOutputError: when it is none of that topic's.
        KeyError: when the topic carries no facts.
    """
    try:
        event: OutputEvent = _DECODE[kind](raw)
    except ValidationError as error:
        problem = error.errors(include_url=False, include_context=False, include_input=False)[0]
        where = ".".join(map(str, problem["loc"]))
        raise MalformedOutputError(f"not a fact of {kind}: {problem['type']} at {where or 'the top'}") from error
    return event


_PLAIN: Final[Mapping[object, CoreSchema]] = {
    int: core_schema.int_schema(strict=True),
    Minor: core_schema.int_schema(strict=True),
    str: core_schema.str_schema(strict=True),
    bool: core_schema.bool_schema(strict=True),
}


def _core(annotation: Any) -> CoreSchema:
    """The check of a field of a fact. Money is any whole number here: balances may be 0, nets below it."""
    if annotation in _PLAIN:
        return _PLAIN[annotation]
    if is_dataclass(annotation):
        return _dataclass(annotation)
    arguments = get_args(annotation)
    if get_origin(annotation) is Mapping:
        return core_schema.dict_schema(_core(arguments[0]), _core(arguments[1]), strict=True)
    if get_origin(annotation) is not tuple:
        return input_rule(annotation).core
    is_of_any_length = arguments[-1] is ...
    items = [_core(argument) for argument in arguments if argument is not ...]
    return core_schema.tuple_schema(items, variadic_item_index=0 if is_of_any_length else None, strict=True)


def _dataclass(value_class: Any) -> CoreSchema:
    hints = get_type_hints(value_class)
    names = [field.name for field in fields(value_class)]
    arguments = [core_schema.dataclass_field(name, _field(name, hints[name]), kw_only=True) for name in names]
    return core_schema.dataclass_schema(
        value_class,
        core_schema.dataclass_args_schema(value_class.__name__, arguments, extra_behavior="ignore"),
        names,
        frozen=True,
        slots=True,
        strict=True,
    )


def _field(name: str, annotation: Any) -> CoreSchema:
    given = without_none(annotation)
    if given is None:
        return _core(annotation)
    if name in NULLABLE:
        return core_schema.nullable_schema(_core(given))
    return core_schema.with_default_schema(_core(given), default=None)


def without_none(annotation: Any) -> Any:
    """What an optional field is when it is there; None for a field that is always there.

    >>> without_none(str | None), without_none(str)
    (<class 'str'>, None)
    """
    if not isinstance(annotation, UnionType) and get_origin(annotation) is not Union:
        return None
    (given,) = (argument for argument in get_args(annotation) if argument is not type(None))
    return given


def _decoder(classes: tuple[type[OutputEvent], ...]) -> Callable[[bytes], Any]:
    choices = {event_class.event_type: _dataclass(event_class) for event_class in classes}
    return SchemaValidator(core_schema.tagged_union_schema(choices, "type", strict=True)).validate_json


_DECODE = {kind: _decoder(classes) for kind, classes in OUTPUTS_OF.items()}
