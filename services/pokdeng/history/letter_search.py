"""Dead letters looked for: by reason, topic and time, or by their place; with what was done about each."""

from __future__ import annotations

import heapq
from collections import Counter
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from pokdeng.events.inputs import BettingClosed, RoundCancelled
from pokdeng.history.letters import Letter, letter_of
from pokdeng.history.round_search import RoundNotFoundError, find_round, is_about
from pokdeng.stream.port import TopicPartition
from pokdeng.wire import ActionInfo, MalformedRecordError, TopicKind, decode_table_event, read_action

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterable

    from pokdeng.events.reasons import DeadLetterReason
    from pokdeng.history.reading import Past
    from pokdeng.stream.port import Record

Place = tuple[int, int]
"""Partition and offset on the dead-letter topic."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """Which letters: of one reason, of one input topic, said within a time. None: any."""

    reason: DeadLetterReason | None = None
    topic: str | None = None
    """The full name of the topic that the record came from."""
    since_ms: int | None = None
    until_ms: int | None = None

    def is_wanted(self, letter: Letter) -> bool:
        """Whether a letter is one of them; its time is looked at where it is read."""
        return (self.reason is None or letter.info.reason is self.reason) and (
            self.topic is None or letter.info.topic == self.topic
        )


@dataclass(slots=True, kw_only=True)
class Listed:
    """Letters that were asked for: the newest of them, oldest first, and how many there are."""

    letters: list[Letter] = field(default_factory=list)
    by_reason: Counter[tuple[str, str]] = field(default_factory=Counter)
    """How many of each reason and input topic."""
    done: int = 0
    """How many more were replayed or discarded, and are not listed."""


async def actions_of(past: Past, wanted: Wanted | None = None) -> dict[Place, ActionInfo]:
    """What was done about letters: the first record about each counts."""
    actions: dict[Place, ActionInfo] = {}
    async for record in _records(past, replace(wanted or Wanted(), until_ms=None), "what was done about letters"):
        try:
            action = read_action(record.headers)
        except ValueError:
            continue
        if action is not None:
            actions.setdefault((action.partition, action.offset), action)
    return actions


async def list_letters(past: Past, wanted: Wanted, *, limit: int, with_done: bool = False) -> Listed:
    """The newest letters that are wanted; those dealt with only if they are asked for.

    Read twice, so that memory is bounded by `limit` and by what was done: first the actions, for they come later.
    """
    actions = await actions_of(past, wanted)
    listed = Listed()
    newest: list[tuple[int, Place, Letter]] = []
    async for letter in wanted_letters(past, wanted):
        action = actions.get(letter.place)
        if action is not None and not with_done:
            listed.done += 1
            continue
        listed.by_reason[letter.info.reason.value, letter.info.topic] += 1
        light = (letter.record.timestamp, letter.place, replace(letter, action=action))
        if len(newest) < limit:
            heapq.heappush(newest, light)
        elif limit:
            heapq.heappushpop(newest, light)
    listed.letters = [letter for _, _, letter in sorted(newest, key=lambda one: one[:2])]
    return listed


async def wanted_letters(past: Past, wanted: Wanted) -> AsyncIterator[Letter]:
    """The letters that are wanted, partition by partition, in the order of the log."""
    async for record in _records(past, wanted, "dead letters"):
        letter = _letter(record)
        if letter is not None and wanted.is_wanted(letter):
            yield letter


async def letters_at(past: Past, places: Iterable[Place]) -> dict[Place, Letter | None]:
    """The letters at these places, each with what was done about it; None where there is none."""
    name = past.topics.dead_letters
    found: dict[Place, Letter | None] = {}
    oldest_ms: int | None = None
    for partition, offset in places:
        letter = None
        if partition < past.count(TopicKind.DEAD_LETTERS):
            records = await past.log.read(TopicPartition(name, partition), offset, offset + 1)
            letter = next((_letter(record) for record in records), None)
        found[partition, offset] = letter
        if letter is not None:
            at_ms = letter.record.timestamp
            oldest_ms = at_ms if oldest_ms is None else min(oldest_ms, at_ms)
    if oldest_ms is not None:
        actions = await actions_of(past, Wanted(since_ms=oldest_ms))
        for place, letter in found.items():
            if letter is not None:
                found[place] = replace(letter, action=actions.get(place))
    return found


async def may_be_shown(past: Past, letter: Letter) -> bool:
    """Whether a letter's value can be seen by people: it shows no card, or betting on its round is closed."""
    if letter.may_be_shown(past.topics):
        return True
    name = letter.round_name
    return name is not None and await is_betting_closed(past, *name)


async def is_betting_closed(past: Past, table_id: str, round_id: str) -> bool:
    """Whether betting on a round is closed; False where the log does not say so."""
    try:
        found = await find_round(past, table_id, round_id)
    except RoundNotFoundError:
        return False
    if found.resume is not None and found.resume.closed_at_ms is not None:
        return True
    if found.opened is None:
        return False
    place = past.place(TopicKind.TABLE_EVENTS, table_id)
    end = await past.end(place)
    async for record in past.records(place, found.opened.offset, end, containing=round_id.encode()):
        if record.key != table_id.encode() or not is_about(record, table_id, round_id):
            continue
        try:
            event = decode_table_event(record.value, record.key)
        except MalformedRecordError:
            continue
        if isinstance(event, BettingClosed):
            return True
        if isinstance(event, RoundCancelled):
            return False  # a close that comes after it does not count
    return False


async def _records(past: Past, wanted: Wanted, what: str) -> AsyncIterator[Record]:
    for place in past.places(TopicKind.DEAD_LETTERS):
        start, end = await past.between(place, wanted.since_ms or 0, wanted.until_ms)
        start = max(start, await past.beginning(place))
        past.progress.begin(f"reading {what}", max(0, end - start))
        async for record in past.records(place, start, end):
            yield record


def _letter(record: Record) -> Letter | None:
    try:
        return None if read_action(record.headers) is not None else letter_of(record)
    except ValueError:
        return None
