"""Shoes that are not their table's newest any more: their counts as they were, so that a correction can be judged.

A table holds its newest shoe. When the next one is started the counts of the old one are kept, with the offset of that
record, and each later change (a correction of one of its rounds) beside them under its own offset. So the counts as of
any record can be told, also when it is read again after a restart.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from pokdeng.rules import parse_copies
from pokdeng.settlement.finished import ShoeNote

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pokdeng.rounds import Shoe

COUNTS = "c"
CHANGE = "d"
"""The kinds of fields on a shoe's page; a change's is followed by `|` and its offset."""

_Counts = tuple[int, ShoeNote]
_Change = tuple[int, str]


def encode_counts(shoe: ShoeNote, offset: int) -> bytes:
    """The counts of a shoe when the next one was started by the record at `offset`."""
    return msgspec.json.encode((offset, shoe))


def encode_change(before: Shoe, after: Shoe) -> bytes:
    """What an event changed of an old shoe's counts. Copies are text, for they are larger than numbers of JSON."""
    return msgspec.json.encode((after.gone - before.gone, str(after.copies - before.copies)))


class OldShoe:
    """What is kept of one."""

    __slots__ = ("_changes", "_counts")

    def __init__(self, fields: Mapping[str, bytes]) -> None:
        """Read its page."""
        self._counts: _Counts | None = None
        self._changes: dict[int, _Change] = {}
        for field, value in fields.items():
            kind, _, rest = field.partition("|")
            if kind == COUNTS:
                self._counts = msgspec.json.decode(value, type=_Counts)
            elif kind == CHANGE:
                self._changes[int(rest)] = msgspec.json.decode(value, type=_Change)

    def left(self, shoe: ShoeNote, offset: int) -> None:
        """The next shoe is started in this batch: the page is not written yet."""
        self._counts = (offset, shoe)

    def changed(self, before: Shoe, after: Shoe, offset: int) -> None:
        """An event of this batch changed its counts."""
        self._changes[offset] = (after.gone - before.gone, str(after.copies - before.copies))

    def as_of(self, offset: int) -> Shoe | None:
        """The shoe before the event at `offset`, None where its counts were not kept."""
        if self._counts is None:
            return None
        start, note = self._counts
        shoe = note.shoe()
        changes = [change for at, change in self._changes.items() if start < at < offset]
        gone = shoe.gone + sum(more for more, _ in changes)
        return shoe._replace(gone=gone, copies=parse_copies(shoe.copies + sum(int(more) for _, more in changes)))
