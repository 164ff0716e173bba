"""A round judged as a whole: totals, cards, revisions, and whether its bets were in time; then folded into sums."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pokdeng.history.audit.findings import Findings, Promise
from pokdeng.history.audit.payouts import result_of
from pokdeng.history.audit.round_state import REJECTED, REVERSED, SETTLED, STANDING, hash_of

if TYPE_CHECKING:
    from pokdeng.history.audit.facts import Fact
    from pokdeng.history.audit.options import Options
    from pokdeng.history.audit.round_state import Bet, Revision, RoundState, TableEvent

_SEATS = ("player_1", "player_2", "player_3", "player_4", "player_5")


class Verdicts:
    """Judges rounds; what is wrong goes to the findings."""

    def __init__(
        self, findings: Findings, options: Options, dead: set[tuple[str, int, int]], table_events: str
    ) -> None:
        """`dead` are the input records that are dead letters, `table_events` is the topic's name."""
        self._findings = findings
        self._options = options
        self._dead = dead
        self._table_events = table_events

    @staticmethod
    def is_said(round_: RoundState) -> bool:
        """Whether the round's own record of its newest revision is there."""
        newest = max(round_.revisions, default=0)
        return newest > 0 and round_.revisions[newest].said is not None

    def judge(self, round_: RoundState) -> None:
        """Judge what was not judged yet, and fold the bets away."""
        self.judge_times(round_)
        newest = max(round_.revisions)
        for number in sorted(round_.revisions):
            revision = round_.revisions[number]
            if not revision.is_judged:
                revision.is_judged = True
                self._judge_revision(round_, number, revision)
        for bet_id, bet in round_.bets.items():
            is_lost = bet.state in (STANDING, REVERSED) or (bet.state == SETTLED and bet.revision < newest)
            if is_lost:
                what = f"bet {bet_id} has no result in revision {newest}"
                self._findings.add(Promise.NOT_SETTLED, _where(round_, newest), what)
        self._fold(round_)

    def judge_unsaid(self, round_: RoundState) -> None:
        """A round without a record of its own, and without standing bets: nothing may have been paid for it."""
        self.judge_times(round_)
        if any(revision.seen is not None for revision in round_.revisions.values()):
            number = max(round_.revisions)
            what = f"round {round_.name[1]}: its bets have results in revision {number}, and it has no record of that"
            self._findings.add(Promise.WRONG_TOTALS, _where(round_, number), what)

    def judge_times(self, round_: RoundState) -> None:
        """Whether each bet was in time, as far as its record and the round's events are still kept."""
        opened = self._first(round_, "round_opened")
        closed = self._first(round_, "betting_closed")
        cancelled = self._first(round_, "round_cancelled")
        if opened is None:
            return
        said = [revision.said for revision in round_.revisions.values() if revision.said is not None]
        seal = said[0].seal if said else None
        for bet_id, bet in round_.bets.items():
            why = _wrong_time(bet, opened, closed, cancelled, seal)
            if why is not None:
                self._findings.add(Promise.DECIDED_WRONGLY, bet.where, f"round {round_.name[1]}, bet {bet_id}: {why}")

    def _judge_revision(self, round_: RoundState, number: int, revision: Revision) -> None:
        said = revision.said
        if said is None:
            what = f"round {round_.name[1]}: revision {number} has results, and no record of the round"
            self._findings.add(Promise.WRONG_TOTALS, _where(round_, number), what)
            return
        self._judge_totals(round_, number, revision, said)
        if said.type == "round_settled":
            self._judge_cards(round_, number, revision, said)
        if number > 1:
            self._judge_reversal(round_, number, said)
        if not revision.bets and not said.bets:
            return
        if revision.options:
            self._options.add(revision)
            revision.options.clear()

    def _judge_totals(self, round_: RoundState, number: int, revision: Revision, said: Fact) -> None:
        where = _where(round_, number)
        totals = {currency: (sums.taken, sums.returned, sums.house_net) for currency, sums in said.totals.items()}
        right = {
            currency: (taken, revision.returned[currency], taken - revision.returned[currency])
            for currency, taken in revision.taken.items()
        }
        if said.bets != revision.bets or totals != right:
            what = (
                f"round {round_.name[1]}, revision {number}: says {said.bets} bets, {totals} (taken, returned, net); "
                f"its bets are {revision.bets} and {right}"
            )
            self._findings.add(Promise.WRONG_TOTALS, where, what)

    def _judge_cards(self, round_: RoundState, number: int, revision: Revision, said: Fact) -> None:
        where = _where(round_, number)
        banker = said.banker
        by_seat = {hand.seat: hand for hand in said.players}
        if banker is None or tuple(by_seat) != _SEATS:
            self._findings.add(Promise.WRONG_CARDS, where, f"round {round_.name[1]}: its record has not six hands")
            return
        for seat, hand in by_seat.items():
            if hand.result != result_of(hand, banker):
                what = f"round {round_.name[1]}: {seat} {hand.result}, by the rules {result_of(hand, banker)}"
                self._findings.add(Promise.WRONG_PAYOUT, where, what)
        for seat, of_bets in revision.hands.items():
            cards = banker.cards if seat == "banker" else by_seat[seat].cards if seat in by_seat else None
            if cards != of_bets.cards:
                what = f"round {round_.name[1]}: {seat} has {cards}, its bets were settled by {of_bets.cards}"
                self._findings.add(Promise.WRONG_CARDS, where, what)
        dealt = round_.cards_at(said.cause.offset, self._dead, self._table_events)
        is_kept = bool(round_.base_cards) or self._first(round_, "round_opened") is not None
        if not is_kept:
            return
        lies = {("banker", 1): banker.cards[0], ("banker", 2): banker.cards[1]}
        lies |= {(seat, position): hand.cards[position - 1] for seat, hand in by_seat.items() for position in (1, 2)}
        wrong = sorted(place for place, card in lies.items() if _card(dealt.get(place, "")) != card)
        if wrong:
            places = ", ".join(f"{seat} {position}" for seat, position in wrong)
            what = (
                f"round {round_.name[1]}, revision {number}: its cards are not those of the table's events at {places}"
            )
            self._findings.add(Promise.WRONG_CARDS, where, what)

    def _judge_reversal(self, round_: RoundState, number: int, said: Fact) -> None:
        where = _where(round_, number)
        before, reversal = round_.revisions.get(number - 1), round_.reversals.get(number)
        if before is None or before.said is None:
            what = f"round {round_.name[1]}: revision {number} follows none"
            self._findings.add(Promise.WRONG_REVISION, where, what)
            return
        bets, digest = (0, 0) if reversal is None else (reversal.bets, reversal.digest)
        if (bets, digest) != (before.bets, before.digest):
            had = f"revision {number - 1} had {before.bets}, or other amounts"
            what = f"round {round_.name[1]}: revision {number} reverses {bets} bets, {had}"
            self._findings.add(Promise.WRONG_REVISION, where, what)
        if said.seal != before.said.seal:
            what = f"round {round_.name[1]}: seal {said.seal} in revision {number}, {before.said.seal} before"
            self._findings.add(Promise.WRONG_REVISION, where, what)
        if reversal is not None and before.said.type == "round_settled":
            self._options.take_back(reversal)
            reversal.options.clear()

    def _fold(self, round_: RoundState) -> None:
        """Keep of the bets what a later duplicate or correction is held against."""
        for bet_id, bet in round_.bets.items():
            round_.known.extend((hash_of(bet_id), hash_of(bet_id, *bet.content)))
            if bet.state == REJECTED:
                round_.known.append(bet.digest)
        round_.bets.clear()
        if round_.events:
            last = max(event.offset for event in round_.events)
            round_.base_cards = round_.cards_at(last, self._dead, self._table_events)
            round_.base_offset = last
            round_.events.clear()
        for revision in (*round_.revisions.values(), *round_.reversals.values()):
            revision.hands.clear()
            revision.record = None
            revision.seen = None
        round_.is_folded = True

    def _first(self, round_: RoundState, event_type: str) -> TableEvent | None:
        for event in round_.events:
            if event.type == event_type and (self._table_events, round_.partition, event.offset) not in self._dead:
                return event
        return None


def _wrong_time(
    bet: Bet, opened: TableEvent, closed: TableEvent | None, cancelled: TableEvent | None, seal: int | None
) -> str | None:
    """Why a decision does not follow from the broker times and the seal, None where it does."""
    if bet.at_ms is None:
        return None
    late_ms = 0 if closed is None else bet.at_ms - closed.at_ms
    is_behind = seal is not None and bet.offset >= seal
    why = None
    if bet.state == REJECTED:
        if bet.reason == "betting_closed" and late_ms <= 0 and not is_behind and seal is not None:
            why = "rejected as betting_closed, but it was in time and lies before the seal"
        elif bet.reason == "round_unknown" and bet.at_ms > opened.at_ms:
            why = "rejected as round_unknown, but the round was open"
    elif bet.at_ms < opened.at_ms:
        why = f"accepted, {opened.at_ms - bet.at_ms} ms before the round opened"
    elif late_ms > 0:
        why = f"accepted, {late_ms} ms after betting closed"
    elif is_behind:
        why = f"accepted, but it lies at {bet.offset}, behind the seal {seal}"
    elif cancelled is not None and bet.at_ms >= cancelled.at_ms:
        why = "accepted, after the round was cancelled"
    return why


def _card(text: str) -> str:
    """A card as facts write it: `10h` is `Th`."""
    return text.replace("10", "T")


def _where(round_: RoundState, number: int) -> str:
    record = (
        None if number not in round_.revisions else round_.revisions[number].record or round_.revisions[number].seen
    )
    if record is None:
        return f"round {round_.name[1]} of table {round_.name[0]}"
    return f"{record.topic}[{record.partition}]@{record.offset}"
