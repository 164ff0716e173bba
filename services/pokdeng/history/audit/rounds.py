"""Rounds, folded from facts about bets and the rounds' own records, and from table events where they are still kept.

Facts come in about the order of time, not exactly: so everything is taken as it comes, and a round is judged as a whole
(`verdicts`) when nothing was heard of it for ten minutes of log time. Then its bets are folded into sums: a correction
within its window is held against these. A day after its last record a round is forgotten. So this grows with the rounds
that are open (about 0.5 KB a bet) and with those of the last 26 hours (about 1 KB a round and 16 bytes a bet).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from pokdeng.history.audit.findings import Findings, Promise
from pokdeng.history.audit.payouts import UNITS, wrong_hand, wrong_settlement
from pokdeng.history.audit.round_state import (
    REJECTED,
    REVERSED,
    SETTLED,
    STANDING,
    STATES,
    WITHDRAWN,
    Bet,
    RoundState,
    TableEvent,
    hash_of,
)
from pokdeng.history.audit.verdicts import Verdicts

if TYPE_CHECKING:
    from pokdeng.history.audit.facts import Content, Fact, RoundKey, Said
    from pokdeng.history.audit.options import Options
    from pokdeng.stream.port import Record

QUIET_MS: Final = 600_000
"""A round of which nothing was heard for so long, and that is said, is judged."""
REMEMBER_MS: Final = 26 * 3_600_000
"""After so long a round is forgotten."""


class Rounds:
    """All rounds that are remembered."""

    def __init__(self, findings: Findings, options: Options, table_events: str) -> None:
        """None yet; `table_events` is the name of that topic."""
        self._findings = findings
        self._rounds: dict[RoundKey, RoundState] = {}
        self._table_events = table_events
        self.dead: set[tuple[str, int, int]] = set()
        """Input records that are dead letters."""
        self._verdicts = Verdicts(findings, options, self.dead, table_events)
        self.count = 0
        self.unfinished = 0
        """Rounds with standing bets and no result, at the log's end."""

    def __len__(self) -> int:
        """How many are remembered."""
        return len(self._rounds)

    def get(self, key: RoundKey) -> RoundState | None:
        """A round that is remembered."""
        return self._rounds.get(key)

    # What is heard

    def event(self, record: Record, said: Said) -> None:
        """A table event about a round."""
        round_ = self._of((said.table_id, said.round_id), record.partition, record.timestamp)
        round_.events.append(
            TableEvent(record.offset, record.timestamp, said.type, said.seat, said.position, said.card)
        )

    def accepted(self, record: Record, fact: Fact, at_ms: int | None) -> None:
        """A bet was accepted; `at_ms` is the broker time of its record, None where that is no longer kept."""
        if fact.taken != fact.stake * UNITS.get(fact.bet, 0):
            what = f"{fact.bet} of {fact.stake} takes {fact.stake * UNITS.get(fact.bet, 0)}, not {fact.taken}"
            self._findings.add(Promise.WRONG_PAYOUT, record, what)
        self._decided(record, fact, STANDING, at_ms)

    def rejected(self, record: Record, fact: Fact, at_ms: int | None) -> None:
        """A bet was rejected."""
        self._decided(record, fact, REJECTED, at_ms)

    def withdrawn(self, record: Record, fact: Fact) -> None:
        """A bet was taken back."""
        bet = self._standing(record, fact)
        if bet is not None:
            bet.state = WITHDRAWN
        if fact.returned != fact.taken:
            self._findings.add(Promise.WRONG_PAYOUT, record, f"{fact.taken} was taken, {fact.returned} goes back")

    def cancel(self, record: Record, fact: Fact) -> None:
        """A cancel was decided: a copy of it is a duplicate from now on."""
        self._heard(record, fact).known.append(hash_of("cancel", fact.bet_id, fact.account_id))

    def settled(self, record: Record, fact: Fact) -> None:
        """A bet was settled or refunded."""
        round_ = self._heard(record, fact)
        revision = round_.revision(fact.revision)
        revision.seen = revision.seen or record
        is_refund = fact.type == "bet_refunded"
        if is_refund and fact.returned != fact.taken:
            self._findings.add(Promise.WRONG_PAYOUT, record, f"{fact.taken} was taken, {fact.returned} is refunded")
        for wrong in () if is_refund else wrong_settlement(fact):
            self._findings.add(Promise.WRONG_PAYOUT, record, f"bet {fact.bet_id}: {wrong}")
        bet = self._reversed(record, fact, round_) if fact.revision > 1 else self._standing(record, fact)
        if bet is not None:
            bet.state, bet.revision, bet.returned = SETTLED, fact.revision, fact.returned
        revision.add(fact.bet_id, content_of(fact), fact.taken, fact.returned)
        if not is_refund:
            row = revision.options[fact.bet, fact.currency]
            row[0] += 1
            row[1] += fact.stake
            row[2] += fact.taken
            row[3] += fact.returned
            self._same_cards(record, fact, round_)

    def reversed(self, record: Record, fact: Fact) -> None:
        """A bet's result was taken back, for the revision that follows."""
        round_ = self._heard(record, fact)
        bet = round_.bets.get(fact.bet_id)
        content = content_of(fact)
        if fact.revision < 2:  # noqa: PLR2004 - the first that can follow another
            self._findings.add(Promise.WRONG_REVISION, record, f"revision {fact.revision} reverses nothing")
        elif bet is None and not round_.is_folded:
            self._findings.add(
                Promise.WRONG_REVISION, record, f"bet {fact.bet_id} was not settled before it is reversed"
            )
        elif bet is not None:
            is_next = bet.state == SETTLED and bet.revision == fact.revision - 1
            if not is_next or bet.content != content or (bet.taken, bet.returned) != (fact.taken, fact.reversed):
                was = f"{STATES[bet.state]} in revision {bet.revision}, {bet.returned} returned of {bet.taken} taken"
                what = (
                    f"bet {fact.bet_id} was {was}; revision {fact.revision} takes back {fact.reversed} of {fact.taken}"
                )
                self._findings.add(Promise.WRONG_REVISION, record, what)
        if bet is None:
            bet = round_.bets[fact.bet_id] = Bet(content, fact.taken, REVERSED, -1)
        bet.state, bet.revision = REVERSED, fact.revision
        reversal = round_.reversal(fact.revision)
        reversal.seen = reversal.seen or record
        reversal.add(fact.bet_id, content, fact.taken, fact.reversed)
        row = reversal.options[fact.bet, fact.currency]
        row[0] += 1
        row[1] += fact.stake
        row[2] += fact.taken
        row[3] += fact.reversed

    def said(self, record: Record, fact: Fact) -> None:
        """A round's own record: settled or refunded."""
        round_ = self._of((fact.table_id, fact.round_id), record.partition, record.timestamp)
        revision = round_.revision(fact.revision)
        if revision.said is not None:
            if revision.record is not None and revision.record.value != record.value:
                what = f"round {fact.round_id}: another record of revision {fact.revision}"
                self._findings.add(Promise.SAID_DIFFERENTLY, record, what)
            return
        revision.said, revision.record = fact, record
        for hand in (fact.banker, *fact.players):
            wrong = None if hand is None else wrong_hand(hand)
            if wrong is not None:
                self._findings.add(Promise.WRONG_PAYOUT, record, wrong)

    # When nothing more is heard

    def tick(self, now_ms: int) -> None:
        """Log time has come so far: judge rounds that are quiet, forget old ones."""
        forgotten: list[RoundKey] = []
        for key, round_ in self._rounds.items():
            quiet_ms = now_ms - round_.last_ms
            if quiet_ms < QUIET_MS:
                continue
            if self._verdicts.is_said(round_) and (round_.bets or round_.events):
                self._verdicts.judge(round_)
            if quiet_ms >= REMEMBER_MS and not any(bet.state == STANDING for bet in round_.bets.values()):
                forgotten.append(key)
        for key in forgotten:
            self._forget(key)

    def finish(self, *, is_at_rest: bool) -> None:
        """The log ends here. At rest: nothing is on its way."""
        for round_ in self._rounds.values():
            if self._verdicts.is_said(round_):
                if round_.bets or round_.events:
                    self._verdicts.judge(round_)
            elif any(bet.state == STANDING for bet in round_.bets.values()):
                self.unfinished += 1
                self._verdicts.judge_times(round_)
            elif is_at_rest:
                self._verdicts.judge_unsaid(round_)

    def standing_taken(self) -> dict[str, int]:
        """What is taken for bets without a result, by currency."""
        taken: dict[str, int] = {}
        for round_ in self._rounds.values():
            for bet in round_.bets.values():
                if bet.state in (STANDING, REVERSED):
                    taken[bet.content[3]] = taken.get(bet.content[3], 0) + bet.taken
        return taken

    def _forget(self, key: RoundKey) -> None:
        round_ = self._rounds.pop(key)
        if not self._verdicts.is_said(round_):
            self._verdicts.judge_unsaid(round_)

    def _of(self, key: RoundKey, partition: int, at_ms: int) -> RoundState:
        round_ = self._rounds.get(key)
        if round_ is None:
            round_ = self._rounds[key] = RoundState(key, partition)
            self.count += 1
        round_.last_ms = max(round_.last_ms, at_ms)
        return round_

    def _heard(self, record: Record, fact: Fact) -> RoundState:
        return self._of((fact.table_id, fact.round_id), fact.cause.partition, record.timestamp)

    def _decided(self, record: Record, fact: Fact, state: int, at_ms: int | None) -> None:
        round_ = self._heard(record, fact)
        content = content_of(fact)
        known = round_.bets.get(fact.bet_id)
        if known is not None:
            if known.digest == hash_of(record.value):
                return  # said again
            what = f"bet {fact.bet_id} was {STATES[known.state]}, now {fact.type} {fact.reason}".rstrip()
            self._findings.add(Promise.DECIDED_TWICE, record, what)
            return
        if round_.is_folded:
            self._decided_late(record, fact, state, round_, content)
            return
        bet = round_.bets[fact.bet_id] = Bet(content, fact.taken, state, fact.cause.offset)
        bet.at_ms, bet.reason, bet.digest = at_ms, fact.reason, hash_of(record.value)
        bet.where = f"{record.topic}[{record.partition}]@{record.offset}"

    def _decided_late(self, record: Record, fact: Fact, state: int, round_: RoundState, content: Content) -> None:
        """A decision about a round that was judged: only a rejection can be, and not of a bet that is remembered."""
        if hash_of(record.value) in round_.known:
            return  # said again
        if state == STANDING or round_.has_decided(fact.bet_id, content):
            what = f"bet {fact.bet_id}: {fact.type} {fact.reason}".rstrip() + ", after its round had its result"
            self._findings.add(Promise.DECIDED_TWICE, record, what)
            return
        round_.known.extend((hash_of(record.value), hash_of(fact.bet_id), hash_of(fact.bet_id, *content)))

    def _standing(self, record: Record, fact: Fact) -> Bet | None:
        """The standing bet that a fact ends; None with a finding where there is none."""
        round_ = self._heard(record, fact)
        bet = round_.bets.get(fact.bet_id)
        what = None
        promise = Promise.NOT_STANDING
        if bet is None:
            what = f"{fact.type}: bet {fact.bet_id} was never accepted"
        elif bet.state == SETTLED and fact.type != "bet_withdrawn":
            promise = Promise.SETTLED_TWICE
            what = f"{fact.type}: bet {fact.bet_id} has a result in revision {bet.revision} already"
        elif bet.state != STANDING:
            what = f"{fact.type}: bet {fact.bet_id} was {STATES[bet.state]}"
        elif bet.content != content_of(fact) or bet.taken != fact.taken:
            promise = Promise.NO_CAUSE
            what = f"{fact.type}: bet {fact.bet_id} was accepted as {bet.content}, {bet.taken} taken"
        if what is None:
            return bet
        self._findings.add(promise, record, what)
        return None

    def _reversed(self, record: Record, fact: Fact, round_: RoundState) -> Bet | None:
        """The bet that was reversed for this revision; None with a finding where it was not."""
        bet = round_.bets.get(fact.bet_id)
        if bet is not None and bet.state == REVERSED and bet.revision == fact.revision:
            return bet
        twice = bet is not None and bet.state == SETTLED and bet.revision == fact.revision
        promise = Promise.SETTLED_TWICE if twice else Promise.WRONG_REVISION
        what = f"{fact.type}: bet {fact.bet_id} was not reversed for revision {fact.revision} before"
        self._findings.add(promise, record, what)
        return None

    def _same_cards(self, record: Record, fact: Fact, round_: RoundState) -> None:
        hands = round_.revision(fact.revision).hands
        for seat, hand in (("banker", fact.banker), (fact.bet.removesuffix("_pair"), fact.player)):
            if hand is None:
                continue
            first = hands.get(seat)
            if first is None:
                hands[seat] = hand
                wrong = wrong_hand(hand)
                if wrong is not None:
                    self._findings.add(Promise.WRONG_PAYOUT, record, wrong)
            elif first != hand:
                what = f"bet {fact.bet_id}: {seat} has {' '.join(hand.cards)}, other bets say {' '.join(first.cards)}"
                self._findings.add(Promise.WRONG_CARDS, record, what)


def content_of(fact: Fact) -> Content:
    """What must be the same in all facts about a bet."""
    return fact.account_id, fact.bet, fact.stake, fact.currency
