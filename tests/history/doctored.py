"""Logs that somebody tampered with: the records of a sound one, changed by hand, in a broker of their own."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from pokdeng.history.audit import Report, audit
from pokdeng.history.audit.auditor import ORDER
from pokdeng.history.reading import open_past
from pokdeng.stream.memory import MemoryBroker, MemoryLog
from pokdeng.wire import TopicKind, Topics, event_id, headers
from tests.settlement.scene import scene
from tests.settlement.table_talk import FIVE_ACCOUNTS

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.settlement.scene import Scene

SOUND = """
shoe S-1 2h
open R-1
bet b1 A-1 player_1 1000
bet b2 A-2 player_2_pair 500
bet b3 A-3 player_3 1000
bet b4 A-4 player_4 90000
cancel b3 A-3
close R-1
bet b5 A-5 player_5 100
deal R-1 W
open R-2
bet b1 A-1 player_4 200 of R-2
bet b2 A-2 player_1 300 of R-2
close R-2
void R-2
withdraw A-1 100
open R-3
bet b1 A-1 player_1 100 of R-3
close R-3
deal R-3 L
bet b9 A-1 player_1 100 of R-9
open R-4
bet b1 A-2 player_1 100 of R-4
"""
"""Bets won, lost, withdrawn, late, without funds, on a round unknown; a round refunded, one open at the end."""

_SOUND: list[Records] = []
_NAMED = {
    "bet_settled": ("table_id", "round_id", "bet_id", "revision"),
    "bet_refunded": ("table_id", "round_id", "bet_id", "revision"),
    "bet_reversed": ("table_id", "round_id", "bet_id", "revision"),
    "bet_accepted": ("table_id", "round_id", "bet_id"),
    "bet_rejected": ("table_id", "round_id", "bet_id"),
    "round_settled": ("table_id", "round_id", "revision"),
    "round_refunded": ("table_id", "round_id", "revision"),
}


@dataclass(frozen=True)
class Rec:
    """A record that can be changed."""

    kind: TopicKind
    partition: int
    at_ms: int
    key: bytes | None
    value: bytes | None
    headers: tuple[tuple[str, bytes], ...]

    @property
    def body(self) -> dict[str, Any]:
        """What it says."""
        said: dict[str, Any] = json.loads(self.value or b"{}")
        return said

    def saying(self, **fields: Any) -> Rec:
        """The same fact with other fields, and the id and headers that follow; `_id` keeps another id."""
        body = self.body
        for name, value in fields.items():
            if name == "_id":
                continue
            body[name] = body[name] | value if isinstance(value, dict) and isinstance(body.get(name), dict) else value
        if body["type"] in _NAMED:
            body["event_id"] = event_id(body["type"], *(body[name] for name in _NAMED[body["type"]]))
        if "_id" in fields:
            body["event_id"] = fields["_id"]
        key = (body.get("account_id") or body["table_id"]).encode()
        said = tuple(headers(body["type"], body["event_id"], body["occurred_at"], Topics().source))
        own = tuple(header for header in self.headers if header[0].startswith("pokdeng"))
        return replace(self, key=key, value=json.dumps(body, separators=(",", ":")).encode(), headers=said + own)


@dataclass
class Records:
    """All records of a log, in the order of the topics, partitions and offsets."""

    partitions: int
    all: list[Rec] = field(default_factory=list)

    def one(self, event_type: str, **fields: Any) -> int:
        """The place in `all` of the only record of a type that has these fields."""
        found = [
            place
            for place, record in enumerate(self.all)
            if record.kind is not TopicKind.DEAD_LETTERS
            and record.body.get("type") == event_type
            and fields.items() <= record.body.items()
        ]
        assert len(found) == 1, (event_type, fields, found)
        return found[0]

    def change(self, event_type: str, where: dict[str, Any], **fields: Any) -> None:
        """Change a fact where it lies."""
        place = self.one(event_type, **where)
        self.all[place] = self.all[place].saying(**fields)

    def drop(self, event_type: str, **where: Any) -> None:
        """Take a record away; offsets behind it move up, but of inputs: there a record that is none is left."""
        place = self.one(event_type, **where)
        del self.all[place]

    def append(self, event_type: str, where: dict[str, Any], **fields: Any) -> None:
        """Append a changed copy of a fact to its partition, a second after everything else."""
        record = self.all[self.one(event_type, **where)].saying(**fields)
        self.all.append(replace(record, at_ms=max(one.at_ms for one in self.all) + 1000))

    def broker(self) -> MemoryBroker:
        """A broker with these records."""
        broker = MemoryBroker(lambda: 0)
        topics = Topics()
        for name in topics.names:
            broker.create_topic(name, self.partitions)
        for one in self.all:
            broker.append(topics.name(one.kind), one.key, one.value, one.headers, one.partition, one.at_ms)
        return broker


def records_of(played: Scene) -> Records:
    """The records of a scene."""
    line = played.line
    found = Records(line.partitions)
    for kind in ORDER:
        for one in line.records(kind):
            found.all.append(
                Rec(kind, one.partition, one.timestamp, one.key, one.value, tuple((n, v) for n, v in one.headers))
            )
    return found


async def sound_records() -> Records:
    """The records of `SOUND`, and what the worker said of them; played once."""
    if not _SOUND:
        async with scene(partitions=2) as played:
            await played.play(FIVE_ACCOUNTS)
            await played.play(SOUND)
        _SOUND.append(records_of(played))
    return Records(_SOUND[0].partitions, list(_SOUND[0].all))


async def report_of(records: Records, change: Callable[[Records], None] | None = None) -> Report:
    """What the audit says of records, changed by hand."""
    if change is not None:
        change(records)
    return await report_on(records.broker())


async def report_on(broker: MemoryBroker) -> Report:
    """What the audit says of a broker's log."""
    return await audit(await open_past(MemoryLog(broker, "audit", copartitioned=()), Topics(), ORDER))
