"""The end of a round: every standing bet settled or refunded, then the round's own record, its commit mark."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from pokdeng.events.ids import Cause, EventId, Timestamp
from pokdeng.events.outputs import RoundRefunded, RoundSettled
from pokdeng.ledger.port import LedgerCorruptError
from pokdeng.ledger.values import Settle, Status
from pokdeng.rounds import Cancelled, result_of
from pokdeng.rules import RULESET, Bet
from pokdeng.settlement import tally
from pokdeng.settlement.counting import count_refunds, count_round
from pokdeng.settlement.finished import HEADER, Finished, encode_note, note_of_shoe
from pokdeng.settlement.shown import players_of, shown
from pokdeng.settlement.voice import totals_of
from pokdeng.stream.port import Message
from pokdeng.wire import EventIds, RefundedTemplate, SettledRound

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pokdeng.ledger.values import Answer, Source
    from pokdeng.rounds import Result, Table
    from pokdeng.settlement.batch import Batch
    from pokdeng.settlement.book import Book, Ending, Entry
    from pokdeng.settlement.finished import TableNote
    from pokdeng.settlement.house import House

REVISION = 1
"""Of what a round comes to first."""

_new = tuple.__new__
"""Makes a named tuple in half the time that its class takes: for what is made once a bet."""


class Option:
    """One of the ten options of a round that ends: how its facts are written, and what they came to."""

    __slots__ = ("bet", "outcome", "render", "returned_units", "said_again", "sums")

    def __init__(self, bet: Bet, outcome: str, returned_units: int, render: Callable[..., bytes]) -> None:
        """`returned_units` stakes go back for each stake: of a refund as many as were taken."""
        self.bet = bet
        self.outcome = outcome
        self.returned_units = returned_units
        self.render = render
        self.sums: defaultdict[str, list[int]] = defaultdict(_zeros)
        """By currency: bets, taken and returned of what was applied for the first time."""
        self.said_again: defaultdict[str, list[int]] = defaultdict(_zeros)
        """The same of what an earlier call had applied: it counts for the round, not for the metrics."""


class Closing:
    """Ends one round in one batch: asks the ledger for each bet, says each answer, then the round."""

    __slots__ = (
        "_at", "_batch", "_bets", "_book", "_common", "_ending", "_headers", "_house", "_ids", "_on_said", "_options",
        "_partition", "_result", "_snapshot", "_source",
    )  # fmt: skip

    def __init__(
        self,
        batch: Batch,
        house: House,
        source: Source,
        partition: int,
        book: Book,
        ending: Ending,
        on_said: Callable[[Book, Finished], None],
        snapshot: Callable[[Table, int], TableNote | None],
    ) -> None:
        """`on_said` is called once the round's own record is acknowledged; `snapshot` makes one of its table."""
        self._batch = batch
        self._house = house
        self._source = source
        self._partition = partition
        self._book = book
        self._ending = ending
        self._on_said = on_said
        self._snapshot = snapshot
        self._at = end = ending.at
        is_refund = isinstance(end, Cancelled)
        self._result: Result | None = None if is_refund else result_of(ending.round.places)
        event_type = "bet_refunded" if is_refund else "bet_settled"
        self._ids = EventIds(event_type, book.table_id, book.round_id, last=(REVISION,))
        self._headers = house.voice.headers(event_type, "", end.occurred_at)[1:]
        self._options: dict[Bet, Option] = {}
        self._common: SettledRound | None = None
        self._bets = 0

    @property
    def cause(self) -> Cause:
        """The record that completed or cancelled the round."""
        return Cause(self._house.topics.table_events, self._partition, self._at.mark.offset)

    def begin(self) -> None:
        """Ask the ledger for each standing bet; the rest follows from its answers."""
        book, source = self._book, self._source
        options = self._options
        ask, tell = self._batch.asking(self._settled)
        table_id, round_id = book.table_id, book.round_id
        for entry in book.standing:
            bet = entry.bet
            option = options.get(bet.bet) or self._option(bet.bet)
            returned = bet.stake * option.returned_units
            ask(_new(Settle, (source, bet.account_id, table_id, round_id, bet.bet_id, returned, REVISION)))
            tell((entry, option, returned))
        self._batch.rounds.append(self._end)

    def _option(self, bet: Bet) -> Option:
        book, at = self._book, self._at
        if self._result is None or isinstance(at, Cancelled):
            refunded = RefundedTemplate(
                table_id=book.table_id,
                round_id=book.round_id,
                bet=bet,
                reason=at.reason,  # type: ignore[union-attr]  # a refund is caused by a cancellation
                cause=self.cause,
                occurred_at=Timestamp(at.occurred_at),
                revision=REVISION,
            )
            option = Option(bet, "refunded", bet.units_taken, refunded.render)
        else:
            said = self._result.verdicts[bet]
            settled = self._settled_round().of(
                bet=bet,
                outcome=said.outcome,
                odds=said.odds,
                player=shown(self._result.hands[bet.seat]),
                rule=said.rule,
            )
            option = Option(bet, said.outcome, said.returned_units, settled.render)
        self._options[bet] = option
        return option

    def _settled_round(self) -> SettledRound:
        """What all settlements of the round have in common, written once."""
        if self._common is None:
            if self._result is None:
                raise ValueError(f"round {self._book.round_id} has no result")
            self._common = SettledRound(
                table_id=self._book.table_id,
                round_id=self._book.round_id,
                banker=shown(self._result.banker),
                ruleset=RULESET,
                cause=self.cause,
                occurred_at=Timestamp(self._at.occurred_at),
                revision=REVISION,
            )
        return self._common

    def _settled(self, answers: Sequence[Answer], subjects: list[tuple[Entry, Option, int]]) -> None:
        ids, rest = self._ids, self._headers
        routes, facts = self._house.voice.routes, self._batch.settlements
        for answer, (entry, option, returned) in zip(answers, subjects, strict=True):
            status, is_fresh, _, available, held, sequence = answer
            bet = entry.bet
            if status is not Status.MOVED:
                if status is Status.ABSENT:
                    continue  # asked in the batch of its own decision, which was a refusal or a withdrawal
                raise LedgerCorruptError(f"a settlement of {bet.bet_id} was answered {status}")
            bet_id, account_id, currency, taken = bet.bet_id, bet.account_id, bet.currency, entry.taken
            event_id = ids(bet_id)
            value = option.render(
                event_id, bet_id, account_id, bet.stake, currency, taken, returned, available, held, sequence
            )
            route = routes[account_id]
            facts[route.settlements].append(_new(Message, (route.key, value, [("ce_id", event_id.encode()), *rest])))
            row = (option.sums if is_fresh else option.said_again)[currency]
            row[0] += 1
            row[1] += taken
            row[2] += returned

    def _end(self) -> None:
        """All answers are known: make the round's own record."""
        book, batch, ending, at = self._book, self._batch, self._ending, self._at
        round_ = ending.round
        rows = self._sums()
        sums = {currency: (taken, returned) for currency, (_, taken, returned) in rows.items()}
        self._bets = sum([bets for bets, _, _ in rows.values()])
        finished = Finished(
            shoe_id=round_.shoe_id,
            first_event=round_.first,
            last_event=round_.last,
            first_bet=book.first,
            seal=book.seal if book.seal is not None else -1,
            closed_at_ms=round_.closed_at_ms,
            cancelled_at_ms=round_.cancelled.mark.at_ms if round_.cancelled is not None else None,
            caused_at_ms=at.mark.at_ms,
            revision=REVISION,
            settled_event=round_.last,
            settled_at_ms=at.mark.at_ms,
            bets=self._bets,
            totals=sums,
            deal=None if self._result is None else "".join(str(card) for card in round_.places),
            shoe=note_of_shoe(ending.shoe),
            table=None if ending.table is None else self._snapshot(ending.table, at.mark.offset),
        )
        totals = totals_of(sums)
        fact: RoundSettled | RoundRefunded
        if self._result is None or isinstance(at, Cancelled):
            fact = RoundRefunded(
                event_id=EventId(""),
                occurred_at=Timestamp(at.occurred_at),
                cause=self.cause,
                table_id=book.table_id,
                shoe_id=round_.shoe_id,
                round_id=book.round_id,
                reason=at.reason,  # type: ignore[union-attr]  # a refund is caused by a cancellation
                bets=self._bets,
                totals=totals,
                seal=finished.seal,
                revision=REVISION,
            )
        else:
            fact = RoundSettled(
                event_id=EventId(""),
                occurred_at=Timestamp(at.occurred_at),
                cause=self.cause,
                table_id=book.table_id,
                shoe_id=round_.shoe_id,
                round_id=book.round_id,
                banker=shown(self._result.banker),
                players=players_of(self._result),
                bets=self._bets,
                totals=totals,
                seal=finished.seal,
                ruleset=RULESET,
                revision=REVISION,
            )
        self._house.voice.say_round(batch.round_facts, self._partition, fact, (HEADER, encode_note(finished)))
        self._count(is_refund=isinstance(fact, RoundRefunded))
        batch.caused_at_ms.append((at.mark.at_ms, self._bets))
        batch.acknowledged.append(lambda: self._on_said(book, finished))

    def _sums(self) -> dict[str, list[int]]:
        """By currency: bets, taken and returned of the whole round."""
        sums: defaultdict[str, list[int]] = defaultdict(_zeros)
        for option in self._options.values():
            for part in (option.sums, option.said_again):
                for currency, (bets, taken, returned) in part.items():
                    row = sums[currency]
                    row[0] += bets
                    row[1] += taken
                    row[2] += returned
        return sums

    def _count(self, *, is_refund: bool) -> None:
        counts = self._batch.tally
        counts[tally.ROUND_REFUNDED if is_refund else tally.ROUND_SETTLED] += 1
        options = [(option.bet, option.outcome, option.sums) for option in self._options.values()]
        (count_refunds if is_refund else count_round)(counts, options)


def _zeros() -> list[int]:
    return [0, 0, 0]
