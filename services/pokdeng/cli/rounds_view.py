"""What people see of a round: hands and marks, what happened in order, bets and money. Rendering only."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from rich.console import Group
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from pokdeng.cli.rounds_bets_view import bets_view
from pokdeng.cli.rounds_words import (
    LABEL,
    MARKS,
    SPOKEN,
    WARNING,
    amount,
    card_text,
    clock,
    hand_pattern,
    place_text,
    signed,
)
from pokdeng.events.inputs import (
    BettingClosed,
    CardCorrected,
    CardDealt,
    CutCardDrawn,
    RoundCancelled,
    RoundOpened,
    RoundPaused,
    RoundResumed,
    ShoeStarted,
)
from pokdeng.events.outputs import RoundHeld, RoundRefunded, RoundSettled
from pokdeng.history.story import Became, Status
from pokdeng.rules import Outcome, Seat

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import RenderableType

    from pokdeng.events.inputs import TableEvent
    from pokdeng.history.story import RoundStory, Saying, TableMoment
    from pokdeng.rules import Hand

_STATUS: Final = {
    Status.SETTLED: "green3",
    Status.REFUNDED: "green3",
    Status.HELD: WARNING,
    Status.PAUSED: WARNING,
    Status.CANCELLED: WARNING,
}


def round_view(story: RoundStory, *, bets: int) -> RenderableType:
    """The whole round; of the bets, the first so many."""
    parts: list[RenderableType] = [_title(story), Text(), _hands(story), Text(), heading("what happened")]
    parts += [_timeline(story), Text(), heading(f"bets  {len(story.bets):,}"), bets_view(story, bets)]
    money = _money(story)
    if money is not None:
        parts += [Text(), heading("money"), money]
    if story.letters:
        parts += [Text(), heading(f"dead letters  {len(story.letters):,}"), _letters(story)]
    parts += [Text(), _footer(story)]
    return Padding(Group(*parts), (0, 1))


def heading(text: str) -> Text:
    """The title of a part."""
    return Text(text, style="bold")


def _title(story: RoundStory) -> RenderableType:
    first = Text.assemble(
        (f"table {story.table_id}   round {story.round_id}", "bold"),
        "   ",
        (story.status.value, f"bold {_STATUS.get(story.status, 'dodger_blue1')}"),
    )
    said = [] if story.shoe_id is None else [f"shoe {story.shoe_id}"]
    if story.opened_at_ms is not None:
        said.append(f"opened {clock(story.opened_at_ms, has_date=True)}")
    if story.closed_at_ms is not None:
        open_for = (
            "" if story.opened_at_ms is None else f" after {(story.closed_at_ms - story.opened_at_ms) / 1000:,.1f} s"
        )
        said.append(f"betting closed{open_for}")
    ends = story.ends
    if ends:
        said.append(f"revision {ends[-1][1].revision}")
    return Group(first, Text("   ".join(said), style=LABEL))


def _hands(story: RoundStory) -> RenderableType:
    if not story.has_cards:
        return Text("The cards are face down: betting is not closed.", style=LABEL)
    table = Table.grid(padding=(0, 2))
    for justify in ("left", "left", "right", "left", "left"):
        table.add_column(justify=justify)
    hands = story.hands
    banker = hands.get(Seat.BANKER)
    for seat in (Seat.BANKER, *(seat for seat in Seat if seat is not Seat.BANKER)):
        hand = hands.get(seat)
        cards = Text(" ").join(
            card_text(card) if (card := story.places.get((seat, position))) is not None else Text("--", style=LABEL)
            for position in (1, 2)
        )
        mark = Text() if seat is Seat.BANKER or hand is None or banker is None else _mark(hand, banker)
        name = Text(seat.value.replace("_", " "), style=LABEL)
        pattern = Text("" if hand is None else hand_pattern(hand), style=LABEL)
        table.add_row(name, cards, Text("" if hand is None else hand.value, style="bold"), mark, pattern)
    return table


def _mark(hand: Hand, banker: Hand) -> Text:
    """The mark of the road map: blue won, grey lost, green a tie; a ring is a flush, a yellow dot a pair."""
    outcome = Outcome.WIN if hand.rank > banker.rank else Outcome.LOSE if hand.rank < banker.rank else Outcome.TIE
    return Text.assemble(
        ("◉" if hand.is_flush else "●", MARKS[outcome]),
        ("·" if hand.is_pair else " ", "bold yellow1"),
        (f" {SPOKEN[outcome]}", MARKS[outcome]),
    )


def _timeline(story: RoundStory) -> RenderableType:
    table = Table.grid(padding=(0, 2))
    table.add_column(style=LABEL, no_wrap=True)
    table.add_column(style=LABEL, justify="right", no_wrap=True)
    table.add_column()
    table.add_column(style=LABEL, no_wrap=True, justify="right")
    base = story.opened_at_ms
    rows = [(moment.record, _moment_text(story, run)) for run in _runs(story.moments) for moment in run[:1]]
    rows += [(saying.record, _saying_text(saying)) for saying in story.sayings]
    rows.sort(key=lambda row: (row[0].timestamp, row[0].topic != story_topic(story), row[0].offset))
    for record, text in rows:
        after = "" if base is None else f"+{(record.timestamp - base) / 1000:,.3f} s"
        table.add_row(clock(record.timestamp), after, text, place_text(record))
    if not story.has_inputs:
        table.add_row(
            "", "", Text("The table's events are no longer kept; this is what was said of it.", style=LABEL), ""
        )
    return table


def story_topic(story: RoundStory) -> str:
    """The topic that the table's events lie in."""
    return story.moments[0].record.topic if story.moments else ""


def _runs(moments: Sequence[TableMoment]) -> list[list[TableMoment]]:
    """Cards dealt one after the other, with nothing wrong about them, are one line."""
    runs: list[list[TableMoment]] = []
    for moment in moments:
        is_plain = isinstance(moment.event, CardDealt) and moment.became is Became.COUNTED
        last = runs[-1][-1] if runs else None
        if is_plain and last is not None and isinstance(last.event, CardDealt) and last.became is Became.COUNTED:
            runs[-1].append(moment)
        else:
            runs.append([moment])
    return runs


def _moment_text(story: RoundStory, run: Sequence[TableMoment]) -> Text:
    first = run[0]
    if len(run) > 1:
        lasted = (run[-1].record.timestamp - first.record.timestamp) / 1000
        return Text(f"{len(run)} cards dealt within {lasted:,.3f} s")
    text = _event_text(story, first.event)
    if first.became is Became.REPEATED:
        text.append("   said before, nothing changed", style=LABEL)
    if first.letter is not None:
        text.append(f"   dead letter: {first.letter.info.reason.value}", style=WARNING)
    return text


def _event_text(story: RoundStory, event: TableEvent) -> Text:
    match event:
        case RoundOpened():
            return Text(f"opened in shoe {event.shoe_id}")
        case BettingClosed():
            return Text("betting closed")
        case CardDealt() | CardCorrected():
            what = "dealt" if isinstance(event, CardDealt) else "corrected"
            text = Text(f"{event.seat.value.replace('_', ' ')} card {event.position} {what}: ")
            text.append_text(card_text(event.card) if story.has_cards else Text("face down", style=LABEL))
            if isinstance(event, CardCorrected) and story.has_cards:
                text.append(f"   {event.reason}", style=LABEL)
            return text
        case RoundPaused() | RoundResumed() | RoundCancelled():
            what = event.event_type.removeprefix("round_")
            is_said = story.has_cards or isinstance(event, RoundCancelled)
            return Text.assemble((what, WARNING), (f"   {event.reason}" if is_said else "", LABEL))
        case CutCardDrawn():
            return Text("the cut card came: the last round of its shoe")
        case ShoeStarted():
            return Text(f"shoe {event.shoe_id} started")


def _saying_text(saying: Saying) -> Text:
    match saying.fact:
        case RoundHeld(reason=reason):
            return Text.assemble(("held", WARNING), (f"   {reason.value.replace('_', ' ')}", LABEL))
        case RoundSettled(revision=revision, bets=bets, seal=seal):
            said, style = "settled", "green3"
        case RoundRefunded(revision=revision, bets=bets, seal=seal, reason=why):
            said, style = f"refunded: {why}", "green3"
    again = "" if revision == 1 else f", revision {revision}"
    return Text.assemble((f"{said}{again}", style), (f"   {bets:,} bets, seal {seal}", LABEL))


def _money(story: RoundStory) -> RenderableType | None:
    ends = story.ends
    if not ends:
        return None
    table = Table(box=None, padding=(0, 2, 0, 0), header_style=LABEL, show_edge=False, pad_edge=False)
    for name in ("", "taken", "returned", "house net"):
        table.add_column(name, justify="right" if name else "left", no_wrap=True)
    for _, fact in ends:
        for currency, totals in fact.totals.items():
            name = currency if len(ends) == 1 else f"{currency}  revision {fact.revision}"
            figures = (amount(totals.taken, currency), amount(totals.returned, currency))
            table.add_row(name, *figures, signed(totals.house_net, currency))
    return table


def _letters(story: RoundStory) -> RenderableType:
    table = Table.grid(padding=(0, 2))
    for letter in story.letters:
        done = "" if letter.action is None else f"{letter.action.action.value} by {letter.action.by}"
        table.add_row(
            Text(f"{letter.record.partition}:{letter.record.offset}", style=LABEL),
            Text(letter.info.reason.value, style=WARNING),
            (letter.event_type or "").replace("_", " "),
            Text(letter.info.detail, style=LABEL),
            Text(done, style="green3"),
        )
    return table


def _footer(story: RoundStory) -> Text:
    if not story.has_inputs:
        return Text("Inputs of that time are no longer kept: bets that were rejected may be missing.", style=LABEL)
    until = "now" if story.bets_until_ms is None else clock(story.bets_until_ms)
    return Text(f"Bets were looked for from {clock(story.bets_from_ms)} to {until} UTC.", style=LABEL)
