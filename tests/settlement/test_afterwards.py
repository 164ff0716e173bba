"""Which table events a restore takes for corrections and cancellations that may have been heard."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any

from pokdeng.settlement.afterwards import read_asked
from pokdeng.stream.partitioner import partition_for
from pokdeng.wire import TopicKind
from tests.restore.filled import reader
from tests.support.line import Line

if TYPE_CHECKING:
    from pokdeng.settlement.afterwards import Asked, Key

PARTITIONS = 4
RIGHT = partition_for(b"T-1", PARTITIONS)


def corrected(event_id: str, **other: object) -> dict[str, Any]:
    """A correction of T-1's R-1."""
    return {
        "type": "card_corrected", "event_id": event_id, "occurred_at": "2026-01-01T12:00:00Z", "table_id": "T-1",
        "round_id": "R-1", "seat": "banker", "position": 1, "card": "9c", "reason": "misread", **other,
    }  # fmt: skip


def asked_of(*records: tuple[bytes | None, bytes | None, int]) -> dict[Key, list[Asked]]:
    """What is found in records of these keys, values and partitions, a second apart."""

    async def go() -> dict[Key, list[Asked]]:
        now = [1_000_000]
        line = Line(partitions=PARTITIONS, clock_ms=lambda: now[0])
        for key, value, partition in records:
            line.broker.append(line.topics.name(TopicKind.TABLE_EVENTS), key, value, partition=partition)
            now[0] += 1000
        return await read_asked(reader(line), line.topics, since_ms=1_001_000)

    return asyncio.run(go())


def said(event: dict[str, Any]) -> tuple[bytes, bytes, int]:
    """A record of it where it belongs."""
    return event["table_id"].encode(), json.dumps(event).encode(), RIGHT


def test_only_what_could_have_been_heard_is_asked() -> None:
    """Not what is older, lies in another partition, has another key, or is no event: those were dead letters."""
    cancelled = {name: corrected("x1")[name] for name in ("occurred_at", "table_id", "round_id", "reason", "event_id")}
    key, value, _ = said(corrected("c1"))
    found = asked_of(
        said(corrected("c0")),
        (key, value, RIGHT),
        (key, value, (RIGHT + 1) % PARTITIONS),
        (b"T-2", value, RIGHT),
        (None, value, RIGHT),
        (key, None, RIGHT),
        (key, value[:-1], RIGHT),
        (key, value.replace(b'"9c"', b'"1c"'), RIGHT),
        (key, value.replace(b"card_corrected", b"card_dealt").replace(b'"c1"', b'"card_corrected"'), RIGHT),
        (key, value.replace(b"card_corrected", rb"card\u005fcorrected").replace(b'"c1"', b'"c2"'), RIGHT),
        said(cancelled | {"type": "round_cancelled"}),
        said(corrected("c3", round_id="R-2")),
    )
    assert {name: [one.event.event_id for one in asked] for name, asked in found.items()} == {
        ("T-1", "R-1"): ["c1", "c2", "x1"],
        ("T-1", "R-2"): ["c3"],
    }
    assert not any(one.is_committed for asked in found.values() for one in asked)
