"""Credits: how many delivered records may be unfinished before a partition is read no further."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection

    from pokdeng.stream.port import TopicPartition


class Credits:
    """Counts records that were delivered and are not done yet, per partition.

    Per partition, because two partitions may be merged: one that is ahead must not use up what the other needs to
    catch up, or both would wait for ever. Where work is done without naming its partition, the total is all that is
    known, and it can only be a soft limit (`is_soft`), for the same reason.
    """

    def __init__(self, total: int) -> None:
        """Of `total` records, shared evenly between the partitions that are assigned."""
        self._total = total
        self._share = total
        self._given: dict[TopicPartition, int] = {}
        self._unnamed = 0
        self.is_soft = False
        """Whether work was done without naming its partition: deliver now and then even where there is no room."""

    def reset(self, partitions: Collection[TopicPartition]) -> None:
        """Forget all: these partitions are assigned from now on, and nothing of them is delivered."""
        self._share = max(1, self._total // max(1, len(partitions)))
        self._given = dict.fromkeys(partitions, 0)
        self._unnamed = 0

    def give(self, partition: TopicPartition, count: int) -> None:
        """`count` records were delivered."""
        self._given[partition] += count

    def done(self, count: int, partition: TopicPartition | None = None) -> None:
        """`count` records were dealt with. Those of an earlier assignment are ignored."""
        if partition is None:
            self.is_soft = True
            self._unnamed = min(self._unnamed + count, sum(self._given.values()))
        elif partition in self._given:
            self._given[partition] = max(0, self._given[partition] - count)

    @property
    def outstanding(self) -> int:
        """How many delivered records are not done."""
        return sum(self._given.values()) - self._unnamed

    def room(self, partition: TopicPartition) -> int:
        """How many more records of this partition may be delivered; 0 or less: none."""
        if self.is_soft:
            return self._total - self.outstanding
        return self._share - self._given[partition]
