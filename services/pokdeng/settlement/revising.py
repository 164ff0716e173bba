"""A settled round settled or refunded anew: each bet reversed and paid in one step, then the round's own record.

Rare, so it pays for itself: the bets that stood are looked up in the ledger, and held against what the round's latest
record says of them, before anything moves.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import structlog

from pokdeng.events.ids import EventId, Minor
from pokdeng.events.inputs import RoundCancelled
from pokdeng.events.outputs import Balance, BetRefunded, BetReversed, BetSettled, RoundRefunded, RoundSettled
from pokdeng.ledger.port import LedgerCorruptError
from pokdeng.ledger.values import BetState, Revise, RoundName, Status
from pokdeng.rounds import result_of
from pokdeng.rules import RULESET
from pokdeng.settlement import tally
from pokdeng.settlement.counting import count_refunds, count_reversed, count_round
from pokdeng.settlement.finished import HEADER, encode_note, note_of_shoe, revised_note
from pokdeng.settlement.shown import players_of, shown
from pokdeng.settlement.voice import balance_of, totals_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pokdeng.events.ids import Cause, RoundId, TableId
    from pokdeng.ledger.port import Ledger
    from pokdeng.ledger.values import Answer, BetRecord
    from pokdeng.rounds import Result
    from pokdeng.rules import Bet
    from pokdeng.settlement.batch import Batch
    from pokdeng.settlement.desk import Desk
    from pokdeng.settlement.finished import Finished
    from pokdeng.settlement.house import House
    from pokdeng.settlement.revisions import Correction

_log = structlog.get_logger(__name__)

_Sums: TypeAlias = "defaultdict[Bet, defaultdict[str, list[int]]]"
"""By option and currency: bets, taken and returned."""

BETS_ENOUGH = 1_000
"""With so many bets revised in a batch no further round is begun in it."""


class MissingRecordsError(Exception):
    """The ledger does not hold the bets that a round's record speaks of: its correction is stopped."""


class Standing(NamedTuple):
    """A bet that stood, and what the latest revision that was said has returned of it."""

    record: BetRecord
    before: Minor


async def begin_due(ledger: Ledger, desks: Iterable[Desk], batch: Batch, house: House, now: float) -> None:
    """Begin the revisions that can be begun, in a batch that has no operation yet. `now` is monotonic, in seconds.

    One whose bets are not there is stopped with an alarm, and nothing of it moves; it is tried again later. Meanwhile
    everything else goes on, but the log is not let go below it.
    """
    due: list[tuple[Desk, tuple[TableId, RoundId], Correction, Finished]] = []
    bets = 0
    for desk in desks:
        for key, correction, finished in desk.revisions.due(now):
            if bets < BETS_ENOUGH:
                due.append((desk, key, correction, finished))
                bets += finished.bets
    if not due:
        return
    names = [RoundName(desk.source, *key) for desk, key, _, _ in due]
    await ledger.keep(names)
    for (desk, key, correction, finished), records in zip(due, await ledger.round_bets(names), strict=True):
        try:
            standing = standing_bets(finished, records)
        except MissingRecordsError as missing:
            if desk.revisions.stop(key, now):
                _log.error("correction_stopped", table=key[0], round=key[1], why=str(missing), alarm=True)
            continue
        desk.revisions.begin(key)
        Revision(batch, house, desk, key, finished, correction).begin(standing)


def standing_bets(finished: Finished, records: Iterable[BetRecord]) -> list[Standing]:
    """The bets that stood in a round's latest revision, as the ledger has them, in the order of the log.

    Some may be in the next revision already, applied by a worker that died before it said so.

    Raises:
        MissingRecordsError: when they are not what the round's record says they are.
    """
    standing: list[Standing] = []
    sums: dict[str, tuple[int, int]] = {}
    for record in records:
        if record.state is not BetState.SETTLED:
            continue
        if record.revision not in {finished.revision, finished.revision + 1}:
            raise MissingRecordsError(
                f"bet {record.bet_id} is in revision {record.revision}, its round in {finished.revision}"
            )
        before = record.returned if record.revision == finished.revision else record.reversed
        standing.append(Standing(record, before))
        taken, returned = sums.get(record.currency, (0, 0))
        sums[record.currency] = (taken + record.taken, returned + before)
    if len(standing) != finished.bets or sums != finished.totals:
        raise MissingRecordsError(
            f"the ledger has {len(standing)} bets, {sums}; the round's record {finished.bets}, {finished.totals}"
        )
    return standing


class Revision:
    """One revision of one round in one batch: asks the ledger for each bet, says each answer, then the round."""

    __slots__ = (
        "_batch", "_bets", "_cause", "_correction", "_desk", "_done", "_finished", "_house", "_key", "_on_revised",
        "_result", "_revision", "_sums", "_undone",
    )  # fmt: skip

    def __init__(
        self,
        batch: Batch,
        house: House,
        desk: Desk,
        key: tuple[TableId, RoundId],
        finished: Finished,
        correction: Correction,
    ) -> None:
        """`finished` is how the round was said last."""
        self._batch = batch
        self._house = house
        self._desk = desk
        self._key = key
        self._finished = finished
        self._correction = correction
        self._revision = finished.revision + 1
        self._cause: Cause = desk.cause(correction.mark)
        is_refund = isinstance(correction.event, RoundCancelled)
        self._result: Result | None = None if is_refund else result_of(correction.ending.round.places)
        self._bets = 0
        self._sums: defaultdict[str, list[int]] = defaultdict(lambda: [0, 0])
        """Taken and returned, by currency."""
        self._undone, self._done = _new_sums(), _new_sums()
        """What was reversed and what was paid for the first time: for the metrics."""
        self._on_revised = self._revised

    def begin(self, standing: Iterable[Standing]) -> None:
        """Ask the ledger for each bet; the rest follows from its answers."""
        for bet in standing:
            record = bet.record
            returned = record.taken
            if self._result is not None:
                returned = Minor(record.stake * self._result.verdicts[record.bet].returned_units)
            revise = Revise(
                self._desk.source,
                record.account,
                record.table,
                record.round,
                record.bet_id,
                bet.before,
                returned,
                self._revision,
            )
            self._batch.ask_revision(revise, self._on_revised, bet)
        self._batch.rounds.append(self._end)

    def _revised(self, answers: Sequence[Answer], subjects: list[Standing]) -> None:
        for answer, bet in zip(answers, subjects, strict=True):
            if answer.status is not Status.MOVED:
                raise LedgerCorruptError(f"a revision of {bet.record.bet_id} was answered {answer.status}")
            self._say(bet, answer)

    def _say(self, bet: Standing, answer: Answer) -> None:
        record = bet.record
        fact = self._settled(record, answer) if self._result is not None else self._refunded(record, answer)
        say = self._house.voice.say_settlement
        say(self._batch, self._reversed(bet, fact.returned, answer))
        say(self._batch, fact)
        self._bets += 1
        sums = self._sums[record.currency]
        sums[0] += record.taken
        sums[1] += fact.returned
        if answer.is_fresh:
            _add(self._undone, record, bet.before)
            _add(self._done, record, fact.returned)

    def _common(self, record: BetRecord) -> dict[str, object]:
        return {
            "event_id": EventId(""),
            "occurred_at": self._correction.event.occurred_at,
            "cause": self._cause,
            "bet_id": record.bet_id,
            "table_id": record.table,
            "round_id": record.round,
            "account_id": record.account,
            "bet": record.bet,
            "stake": record.stake,
            "currency": record.currency,
            "taken": record.taken,
            "revision": self._revision,
        }

    def _reversed(self, bet: Standing, returned: Minor, answer: Answer) -> BetReversed:
        """The first of the two movements: the account between them follows from what it was after both."""
        available = Minor(answer.available - returned)
        between = Balance(
            available=available,
            held=Minor(answer.held + bet.record.taken),
            sequence=answer.sequence - 1,
            overdrawn=True if available < 0 else None,
        )
        reason = self._correction.event.reason
        return BetReversed(**self._common(bet.record), reversed=bet.before, reason=reason, balance=between)  # type: ignore[arg-type]  # fields in common, of several types

    def _settled(self, record: BetRecord, answer: Answer) -> BetSettled:
        result = self._result
        if result is None:
            raise ValueError(f"round {record.round} is not settled by cards")
        verdict = result.verdicts[record.bet]
        returned = Minor(record.stake * verdict.returned_units)
        return BetSettled(
            **self._common(record),  # type: ignore[arg-type]  # by name
            outcome=verdict.outcome,
            odds=verdict.odds,
            returned=returned,
            net=returned - record.taken,
            player=shown(result.hands[record.bet.seat]),
            banker=shown(result.banker),
            rule=verdict.rule,
            ruleset=RULESET,
            balance=balance_of(answer),
        )

    def _refunded(self, record: BetRecord, answer: Answer) -> BetRefunded:
        reason, balance = self._correction.event.reason, balance_of(answer)
        return BetRefunded(**self._common(record), returned=record.taken, reason=reason, balance=balance)  # type: ignore[arg-type]  # fields in common, of several types

    def _end(self) -> None:
        """All answers are known: make the round's own record."""
        correction, batch, desk = self._correction, self._batch, self._desk
        ending = correction.ending
        table = ending.table if desk.may_absorb(self._key) else None
        totals = {currency: (taken, returned) for currency, (taken, returned) in self._sums.items()}
        finished = revised_note(
            self._finished,
            ending.round,
            correction.mark,
            totals=totals,
            shoe=note_of_shoe(ending.shoe),
            table=None if table is None else desk.aside.snapshot(table, correction.mark.offset),
        )
        fact = self._round_fact(totals)
        self._house.voice.say_round(batch.round_facts, desk.partition, fact, (HEADER, encode_note(finished)))
        self._count()
        batch.caused_at_ms.append((correction.mark.at_ms, self._bets))
        batch.acknowledged.append(lambda: desk.revision_said(self._key, finished))

    def _round_fact(self, totals: dict[str, tuple[int, int]]) -> RoundSettled | RoundRefunded:
        correction, finished = self._correction, self._finished
        round_ = correction.ending.round
        common = {
            "event_id": EventId(""),
            "occurred_at": correction.event.occurred_at,
            "cause": self._cause,
            "table_id": self._key[0],
            "shoe_id": round_.shoe_id,
            "round_id": round_.round_id,
            "bets": self._bets,
            "totals": totals_of(totals),
            "seal": finished.seal,
            "revision": self._revision,
        }
        result = self._result
        if result is None:
            return RoundRefunded(**common, reason=correction.event.reason)  # type: ignore[arg-type]  # by name
        return RoundSettled(**common, banker=shown(result.banker), players=players_of(result), ruleset=RULESET)  # type: ignore[arg-type]  # fields in common, of several types

    def _count(self) -> None:
        counts, is_cancelled = self._batch.tally, self._result is None
        counts[tally.ROUND_REVISED] += 1
        count_reversed(counts, self._counted(self._undone), is_cancelled=is_cancelled)
        if is_cancelled:
            count_refunds(counts, self._counted(self._done))
        else:
            count_round(counts, self._counted(self._done), is_first=False)

    def _counted(self, sums: _Sums) -> list[tuple[Bet, str, dict[str, list[int]]]]:
        """As the counts want it: what an option of the round came to, by currency."""
        outcomes = {} if self._result is None else {bet: said.outcome for bet, said in self._result.verdicts.items()}
        return [(bet, outcomes.get(bet, "refunded"), of_bet) for bet, of_bet in sums.items()]


def _new_sums() -> _Sums:
    return defaultdict(lambda: defaultdict(lambda: [0, 0, 0]))


def _add(sums: _Sums, record: BetRecord, returned: int) -> None:
    row = sums[record.bet][record.currency]
    row[0] += 1
    row[1] += record.taken
    row[2] += returned
