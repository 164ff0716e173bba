"""Broken promises: each kind counted, the first few of each kept with where they lie."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pokdeng.stream.port import Record


class Promise(StrEnum):
    """What a finding is about: a short name, and what should be so."""

    NO_FACT = "no_fact"
    WRONG_ID = "wrong_id"
    WRONG_PLACE = "wrong_place"
    SAID_DIFFERENTLY = "said_differently"
    TWO_FACTS_ONE_SEQUENCE = "two_facts_one_sequence"
    SEQUENCE_GAP = "sequence_gap"
    WRONG_BALANCE = "wrong_balance"
    NEGATIVE_BALANCE = "negative_balance"
    WRONG_CURRENCY = "wrong_currency"
    DECIDED_TWICE = "decided_twice"
    DECIDED_WRONGLY = "decided_wrongly"
    NOT_DECIDED = "not_decided"
    NO_CAUSE = "no_cause"
    NOT_STANDING = "not_standing"
    SETTLED_TWICE = "settled_twice"
    NOT_SETTLED = "not_settled"
    WRONG_PAYOUT = "wrong_payout"
    WRONG_CARDS = "wrong_cards"
    WRONG_TOTALS = "wrong_totals"
    WRONG_REVISION = "wrong_revision"
    BOOKS = "books"


SHOULD_BE = {
    Promise.NO_FACT: "every record of an output topic is a fact of it",
    Promise.WRONG_ID: "an event id follows from its type and the parts that name the fact",
    Promise.WRONG_PLACE: "a record lies where its key says, and its headers say what it is",
    Promise.SAID_DIFFERENTLY: "what is said again is said in the same bytes",
    Promise.TWO_FACTS_ONE_SEQUENCE: "an account's sequence number names one fact",
    Promise.SEQUENCE_GAP: "an account's movements are numbered from 1 without a gap",
    Promise.WRONG_BALANCE: "a balance follows from the one before it and the movement",
    Promise.NEGATIVE_BALANCE: "available and held are never below 0 but after a reversal",
    Promise.WRONG_CURRENCY: "an account has one currency",
    Promise.DECIDED_TWICE: "a bet or transfer is decided once",
    Promise.DECIDED_WRONGLY: "a bet is in time by its broker time and its round's seal, and not otherwise",
    Promise.NOT_DECIDED: "each input ends as an output, a dead letter or a duplicate",
    Promise.NO_CAUSE: "a fact repeats what the input said that caused it",
    Promise.NOT_STANDING: "only a bet that was accepted and stands is settled, refunded or withdrawn",
    Promise.SETTLED_TWICE: "a bet is settled or refunded once in each revision",
    Promise.NOT_SETTLED: "each standing bet of a round that is said has a result",
    Promise.WRONG_PAYOUT: "what a bet gets follows from the cards by the rules",
    Promise.WRONG_CARDS: "a round is settled by the cards that were dealt, the same for every bet",
    Promise.WRONG_TOTALS: "a round's record counts and adds up its bets",
    Promise.WRONG_REVISION: "a revision follows the one before it, reverses all of it, and keeps its seal",
    Promise.BOOKS: "deposits - withdrawals - house net = available + held",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One broken promise, and where the record lies that shows it."""

    promise: Promise
    where: str
    what: str


class Findings:
    """Counts all, keeps the first few of each kind."""

    def __init__(self, most: int = 20) -> None:
        """`most` of each kind are kept with what they say."""
        self._most = most
        self.counts: Counter[Promise] = Counter()
        self.kept: list[Finding] = []

    def add(self, promise: Promise, where: Record | str, what: str) -> None:
        """One more."""
        self.counts[promise] += 1
        if self.counts[promise] <= self._most:
            place = where if isinstance(where, str) else f"{where.topic}[{where.partition}]@{where.offset}"
            self.kept.append(Finding(promise=promise, where=place, what=what))

    @property
    def total(self) -> int:
        """How many there are in all."""
        return self.counts.total()
