"""What the worker said of one record: found by waiting, for a bounded time, for what names that record as its cause."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from pokdeng.history.letters import Letter, letters_of
from pokdeng.wire import MalformedOutputError, TopicKind, decode_output

if TYPE_CHECKING:
    from pokdeng.events.outputs import OutputEvent
    from pokdeng.history.reading import Past
    from pokdeng.stream.port import Record, TopicPartition

_POLL_S: Final = 0.2


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """Our record, and what was said of it: the round's own record, or a dead letter. None: nothing so far."""

    record: Record | None = None
    fact: OutputEvent | None = None
    letter: Letter | None = None


class Ears:
    """Listens from now on, in the partitions where an answer about a table's event can lie."""

    def __init__(self, past: Past, starts: dict[TopicPartition, int], table_id: str) -> None:
        """See `listen`."""
        self._past = past
        self._starts = starts
        self._events = past.place(TopicKind.TABLE_EVENTS, table_id)
        self._rounds = past.place(TopicKind.ROUNDS, table_id)
        self._letters = past.place(TopicKind.DEAD_LETTERS, table_id)

    @classmethod
    async def listen(cls, past: Past, table_id: str) -> Ears:
        """Begin before the record is appended."""
        kinds = (TopicKind.TABLE_EVENTS, TopicKind.ROUNDS, TopicKind.DEAD_LETTERS)
        places = [past.place(kind, table_id) for kind in kinds]
        return cls(past, await past.log.end_offsets(places), table_id)

    async def hear(self, event_id: str, *, within_s: float) -> Answer:
        """Wait for what is said of the event with this id; after `within_s` seconds, what is known by then."""
        deadline = time.monotonic() + within_s
        answer = Answer()
        while True:
            answer = await self._look(event_id, answer.record)
            if answer.fact is not None or answer.letter is not None or time.monotonic() >= deadline:
                return answer
            await asyncio.sleep(_POLL_S)

    async def _look(self, event_id: str, record: Record | None) -> Answer:
        if record is None:
            needle = event_id.encode()
            record = next((one for one in await self._new(self._events) if needle in (one.value or b"")), None)
        if record is None:
            return Answer()
        origin = (record.topic, record.partition, record.offset)
        for said in await self._new(self._rounds):
            try:
                fact = decode_output(TopicKind.ROUNDS, said.value or b"")
            except MalformedOutputError:
                continue
            if (fact.cause.topic, fact.cause.partition, fact.cause.offset) == origin:
                return Answer(record=record, fact=fact)
        letters = letters_of(await self._new(self._letters))
        return Answer(record=record, letter=next((one for one in letters if one.origin == origin), None))

    async def _new(self, place: TopicPartition) -> list[Record]:
        return [one async for one in self._past.records(place, self._starts[place], await self._past.end(place))]
