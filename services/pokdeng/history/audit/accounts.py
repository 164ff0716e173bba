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
    from collections.abc import Callable, Iterator

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
    """A fact that waits for its turn, and by how much it moves its account."""

    fact: Fact
    record: Record
    digest: int
    available_by: int
    held_by: int


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

    def __init__(self, findings: Findings, moved: Callable[[Record, Fact], None]) -> None:
        """None yet. `moved` is told each movement once, an account's in the order of their sequence."""
        self._findings = findings
        self._moved = moved
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

    def add(self, record: Record, fact: Fact) -> None:
        """Take a fact that moved money; copies are only compared."""
        balance = fact.balance
        if balance is None:
            self._findings.add(Promise.NO_FACT, record, f"{fact.type} without a balance")
            return
        account = self._accounts.get(fact.account_id)
        if account is None:
            account = self._accounts[fact.account_id] = Account(fact.currency)
        sequence, digest = balance.sequence, hash(record.value)
        if sequence <= account.sequence:
            self._again(record, fact, account, sequence, digest)
            return
        if sequence == account.sequence + 1:
            self._apply(account, Movement(fact, record, digest, *_moves_by(fact)))
            while account.waiting and (following := account.waiting.pop(account.sequence + 1, None)) is not None:
                self._apply(account, following)
            return
        known = account.waiting.get(sequence)
        if known is None:
            account.waiting[sequence] = Movement(fact, record, digest, *_moves_by(fact))
            if len(account.waiting) > _WAITING_MAX:
                self._skip(account)
            return
        self.repeats += 1
        if known.digest != digest:
            self._two_facts(record, fact, sequence)

    @property
    def has_gaps(self) -> bool:
        """Whether movements wait for missing ones."""
        return any(account.waiting for account in self._accounts.values())

    def finish(self) -> None:
        """Nothing more comes: what still waits, waits for something missing."""
        for account in self._accounts.values():
            while account.waiting:
                self._skip(account)

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

    def _again(self, record: Record, fact: Fact, account: Account, sequence: int, digest: int) -> None:
        self.repeats += 1
        if sequence < 1:
            self._findings.add(Promise.SEQUENCE_GAP, record, f"{fact.account_id} has a movement numbered {sequence}")
        elif sequence <= account.sequence - REMEMBERED:
            self.doubtful.setdefault((fact.account_id, sequence), []).append(digest)
        elif account.digests[sequence % REMEMBERED] != digest:
            self._two_facts(record, fact, sequence)

    def _two_facts(self, record: Record, fact: Fact, sequence: int) -> None:
        what = f"{fact.type} is another fact with sequence {sequence} of {fact.account_id}"
        self._findings.add(Promise.TWO_FACTS_ONE_SEQUENCE, record, what)

    def _apply(self, account: Account, move: Movement) -> None:
        """The next movement of an account."""
        fact, available_by, held_by = move.fact, move.available_by, move.held_by
        balance = fact.balance
        if balance is None:
            return
        available, held = balance.available, balance.held
        if available != account.available + available_by or held != account.held + held_by:
            self._findings.add(
                Promise.WRONG_BALANCE,
                move.record,
                f"{fact.account_id} had {account.available} available and {account.held} held, {fact.type} leaves "
                f"{available} and {held}; it moves {available_by:+} and {held_by:+}",
            )
        if available < 0 or held < 0 or balance.overdrawn:
            self._look_below_zero(account, move, available, held, is_said=balance.overdrawn)
        if fact.currency != account.currency:
            what = f"{fact.account_id} has {account.currency}, {fact.type} moves {fact.currency}"
            self._findings.add(Promise.WRONG_CURRENCY, move.record, what)
        currency = account.currency
        match fact.type:
            case "bet_settled" | "bet_reversed":
                self.taken[currency] -= held_by
                self.returned[currency] += available_by
            case "funds_credited":
                self.deposits[currency] += available_by
            case "funds_debited":
                self.withdrawals[currency] -= available_by
            case _:
                pass
        account.available, account.held, account.sequence = available, held, balance.sequence
        account.digests[balance.sequence % REMEMBERED] = move.digest
        self._moved(move.record, fact)

    def _look_below_zero(self, account: Account, move: Movement, available: int, held: int, *, is_said: bool) -> None:
        fact = move.fact
        may_be_below = fact.type == "bet_reversed" or account.available < 0
        may_sink = fact.type not in {"bet_accepted", "funds_debited"}
        if held < 0 or (available < 0 and not (may_be_below and may_sink)):
            what = f"{fact.account_id} has {available} available and {held} held after {fact.type}"
            self._findings.add(Promise.NEGATIVE_BALANCE, move.record, what)
        if is_said is not (available < 0):
            what = f"{fact.account_id} has {available} available, and `overdrawn` is {str(is_said).lower()}"
            self._findings.add(Promise.WRONG_BALANCE, move.record, what)

    def _skip(self, account: Account) -> None:
        """What is missing stays missing: go on behind the gap."""
        following = account.waiting.pop(min(account.waiting))
        fact, balance = following.fact, following.fact.balance
        if balance is None:
            return
        gap = f"{account.sequence + 1}"
        if balance.sequence - 1 > account.sequence + 1:
            gap += f" .. {balance.sequence - 1}"
        what = f"{fact.account_id}: movement {gap} is missing before it"
        self._findings.add(Promise.SEQUENCE_GAP, following.record, what)
        account.available = balance.available - following.available_by
        account.held = balance.held - following.held_by
        account.sequence = balance.sequence - 1
        self._apply(account, following)
        while account.waiting and (more := account.waiting.pop(account.sequence + 1, None)) is not None:
            self._apply(account, more)


def _moves_by(fact: Fact) -> tuple[int, int]:
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
