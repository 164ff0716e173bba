"""Accounts, folded from every fact that moved money: each balance must follow from the one before it.

Facts of one account lie in three topics, and not in the order of their numbers when it plays at several tables; what
comes early waits for what is missing. Grows with the number of accounts (about 1 KB each), not with their movements: of
these the last 64 are remembered, to tell a fact that was said again from another one with its number. A copy that comes
later than that is held against its original by reading the log once more (`doubtful`).
"""

from __future__ import annotations

from array import array
from collections import defaultdict
from typing import TYPE_CHECKING, Final, NamedTuple

from pokdeng.history.audit.findings import Findings, Promise

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pokdeng.history.audit.facts import Fact
    from pokdeng.stream.port import Record

REMEMBERED: Final = 64
_WAITING_MAX: Final = 10_000
"""So many movements of one account may wait for a missing one before it counts as missing."""

MOVES: Final = frozenset(
    {
        "funds_credited",
        "funds_debited",
        "bet_accepted",
        "bet_withdrawn",
        "bet_settled",
        "bet_refunded",
        "bet_reversed",
    }
)


class Movement(NamedTuple):
    """What of a fact its account needs."""

    sequence: int
    type: str
    available_by: int
    held_by: int
    available: int
    held: int
    overdrawn: bool
    digest: int
    record: Record


class Account:
    """One account up to its newest movement without a gap."""

    __slots__ = ("available", "currency", "digests", "held", "sequence", "waiting")

    def __init__(self, currency: str) -> None:
        """Nothing moved yet."""
        self.currency = currency
        self.available = self.held = self.sequence = 0
        self.digests = array("q", bytes(8 * REMEMBERED))
        self.waiting: dict[int, Movement] = {}


class Accounts:
    """All accounts."""

    def __init__(self, findings: Findings) -> None:
        """None yet."""
        self._findings = findings
        self._accounts: dict[str, Account] = {}
        self.doubtful: dict[tuple[str, int], list[int]] = {}
        """Copies that came too late to be remembered: the digests of their bytes, by account and sequence."""
        self.deposits: defaultdict[str, int] = defaultdict(int)
        self.withdrawals: defaultdict[str, int] = defaultdict(int)
        self.taken: defaultdict[str, int] = defaultdict(int)
        self.returned: defaultdict[str, int] = defaultdict(int)
        self.repeats = 0

    def __len__(self) -> int:
        """How many there are."""
        return len(self._accounts)

    def add(self, record: Record, fact: Fact) -> bool:
        """Take a fact that moved money. False: it was said before (or should not have been said)."""
        balance = fact.balance
        if balance is None:
            self._findings.add(Promise.NO_FACT, record, f"{fact.type} without a balance")
            return False
        account = self._accounts.get(fact.account_id)
        if account is None:
            account = self._accounts[fact.account_id] = Account(fact.currency)
        sequence, digest = balance.sequence, hash(record.value)
        if sequence <= account.sequence:
            return self._again(record, fact, account, digest)
        known = account.waiting.get(sequence)
        if known is not None:
            if known.digest != digest:
                self._two_facts(record, fact, sequence)
            return False
        available_by, held_by = _moved(fact)
        movement = Movement(
            sequence,
            fact.type,
            available_by,
            held_by,
            balance.available,
            balance.held,
            balance.overdrawn,
            digest,
            record,
        )
        if fact.currency != account.currency:
            self._findings.add(
                Promise.WRONG_CURRENCY,
                record,
                f"{fact.account_id} has {account.currency}, {fact.type} moves {fact.currency}",
            )
        if sequence == account.sequence + 1:
            self._apply(fact.account_id, account, movement)
            while account.waiting and (following := account.waiting.pop(account.sequence + 1, None)) is not None:
                self._apply(fact.account_id, account, following)
        else:
            account.waiting[sequence] = movement
            if len(account.waiting) > _WAITING_MAX:
                self._skip(fact.account_id, account)
        return True

    @property
    def has_gaps(self) -> bool:
        """Whether movements wait for missing ones."""
        return any(account.waiting for account in self._accounts.values())

    def finish(self) -> None:
        """Nothing more comes: what still waits, waits for something missing."""
        for name, account in self._accounts.items():
            while account.waiting:
                self._skip(name, account)

    def compare(self, account_id: str, sequence: int, digest: int) -> list[int]:
        """The digests of late copies that differ from this first fact, and forget them."""
        return [other for other in self.doubtful.pop((account_id, sequence), ()) if other != digest]

    def held(self) -> dict[str, int]:
        """What is held, by currency."""
        held: defaultdict[str, int] = defaultdict(int)
        for account in self._accounts.values():
            held[account.currency] += account.held
        return held

    def available(self) -> dict[str, int]:
        """What is available, by currency."""
        available: defaultdict[str, int] = defaultdict(int)
        for account in self._accounts.values():
            available[account.currency] += account.available
        return available

    def overdrawn(self) -> Iterator[tuple[str, str, int]]:
        """Accounts below 0: name, currency, available."""
        for name, account in self._accounts.items():
            if account.available < 0:
                yield name, account.currency, account.available

    def _again(self, record: Record, fact: Fact, account: Account, digest: int) -> bool:
        sequence = account.sequence if fact.balance is None else fact.balance.sequence
        self.repeats += 1
        if sequence < 1:
            self._findings.add(Promise.SEQUENCE_GAP, record, f"{fact.account_id} has a movement numbered {sequence}")
        elif sequence <= account.sequence - REMEMBERED:
            self.doubtful.setdefault((fact.account_id, sequence), []).append(digest)
        elif account.digests[sequence % REMEMBERED] != digest:
            self._two_facts(record, fact, sequence)
        return False

    def _two_facts(self, record: Record, fact: Fact, sequence: int) -> None:
        what = f"{fact.type} is another fact with sequence {sequence} of {fact.account_id}"
        self._findings.add(Promise.TWO_FACTS_ONE_SEQUENCE, record, what)

    def _apply(self, name: str, account: Account, move: Movement) -> None:
        currency = account.currency
        if (move.available, move.held) != (account.available + move.available_by, account.held + move.held_by):
            self._findings.add(
                Promise.WRONG_BALANCE,
                move.record,
                f"{name} had {account.available} available and {account.held} held, {move.type} leaves "
                f"{move.available} and {move.held}; it moves {move.available_by:+} and {move.held_by:+}",
            )
        is_below = move.available < 0
        may_be_below = move.type == "bet_reversed" or account.available < 0
        may_sink = move.type not in {"bet_accepted", "funds_debited"}
        if move.held < 0 or (is_below and not (may_be_below and may_sink)):
            what = f"{name} has {move.available} available and {move.held} held after {move.type}"
            self._findings.add(Promise.NEGATIVE_BALANCE, move.record, what)
        if move.overdrawn is not is_below:
            what = f"{name} has {move.available} available, and `overdrawn` is {str(move.overdrawn).lower()}"
            self._findings.add(Promise.WRONG_BALANCE, move.record, what)
        if move.type == "funds_credited":
            self.deposits[currency] += move.available_by
        elif move.type == "funds_debited":
            self.withdrawals[currency] -= move.available_by
        elif move.type in {"bet_settled", "bet_reversed"}:
            self.taken[currency] -= move.held_by
            self.returned[currency] += move.available_by
        account.available, account.held, account.sequence = move.available, move.held, move.sequence
        account.digests[move.sequence % REMEMBERED] = move.digest

    def _skip(self, name: str, account: Account) -> None:
        """What is missing stays missing: go on behind the gap."""
        following = account.waiting.pop(min(account.waiting))
        gap = f"{account.sequence + 1}"
        if following.sequence - 1 > account.sequence + 1:
            gap += f" .. {following.sequence - 1}"
        self._findings.add(Promise.SEQUENCE_GAP, following.record, f"{name}: movement {gap} is missing before it")
        account.available = following.available - following.available_by
        account.held = following.held - following.held_by
        account.sequence = following.sequence - 1
        self._apply(name, account, following)
        while account.waiting and (more := account.waiting.pop(account.sequence + 1, None)) is not None:
            self._apply(name, account, more)


def _moved(fact: Fact) -> tuple[int, int]:
    """By how much a fact moves available and held."""
    match fact.type:
        case "funds_credited":
            return fact.amount, 0
        case "funds_debited":
            return -fact.amount, 0
        case "bet_accepted":
            return -fact.taken, fact.taken
        case "bet_reversed":
            return -fact.reversed, fact.taken
        case _:
            return fact.returned, -fact.taken
