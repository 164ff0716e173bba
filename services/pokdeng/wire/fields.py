"""What each field of an event must be: one table from the types of `pokdeng.events` to rules.

A rule is the check (a pydantic-core schema), the same as JSON Schema, and a sentence for people. Patterns are written
for both regular expression languages that read them, pydantic-core's and ECMA 262's: `$` is the very end in both.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias, get_args, get_origin

from pydantic_core import CoreSchema, core_schema

from pokdeng.events import ids
from pokdeng.rules import CARDS, Card

if TYPE_CHECKING:
    from collections.abc import Mapping

JsonSchema: TypeAlias = dict[str, Any]

AMOUNT_MAX: Final = 10**12
"""The largest `stake` and `amount`; the smallest is 1."""
REASON_CHARACTERS_MAX: Final = 200

ID_PATTERN: Final = "^[A-Za-z0-9][A-Za-z0-9._:-]{0,63}$"
CURRENCY_PATTERN: Final = "^[A-Z]{3}$"
_YEAR = "[0-9]{4}"
_LEAP_YEAR = "(?:[0-9]{2}(?:0[48]|[2468][048]|[13579][26])|(?:[02468][048]|[13579][26])00)"
_DATE = (
    f"(?:{_YEAR}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12][0-9]|3[01])|(?:0[469]|11)-(?:0[1-9]|[12][0-9]|30)"
    f"|02-(?:0[1-9]|1[0-9]|2[0-8]))|{_LEAP_YEAR}-02-29)"
)
_HOUR_AND_MINUTE = "(?:[01][0-9]|2[0-3]):[0-5][0-9]"
TIME_PATTERN: Final = (
    f"^{_DATE}[Tt]{_HOUR_AND_MINUTE}:(?:[0-5][0-9]|60)(?:\\.[0-9]{{1,32}})?(?:[Zz]|[+-]{_HOUR_AND_MINUTE})$"
)
"""RFC 3339 with a zone; a fraction of at most 32 digits, since every fact about the record repeats the text."""
CARD_PATTERN: Final = "^(?:[A2-9TJQK]|10)[cdhs]$"


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldRule:
    """What a field must be: `core` checks it, `json_schema` publishes it, `says` completes "must be ..."."""

    core: CoreSchema
    json_schema: JsonSchema
    says: str

    @property
    def is_text(self) -> bool:
        """Whether the field is written between quotes."""
        return bool(self.json_schema["type"] == "string")


def _text(pattern: str, says: str, **json_schema: object) -> FieldRule:
    return FieldRule(
        core=core_schema.str_schema(pattern=pattern, strict=True),
        json_schema={"type": "string", "pattern": pattern, **json_schema},
        says=says,
    )


def _whole(least: int, most: int, says: str) -> FieldRule:
    # An int schema with bounds also for one of few numbers: pydantic's literal takes `true` and `1.0` for 1.
    return FieldRule(
        core=core_schema.int_schema(ge=least, le=most, strict=True),
        json_schema={
            "type": "integer",
            "minimum": least,
            "maximum": most,
            "multipleOf": 1,
            "description": "Digits only: no fraction, no exponent, no sign.",
        },
        says=says,
    )


_ID = _text(ID_PATTERN, "a text of 1 .. 64: a letter or digit, then letters, digits, '.', '_', ':' or '-'")

_BY_NEWTYPE: Final[Mapping[object, FieldRule]] = {
    ids.EventId: _ID,
    ids.TableId: _ID,
    ids.ShoeId: _ID,
    ids.RoundId: _ID,
    ids.BetId: _ID,
    ids.AccountId: _ID,
    ids.TransferId: _ID,
    ids.Currency: _text(CURRENCY_PATTERN, "three capital letters"),
    ids.Minor: _whole(1, AMOUNT_MAX, "a whole number of 1 .. 10^12, digits only"),
    ids.Timestamp: _text(TIME_PATTERN, "an RFC 3339 time with a zone", format="date-time"),
    ids.Reason: FieldRule(
        core=core_schema.str_schema(min_length=1, max_length=REASON_CHARACTERS_MAX, strict=True),
        json_schema={"type": "string", "minLength": 1, "maxLength": REASON_CHARACTERS_MAX},
        says=f"a text of 1 .. {REASON_CHARACTERS_MAX} characters",
    ),
    Card: FieldRule(
        core=core_schema.no_info_after_validator_function(Card.parse, core_schema.str_schema(strict=True)),
        json_schema={"type": "string", "pattern": CARD_PATTERN, "examples": [str(CARDS[0])]},
        says="a card: a rank A 2-9 T or 10, J Q K, then a suit c d h s",
    ),
}


def input_rule(annotation: Any) -> FieldRule:
    """The rule of an input's field, from its type.

    Raises:
        TypeError: for a type without a rule: a definition changed and this table did not.

    >>> input_rule(ids.Currency).says
    'three capital letters'
    >>> input_rule(float)
    Traceback (most recent call last):
    TypeError: no rule for a field of <class 'float'>
    """
    if annotation in _BY_NEWTYPE:
        return _BY_NEWTYPE[annotation]
    if get_origin(annotation) is Literal:
        return _choice_of_numbers(get_args(annotation))
    if isinstance(annotation, type) and issubclass(annotation, StrEnum):
        return choice_of_texts(annotation)
    raise TypeError(f"no rule for a field of {annotation}")


def choice_of_texts(enum: type[StrEnum]) -> FieldRule:
    """The rule of a closed set of texts; what is decoded is its member."""
    members = list(enum)
    return FieldRule(
        core=core_schema.enum_schema(enum, members, sub_type="str", strict=True),
        json_schema={"type": "string", "enum": [member.value for member in members]},
        says=f"one of {', '.join(members)}",
    )


def _choice_of_numbers(numbers: tuple[int, ...]) -> FieldRule:
    least, most = min(numbers), max(numbers)
    if sorted(numbers) != list(range(least, most + 1)):
        raise TypeError(f"no rule for a field of numbers with gaps: {numbers}")
    return _whole(least, most, f"{' or '.join(map(str, numbers))}, digits only")
