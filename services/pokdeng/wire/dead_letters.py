"""Dead letters: a record that could not be used, as it came, with why after it; and how they are read again.

The original key, value and headers stay byte for byte and in order; six headers follow: `dlq.reason`, `dlq.detail`,
`dlq.topic`, `dlq.partition`, `dlq.offset`, `dlq.timestamp` (numbers as digits, the time in milliseconds).

One that the broker refuses all the same is truncated. Its key stays. Its value becomes `{"sha256": ..., "length": ...}`
(a null stays null). Its headers become `dlq.headers-sha256` and `dlq.headers-length` (bytes of all names and values);
then come the six and `dlq.truncated`, `true`. The headers' hash is over each in order: the name's length as four bytes,
big-endian, the name, the value's length alike (-1 for null), the value.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING, Final, NamedTuple, Protocol

from pokdeng.events.reasons import DeadLetterReason
from pokdeng.wire.errors import capped_detail

if TYPE_CHECKING:
    from collections.abc import Sequence

_REASON: Final = "dlq.reason"
_TRUNCATED: Final = ("dlq.truncated", b"true")
_LENGTH_BYTES = 4


class LoggedRecord(Protocol):
    """A record as it lies in the log."""

    @property
    def topic(self) -> str:
        """The topic's name."""

    @property
    def partition(self) -> int:
        """Its partition."""

    @property
    def offset(self) -> int:
        """Its offset there."""

    @property
    def timestamp(self) -> int:
        """Broker time, milliseconds since the epoch."""

    @property
    def key(self) -> bytes | None:
        """None where there is none."""

    @property
    def value(self) -> bytes | None:
        """None for a tombstone."""

    @property
    def headers(self) -> Sequence[tuple[str, bytes]]:
        """In their order."""


class DeadLetter(NamedTuple):
    """A record to publish on the dead-letter topic."""

    key: bytes | None
    value: bytes | None
    headers: Sequence[tuple[str, bytes]]


@dataclass(frozen=True, slots=True, kw_only=True)
class DeadLetterInfo:
    """Why a record became a dead letter, and which record it was. `timestamp_ms` is its broker time."""

    reason: DeadLetterReason
    detail: str
    topic: str
    partition: int
    offset: int
    timestamp_ms: int
    is_truncated: bool
    original_headers: tuple[tuple[str, bytes], ...]
    """The headers it came with; empty where it is truncated."""


def dead_letter(record: LoggedRecord, reason: DeadLetterReason, detail: str) -> DeadLetter:
    """The dead letter of a record. `detail` must show no card; it is cut to 1 KiB of UTF-8."""
    return DeadLetter(record.key, record.value, (*record.headers, *_why(record, reason, detail)))


def truncated_dead_letter(record: LoggedRecord, reason: DeadLetterReason, detail: str) -> DeadLetter:
    """The dead letter of a record whose whole dead letter the broker refuses."""
    length = sum(len(name.encode()) + len(value or b"") for name, value in record.headers)
    return DeadLetter(
        record.key,
        None if record.value is None else _digest(record.value),
        (
            ("dlq.headers-sha256", _hash_of_headers(record.headers).encode()),
            ("dlq.headers-length", str(length).encode()),
            *_why(record, reason, detail),
            _TRUNCATED,
        ),
    )


def read_info(headers: Sequence[tuple[str, bytes]]) -> DeadLetterInfo:
    """What the headers of a dead letter say. Of a record that died twice, the last death.

    Raises:
        ValueError: when they are not those of a dead letter.
    """
    start = max((place for place, (name, _) in enumerate(headers) if name == _REASON), default=None)
    if start is None:
        raise ValueError(f"not a dead letter: no header {_REASON}")
    said = {name: value.decode() for name, value in headers[start:]}
    is_truncated = _TRUNCATED[0] in said
    try:
        return DeadLetterInfo(
            reason=DeadLetterReason(said[_REASON]),
            detail=said["dlq.detail"],
            topic=said["dlq.topic"],
            partition=int(said["dlq.partition"]),
            offset=int(said["dlq.offset"]),
            timestamp_ms=int(said["dlq.timestamp"]),
            is_truncated=is_truncated,
            original_headers=() if is_truncated else tuple(headers[:start]),
        )
    except KeyError as error:
        raise ValueError(f"not a dead letter: no header {error}") from error


def _why(record: LoggedRecord, reason: DeadLetterReason, detail: str) -> tuple[tuple[str, bytes], ...]:
    return (
        (_REASON, reason.encode()),
        ("dlq.detail", capped_detail(detail).encode()),
        ("dlq.topic", record.topic.encode()),
        ("dlq.partition", str(record.partition).encode()),
        ("dlq.offset", str(record.offset).encode()),
        ("dlq.timestamp", str(record.timestamp).encode()),
    )


def _digest(value: bytes) -> bytes:
    return json.dumps({"sha256": sha256(value).hexdigest(), "length": len(value)}, separators=(",", ":")).encode()


def _hash_of_headers(headers: Sequence[tuple[str, bytes | None]]) -> str:
    whole = sha256()
    for name, value in headers:
        for text in (name.encode(), value):
            length = -1 if text is None else len(text)
            whole.update(length.to_bytes(_LENGTH_BYTES, "big", signed=True))
            whole.update(text or b"")
    return whole.hexdigest()
