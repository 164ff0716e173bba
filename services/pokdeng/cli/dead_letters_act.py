"""`pokdeng dead-letters replay` and `discard`: put records back once, or say why they are not.

First the original bytes go back, then it is recorded that they did. A crash between the two leaves a letter that is
still listed; replayed again, its ids make it a duplicate. The other way round it would be marked and lost.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

import click
from rich.console import Console
from rich.text import Text

from pokdeng.cli import options
from pokdeng.cli.dead_letters_options import KINDS, NoteText, PlaceText, by, filters, wanted_of
from pokdeng.cli.log_access import Surroundings, with_log
from pokdeng.cli.progress import Bar
from pokdeng.cli.rounds_say import ask
from pokdeng.cli.rounds_words import LABEL, WARNING, counted, short_topic
from pokdeng.history.letter_search import Wanted, actions_of, letters_at, wanted_letters
from pokdeng.history.reading import open_past
from pokdeng.stream.partitioner import partition_for
from pokdeng.stream.port import Message, TopicPartition
from pokdeng.wire import ActionInfo, LetterAction, TopicKind, Topics, action_record
from pokdeng.wire.topics import INPUTS

if TYPE_CHECKING:
    from pokdeng.history.letters import Letter
    from pokdeng.history.reading import Past
    from pokdeng.stream.port import Log

Place = tuple[int, int]

_REPLAY: Final = "dead-letters replay"
_DISCARD: Final = "dead-letters discard"
_AT_ONCE: Final = 200
"""So many letters are put back, then recorded, then the next."""


@dataclass(slots=True, kw_only=True)
class Chosen:
    """What was asked for, sorted out."""

    letters: list[Letter] = field(default_factory=list)
    """To be acted on, in the order of the log."""
    refused: list[tuple[Place, str]] = field(default_factory=list)
    done: list[tuple[Place, ActionInfo]] = field(default_factory=list)
    """Replayed or discarded already."""


@click.command("replay")
@click.argument("places", nargs=-1, type=PlaceText(), metavar="[PARTITION:OFFSET]...")
@filters(_REPLAY)
@options.option(
    "--limit",
    of=_REPLAY,
    type=click.IntRange(1),
    default=1_000,
    show_default=True,
    help="At most so many, the oldest.",
)
@options.option("--note", of=_REPLAY, type=NoteText(), default=None, help="Why; it is recorded.")
@by
@options.yes(_REPLAY)
@options.kafka
@options.prefix
@options.as_json
@click.pass_obj
def replay(
    around: Surroundings | None,
    /,
    *,
    places: tuple[Place, ...],
    limit: int,
    prefix: str,
    note: str | None,
    by: str,
    yes: bool,
    as_json: bool,
    **settings: Any,
) -> None:
    """Put the original records back into their topics, once: those named, or those of a reason, topic or time.

    What came of a record is judged anew, by its new place in the log: a bet on a round that is closed by now is
    rejected. Replaying twice moves nothing twice. A `betting_closed` is not put back, for its new time would be the end
    of betting: cancel the round instead.
    """
    topics = Topics(prefix)
    wanted = wanted_of(topics, settings)
    if bool(places) is (wanted != Wanted()):
        raise click.UsageError(
            "name letters (PARTITION:OFFSET ...) or say which (--reason, --topic, --since, --until), not both"
            if places
            else "say which letters: PARTITION:OFFSET ..., or --reason, --topic, --since, --until"
        )
    chosen = _choose(around, topics, settings, places, wanted, limit, why_not_replayed)
    info = _Act(LetterAction.REPLAYED, by, note or "")
    _act(around, topics, settings, chosen, info, yes=yes, as_json=as_json)


@click.command("discard")
@click.argument("places", nargs=-1, type=PlaceText(), metavar="PARTITION:OFFSET...", required=True)
@options.option("--note", of=_DISCARD, type=NoteText(), required=True, help="Why; it is recorded.")
@by
@options.yes(_DISCARD)
@options.kafka
@options.prefix
@options.as_json
@click.pass_obj
def discard(
    around: Surroundings | None,
    /,
    *,
    places: tuple[Place, ...],
    prefix: str,
    note: str,
    by: str,
    yes: bool,
    as_json: bool,
    **kafka: Any,
) -> None:
    """Record why dead letters are not put back; they are listed no more. The records themselves stay."""
    topics = Topics(prefix)
    chosen = _choose(around, topics, kafka, places, Wanted(), len(places), lambda _, __: None)
    _act(around, topics, kafka, chosen, _Act(LetterAction.DISCARDED, by, note), yes=yes, as_json=as_json)


def why_not_replayed(letter: Letter, topics: Topics) -> str | None:
    """Why a letter is not put back, None where it can be."""
    kind = topics.kind_of(letter.info.topic)
    if kind not in INPUTS:
        return f"it came from {letter.info.topic}, which is no input of prefix {topics.prefix}"
    if letter.info.is_truncated:
        return "the broker refused its value, so only a hash of it is here: its producer must send it anew"
    if kind is TopicKind.TABLE_EVENTS and letter.is_close:
        return "it is a `betting_closed`, and its new time would be the end of betting: cancel the round instead"
    return None


@dataclass(frozen=True, slots=True)
class _Act:
    action: LetterAction
    by: str
    note: str

    def about(self, letter: Letter) -> ActionInfo:
        partition, offset = letter.place
        return ActionInfo(action=self.action, by=self.by, note=self.note, partition=partition, offset=offset)


def _choose(
    around: Surroundings | None,
    topics: Topics,
    kafka: dict[str, Any],
    places: tuple[Place, ...],
    wanted: Wanted,
    limit: int,
    why_not: Any,
) -> Chosen:
    async def look(log: Log) -> Chosen:
        with Bar() as bar:
            past = await open_past(log, topics, KINDS, bar)
            if places:
                return await _named(past, places, why_not)
            return await _wanted(past, wanted, limit, why_not)

    return with_log(around, kafka, look)


async def _named(past: Past, places: tuple[Place, ...], why_not: Any) -> Chosen:
    chosen = Chosen()
    found = await letters_at(past, sorted(set(places)))
    for place, letter in found.items():
        if letter is None:
            chosen.refused.append((place, "there is no dead letter at that place"))
        elif letter.action is not None:
            chosen.done.append((place, letter.action))
        elif (reason := why_not(letter, past.topics)) is not None:
            chosen.refused.append((place, reason))
        else:
            chosen.letters.append(letter)
    return chosen


async def _wanted(past: Past, wanted: Wanted, limit: int, why_not: Any) -> Chosen:
    chosen = Chosen()
    actions = await actions_of(past, wanted)
    async for letter in wanted_letters(past, wanted):
        if letter.place in actions:
            continue
        if (reason := why_not(letter, past.topics)) is not None:
            chosen.refused.append((letter.place, reason))
        elif len(chosen.letters) < limit:
            chosen.letters.append(letter)
    return chosen


def _act(
    around: Surroundings | None,
    topics: Topics,
    kafka: dict[str, Any],
    chosen: Chosen,
    act: _Act,
    *,
    yes: bool,
    as_json: bool,
) -> None:
    console = Console(highlight=False, stderr=as_json)
    _preview(console, chosen, act)
    if chosen.letters:
        if not yes:
            ask(_question(chosen, act), is_for_programs=as_json)

        async def write(log: Log) -> None:
            with Bar(unit="letters") as bar:
                await _write(await open_past(log, topics, KINDS, bar), chosen.letters, act)

        with_log(around, kafka, write)
    if as_json:
        click.echo(json.dumps(_answer(chosen, act)))
    else:
        console.print(f"{counted(len(chosen.letters), 'letter', 'letters')} {act.action.value}.")
    if chosen.refused:
        raise SystemExit(1)


async def _write(past: Past, letters: list[Letter], act: _Act) -> None:
    past.progress.begin("writing", len(letters))
    for start in range(0, len(letters), _AT_ONCE):
        portion = letters[start : start + _AT_ONCE]
        if act.action is LetterAction.REPLAYED:
            await past.log.publish(_originals(past, portion))
        actions: dict[TopicPartition, list[Message]] = defaultdict(list)
        for letter in portion:
            place = TopicPartition(past.topics.dead_letters, letter.record.partition)
            actions[place].append(Message(*action_record(letter.record.key, act.about(letter))))
        await past.log.publish(actions)
        past.progress.advance(len(portion))


def _originals(past: Past, letters: list[Letter]) -> dict[TopicPartition, list[Message]]:
    """The records as they came, without what was added to them, each where its key belongs."""
    batches: dict[TopicPartition, list[Message]] = defaultdict(list)
    for letter in letters:
        info, record = letter.info, letter.record
        count = past.count(TopicKind(past.topics.kind_of(info.topic) or ""))
        number = info.partition if record.key is None else partition_for(record.key, count)
        headers = [(name, value) for name, value in info.original_headers if not name.startswith("dlq.")]
        batches[TopicPartition(info.topic, number)].append(Message(record.key, record.value, headers))
    return batches


def _preview(console: Console, chosen: Chosen, act: _Act) -> None:
    counts = Counter((letter.info.reason.value, letter.info.topic, letter.event_type) for letter in chosen.letters)
    for (reason, topic, event_type), count in counts.most_common():
        what = (event_type or "no event").replace("_", " ")
        console.print(Text.assemble(f"{count:>7,}  ", (reason, WARNING), f"  {short_topic(topic)}  {what}"))
    for place, info in chosen.done:
        note = f": {info.note}" if info.note else ""
        console.print(Text(f"{_text(place)} was {info.action.value} by {info.by}{note}; passed over", style=LABEL))
    for place, why in chosen.refused:
        console.print(Text(f"{_text(place)} is not {act.action.value}: {why}", style=WARNING))


def _question(chosen: Chosen, act: _Act) -> str:
    letters = counted(len(chosen.letters), "letter", "letters")
    return f"Put {letters} back?" if act.action is LetterAction.REPLAYED else f"Discard {letters}?"


def _answer(chosen: Chosen, act: _Act) -> dict[str, Any]:
    return {
        act.action.value: [_text(letter.place) for letter in chosen.letters],
        "refused": [{"place": _text(place), "why": why} for place, why in chosen.refused],
        "passed_over": [{"place": _text(place), "action": info.action, "by": info.by} for place, info in chosen.done],
    }


def _text(place: Place) -> str:
    return f"{place[0]}:{place[1]}"
