"""Whether a record lies where its key says: the key names what its event is about, the partition follows from it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pokdeng.events.reasons import DeadLetterReason
from pokdeng.stream.partitioner import partition_for
from pokdeng.wire import MalformedRecordError

if TYPE_CHECKING:
    from pokdeng.stream.port import Record

_KNOWN_MAX = 100_000


class KeyCheck:
    """Checks the keys of one topic's partition; what was right once is remembered, within bounds."""

    __slots__ = ("_count", "known")

    def __init__(self, partition_count: int) -> None:
        """For a topic with so many partitions."""
        self._count = partition_count
        self.known: dict[bytes | None, str] = {}
        """Keys that were right, and what they name: to be looked at first, it is all of the check but once a key."""

    def check(self, record: Record, named: str) -> None:
        """`named` is the table or account of the record's event.

        Raises:
            MalformedRecordError: `key_mismatch` or `wrong_partition`.
        """
        key = record.key
        if self.known.get(key) == named:
            return
        if key is None or key != named.encode():
            raise MalformedRecordError(DeadLetterReason.KEY_MISMATCH, f"the key is not {named}")
        right = partition_for(key, self._count)
        if right != record.partition:
            raise MalformedRecordError(
                DeadLetterReason.WRONG_PARTITION, f"the key {named} belongs to partition {right} of {self._count}"
            )
        if len(self.known) >= _KNOWN_MAX:
            self.known.clear()
        self.known[key] = named
