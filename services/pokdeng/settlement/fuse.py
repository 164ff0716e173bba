"""The fuse: a partition of which too much is dead letters is not taken any further, until a person has looked.

A broken producer, or a wrong setting, can turn every record into a dead letter; what follows then is better not done at
once. Counted once a batch and partition, in stretches of ten seconds; nothing is counted while there is no fuse.
"""

from __future__ import annotations

from collections import defaultdict, deque
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import structlog

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pokdeng.stream.port import TopicPartition

_log = structlog.get_logger(__name__)

WINDOW_S: Final = 300.0
LEAST_RECORDS: Final = 1_000
"""Below so many records in the window nothing is a share."""
_STRETCH_S: Final = 10.0


@dataclass(slots=True)
class _Stretch:
    """What was read of a partition within ten seconds."""

    began_at: float
    records: int
    dead: int


class Fuse:
    """Watches the input partitions of one worker. `share` is 0 .. 1; None: there is no fuse, and nothing opens."""

    def __init__(self, share: float | None = None) -> None:
        """Closed, nothing counted yet."""
        self._share = share
        self._stretches: defaultdict[TopicPartition, deque[_Stretch]] = defaultdict(deque)
        self._open: dict[TopicPartition, str] = {}

    @property
    def is_there(self) -> bool:
        """Whether anything is counted at all."""
        return self._share is not None

    @property
    def open(self) -> Mapping[TopicPartition, str]:
        """The partitions that are not taken, and why."""
        return self._open

    def count(self, records: Mapping[TopicPartition, int], dead: Mapping[TopicPartition, int], now: float) -> None:
        """A batch read so many records of each partition, so many of them were dead letters. `now` is monotonic."""
        share = self._share
        if share is None:
            return
        for partition, number in records.items():
            stretches = self._stretches[partition]
            if not stretches or now - stretches[-1].began_at >= _STRETCH_S:
                stretches.append(_Stretch(now, 0, 0))
            stretches[-1].records += number
            stretches[-1].dead += dead.get(partition, 0)
            while now - stretches[0].began_at >= WINDOW_S:
                stretches.popleft()
            if dead.get(partition):
                self._judge(partition, share)

    def reset(self) -> list[str]:
        """Close it everywhere and count anew; why it was open."""
        reasons = list(self._open.values())
        self.forget()
        if reasons:
            _log.warning("dead_letter_fuse_reset", reasons=reasons)
        return reasons

    def forget(self) -> None:
        """Other partitions are owned from now on."""
        self._open.clear()
        self._stretches.clear()

    def _judge(self, partition: TopicPartition, share: float) -> None:
        stretches = self._stretches[partition]
        records, dead = sum(one.records for one in stretches), sum(one.dead for one in stretches)
        if records < LEAST_RECORDS or dead <= share * records or partition in self._open:
            return
        name = f"{partition.topic}[{partition.partition}]"
        self._open[partition] = (
            f"the dead-letter fuse of {name} is open: {dead:,} of {records:,} records within {WINDOW_S / 60:.0f} min "
            "were dead letters; look at them, then `pokdeng dead-letters fuse reset`"
        )
        _log.error(
            "dead_letter_fuse_open",
            topic=partition.topic,
            partition=partition.partition,
            records=records,
            dead_letters=dead,
            alarm=True,
        )
