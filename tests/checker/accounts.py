"""Accounts: each one's movements in the order of its sequence, and whether every refusal can be explained by it."""

from __future__ import annotations

from collections import defaultdict
from math import inf
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from tests.checker.facts import Fact
    from tests.checker.report import Report

LARGEST_AFTER_DEPOSIT = 10**15
NEVER_BELOW_ZERO = frozenset({"bet_accepted", "funds_debited"})


class Lane(NamedTuple):
    """Where a decision lies: facts of one lane are applied in its order (bets or funds of one partition)."""

    topic: str
    partition: int


class Refusal(NamedTuple):
    """A bet or transfer that was refused for what the account had."""

    lane: Lane
    offset: int
    time: int
    body: dict[str, Any]
    needs: int


class Move(NamedTuple):
    """A fact that moved money: all of it that its account's check needs."""

    account: str
    sequence: int
    type: str
    event_id: str
    currency: str
    amount: int
    """Of a transfer; 0 of others."""
    change: int
    """Of what is available."""
    hold: int
    """Of what is held."""
    balance: dict[str, Any]
    lane: Lane | None
    """None for the results of rounds."""
    partition: int
    offset: int
    time: int
    """Of its cause."""


class _Account:
    def __init__(self) -> None:
        self.moves: list[Move] = []
        self.refusals: list[Refusal] = []
        self.available = [0]
        self.held = [0]
        self.currency: str | None = None


class Accounts:
    """All accounts."""

    def __init__(self, report: Report) -> None:
        """Nothing was read yet."""
        self._accounts: defaultdict[str, _Account] = defaultdict(_Account)
        self._report = report

    def moved(self, fact: Fact, balance: Any) -> None:
        """A fact that moved money, with the balance that was said after it."""
        account = fact.body["account_id"]
        if not _is_balance(balance):
            self._report.find(f"{fact.body['type']} {fact.body['event_id']} of {account} has balance {balance!r}")
            return
        body, cause, (change, hold) = fact.body, fact.cause, fact.move or (0, 0)
        self.take(
            Move(
                account,
                balance["sequence"],
                body["type"],
                body["event_id"],
                body["currency"],
                body.get("amount", 0),
                change,
                hold,
                balance,
                _lane(fact),
                cause.partition,
                cause.offset,
                cause.timestamp,
            )
        )

    def refused(self, refusal: Refusal) -> None:
        """A refusal for lack of funds, of currency, or for too large an amount."""
        self.take(refusal)

    def take(self, one: Move | Refusal) -> None:
        """Take what was found elsewhere, in any order of accounts."""
        if isinstance(one, Move):
            self._accounts[one.account].moves.append(one)
        else:
            self._accounts[one.body["account_id"]].refusals.append(one)

    def found(self) -> Iterator[tuple[str, Move | Refusal]]:
        """All that was taken, with its account."""
        for name, account in self._accounts.items():
            for move in account.moves:
                yield name, move
            for refusal in account.refusals:
                yield name, refusal

    def check(self, final: Mapping[str, tuple[int, int, int, str]] | None) -> None:
        """Look at every account from its first movement to its last."""
        for name, account in self._accounts.items():
            if self._walk(name, account):
                self._order(name, account)
                for refusal in account.refusals:
                    self._explain(name, account, refusal)
            if account.moves or (final is not None and name in final):
                self._compare(name, account, final)
        for name in (final or {}).keys() - self._accounts.keys():
            self._report.find(f"account {name} has a balance, but nothing was ever said of it")

    def books(self) -> dict[str, dict[str, int]]:
        """Per currency: deposits, withdrawals, available, held, as the movements say."""
        books: dict[str, dict[str, int]] = {}
        for account in self._accounts.values():
            if account.currency is None:
                continue
            book = books.setdefault(account.currency, {"deposits": 0, "withdrawals": 0, "available": 0, "held": 0})
            book["available"] += account.available[-1]
            book["held"] += account.held[-1]
            for move in account.moves:
                if move.type == "funds_credited":
                    book["deposits"] += move.amount
                elif move.type == "funds_debited":
                    book["withdrawals"] += move.amount
        return books

    def _walk(self, name: str, account: _Account) -> bool:
        """Follow the movements; False where they are no sequence 1 .. n."""
        account.moves.sort(key=lambda move: move.sequence)
        sequences = [move.sequence for move in account.moves]
        if sequences != list(range(1, len(sequences) + 1)):
            if len(set(sequences)) < len(sequences):
                self._report.find(f"account {name} has the sequences {_gaps(sequences)}, not 1 .. {len(sequences)}")
                return False
            # Something moved it of which nothing was said. What was said must be all that it has, all the same.
            self._report.counts["holes"] += 1
            self._report.find(f"account {name} has a hole in its sequence: {_gaps(sequences)}")
            account.available.append(sum(move.change for move in account.moves))
            account.held.append(sum(move.hold for move in account.moves))
            account.currency = account.moves[0].currency
            return False
        for move in account.moves:
            self._step(name, account, move)
        return True

    def _step(self, name: str, account: _Account, move: Move) -> None:
        available, held = account.available[-1] + move.change, account.held[-1] + move.hold
        what = f"account {name} at sequence {move.sequence} ({move.type} {move.event_id})"
        expected: dict[str, Any] = {"available": available, "held": held, "sequence": move.sequence}
        if available < 0:
            expected["overdrawn"] = True
        if move.balance != expected:
            self._report.find(f"{what}: balance {move.balance} must be {expected}")
        if held < 0 or (available < 0 and move.type in NEVER_BELOW_ZERO):
            self._report.find(f"{what}: a balance below zero, {available}/{held}")
        if account.currency is None:
            account.currency = move.currency
            if move.type != "funds_credited":
                self._report.find(f"{what}: the first movement must be a credited deposit")
        if move.currency != account.currency:
            self._report.find(f"{what}: moved {move.currency} of an account of {account.currency}")
        if move.type == "funds_credited" and available + held > LARGEST_AFTER_DEPOSIT:
            self._report.find(f"{what}: a deposit took the account above 10^15")
        account.available.append(available)
        account.held.append(held)

    def _order(self, name: str, account: _Account) -> None:
        """Decisions of one lane moved the account in the order of the log."""
        last: dict[Lane, int] = {}
        for move in account.moves:
            lane = move.lane
            if lane is None:
                continue
            if move.offset <= last.get(lane, -1):
                self._report.find(f"account {name}: sequence {move.sequence} is not in the order of {lane}")
            last[lane] = max(last.get(lane, -1), move.offset)

    def _explain(self, name: str, account: _Account, refusal: Refusal) -> None:
        """Whether the account was ever so that the refusal is right, where it may have been applied."""
        first, last = self._between(account, refusal)
        reason, body = refusal.body["reason"], refusal.body
        has_currency_sometime = last >= 1
        if reason == "currency_mismatch":
            is_right = has_currency_sometime and body["currency"] != account.currency
        elif reason == "insufficient_funds":
            lowest = min(account.available[first : last + 1], default=0)
            is_right = first == 0 or (body["currency"] == account.currency and lowest < refusal.needs)
        else:
            most = max(map(sum, zip(account.available[first : last + 1], account.held[first : last + 1], strict=True)))
            is_right = most + refusal.needs > LARGEST_AFTER_DEPOSIT
        if not is_right:
            self._report.find(
                f"account {name}: {body['type']} {body['event_id']} is refused as {reason}, "
                f"but at no sequence of {first} .. {last} was it so"
            )

    def _between(self, account: _Account, refusal: Refusal) -> tuple[int, int]:
        """The sequences after which the refusal may have been applied."""
        first: float = 0
        last: float = inf
        for move in account.moves:
            lane = move.lane
            if lane == refusal.lane and move.offset < refusal.offset:
                first = move.sequence
            is_later = lane == refusal.lane and move.offset > refusal.offset
            is_result_after = lane is None and move.partition == refusal.lane.partition and move.time > refusal.time
            if is_later or (is_result_after and refusal.lane.topic != "funds"):
                last = min(last, move.sequence - 1)
        return int(first), int(min(last, len(account.moves)))

    def _compare(self, name: str, account: _Account, final: Mapping[str, tuple[int, int, int, str]] | None) -> None:
        if final is None:
            return
        newest = max((move.sequence for move in account.moves), default=0)
        expected = (account.available[-1], account.held[-1], newest, account.currency)
        if final.get(name) != expected:
            self._report.find(f"account {name} ends at {final.get(name)}, its facts say {expected}")


def _lane(fact: Fact) -> Lane | None:
    """The lane that orders a fact; None for the results of rounds."""
    if fact.kind == "settlements":
        return None
    return Lane("funds" if fact.kind == "funds-decisions" else "bets", fact.cause.partition)


def _is_balance(balance: Any) -> bool:
    return isinstance(balance, dict) and all(
        type(balance.get(name)) is int for name in ("available", "held", "sequence")
    )


def _gaps(sequences: Iterable[int]) -> str:
    shown = list(sequences)
    return str(shown) if len(shown) <= 40 else f"{shown[:20]} .. {shown[-20:]}"
