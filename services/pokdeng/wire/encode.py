"""Events to bytes: compact JSON, `type` first, then the fields in the order of their definition.

A field of None is not written, but `combination` of a hand, which is null. Totals are sorted by currency. The same fact
gives the same bytes for ever. `templates` makes the same bytes faster for facts that come by the thousand. Inputs are
written the same way, by the simulator and the supervisor's commands.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from operator import attrgetter
from typing import Any, Final, TypeAlias, get_args, get_origin, get_type_hints

import msgspec

from pokdeng.events.inputs import InputEvent
from pokdeng.events.outputs import OutputEvent
from pokdeng.rules import Card

NULLABLE: Final = frozenset({"combination"})
"""The fields whose None is written, as null."""

_Convert: TypeAlias = Callable[[Any], Any]


def encode(event: InputEvent | OutputEvent) -> bytes:
    """The bytes of a fact or an input, UTF-8; pure, and what `decode_output` and the decoders of `inputs` take back."""
    return msgspec.json.encode({"type": event.event_type, **_MEMBERS[type(event)](event)})


def encode_field(event_class: type[OutputEvent], name: str, value: object) -> bytes:
    """The bytes of one field's value, as they stand within a fact."""
    convert = _CONVERSIONS[event_class].get(name)
    return msgspec.json.encode(convert(value) if convert else value)


def _members_of(value_class: Any) -> _Convert:
    """What makes the members of a dataclass's instance, as msgspec is to write them."""
    names = tuple(field.name for field in fields(value_class))
    conversions = tuple(_conversions_of(value_class).items())
    may_be_absent = _may_be_absent(value_class)
    values = attrgetter(*names)

    def members(value: Any) -> dict[str, Any]:
        made = dict(zip(names, values(value), strict=True))
        for name, convert in conversions:
            made[name] = convert(made[name])
        for name in may_be_absent:
            if made[name] is None:
                del made[name]
        return made

    return members


def _may_be_absent(value_class: Any) -> tuple[str, ...]:
    hints = get_type_hints(value_class)
    names = (field.name for field in fields(value_class))
    return tuple(name for name in names if name not in NULLABLE and type(None) in get_args(hints[name]))


def _conversions_of(value_class: Any) -> dict[str, _Convert]:
    hints = get_type_hints(value_class)
    conversions = ((field.name, _conversion(hints[field.name])) for field in fields(value_class))
    return {name: convert for name, convert in conversions if convert is not None}


def _conversion(annotation: Any) -> _Convert | None:
    """What must be done to a value of this type; None where msgspec writes it as it is: a dataclass, field by field."""
    if annotation is Card:
        return str
    if is_dataclass(annotation):
        is_written_as_it_is = not _conversions_of(annotation) and not _may_be_absent(annotation)
        return None if is_written_as_it_is else _members_of(annotation)
    if any(_conversion(argument) for argument in get_args(annotation)):
        raise TypeError(f"no way is known to write a field of {annotation}")
    return _sorted if get_origin(annotation) is Mapping else None


def _sorted(mapping: Mapping[str, Any]) -> dict[str, Any]:
    return {name: mapping[name] for name in sorted(mapping)}


_MEMBERS: Final[Mapping[type[InputEvent | OutputEvent], _Convert]] = {
    event_class: _members_of(event_class) for event_class in get_args(InputEvent) + get_args(OutputEvent)
}
_CONVERSIONS: Final[Mapping[type[OutputEvent], Mapping[str, _Convert]]] = {
    event_class: _conversions_of(event_class) for event_class in get_args(OutputEvent)
}
