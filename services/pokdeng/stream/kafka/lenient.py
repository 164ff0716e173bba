r"""Records with a header whose name is no UTF-8: aiokafka cannot read them, and its consumer would stop there for ever.

Nothing here is interested in the headers of inputs, so the record counts as any other. The bytes of a fetch are kept
beside aiokafka's view of them, and where that fails the batch is read again, slowly. Names that are no UTF-8 come with
`\\xff` for each byte that is none.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Any

from aiokafka.consumer import fetcher
from aiokafka.record.default_records import _DefaultRecordBatchPy
from aiokafka.record.memory_records import MemoryRecords

if TYPE_CHECKING:
    from collections.abc import Iterator

_BATCH_HEAD = struct.Struct(">qi")
"""A batch begins with its first offset, and how many bytes follow."""


class KeptRecords(MemoryRecords):  # type: ignore[misc,valid-type]  # Cython's, or Python's where there is none
    """aiokafka's view of what a fetch brought, with the bytes beside it."""

    def __init__(self, raw: bytes) -> None:
        """As aiokafka makes its own."""
        super().__init__(raw)
        self.raw = raw


class _Lenient(bytearray):
    """Bytes of which parts can be decoded whatever they are."""

    def __getitem__(self, place: Any) -> Any:
        part = super().__getitem__(place)
        return _Lenient(part) if isinstance(place, slice) else part

    def decode(self, *_: Any, **__: Any) -> str:
        return super().decode("utf-8", "backslashreplace")


def read_leniently(raw: bytes, first_offset: int) -> Iterator[Any]:
    """The records of the batch that begins with this offset, with aiokafka's reader in Python."""
    start = 0
    while True:
        offset, size = _BATCH_HEAD.unpack_from(raw, start)
        end = start + _BATCH_HEAD.size + size
        if offset == first_offset:
            break
        start = end
    batch: Any = _DefaultRecordBatchPy(raw[start:end])
    batch._maybe_uncompress()  # noqa: SLF001 - has a contract test
    batch._buffer = _Lenient(batch._buffer)  # noqa: SLF001
    return iter(batch)


def keep_bytes() -> None:
    """Have aiokafka's fetchers keep the bytes of what they fetch. Idempotent."""
    fetcher.MemoryRecords = KeptRecords  # type: ignore[attr-defined]  # the only way: each fetcher names it
