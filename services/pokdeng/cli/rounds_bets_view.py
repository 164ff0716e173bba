"""The bets of a round as people see them: what was decided of each, and what it got. Rendering only."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import Group
from rich.table import Table
from rich.text import Text

from pokdeng.cli.rounds_words import LABEL, MARKS, SPOKEN, WARNING, amount, late_text, signed
from pokdeng.events.outputs import BetRefunded, BetReversed, BetSettled
from pokdeng.history.story import option_name

if TYPE_CHECKING:
    from rich.console import RenderableType

    from pokdeng.history.story import BetStory, RoundStory


def bets_view(story: RoundStory, most: int) -> RenderableType:
    """The first so many bets, in the order of the log."""
    if not story.bets:
        return Text("none", style=LABEL)
    table = Table(box=None, padding=(0, 2, 0, 0), header_style=LABEL, show_edge=False, pad_edge=False)
    for name, justify in (
        ("bet", "left"), ("account", "left"), ("option", "left"), ("stake", "right"), ("decision", "left"),
        ("result", "left"), ("returned", "right"), ("net", "right"), ("available after", "right"),
    ):  # fmt: skip
        table.add_column(name, justify=justify, no_wrap=name != "result")  # type: ignore[arg-type]  # a text of the list above, rich wants a literal
    for bet in story.bets[:most]:
        for row in _bet_rows(story, bet):
            table.add_row(*row)
    rest = len(story.bets) - most
    return table if rest <= 0 else Group(table, Text(f"and {rest:,} more: --bets {len(story.bets)}", style=LABEL))


def _bet_rows(story: RoundStory, bet: BetStory) -> list[list[Text | str]]:
    placed = bet.placed
    facts = [fact for _, fact in (*bet.verdicts, *bet.results)]
    about = facts[0] if facts else placed[1] if placed is not None else None
    if about is None:
        refused = bet.refused_cancels[0][1] if bet.refused_cancels else None
        account = "" if refused is None else refused.account_id
        return [
            [bet.bet_id, account, Text("a cancel only", style=LABEL), "", decision_text(story, bet), "", "", "", ""]
        ]
    currency = about.currency
    start: list[Text | str] = [
        bet.bet_id, about.account_id, option_name(about.bet), f"{amount(about.stake, currency)} {currency}",
        decision_text(story, bet),
    ]  # fmt: skip
    if bet.withdrawn is not None:
        fact = bet.withdrawn[1]
        after = amount(fact.balance.available, currency)
        return [[*start, Text("withdrawn", style=LABEL), amount(fact.returned, currency), "0.00", after]]
    if not bet.results:
        accepted = bet.accepted
        after = "" if accepted is None else amount(accepted.balance.available, currency)
        return [[*start, Text("open" if accepted is not None else "", style=LABEL), "", "", after]]
    rows: list[list[Text | str]] = []
    for _, result in bet.results:
        rows.append([*(start if not rows else [""] * 5), *_result_cells(result)])
    return rows


def _result_cells(fact: BetSettled | BetRefunded | BetReversed) -> list[Text | str]:
    currency = fact.currency
    after = Text(amount(fact.balance.available, currency), style=WARNING if fact.balance.available < 0 else "")
    match fact:
        case BetSettled():
            odds = "" if fact.odds is None else f" {fact.odds}"
            result = Text(f"{SPOKEN[fact.outcome]}{odds}", style=MARKS[fact.outcome])
            return [result, amount(fact.returned, currency), signed(fact.net, currency), after]
        case BetRefunded():
            return [Text("refunded", style="green3"), amount(fact.returned, currency), amount(0, currency), after]
        case BetReversed():
            back = amount(-fact.reversed, currency)
            return [Text(f"reversed for revision {fact.revision}", style=WARNING), back, "", after]


def decision_text(story: RoundStory, bet: BetStory) -> Text:
    """What was decided of a bet, and by how much it was late."""
    rejected = bet.rejected
    if rejected is not None:
        placed = bet.placed
        late_ms = None if placed is None else story.late_ms(placed[0])
        text = Text(rejected.reason.value.replace("_", " "), style=WARNING)
        if late_ms is not None:
            text.append(f", {late_text(late_ms)}", style=LABEL)
        return text
    if bet.accepted is not None:
        return Text("accepted")
    return Text("not decided yet" if bet.placed is not None else "", style=LABEL)
