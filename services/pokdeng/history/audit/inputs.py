"""Inputs, as far as they are still kept, and what became of each: a decision, a dead letter, or it was a duplicate.

An input waits here until its decision comes; what is left behind a later decision of its partition must be a duplicate.
Grows with what was not decided yet, and by 24 bytes for each transfer.
"""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from pokdeng.history.audit.facts import Fact, Said, decode_said
from pokdeng.history.audit.findings import Findings, Promise
from pokdeng.history.audit.round_state import hash_of

if TYPE_CHECKING:
    from pokdeng.history.audit.rounds import Rounds
    from pokdeng.stream.port import Record

Place = tuple[str, int, int]

_TRANSFERS = {"funds_deposited": "deposit", "funds_withdrawn": "withdrawal"}
_BETS = frozenset({"bet_placed", "bet_cancelled"})


class _Waiting(NamedTuple):
    """An input that has no decision yet."""

    at_ms: int
    said: Said | None
    """None where it could not be read at all: it must be a dead letter."""


class Inputs:
    """Bets and transfers that wait for what becomes of them."""

    def __init__(self, findings: Findings, rounds: Rounds, kept_from: dict[tuple[str, int], int]) -> None:
        """`kept_from`: the first offset that is read, by topic and partition."""
        self._findings = findings
        self._rounds = rounds
        self._kept_from = kept_from
        self._waiting: dict[tuple[str, int], dict[int, _Waiting]] = {}
        self._early: dict[Place, Fact] = {}
        """Decisions that were read before their input: clocks differ."""
        self._decided_to: dict[tuple[str, int], int] = {}
        self._ripe: dict[tuple[str, int], int] = {}
        self._read_to: dict[tuple[str, int], int] = {}
        self._transfers: dict[str, array[Any]] = {}
        self.records = 0
        self.duplicates = 0

    def add(self, record: Record) -> None:
        """An input of `bets` or `funds`."""
        self.records += 1
        where = (record.topic, record.partition)
        self._read_to[where] = record.offset + 1
        try:
            said = None if record.value is None else decode_said(record.value)
        except (msgspec.DecodeError, UnicodeDecodeError):
            said = None
        place = (record.topic, record.partition, record.offset)
        fact = self._early.pop(place, None)
        if fact is None:
            if place not in self._rounds.dead:
                self._waiting.setdefault(where, {})[record.offset] = _Waiting(record.timestamp, said)
            return
        self._compare(f"{place[0]}[{place[1]}]@{place[2]}", said, fact)
        round_ = self._rounds.get((fact.table_id, fact.round_id))
        bet = None if round_ is None else round_.bets.get(fact.bet_id)
        if bet is not None and bet.offset == record.offset:
            bet.at_ms = record.timestamp

    def died(self, place: Place) -> None:
        """An input became a dead letter."""
        waiting = self._waiting.get(place[:2])
        if waiting is not None:
            waiting.pop(place[2], None)

    def decided(self, record: Record, fact: Fact) -> int | None:
        """A decision came for the first time: the broker time of its input, None where that is not here."""
        cause = fact.cause
        where = (cause.topic, cause.partition)
        self._decided_to[where] = max(self._decided_to.get(where, -1), cause.offset)
        if where not in self._kept_from:
            self._findings.add(Promise.NO_CAUSE, record, f"{fact.type} is caused by {where[0]}[{where[1]}], no input")
            return None
        if cause.offset < self._kept_from[where]:
            return None
        found = self._waiting.get(where, {}).pop(cause.offset, None)
        if found is not None:
            self._compare(record, found.said, fact)
            return found.at_ms
        place = (*where, cause.offset)
        if place in self._rounds.dead:
            what = f"{fact.type} is caused by {where[0]}[{where[1]}]@{cause.offset}, which is a dead letter"
            self._findings.add(Promise.NO_CAUSE, record, what)
        elif cause.offset >= self._read_to.get(where, 0):
            self._early[place] = fact
        return None

    def transfer(self, record: Record, fact: Fact) -> None:
        """A transfer was decided: once."""
        kind = "withdrawal" if fact.type == "funds_debited" else "deposit"
        if fact.type == "funds_rejected":
            kind = fact.transfer
        known = self._transfers.setdefault(fact.account_id, array("q"))
        name, copy = hash_of(kind, fact.transfer_id), hash_of(record.value)
        if copy in known:
            return
        if name in known:
            what = f"{kind} {fact.transfer_id} of {fact.account_id} was decided before, now {fact.type} {fact.reason}"
            self._findings.add(Promise.DECIDED_TWICE, record, what.rstrip())
        known.extend((name, copy, hash_of(kind, fact.transfer_id, fact.amount, fact.currency)))

    def tick(self) -> None:
        """Judge what lies behind decisions that were there at the last tick."""
        for where, offset in self._ripe.items():
            self._judge(where, offset)
        self._ripe = dict(self._decided_to)

    def finish(self, *, is_at_rest: bool) -> int:
        """The log ends here; how many inputs are not decided yet."""
        self.tick()
        if is_at_rest:
            self.tick()
        for place in self._early:
            self._findings.add(
                Promise.NO_CAUSE, f"{place[0]}[{place[1]}]@{place[2]}", "a decision names it, and it is not there"
            )
        undecided = 0
        for waiting in self._waiting.values():
            for offset, one in waiting.items():
                if self._why_not_duplicate(one.said, offset) is None:
                    self.duplicates += 1
                else:
                    undecided += 1
        return undecided

    def _judge(self, where: tuple[str, int], before: int) -> None:
        waiting = self._waiting.get(where)
        while waiting:
            offset = next(iter(waiting))
            if offset >= before:
                return
            found = waiting.pop(offset)
            if (*where, offset) in self._rounds.dead:
                continue
            why = self._why_not_duplicate(found.said, offset)
            if why is None:
                self.duplicates += 1
            else:
                self._findings.add(Promise.NOT_DECIDED, f"{where[0]}[{where[1]}]@{offset}", why)

    def _why_not_duplicate(self, said: Said | None, offset: int) -> str | None:
        """What is wrong with an input that nothing came of, None where it repeats what was decided."""
        if said is None:
            return "it cannot be read, and is no dead letter"
        if said.type in _TRANSFERS:
            kind = _TRANSFERS[said.type]
            copy = hash_of(kind, said.transfer_id, said.amount, said.currency)
            is_known = copy in self._transfers.get(said.account_id, ())
            return None if is_known else f"nothing came of {kind} {said.transfer_id} of {said.account_id}"
        round_ = self._rounds.get((said.table_id, said.round_id))
        if said.type not in _BETS or round_ is None:  # so long after its round that nothing of it is remembered here
            return None if said.type in _BETS else "it is no event of its topic, and no dead letter"
        if said.type == "bet_cancelled":
            is_known = hash_of("cancel", said.bet_id, said.account_id) in round_.known
            return None if is_known else f"nothing came of the cancel of bet {said.bet_id} on round {said.round_id}"
        content = (said.account_id, said.bet, said.stake, said.currency)
        if round_.has_decided(said.bet_id, content) or (round_.has_decided(said.bet_id) and round_.is_behind(offset)):
            return None  # with other content a duplicate, too, once the round is finished
        return f"nothing came of bet {said.bet_id} on round {said.round_id}"

    def _compare(self, where: Record | str, said: Said | None, fact: Fact) -> None:
        """A fact must repeat what its input said."""
        if said is None:
            self._findings.add(Promise.NO_CAUSE, where, f"{fact.type}: its input cannot be read")
            return
        if fact.transfer_id:
            mine: tuple[object, ...] = (fact.transfer_id, fact.account_id, fact.amount, fact.currency)
            its: tuple[object, ...] = (said.transfer_id, said.account_id, said.amount, said.currency)
        else:
            mine = (fact.table_id, fact.round_id, fact.bet_id, fact.account_id)
            its = (said.table_id, said.round_id, said.bet_id, said.account_id)
            if said.type == "bet_placed":
                mine += (fact.bet, fact.stake, fact.currency)
                its += (said.bet, said.stake, said.currency)
        if mine != its:
            self._findings.add(Promise.NO_CAUSE, where, f"{fact.type} says {mine}, its input {its}")
