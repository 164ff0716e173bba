"""What cannot be used, and why: the one error of records that come in, and the one of facts read back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from pokdeng.events.reasons import DeadLetterReason

DETAIL_BYTES_MAX: Final = 1024
"""A dead letter's detail is at most 1 KiB of UTF-8."""


def capped_detail(text: str) -> str:
    """The text, cut to at most 1 KiB of UTF-8 at a character's end.

    >>> capped_detail("stake: missing")
    'stake: missing'
    >>> len(capped_detail("é" * 1000).encode())
    1024
    """
    return text.encode(errors="replace")[:DETAIL_BYTES_MAX].decode(errors="ignore")


class MalformedRecordError(ValueError):
    """A record that is no event of its topic: it becomes a dead letter.

    `reason` is the first that fits. `detail` says which field broke which rule, never a value of the record, so that no
    card is shown by it; it is at most 1 KiB of UTF-8.
    """

    def __init__(self, reason: DeadLetterReason, detail: str) -> None:
        """Say why; a longer detail is cut."""
        self.reason = reason
        self.detail = capped_detail(detail)
        super().__init__(f"{reason}: {self.detail}")


class MalformedOutputError(ValueError):
    """Bytes from an output topic that are none of its facts: something else wrote there, or the log is damaged."""
