"""What people did about a dead letter: replayed or discarded, by whom and why, as a record beside it.

Such a record lies on the dead-letter topic in the letter's own partition, with its key, no value and four headers:
`dlq.action`, `dlq.by`, `dlq.note`, `dlq.of` (the letter's `partition:offset`). Whoever lists or replays letters passes
over those that one names, and over the records themselves. Source: the issue of the supervisor's tools.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Final

from pokdeng.wire.dead_letters import DeadLetter

if TYPE_CHECKING:
    from collections.abc import Sequence

NOTE_CHARACTERS_MAX: Final = 200

_ACTION: Final = "dlq.action"
_REASON: Final = "dlq.reason"
_PLACE: Final = re.compile(r"(0|[1-9][0-9]{0,9}):(0|[1-9][0-9]{0,18})")


class LetterAction(StrEnum):
    """What was done about a dead letter."""

    REPLAYED = "replayed"
    """Its original bytes were put back into its topic, once."""
    DISCARDED = "discarded"
    """It will not be put back, and a note says why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ActionInfo:
    """What was done, by whom, why, and about which record of the dead-letter topic."""

    action: LetterAction
    by: str
    note: str
    partition: int
    offset: int


def action_record(key: bytes | None, info: ActionInfo) -> DeadLetter:
    """The record that says what was done about a letter with this key."""
    return DeadLetter(
        key,
        None,
        (
            (_ACTION, info.action.encode()),
            ("dlq.by", info.by.encode()),
            ("dlq.note", info.note.encode()),
            ("dlq.of", f"{info.partition}:{info.offset}".encode()),
        ),
    )


def read_action(headers: Sequence[tuple[str, bytes]]) -> ActionInfo | None:
    """What the headers of a record of the dead-letter topic say was done; None where it is a letter.

    A letter whose producer wrote such headers itself is a letter all the same: `dlq.reason` follows them.

    Raises:
        ValueError: when it is neither.

    >>> info = ActionInfo(action=LetterAction.REPLAYED, by="ana", note="", partition=3, offset=17)
    >>> read_action(action_record(b"T-1", info).headers) == info
    True
    """
    said = dict(headers)
    if _REASON in said or _ACTION not in said:
        return None
    try:
        partition, offset = parse_place(said["dlq.of"].decode())
        return ActionInfo(
            action=LetterAction(said[_ACTION].decode()),
            by=said["dlq.by"].decode(),
            note=said["dlq.note"].decode(),
            partition=partition,
            offset=offset,
        )
    except (KeyError, ValueError) as error:
        raise ValueError(f"not an action about a dead letter: {error!r}") from error


def parse_place(text: str) -> tuple[int, int]:
    """A place on the dead-letter topic, written `partition:offset`.

    Raises:
        ValueError: when the text is none.

    >>> parse_place("3:17")
    (3, 17)
    >>> parse_place("3/17")
    Traceback (most recent call last):
    ValueError: '3/17' is no place; write PARTITION:OFFSET, for example 3:17
    """
    found = _PLACE.fullmatch(text)
    if found is None:
        raise ValueError(f"{text!r} is no place; write PARTITION:OFFSET, for example 3:17")
    return int(found[1]), int(found[2])
