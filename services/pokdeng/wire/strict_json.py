"""JSON as RFC 8259 has it and not a bit more: what the fast decoder does not see is looked at here, in linear time.

Refused: what is not UTF-8, a byte order mark, lone surrogates (written out or escaped), nesting deeper than 64, NaN and
Infinity. Numbers may have any length. A name that stands twice in one object is JSON, and is told apart.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any, Final, NoReturn

NESTING_MAX: Final = 64
"""Arrays and objects inside one another, the outermost counted."""
NOT_DIGITS: Final = 0.5
"""Stands for a number that is written otherwise than with few enough digits: no field of an event takes a fraction."""

_DIGITS_THAT_MAY_MATTER = 20
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
# The closing quote is optional and nothing is given back, so that an open string is passed over once, not once a quote.
_TEXT = re.compile(rb'"(?:[^"\\]|\\.)*+"?', re.DOTALL)
_ALL_BUT_BRACKETS = bytes(set(range(256)) - set(b"[]{}"))
_OPENING = frozenset(b"[{")
_ESCAPE = re.compile(
    r"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(u[dD][89a-fA-F][0-9a-fA-F]{2})|.)", re.DOTALL
)


class NotJsonError(ValueError):
    """Bytes that are not JSON. The message says why and where, and shows nothing of them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Json:
    """A JSON value, the last of equal names in it, and whether there are equal names in any of its objects."""

    value: Any
    has_equal_names: bool


def parse_strictly(raw: bytes) -> Json:
    """The value of JSON bytes. Numbers that are not up to 20 digits and nothing else become `NOT_DIGITS`.

    Raises:
        NotJsonError: when they are not JSON.

    >>> parse_strictly(b'{"a": [1, 1.5, "b"]}').value
    {'a': [1, 0.5, 'b']}
    >>> parse_strictly(b'{"a": {"b": 1, "b": 2}}').has_equal_names
    True
    >>> parse_strictly(b"[NaN]")
    Traceback (most recent call last):
    pokdeng.wire.strict_json.NotJsonError: NaN is no JSON number
    """
    if raw.startswith(_BYTE_ORDER_MARK):
        raise NotJsonError("starts with a byte order mark")
    try:
        text = raw.decode()
    except UnicodeDecodeError as error:
        raise NotJsonError(f"not UTF-8 at byte {error.start}") from None
    if raw.count(b"[") + raw.count(b"{") > NESTING_MAX and _nesting(raw) > NESTING_MAX:
        raise NotJsonError(f"nested deeper than {NESTING_MAX}")
    if "\\u" in text and any(escape[1] for escape in _ESCAPE.finditer(text)):
        raise NotJsonError("a lone surrogate")
    try:
        return Json(value=_UNIQUE.decode(text), has_equal_names=False)
    except _EqualNamesError:
        pass
    except json.JSONDecodeError as error:
        raise NotJsonError(f"{error.msg} (character {error.pos})") from None
    try:
        return Json(value=_LAST_OF_EQUAL.decode(text), has_equal_names=True)
    except json.JSONDecodeError as error:
        raise NotJsonError(f"{error.msg} (character {error.pos})") from None


def _nesting(raw: bytes) -> int:
    """How deep brackets outside of texts nest; exact for JSON, and never less than a parser sees before an error."""
    deepest = depth = 0
    for bracket in _TEXT.sub(b"", raw).translate(None, _ALL_BUT_BRACKETS):
        if bracket in _OPENING:
            depth += 1
            deepest = max(deepest, depth)
        else:
            depth -= 1
    return deepest


class _EqualNamesError(Exception):
    """A name stands twice in one object."""


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise _EqualNamesError
    return members


def _number(text: str) -> float:
    # int() of a long text costs the square of its length and is refused beyond 4300 digits.
    return int(text) if len(text) <= _DIGITS_THAT_MAY_MATTER and text.isdigit() else NOT_DIGITS


def _not_digits(_text: str) -> float:
    return NOT_DIGITS


def _no_constant(text: str) -> NoReturn:
    raise NotJsonError(f"{text} is no JSON number")


_UNIQUE = json.JSONDecoder(
    object_pairs_hook=_unique, parse_int=_number, parse_float=_not_digits, parse_constant=_no_constant
)
_LAST_OF_EQUAL = json.JSONDecoder(parse_int=_number, parse_float=_not_digits, parse_constant=_no_constant)
