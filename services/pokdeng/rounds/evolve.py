"""What a table event does to a table: `evolve(table, event, mark)` gives the next table and a verdict on the event.

Pure and total: every event of the contract ends as applied, duplicate or refused. What it does to a round that goes on
is in `changes`, what becomes of it when the round is over in `aftermath`. Source: the contract, "Rounds" and
"Duplicates and conflicts". Remembered rounds and shoes that are not in the table must be put there by the caller first.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from pokdeng.events.inputs import RoundOpened, ShoeStarted
from pokdeng.events.reasons import DeadLetterReason, HoldReason
from pokdeng.rounds.aftermath import CORRECTION_WINDOW_MS, after_the_end
from pokdeng.rounds.changes import change
from pokdeng.rounds.state import Round, Table, new_shoe
from pokdeng.rounds.verdicts import APPLIED, DUPLICATE, Applied, Refused
from pokdeng.rules import SHOE_CARDS

if TYPE_CHECKING:
    from pokdeng.events.inputs import TableEvent
    from pokdeng.rounds.state import Mark, RoundEvent, Shoe
    from pokdeng.rounds.verdicts import Verdict


def evolve(
    table: Table, event: TableEvent, mark: Mark, *, window_ms: int = CORRECTION_WINDOW_MS
) -> tuple[Table, Verdict]:
    """The table after `event`, which lies at `mark`, and what became of the event.

    The very same table comes back where nothing changed. Marks come in the order of the log. `window_ms` is how long
    after its settlement a round is corrected, by broker time.
    """
    if isinstance(event, ShoeStarted):
        return _shoe_started(table, event)
    if isinstance(event, RoundOpened):
        return _round_opened(table, event, mark)
    return _of_round(table, event, mark, window_ms)


def _shoe_started(table: Table, event: ShoeStarted) -> tuple[Table, Verdict]:
    known = table.shoes.get(event.shoe_id)
    if known is not None:
        if (known.decks, known.burn_card) == (event.decks, event.burn_card):
            return table, DUPLICATE
        detail = f"shoe {event.shoe_id} was started with other content"
        return table, Refused(DeadLetterReason.ID_CONFLICT, detail)
    needed = {round_.shoe_id for round_ in table.rounds.values()} | {table.newest_shoe}
    shoes = {shoe_id: shoe for shoe_id, shoe in table.shoes.items() if shoe_id in needed}
    shoes[event.shoe_id] = new_shoe(event.shoe_id, event.decks, event.burn_card)
    return table._replace(shoes=shoes, newest_shoe=event.shoe_id), APPLIED


def _round_opened(table: Table, event: RoundOpened, mark: Mark) -> tuple[Table, Verdict]:
    known = table.rounds.get(event.round_id)
    if known is not None:
        if known.shoe_id == event.shoe_id:
            return table, DUPLICATE
        detail = f"round {event.round_id} was opened in shoe {known.shoe_id}"
        return table, Refused(DeadLetterReason.ID_CONFLICT, detail)
    shoe = table.shoes.get(event.shoe_id)
    if shoe is None:
        return table, Refused(DeadLetterReason.UNKNOWN_SHOE, f"shoe {event.shoe_id} was never started")
    refused = _refusal_of_next_round(table, shoe)
    if refused is not None:
        return table, refused
    rounds = dict(table.rounds)
    verdict = APPLIED
    last = None if table.newest_round is None else rounds.get(table.newest_round)
    if last is not None and not last.is_over:
        rounds[last.round_id] = last._replace(is_incomplete=True)
        if not last.is_held:
            verdict = Applied(held=(last.round_id, HoldReason.INCOMPLETE))
    rounds[event.round_id] = Round(event.round_id, shoe.shoe_id, mark, mark.offset, mark.offset)
    shoes = {**table.shoes, shoe.shoe_id: shoe._replace(gone=shoe.gone + 1)}
    return Table(table.table_id, shoes, table.newest_shoe, event.round_id, rounds), verdict


def _refusal_of_next_round(table: Table, shoe: Shoe) -> Refused | None:
    """Why no round can open in a shoe, None where one can."""
    if shoe.shoe_id != table.newest_shoe:
        detail = f"shoe {shoe.shoe_id} is not the newest"  # not which one is: read again that may be another
        return Refused(DeadLetterReason.ROUND_OUT_OF_ORDER, detail)
    if shoe.last_round is not None:
        detail = f"round {shoe.last_round} was the last of shoe {shoe.shoe_id}"
        return Refused(DeadLetterReason.ROUND_OUT_OF_ORDER, detail)
    if shoe.gone >= SHOE_CARDS:
        detail = f"all {SHOE_CARDS} cards of shoe {shoe.shoe_id} are gone, none is left to burn"
        return Refused(DeadLetterReason.SHOE_EXHAUSTED, detail)
    return None


def _of_round(table: Table, event: RoundEvent, mark: Mark, window_ms: int) -> tuple[Table, Verdict]:
    round_ = table.rounds.get(event.round_id)
    if round_ is None:
        return table, Refused(DeadLetterReason.UNKNOWN_ROUND, f"round {event.round_id} was not opened")
    known = round_.seen.get((event.event_type, event.event_id))
    if known is not None:
        if _says_the_same(known, event):
            return table, DUPLICATE
        detail = f"another {event.event_type} of round {event.round_id} has this event_id"
        return table, Refused(DeadLetterReason.ID_CONFLICT, detail)
    shoe = table.shoes[round_.shoe_id]
    verdict: Verdict
    if round_.completed is not None or round_.cancelled is not None:
        next_round, next_shoe, verdict = after_the_end(round_, shoe, event, mark, window_ms)
    else:
        next_round, next_shoe, verdict = change(round_, shoe, event, mark)
        if next_round.completed is not None or next_round.cancelled is not None:
            verdict = Applied(over=round_.round_id)
    if next_round is round_:
        return table, verdict
    rounds = {**table.rounds, round_.round_id: next_round}
    shoes = table.shoes if next_shoe is shoe else {**table.shoes, shoe.shoe_id: next_shoe}
    return Table(table.table_id, shoes, table.newest_shoe, table.newest_round, rounds), verdict


def _says_the_same(known: RoundEvent, event: RoundEvent) -> bool:
    """Whether two events of one type, round and event id have the same content: all but when they occurred."""
    return replace(known, occurred_at=event.occurred_at) == event
