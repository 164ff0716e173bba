"""Anchors: one record of each input partition that the ledger knows, so that another log is not taken for this one.

Topics that were made anew under the same names have other records at the same offsets, with other broker times. A
ledger that went on with them would take new records for ones it had read. The newest acknowledged record of each
partition is noted with each commit, and looked up when the partition is taken over, if it is still kept.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import msgspec

from pokdeng.ledger.port import LedgerLostError
from pokdeng.ledger.values import Note, Source
from pokdeng.settlement.another_log import AnotherLogError
from pokdeng.settlement.memory import MARK, UNTOLD
from pokdeng.stream.reading import all_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pokdeng.ledger.port import Ledger
    from pokdeng.stream.port import Log, TopicPartition

NOBODY: Final = Source("")
"""Of notes that are written by no owner of a source."""
_Anchor = tuple[int, int, int, int]
_ANY = 2**63
"""Above every offset."""


def anchor_note(
    source: Source,
    partition: TopicPartition,
    offset: int,
    at_ms: int,
    *,
    committed: int | None = None,
    dealt: int | None = None,
) -> Note:
    """Remember that the record at `offset` has this broker time, and what is to be committed; None: all up to it.

    Below `dealt` everything is dealt with; at it a correction waits that is read, but not said (None: none waits).
    Written when all that must be remembered for the commit is, and before the commit: see `check_commits`.
    """
    behind = offset + 1
    value = (offset, at_ms, behind if committed is None else committed, behind if dealt is None else dealt)
    return Note(source, page_of(partition), MARK, msgspec.json.encode(value), False, None)


def untold_note(partition: TopicPartition, below: int) -> Note:
    """Remember of a partition of `table-events` that the ledger was lost, and where that partition ended then.

    Cards and closes below it that came for rounds which were over may not be noted (`afterwards`): the log tells them.
    """
    return Note(NOBODY, page_of(partition), UNTOLD, msgspec.json.encode(below), False, None)


async def untold_below(ledger: Ledger, partitions: Sequence[TopicPartition]) -> dict[TopicPartition, int]:
    """The offsets of `untold_note`, 0 where there is none."""
    pages = await ledger.recall([page_of(partition) for partition in partitions])
    return {
        partition: msgspec.json.decode(page[UNTOLD], type=int) if UNTOLD in page else 0
        for partition, page in zip(partitions, pages, strict=True)
    }


async def check_anchors(log: Log, ledger: Ledger, partitions: Sequence[TopicPartition]) -> dict[TopicPartition, int]:
    """Hold what is noted of input partitions against the log; the first offset behind what was dealt with of each.

    Raises:
        AnotherLogError: when a noted record is not there, though no retention can have taken it, or is another one.
    """
    noted = await _noted(ledger, partitions)
    ends = await log.end_offsets(list(noted))
    beginnings = await log.beginning_offsets(list(noted))
    kept = {place: anchor for place, anchor in noted.items() if anchor[0] >= beginnings[place]}  # retention took others
    there = [place for place, (offset, *_) in kept.items() if offset < ends[place]]
    looked_up = await all_of([log.read(place, kept[place][0], kept[place][0] + 1) for place in there])
    found = dict(zip(there, looked_up, strict=True))
    for partition, (offset, at_ms, *_) in kept.items():
        if not any(record.offset == offset and record.timestamp == at_ms for record in found.get(partition, ())):
            raise AnotherLogError(
                f"the ledger has read {partition.topic}[{partition.partition}] up to {offset}, a record of {at_ms} ms",
                ends[partition],
            )
    return {partition: dealt for partition, (*_, dealt) in noted.items()}


async def check_commits(log: Log, ledger: Ledger, partitions: Sequence[TopicPartition]) -> None:
    """Hold what the group has committed against what is noted: a ledger that lost its newest notes is behind.

    What a commit passes is read no more, so all that must be remembered of it was noted before. No fact tells of it.

    Raises:
        LedgerLostError: `behind`, naming the partition.
    """
    committed = await log.committed(partitions)
    beginnings = await log.beginning_offsets(partitions)
    noted = await _noted(ledger, partitions)
    for partition, offset in committed.items():
        if offset is None or offset <= beginnings[partition]:
            continue
        there = noted[partition][2] if partition in noted else 0
        if there < offset:
            where = f"{partition.topic}[{partition.partition}]"
            raise LedgerLostError(
                "behind", f"{where} is committed up to {offset}, it was told {there}: restore it first"
            )


async def _noted(ledger: Ledger, partitions: Sequence[TopicPartition]) -> dict[TopicPartition, _Anchor]:
    pages = await ledger.recall([page_of(partition) for partition in partitions])
    return {partition: _decoded(page[MARK]) for partition, page in zip(partitions, pages, strict=True) if MARK in page}


def _decoded(note: bytes) -> _Anchor:
    """A note; one of a version that did not note what is committed cannot tell that any of it is missing."""
    offset, at_ms, *rest = msgspec.json.decode(note, type=tuple[int, ...])
    return offset, at_ms, rest[0] if rest else _ANY, rest[1] if len(rest) > 1 else offset + 1


def page_of(partition: TopicPartition) -> str:
    """The page of an input partition."""
    return f"log|{partition.topic}|{partition.partition}"
