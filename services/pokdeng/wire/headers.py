"""The CloudEvents 1.0 headers (binary mode) of a fact, always in one order."""

from __future__ import annotations

from functools import lru_cache
from typing import Final

_VERSION: Final = ("ce_specversion", b"1.0")
_CONTENT_TYPE: Final = ("content-type", b"application/json")


def headers(event_type: str, event_id: str, occurred_at: str, source: str) -> list[tuple[str, bytes]]:
    """The headers of a fact's record. `source` is `Topics.source`.

    >>> for header in headers("bet_accepted", "e-1", "2026-01-01T00:00:00Z", "/pokdeng/settlement"):
    ...     print(*header)
    ce_id b'e-1'
    ce_type b'bet_accepted'
    ce_time b'2026-01-01T00:00:00Z'
    ce_source b'/pokdeng/settlement'
    ce_specversion b'1.0'
    content-type b'application/json'
    """
    return [
        ("ce_id", event_id.encode()),
        _header("ce_type", event_type),
        ("ce_time", occurred_at.encode()),
        _header("ce_source", source),
        _VERSION,
        _CONTENT_TYPE,
    ]


@lru_cache(maxsize=256)
def _header(name: str, value: str) -> tuple[str, bytes]:
    return name, value.encode()
