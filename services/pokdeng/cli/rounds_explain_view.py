"""Why a bet got what it got, for people: cards, values, the rule's sentence, arithmetic, balances. Rendering only."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import Group
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from pokdeng.cli.rounds_words import (
    LABEL,
    MARKS,
    SPOKEN,
    WARNING,
    amount,
    card_text,
    clock,
    hand_pattern,
    late_text,
    place_text,
    signed,
)
from pokdeng.events.inputs import BetCancelled, BetPlaced
from pokdeng.events.outputs import BetRefunded, BetReversed, BetSettled
from pokdeng.history.story import option_name
from pokdeng.rules import Hand

if TYPE_CHECKING:
    from rich.console import RenderableType

    from pokdeng.events.outputs import Balance, BetRejected, BetWithdrawn, HandShown
    from pokdeng.history.story import BetResult, BetStory, RoundStory


def explanation(story: RoundStory, bet: BetStory) -> RenderableType:
    """All that became of one bet of a round, and why."""
    parts: list[RenderableType] = [_title(story, bet), Text(), *_decision(story, bet)]
    if bet.withdrawn is not None:
        record, fact = bet.withdrawn
        said = f"The player took it back at {clock(record.timestamp)}, while betting was open."
        parts += [Text(), Text("withdrawn", style="bold"), Text(said), _moved(fact.returned, fact.currency)]
        parts.append(_balances(fact))
    for _, result in bet.results:
        parts += [Text(), *_result(result)]
    for record, refused in bet.refused_cancels:
        why = refused.reason.value.replace("_", " ")
        late_ms = next((story.late_ms(asked) for asked, event in bet.asked if isinstance(event, BetCancelled)), None)
        late = "" if late_ms is None else f": it came {late_text(late_ms)}"
        parts += [
            Text(),
            Text.assemble(("A cancel was refused", WARNING), f" at {clock(record.timestamp)}, {why}{late}."),
        ]
    return Padding(Group(*parts), (0, 1))


def in_words(story: RoundStory, bet: BetStory, fact: BetRejected) -> str:
    """Why a bet was rejected, with the times that decided."""
    placed = bet.placed
    late_ms = None if placed is None else story.late_ms(placed[0])
    at = "" if placed is None else f" at {clock(placed[0].timestamp)}"
    closed = "" if story.closed_at_ms is None else clock(story.closed_at_ms)
    match fact.reason.value:
        case "betting_closed" if late_ms is not None:
            said = f"Betting closed at {closed}; the bet was appended{at}, {late_text(late_ms)}."
        case "betting_closed":
            seal = next((end.seal for _, end in story.ends), None)
            behind = "" if seal is None or placed is None else f" (offset {placed[0].offset}, seal {seal})"
            said = f"In time by its stamp{at}, but behind the round's seal{behind}: the round was decided before it."
        case "round_unknown":
            opened = "never opened" if story.opened_at_ms is None else f"opened at {clock(story.opened_at_ms)}"
            said = f"The bet was appended{at}; the round {opened}."
        case "insufficient_funds":
            needed = amount(fact.stake * fact.bet.units_taken, fact.currency)
            said = f"It would have taken {needed} {fact.currency}; the account had less available when its turn came."
        case "currency_mismatch":
            said = f"The account does not hold {fact.currency}."
        case "stake_out_of_range":
            said = (
                f"The house does not take a stake of {amount(fact.stake, fact.currency)} {fact.currency} at this table."
            )
        case "cancelled_before":
            said = "A cancel of this bet came before the bet itself."
        case "round_cancelled":
            said = f"The round was cancelled before the bet was appended{at}."
        case reason:
            state = reason.removeprefix("round_")
            said = f"The round was {state} when the bet was appended{at}."

    return said


def _title(story: RoundStory, bet: BetStory) -> RenderableType:
    first = Text(f"bet {bet.bet_id}   table {story.table_id}   round {story.round_id}", style="bold")
    facts = [fact for _, fact in (*bet.verdicts, *bet.results)]
    about = facts[0] if facts else bet.placed[1] if bet.placed is not None else None
    if about is None:
        return first
    stake = f"{amount(about.stake, about.currency)} {about.currency} on {option_name(about.bet)}"
    return Group(first, Text(f"{stake}   account {about.account_id}", style=LABEL))


def _decision(story: RoundStory, bet: BetStory) -> list[RenderableType]:
    placed = bet.placed
    if not bet.verdicts:
        said = "No decision of it lies in the log"
        return [Text(f"{said} yet." if placed is not None else f"{said}, and no record that placed it.", style=LABEL)]
    record, fact = bet.verdicts[0]
    rejected = bet.rejected
    if rejected is not None:
        title = Text(f"rejected: {rejected.reason.value.replace('_', ' ')}", style=f"bold {WARNING}")
        return [title, Text(in_words(story, bet, rejected)), Text("Nothing moved.", style=LABEL)]
    accepted = bet.accepted
    if accepted is None:
        return []
    units = accepted.bet.units_taken
    stake, taken = amount(accepted.stake, accepted.currency), amount(accepted.taken, accepted.currency)
    sum_text = (
        f"{taken} taken: the stake"
        if units == 1
        else f"{units} x {stake} = {taken} taken: the stake, and as much withheld"
    )
    when = [] if placed is None else [Text(_when(story, bet), style=LABEL)]
    before = _before(accepted.balance, available=accepted.taken, held=-accepted.taken)
    copies = sum(isinstance(event, BetPlaced) for _, event in bet.asked)
    again = [Text(f"Its record was delivered {copies} times; one counts.", style=LABEL)] if copies > 1 else []
    return [
        Text.assemble(("accepted", "bold green3"), (f"   {place_text(record)}", LABEL)),
        *when,
        Text(sum_text),
        _balance_line(before, accepted.balance, fact.currency),
        *again,
    ]


def _when(story: RoundStory, bet: BetStory) -> str:
    placed = bet.placed
    if placed is None:
        return ""
    closed = story.closed_at_ms
    early = "" if closed is None else f", {(closed - placed[0].timestamp) / 1000:,.3f} s before betting closed"
    return f"appended {clock(placed[0].timestamp)}{early}"


def _result(fact: BetResult) -> list[RenderableType]:
    currency = fact.currency
    revision = "" if fact.revision == 1 else f"   revision {fact.revision}"
    match fact:
        case BetSettled():
            odds = "" if fact.odds is None else f" {fact.odds}"
            title = Text.assemble((f"{SPOKEN[fact.outcome]}{odds}", f"bold {MARKS[fact.outcome]}"), (revision, LABEL))
            units = fact.returned // fact.stake
            returned = amount(fact.returned, currency)
            stake = amount(fact.stake, currency)
            taken, net = amount(fact.taken, currency), signed(fact.net, currency)
            sums = f"{units} x {stake} = {returned} returned, less {taken} taken: net {net}"
            return [title, _hands(fact), Text(fact.rule), Text(sums), _balances(fact)]
        case BetRefunded():
            title = Text.assemble(("refunded", "bold green3"), (revision, LABEL))
            why = Text(f"The round was cancelled: {fact.reason}")
            return [title, why, _moved(fact.returned, currency), _balances(fact)]
        case BetReversed():
            title = Text.assemble((f"reversed for revision {fact.revision}", f"bold {WARNING}"))
            back = f"{amount(fact.reversed, currency)} taken back, {amount(fact.taken, currency)} held again."
            return [title, Text(fact.reason), Text(back), _balances(fact)]


def _hands(fact: BetSettled) -> RenderableType:
    table = Table.grid(padding=(0, 2))
    shown: list[tuple[str, HandShown]] = [(fact.bet.seat.value.replace("_", " "), fact.player)]
    if not fact.bet.is_pair:
        shown.append(("banker", fact.banker))
    for name, hand in shown:
        cards = Text(" ").join(map(card_text, hand.cards))
        pattern = Text(hand_pattern(Hand.parse(" ".join(hand.cards))), style=LABEL)
        table.add_row(Text(name, style=LABEL), cards, Text(hand.value, style="bold"), pattern)
    return table


def _moved(returned: int, currency: str) -> Text:
    return Text(f"{amount(returned, currency)} returned: all that was taken.")


def _balances(fact: BetResult | BetWithdrawn) -> Text:
    """Right before and right after the movement. Other bets of the account may have moved since this one's last."""
    match fact:
        case BetReversed():
            available, held = int(fact.reversed), -fact.taken
        case _:
            available, held = -fact.returned, int(fact.taken)
    return _balance_line(_before(fact.balance, available=available, held=held), fact.balance, fact.currency)


def _before(after: Balance, *, available: int, held: int) -> Balance:
    """The balance right before a movement that took so much."""
    return type(after)(
        available=type(after.available)(after.available + available),
        held=type(after.held)(after.held + held),
        sequence=after.sequence - 1,
    )


def _balance_line(before: Balance, after: Balance, currency: str) -> Text:
    def part(name: str, old: int, new: int) -> str:
        return f"{name} {amount(old, currency)} -> {amount(new, currency)}"

    available, held = part("available", before.available, after.available), part("held", before.held, after.held)
    text = Text(f"{available}   {held}   movement {after.sequence:,}", style=LABEL)
    if after.available < 0:
        text.append("   overdrawn", style=WARNING)
    return text
