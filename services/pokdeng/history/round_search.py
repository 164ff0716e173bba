"""Where in the log a round is: looked for backwards from the newest record, in stretches of time that grow.

A table's rounds lie in one partition, so that is all that is read; a round of today is found at once, an old one after
everything since was looked at. Where the inputs are no longer kept, the round's own record says what there was of it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import msgspec

from pokdeng.events.inputs import RoundOpened
from pokdeng.wire import MalformedRecordError, TopicKind, decode_table_event

if TYPE_CHECKING:
    from pokdeng.history.reading import Past
    from pokdeng.stream.port import Record, TopicPartition

RESUME_HEADER: Final = "pokdeng-resume"
"""Of a `rounds` record: which offsets the round covers."""

_FIRST_STRETCH_MS: Final = 15 * 60_000
_GROWTH: Final = 4


class RoundNotFoundError(Exception):
    """The log holds nothing of that round where it was looked for."""


class Resume(msgspec.Struct, frozen=True):
    """What the header of a `rounds` record says, as far as it is needed here; see `RESUME_HEADER`."""

    first_event: int
    last_event: int
    seal: int
    first_bet: int | None = None
    closed_at_ms: int | None = None
    cancelled_at_ms: int | None = None
    caused_at_ms: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """Where a round begins. At least one of the two is there."""

    opened: Record | None
    """Its `round_opened`; None where that is no longer kept."""
    resume: Resume | None
    """What a record of it on `rounds` covers; None where none was seen on the way."""
    said: Record | None
    """That record."""

    @property
    def from_ms(self) -> int:
        """The broker time it was opened at, or the earliest that is known of it."""
        if self.opened is not None:
            return self.opened.timestamp
        if self.resume is not None and self.resume.closed_at_ms is not None:
            return self.resume.closed_at_ms
        return 0 if self.said is None else self.said.timestamp


class _Named(msgspec.Struct):
    table_id: str = ""
    round_id: str = ""


_decode_name = msgspec.json.Decoder(_Named).decode


def is_about(record: Record, table_id: str, round_id: str) -> bool:
    """Whether a record's value names this round."""
    if record.value is None or round_id.encode() not in record.value:
        return False
    try:
        named = _decode_name(record.value)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return False
    return named.table_id == table_id and named.round_id == round_id


def resume_of(record: Record) -> Resume | None:
    """What the record of a round says it covers; None where it does not say."""
    raw = next((value for name, value in record.headers if name == RESUME_HEADER), None)
    if raw is None:
        return None
    try:
        return msgspec.json.decode(raw, type=Resume)
    except msgspec.DecodeError:
        return None


async def find_round(past: Past, table_id: str, round_id: str, *, before_ms: int | None = None) -> Found:
    """Look for a round, from the newest record (or a time) backwards.

    Raises:
        RoundNotFoundError: when it is not there.
    """
    rounds, events = past.place(TopicKind.ROUNDS, table_id), past.place(TopicKind.TABLE_EVENTS, table_id)
    until_ms = await _newest_ms(past, rounds, events) + 1 if before_ms is None else before_ms
    stretch_ms = _FIRST_STRETCH_MS
    while True:
        from_ms = max(0, until_ms - stretch_ms)
        is_exhausted = True
        for place in (rounds, events):
            start, end = await past.between(place, from_ms, until_ms)
            is_exhausted &= start <= await past.beginning(place)
            past.progress.begin(f"looking for round {round_id}", end - start)
            found = await _found_in(past, place, start, end, (table_id, round_id))
            if found is not None:
                return found
        if is_exhausted:
            raise RoundNotFoundError(f"there is no round {round_id} of table {table_id} in the log")
        until_ms, stretch_ms = from_ms, stretch_ms * _GROWTH


async def _newest_ms(past: Past, *places: TopicPartition) -> int:
    newest = [await past.last(place) for place in places]
    return max((record.timestamp for record in newest if record is not None), default=0)


async def _found_in(past: Past, place: TopicPartition, start: int, end: int, name: tuple[str, str]) -> Found | None:
    said = resume = opened = None
    async for record in past.records(place, start, end, containing=name[1].encode()):
        if not is_about(record, *name):
            continue
        if place.topic == past.topics.rounds:
            said, resume = record, resume_of(record) or resume
        elif _is_opening(record):
            return Found(opened=record, resume=None, said=None)
    if said is None:
        return None
    if resume is not None:
        events = past.place(TopicKind.TABLE_EVENTS, name[0])
        first = await past.log.read(events, resume.first_event, resume.first_event + 1)
        opened = next((record for record in first if is_about(record, *name)), None)
        return Found(opened=opened, resume=resume, said=said)
    return None  # it became held: its opening lies in the table's events, a little earlier


def _is_opening(record: Record) -> bool:
    try:
        return isinstance(decode_table_event(record.value, record.key), RoundOpened)
    except MalformedRecordError:
        return False
