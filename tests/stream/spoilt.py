"""A batch of records in which a header has a name that is no UTF-8, as a broker takes it."""

from __future__ import annotations

import gzip
import struct
from typing import TYPE_CHECKING, Final

from aiokafka.record.default_records import DefaultRecordBatchBuilder
from aiokafka.record.util import calc_crc32c

if TYPE_CHECKING:
    from collections.abc import Sequence

AT_MS: Final = 1_700_000_000_000
_HEAD_SIZE: Final = 61


def spoilt_batch(names: Sequence[str], codec: int = 0, *, first_offset: int = 0) -> bytes:
    """One record for each name, `v0`, `v1`, ..., a millisecond apart; that named ABCD is spoilt. `codec` 1 is gzip."""
    builder = DefaultRecordBatchBuilder(2, codec, False, -1, -1, -1, 1_000_000)
    for number, name in enumerate(names):
        builder.append(number, AT_MS + number, b"k", b"v%d" % number, [(name, b"x")])
    raw = bytes(builder.build())
    head, body = raw[:_HEAD_SIZE], raw[_HEAD_SIZE:]
    body = gzip.decompress(body) if codec else body
    body = body.replace(b"ABCD", b"\xff\xfeCD")
    body = gzip.compress(body) if codec else body
    rest = head[21:] + body
    return struct.pack(">qi", first_offset, len(rest) + 9) + head[12:17] + struct.pack(">I", calc_crc32c(rest)) + rest
