"""`pokdeng rounds cancel` and `resume`: what it would do, the question, the event, and what the worker says of it."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar
from uuid import uuid4

import click
from rich.console import Console
from rich.text import Text

from pokdeng.cli import options
from pokdeng.cli.log_access import CannotReadError, Surroundings, with_log
from pokdeng.cli.progress import Bar
from pokdeng.cli.rounds_words import LABEL, WARNING, amount, clock, counted, signed
from pokdeng.events.ids import EventId, Reason, RoundId, TableId, Timestamp
from pokdeng.events.inputs import RoundCancelled, RoundResumed
from pokdeng.events.outputs import RoundHeld, RoundRefunded, RoundSettled
from pokdeng.history.answer import Answer, Ears
from pokdeng.history.reading import open_past
from pokdeng.history.round_records import records_of_round
from pokdeng.history.story import Status, story_of
from pokdeng.history.story_json import json_of_letter, time_text
from pokdeng.rules import Seat
from pokdeng.stream.port import Message
from pokdeng.wire import TopicKind, Topics, encode
from pokdeng.wire.fields import REASON_CHARACTERS_MAX
from pokdeng.wire.topics import CORRECTION_WINDOW_MS

if TYPE_CHECKING:
    from pokdeng.history.reading import Past
    from pokdeng.history.story import RoundStory
    from pokdeng.stream.port import Log

_Command = TypeVar("_Command", bound=Callable[..., Any])

_SEATS = tuple(Seat)
_KINDS = (
    TopicKind.TABLE_EVENTS,
    TopicKind.BETS,
    TopicKind.BET_DECISIONS,
    TopicKind.SETTLEMENTS,
    TopicKind.ROUNDS,
    TopicKind.DEAD_LETTERS,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Preview:
    """What an event would do, in sentences; and why it is not worth writing, where that is so."""

    says: tuple[str, ...]
    why_not: str | None = None
    is_done: bool = False
    """Whether what is asked for is so already."""


class ReasonText(click.ParamType):
    """The supervisor's reason: 1 to 200 characters."""

    name = "text"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """The text itself; exit 2 with a sentence where it is too short or too long."""
        text = str(value).strip()
        if not 1 <= len(text) <= REASON_CHARACTERS_MAX:
            self.fail(f"write 1 to {REASON_CHARACTERS_MAX} characters, these are {len(text)}", param, ctx)
        return text


def _reason(of: str) -> Callable[[_Command], _Command]:
    return options.option(
        "--reason",
        of=of,
        type=ReasonText(),
        required=True,
        help="Why; it is recorded, and players and accountants read it with each refund.",
    )


_wait = options.option(
    "--wait",
    "wait_ms",
    type=options.Duration(),
    default="15s",
    show_default=True,
    help="How long to wait for what the worker says.",
)


@click.command("cancel")
@click.argument("table_id", type=options.Id())
@click.argument("round_id", type=options.Id())
@_reason("rounds cancel")
@options.kafka
@options.prefix
@options.option(
    "--correction-window",
    "correction_window_ms",
    type=options.Duration(),
    default="24h",
    show_default=True,
    help="As the worker has it: how long after its settlement a round may be cancelled.",
)
@options.yes("rounds cancel")
@_wait
@options.as_json
@click.pass_obj
def cancel(around: Surroundings | None, /, *, correction_window_ms: int, **given: Any) -> None:
    """Cancel a round for ever: every bet gets back all that was taken for it. Shows what it does, and asks."""
    now_ms = (around or Surroundings()).now_ms()
    _say(
        around,
        RoundCancelled,
        lambda story: preview_of_cancel(story, now_ms=now_ms, window_ms=correction_window_ms),
        **given,
    )


@click.command("resume")
@click.argument("table_id", type=options.Id())
@click.argument("round_id", type=options.Id())
@_reason("rounds resume")
@options.kafka
@options.prefix
@options.yes("rounds resume")
@_wait
@options.as_json
@click.pass_obj
def resume(around: Surroundings | None, /, **given: Any) -> None:
    """Lift the pause of a round, so that it takes bets again or is settled. Shows what it does, and asks."""
    _say(around, RoundResumed, preview_of_resume, **given)


def preview_of_cancel(story: RoundStory, *, now_ms: int, window_ms: int = CORRECTION_WINDOW_MS) -> Preview:
    """What a cancellation would do now."""
    if story.status in (Status.CANCELLED, Status.REFUNDED):
        return Preview(says=(), why_not="The round is cancelled already.", is_done=True)
    standing = [bet for bet in story.bets if bet.accepted is not None and bet.withdrawn is None]
    taken: dict[str, int] = {}
    returned: dict[str, int] = {}
    for bet in standing:
        accepted, last = bet.accepted, bet.last_result
        if accepted is not None:
            taken[accepted.currency] = taken.get(accepted.currency, 0) + accepted.taken
            returned[accepted.currency] = returned.get(accepted.currency, 0) + (0 if last is None else last.returned)
    money = ", ".join(f"{amount(sum_, currency)} {currency}" for currency, sum_ in sorted(taken.items())) or "nothing"
    if story.status is not Status.SETTLED:
        return Preview(
            says=(f"{counted(len(standing), 'bet stands', 'bets stand')}. All that was taken goes back: {money}.",)
        )
    first_ms = _first_cause_ms(story)
    ends_ms = first_ms + window_ms
    if now_ms > ends_ms:
        return Preview(
            says=(),
            why_not=f"The round was settled at {clock(first_ms, has_date=True)}; its correction window is over.",
        )
    changes = ", ".join(f"{signed(taken[name] - returned[name], name)} {name}" for name in sorted(taken)) or "nothing"
    return Preview(
        says=(
            f"The round is settled. It can be cancelled until {clock(ends_ms, has_date=True)}.",
            f"{counted(len(standing), 'bet is', 'bets are')} reversed and refunded: {money}.",
            f"What players have changes by {changes}.",
            "An account that has spent its winnings is overdrawn until it is back at 0.",
        )
    )


def preview_of_resume(story: RoundStory) -> Preview:
    """What a resumption would do now."""
    match story.status:
        case Status.PAUSED:
            missing = [] if story.closed_at_ms is not None else ["the close"]
            cards = sum(2 - len([1 for position in (1, 2) if (seat, position) in story.places]) for seat in _SEATS)
            missing += [counted(cards, "card", "cards")] if cards else []
            if not missing:
                return Preview(says=("Nothing is missing: the round is settled at once.",))
            return Preview(says=(f"The round goes on. Still missing: {', '.join(missing)}.",))
        case Status.HELD:
            return Preview(
                says=(),
                why_not="The round is held, not paused: correct the disputed card, bring what is missing, or cancel.",
            )
        case Status.SETTLED | Status.REFUNDED | Status.CANCELLED:
            return Preview(says=(), why_not=f"The round is {story.status.value}: nothing is left to resume.")
        case _:
            return Preview(says=(), why_not="The round is not paused.", is_done=True)


def _first_cause_ms(story: RoundStory) -> int:
    """The broker time of the record that caused revision 1; that of the round's record where it is no longer kept."""
    record, fact = story.ends[0]
    causes = {moment.record.offset: moment.record.timestamp for moment in story.moments}
    return causes.get(fact.cause.offset, record.timestamp)


def _say(
    around: Surroundings | None,
    event_class: type[RoundCancelled | RoundResumed],
    preview_of: Callable[[RoundStory], Preview],
    *,
    table_id: str,
    round_id: str,
    reason: str,
    prefix: str,
    yes: bool,
    wait_ms: int,
    as_json: bool,
    **kafka: Any,
) -> None:
    surroundings = around or Surroundings()
    topics = Topics(prefix)

    async def look(log: Log) -> Preview:
        with Bar() as bar:
            past = await open_past(log, topics, _KINDS, bar)
            return preview_of(story_of(await records_of_round(past, table_id, round_id)))

    preview = with_log(around, kafka, look)
    console = Console(highlight=False, stderr=as_json)
    console.print(Text(f"table {table_id}   round {round_id}", style="bold"))
    for sentence in preview.says:
        console.print(sentence)
    if preview.why_not is not None:
        console.print(Text(f"{preview.why_not} Nothing was written.", style="" if preview.is_done else WARNING))
        if as_json:
            click.echo(json.dumps({"written": False, "why_not": preview.why_not}))
        raise SystemExit(0 if preview.is_done else 1)
    what = event_class.event_type.replace("_", " ")
    if not yes:
        ask(f"Write `{what}` to {topics.table_events}?", is_for_programs=as_json)
    event = event_class(
        event_id=EventId(f"supervisor-{uuid4()}"),
        occurred_at=Timestamp(time_text(surroundings.now_ms()) or ""),
        table_id=TableId(table_id),
        round_id=RoundId(round_id),
        reason=Reason(reason),
    )

    async def write(log: Log) -> Answer:
        past: Past = await open_past(log, topics, _KINDS)
        ears = await Ears.listen(past, table_id)
        message = Message(table_id.encode(), encode(event), ())
        await log.publish({past.place(TopicKind.TABLE_EVENTS, table_id): [message]})
        return await ears.hear(event.event_id, within_s=wait_ms / 1000)

    answer = with_log(around, kafka, write)
    _tell(console, event, answer, wait_ms, as_json=as_json)
    if answer.letter is not None:
        raise SystemExit(1)
    if answer.fact is None and event_class is RoundCancelled:
        raise SystemExit(1)


def ask(question: str, *, is_for_programs: bool) -> None:
    """Ask a person; go on only after a yes.

    Raises:
        click.UsageError: where the answer is for a program, so that nobody reads the question.
        CannotReadError: when the answer is no, or nobody answers.
    """
    if is_for_programs:
        raise click.UsageError("--json asks no questions: say --yes as well")
    try:
        is_wanted = click.confirm(question)
    except click.Abort:
        is_wanted = False
    if not is_wanted:
        raise CannotReadError("nothing was written; --yes does it without asking")


def _tell(
    console: Console, event: RoundCancelled | RoundResumed, answer: Answer, wait_ms: int, *, as_json: bool
) -> None:
    record, fact, letter = answer.record, answer.fact, answer.letter
    if as_json:
        place = None if record is None else f"{record.partition}:{record.offset}"
        said = None if fact is None else json.loads(encode(fact))
        dead = None if letter is None else json_of_letter(letter)
        click.echo(
            json.dumps({"written": True, "event_id": event.event_id, "place": place, "said": said, "dead_letter": dead})
        )
        return
    if record is not None:
        console.print(Text(f"written: {record.topic} {record.partition}:{record.offset}", style=LABEL))
    if letter is not None:
        console.print(Text(f"dead letter, {letter.info.reason.value}: {letter.info.detail}", style=WARNING))
        return
    match fact:
        case RoundSettled() | RoundRefunded():
            totals = ", ".join(f"{amount(one.returned, name)} {name} returned" for name, one in fact.totals.items())
            what = "settled" if isinstance(fact, RoundSettled) else "refunded"
            bets = counted(fact.bets, "bet", "bets")
            said = f"{what}, revision {fact.revision}: {bets}. {totals or 'No money moved.'}"
            console.print(Text(said, "green3"))
        case RoundHeld():
            console.print(Text(f"held: {fact.reason.value}", style=WARNING))
        case _:
            waited = f"The worker has said nothing of it within {wait_ms / 1000:g} s"
            if isinstance(event, RoundResumed):
                console.print(f"{waited}, as it does where a round only goes on: `pokdeng rounds show` tells.")
            else:
                console.print(Text(f"{waited}. It will, when it reads on: `pokdeng rounds show` tells.", style=WARNING))
