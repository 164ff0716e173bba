"""The play's own time as text: what `occurred_at` says."""

from __future__ import annotations

from datetime import UTC, datetime
from functools import lru_cache


def time_text(at_ms: int) -> str:
    """A moment, milliseconds since the epoch, as RFC 3339.

    >>> time_text(1_767_225_600_042)
    '2026-01-01T00:00:00.042Z'
    """
    return f"{_second(at_ms // 1000)}.{at_ms % 1000:03d}Z"


@lru_cache(maxsize=256)
def _second(seconds: int) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%S")
