"""The independent checker: from the inputs alone, what must have been said; against the outputs, what was.

`check` is what tests call after a storm. It shares no code with the service but the pay table of `pokdeng.rules`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.checker import facts
from tests.checker.accounts import Accounts, Lane, Refusal
from tests.checker.collector import without_collector
from tests.checker.outputs import Outputs, Said
from tests.checker.parsing import read
from tests.checker.partition import Partition, merged
from tests.checker.records import BETS, FUNDS, INPUT_KINDS, TABLE_EVENTS, Topics
from tests.checker.report import Report
from tests.checker.seals import Seals
from tests.checker.tables import DAY_MS, Deaf, Tables
from tests.checker.transfers import Transfers

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from tests.checker.facts import Fact
    from tests.checker.parsing import Event
    from tests.checker.records import Partitions, Rec
    from tests.checker.state import RoundState

_BOOLEANS = {"bet_settled": 4, "round_settled": 12}
"""How many booleans a fact has, its balance apart: with as many, none of its numbers is a `true`."""
MONEY_REASONS = frozenset({"currency_mismatch", "insufficient_funds", "amount_out_of_range"})


def check(
    inputs: Iterable[Rec],
    outputs: Iterable[Rec],
    *,
    partitions: Partitions,
    final_balances: Mapping[str, tuple[int, int, int, str]] | None = None,
    prefix: str = "pokdeng",
    clocks_agree: bool = True,
    correction_window_ms: int = DAY_MS,
) -> Report:
    """Check a log at rest: everything that was sent has been decided.

    Args:
        inputs: the records of the input topics, all of them; of one partition in the order of their offsets.
        outputs: the records of all output topics; other topics (checkpoints) are passed over.
        partitions: how many partitions each topic has, by full name, or one number for all.
        final_balances: per account available, held, sequence, currency, as the ledger has them; None: not compared.
        prefix: of the topics.
        clocks_agree: False where the clocks of partition leaders may differ, so that bets in time by their stamps may
            lie behind a seal; they are then counted, not found.
        correction_window_ms: as the worker was configured.

    Returns:
        Counts and findings; no findings: all promises hold.
    """
    topics = Topics(prefix, partitions)
    with without_collector():
        found = Fold(topics, inputs, outputs, clocks_agree=clocks_agree, window_ms=correction_window_ms)
        return found.run(final_balances)


class Fold:
    """The sink of the folds: what they say must have been said."""

    def __init__(
        self, topics: Topics, inputs: Iterable[Rec], outputs: Iterable[Rec], *, clocks_agree: bool, window_ms: int
    ) -> None:
        """Read the outputs; what is wrong with one alone is found at once."""
        self.report = Report()
        self._topics = topics
        self._lanes: dict[tuple[str, int], list[Rec]] = {}
        for record in inputs:
            kind = topics.kind(record.topic)
            if kind in INPUT_KINDS:
                self._lanes.setdefault((kind, record.partition), []).append(record)
                self.report.counts[kind] += 1
        self._outputs = Outputs(outputs, topics, self.report)
        self._seals = Seals(record for (kind, _), lane in self._lanes.items() if kind == BETS for record in lane)
        self._said_seals = self._read_seals()
        self.accounts = Accounts(self.report)
        self._house_of: dict[tuple[str, str], dict[str, int]] = {}
        self._whole: dict[int, dict[tuple[str, str], RoundState]] = {}
        """The rounds of a partition as they are at the end of the log."""
        self._clocks_agree = clocks_agree
        self._window_ms = window_ms

    def run(self, final_balances: Mapping[str, tuple[int, int, int, str]] | None) -> Report:
        """Everything at once."""
        self.fold()
        self.accounts.check(final_balances)
        balance_books(self.report, self.accounts.books(), self.house())
        return self.report

    def fold(self) -> None:
        """Hold every input and output against each other; what the accounts did is left to be looked at."""
        for partition in sorted({partition for kind, partition in self._lanes if kind != FUNDS}):
            fold = Partition(self, correction_window_ms=self._window_ms)
            tables = self._lanes.get((TABLE_EVENTS, partition), [])
            for kind, record in merged(tables, self._lanes.get((BETS, partition), [])):
                fold.take(kind, record, read(record, kind, self._topics))
            fold.finish()
            for state in fold.tables.rounds.values():
                self.report.counts[f"rounds {state.ended or ('held' if state.is_held else 'open')}"] += 1
        transfers = Transfers(self)
        for (kind, _), lane in self._lanes.items():
            for record in lane if kind == FUNDS else ():
                transfers.take(record, read(record, kind, self._topics))
        for name, said in self._outputs.facts.items():
            self.report.find(f"{said.body.get('type')} {name} must not have been said: {said.body}")
        for place, letter in self._outputs.letters.items():
            self.report.find(f"{place} must not be a dead letter ({letter.why['dlq.reason']})")

    def house(self) -> dict[str, int]:
        """Per currency, what the house won."""
        house: dict[str, int] = {}
        for totals in self._house_of.values():
            for currency, net in totals.items():
                house[currency] = house.get(currency, 0) + net
        return house

    def dead(self, record: Rec, reason: str, shown: str | None = None) -> None:
        """It must be a dead letter."""
        self.report.counts[f"dead letter {reason}"] += 1
        self._outputs.match_letter(record, reason, shown)

    def duplicate(self, record: Rec) -> None:
        """It must be a counted duplicate."""
        self.report.duplicates[record.topic] += 1

    def part(self, record: Rec) -> None:
        """It is in its round's output."""
        del record
        self.report.counts["table events taken"] += 1

    def say(self, fact: Fact) -> None:
        """It must have been said, exactly so."""
        body = fact.body
        self.report.counts[body["type"]] += 1
        said = self._outputs.facts.pop(body["event_id"], None)
        if said is None:
            self.report.find(f"{body['type']} {body['event_id']} was never said: {body}")
            return
        balance = said.body.pop("balance", None)
        if said.body != body or not (said.booleans == _BOOLEANS.get(body["type"], 0) or _is_same(said.body, body)):
            self.report.find(f"{body['type']} {body['event_id']} is wrong: {_difference(said.body, body)}")
        if (said.kind, said.key) != (fact.kind, fact.key):
            self.report.find(f"{body['type']} {body['event_id']} lies in {said.kind} under {said.key!r}")
        if fact.move is not None:
            self.accounts.moved(fact, balance)
        elif balance is not None:
            self.report.find(f"{body['type']} {body['event_id']} moves nothing, but has a balance")
        if "totals" in body:
            self._house_of[body["table_id"], body["round_id"]] = {
                currency: total["house_net"] for currency, total in body["totals"].items()
            }
        if body.get("reason") in MONEY_REASONS:
            self._refused(fact)

    def hold(self, record: Rec, event: Event) -> str | None:
        """Only the outputs say whether there was money; the accounts' sequences say whether that can be so."""
        accepted = self._outputs.facts.get(facts.fact_id("bet_accepted", *facts.bet_name(event)))
        refused = self._outputs.facts.get(facts.fact_id("bet_rejected", *facts.bet_name(event)))
        if accepted is None and refused is not None and _reason(refused) in MONEY_REASONS:
            return _reason(refused)
        if accepted is None and refused is not None:
            self.report.find(
                f"{record.topic}[{record.partition}]@{record.offset} is refused as {_reason(refused)}, for no reason"
            )
            return _reason(refused)
        return None

    def transfer(self, record: Rec, event: Event) -> str | None:
        """Only the outputs say what the account could do."""
        del record
        names = (event["account_id"], event["transfer_id"])
        kind = facts.TRANSFER_KINDS[event["type"]]
        moved = "funds_credited" if kind == "deposit" else "funds_debited"
        refused = self._outputs.facts.get(facts.fact_id("funds_rejected", *names, kind))
        if facts.fact_id(moved, *names) in self._outputs.facts or refused is None:
            return None
        allowed = {"currency_mismatch", "amount_out_of_range" if kind == "deposit" else "insufficient_funds"}
        reason = _reason(refused)
        if reason not in allowed:
            self.report.find(f"{kind} {names} is refused as {reason}, which is no reason for it")
        return reason

    def seal(self, state: RoundState, partition: int) -> int:
        """The seal that was said, if it can be right; else the log's own."""
        lowest, highest = self._seals.bounds(state, partition)
        said = self._said_seals.get((state.table, state.round_id))
        if said is None or (lowest <= said <= highest):
            return lowest if said is None else said
        if said < lowest and not self._clocks_agree:
            self.report.counts["seals before a bet in time"] += 1
            return said
        self.report.find(f"round {state.table} {state.round_id} is sealed at {said}, it must be {lowest} .. {highest}")
        return lowest

    def is_behind_seal(self, state: RoundState, record: Rec) -> bool:
        """Whether a bet in time lies behind the seal that was said."""
        seal = self._said_seals.get((state.table, state.round_id))
        if seal is None or record.offset < seal:
            return False
        self.report.counts["bets behind a seal"] += 1
        return True

    def is_ever_closed(self, state: RoundState, partition: int) -> bool:
        """Whether the round is closed anywhere in the log; asked of bets that lie behind a seal."""
        if state.closed_at is not None:
            return True
        rounds = self._whole.get(partition)
        if rounds is None:
            tables = Tables(Deaf(), correction_window_ms=self._window_ms)
            for record in self._lanes.get((TABLE_EVENTS, partition), []):
                event = read(record, TABLE_EVENTS, self._topics)
                if event.event is not None and event.reason is None:
                    tables.take(record, event.event)
            rounds = self._whole[partition] = tables.rounds
        return rounds[state.table, state.round_id].closed_at is not None

    def _read_seals(self) -> dict[tuple[str, str], int]:
        seals: dict[tuple[str, str], int] = {}
        for said in self._outputs.facts.values():
            seal = said.body.get("seal")
            if said.kind == "rounds" and type(seal) is int and isinstance(said.body.get("round_id"), str):
                name = (str(said.body.get("table_id")), said.body["round_id"])
                if seals.setdefault(name, seal) != seal:
                    self.report.find(f"round {name} has two seals, {seals[name]} and {seal}")
        return seals

    def _refused(self, fact: Fact) -> None:
        body, cause = fact.body, fact.cause
        needs = facts.taken_by(body) if body["type"] == "bet_rejected" else body["amount"]
        lane = Lane("bets" if body["type"] == "bet_rejected" else "funds", cause.partition)
        self.accounts.refused(Refusal(lane, cause.offset, cause.timestamp, body, needs))


def balance_books(report: Report, books: dict[str, dict[str, int]], house: dict[str, int]) -> None:
    """Hold what is there against what came in, went out and was won, per currency."""
    house = dict(house)
    report.books = books
    for currency, book in books.items():
        book["house_net"] = house.pop(currency, 0)
        rest = book["deposits"] - book["withdrawals"] - book["house_net"]
        if book["available"] + book["held"] != rest:
            report.find(f"the books in {currency} do not balance: {book}")
    for currency, net in house.items():
        if net:
            report.find(f"the house won {net} {currency} of accounts that have none")


def _reason(said: Said) -> str:
    return str(said.body.get("reason"))


def _is_same(actual: Any, expected: Any) -> bool:
    """Equal, and of one type throughout: `True` is not 1 here."""
    if type(actual) is not type(expected):
        return False
    if isinstance(actual, dict):
        return actual.keys() == expected.keys() and all(_is_same(actual[name], expected[name]) for name in expected)
    if isinstance(actual, list):
        return len(actual) == len(expected) and all(map(_is_same, actual, expected))
    return bool(actual == expected)


def _difference(actual: dict[str, Any], expected: dict[str, Any]) -> str:
    names = [name for name in {**expected, **actual} if actual.get(name, ...) != expected.get(name, ...)]
    return "; ".join(f"{name} is {actual.get(name, '-')!r}, must be {expected.get(name, '-')!r}" for name in names)
