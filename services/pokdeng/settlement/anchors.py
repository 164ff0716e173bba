"""Anchors: one record of each input partition that the ledger knows, so that another log is not taken for this one.

Topics that were made anew under the same names have other records at the same offsets, with other broker times. A
ledger that went on with them would take new records for ones it had read. The newest acknowledged record of each
partition is noted with each commit, and looked up when the partition is taken over, if it is still kept.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from pokdeng.ledger.port import Note, Source
from pokdeng.settlement.another_log import AnotherLogError
from pokdeng.settlement.memory import MARK

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pokdeng.ledger.port import Ledger
    from pokdeng.stream.port import Log, TopicPartition

_Anchor = tuple[int, int]


def anchor_note(source: Source, partition: TopicPartition, offset: int, at_ms: int) -> Note:
    """Remember that the record at `offset` has this broker time."""
    return Note(source, _page(partition), MARK, msgspec.json.encode((offset, at_ms)), False, None)


async def check_anchors(log: Log, ledger: Ledger, partitions: Sequence[TopicPartition]) -> dict[TopicPartition, int]:
    """Hold what is noted of input partitions against the log; the first offset behind what was acknowledged of each.

    Raises:
        AnotherLogError: when a noted record is not there, though no retention can have taken it, or is another one.
    """
    pages = await ledger.recall([_page(partition) for partition in partitions])
    noted = {
        partition: msgspec.json.decode(page[MARK], type=_Anchor)
        for partition, page in zip(partitions, pages, strict=True)
        if MARK in page
    }
    ends = await log.end_offsets(list(noted))
    beginnings = await log.beginning_offsets(list(noted))
    for partition, (offset, at_ms) in noted.items():
        if offset < beginnings[partition]:
            continue  # retention took it
        records = await log.read(partition, offset, offset + 1) if offset < ends[partition] else []
        if not any(record.offset == offset and record.timestamp == at_ms for record in records):
            raise AnotherLogError(
                f"the ledger has read {partition.topic}[{partition.partition}] up to {offset}, a record of {at_ms} ms",
                ends[partition],
            )
    return {partition: offset + 1 for partition, (offset, _) in noted.items()}


def _page(partition: TopicPartition) -> str:
    return f"log|{partition.topic}|{partition.partition}"
