"""Bytes of the input topics to events, strictly: an event, or `MalformedRecordError` with the first reason that fits.

Two ways lead to the same end. The fast way is one call of pydantic-core and a count of the quotes; where these leave
anything open, the close look (`strict_json`) decides. A record that pydantic-core took has no name twice, and no field
besides its own, if it has just as many quotes as its event's names and texts need: another member, whatever its name,
value, spacing or escapes, would bring at least two more. So there is nothing nested in it either, and no NaN.
"""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, Any, Final, Generic, Protocol, TypeVar, get_args, get_type_hints

import msgspec
from pydantic_core import CoreSchema, SchemaValidator, ValidationError, core_schema

from pokdeng.events.inputs import BetEvent, FundsEvent, InputEvent, TableEvent
from pokdeng.events.reasons import DeadLetterReason
from pokdeng.wire.errors import MalformedRecordError
from pokdeng.wire.fields import FieldRule, input_rule
from pokdeng.wire.strict_json import NotJsonError, parse_strictly
from pokdeng.wire.topics import TopicKind

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

BYTES_MAX: Final = 65_536
"""A key or a value may have as many bytes, not one more."""

EventT = TypeVar("EventT", bound=InputEvent)
EventT_co = TypeVar("EventT_co", bound=InputEvent, covariant=True)


def input_rules(event_class: type[Any]) -> dict[str, FieldRule]:
    """The fields of an input event, in order, and what each must be."""
    hints = get_type_hints(event_class)
    return {field.name: input_rule(hints[field.name]) for field in fields(event_class)}


class Decode(Protocol[EventT_co]):
    """How records of one input topic are decoded."""

    def __call__(self, raw: bytes | None, key: bytes | None = None) -> EventT_co:
        """The event of a record's value; the key is only measured (`expected_key` says what it must be).

        Raises:
            MalformedRecordError: when it is none: `tombstone`, `too_large`, `not_json`, `unknown_type` or
                `not_an_event`, the first that fits.
        """


class EventDecoder(Generic[EventT]):
    """Decodes the records of one input topic. Immutable once made; may be used from any thread."""

    def __init__(self, classes: Sequence[type[EventT]]) -> None:
        """Make the decoder of a topic that carries these events."""
        self._rules = {event_class.event_type: input_rules(event_class) for event_class in classes}
        choices = {
            event_class.event_type: _core_of(event_class, self._rules[event_class.event_type])
            for event_class in classes
        }
        self._validate_json = SchemaValidator(
            core_schema.tagged_union_schema(choices, "type", strict=True)
        ).validate_json
        quotes = {event_class: _quotes(self._rules[event_class.event_type]) for event_class in classes}
        self.decode: Decode[EventT] = _fast_way(self._validate_json, quotes, self.decode_closely)
        """The event of a record, the fast way."""

    def decode_closely(self, raw: bytes | None, key: bytes | None = None, taken: EventT | None = None) -> EventT:
        """The same as `decode`, the slow way: gives the same event or raises the same reason for every record.

        `taken` is what pydantic-core made of the record; sound JSON without equal names is just that.
        """
        if raw is None:
            raise MalformedRecordError(DeadLetterReason.TOMBSTONE, "no value")
        for what, size in (("value", len(raw)), ("key", len(key or b""))):
            if size > BYTES_MAX:
                raise MalformedRecordError(
                    DeadLetterReason.TOO_LARGE, f"{what} of {size} bytes, at most {BYTES_MAX} are taken"
                )
        try:
            json = parse_strictly(raw)
        except NotJsonError as error:
            raise MalformedRecordError(DeadLetterReason.NOT_JSON, str(error)) from None
        if not isinstance(json.value, dict):
            raise MalformedRecordError(DeadLetterReason.NOT_AN_EVENT, "not a JSON object")
        event_type = json.value.get("type")
        if not isinstance(event_type, str):
            raise MalformedRecordError(DeadLetterReason.NOT_AN_EVENT, "type: missing, or not a text")
        if event_type not in self._rules:
            raise MalformedRecordError(
                DeadLetterReason.UNKNOWN_TYPE, f"type: must be one of {', '.join(sorted(self._rules))}"
            )
        if json.has_equal_names:
            raise MalformedRecordError(DeadLetterReason.NOT_AN_EVENT, "a name stands twice in one JSON object")
        return self._of_members(event_type, json.value) if taken is None else taken

    def _of_members(self, event_type: str, members: dict[str, Any]) -> EventT:
        rules = self._rules[event_type]
        own = {name: members[name] for name in ("type", *rules) if name in members}
        try:
            event: EventT = self._validate_json(msgspec.json.encode(own))
        except ValidationError as error:
            raise MalformedRecordError(DeadLetterReason.NOT_AN_EVENT, _detail(error, rules)) from None
        return event


def _fast_way(
    validate_json: Callable[[Any], EventT], quotes: Mapping[type[EventT], int], decode_closely: Callable[..., EventT]
) -> Decode[EventT]:
    """The way that sound records take. A closure, and the cheap look first: this runs once a bet."""

    def decode(raw: bytes | None, key: bytes | None = None) -> EventT:
        try:
            event = validate_json(raw)
        except ValidationError:  # of a tombstone too; only the close look knows which reason comes first
            return decode_closely(raw, key)
        if (
            raw is None
            or raw.count(b'"') != quotes[type(event)]
            or len(raw) > BYTES_MAX
            or (key is not None and len(key) > BYTES_MAX)
        ):
            return decode_closely(raw, key, event)
        return event

    return decode


def _quotes(rules: Mapping[str, FieldRule]) -> int:
    """How many quotes an event has at least: two for each name and for each text, of its own fields and of `type`."""
    return 2 * (len(rules) + 1) + 2 * (sum(rule.is_text for rule in rules.values()) + 1)


def _core_of(event_class: type[Any], rules: dict[str, FieldRule]) -> CoreSchema:
    arguments = [core_schema.dataclass_field(name, rule.core, kw_only=True) for name, rule in rules.items()]
    return core_schema.dataclass_schema(
        event_class,
        core_schema.dataclass_args_schema(event_class.__name__, arguments, extra_behavior="ignore"),
        list(rules),
        frozen=True,
        slots=True,
        strict=True,
    )


def _detail(error: ValidationError, rules: dict[str, FieldRule]) -> str:
    """Each field that broke its rule, in order. The values stay unsaid: one of them may be a card."""
    said = []
    for problem in error.errors(include_url=False, include_context=False, include_input=False):
        name = str(problem["loc"][1])
        said.append(f"{name}: missing" if problem["type"] == "missing" else f"{name}: must be {rules[name].says}")
    return "; ".join(said)


_TABLE_EVENTS: Final[EventDecoder[TableEvent]] = EventDecoder(get_args(TableEvent))
_BETS: Final[EventDecoder[BetEvent]] = EventDecoder(get_args(BetEvent))
_FUNDS: Final[EventDecoder[FundsEvent]] = EventDecoder(get_args(FundsEvent))

DECODERS: Final[Mapping[TopicKind, EventDecoder[Any]]] = {
    TopicKind.TABLE_EVENTS: _TABLE_EVENTS,
    TopicKind.BETS: _BETS,
    TopicKind.FUNDS: _FUNDS,
}
"""The decoder of each input topic."""

decode_table_event: Final = _TABLE_EVENTS.decode
"""The event of a record of `table-events`; see `EventDecoder.decode`."""
decode_bet_event: Final = _BETS.decode
"""The event of a record of `bets`; see `EventDecoder.decode`."""
decode_funds_event: Final = _FUNDS.decode
"""The event of a record of `funds`; see `EventDecoder.decode`."""
