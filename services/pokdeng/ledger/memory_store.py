"""What the in-memory ledgers of one simulated world share: the buckets, and ways to break them.

Records are immutable, so a snapshot is a copy of dictionaries.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from time import monotonic_ns
from typing import NamedTuple, TypeAlias

from pokdeng.events.ids import AccountId, BetId, Currency, RoundId, TableId, TransferId
from pokdeng.events.reasons import TransferKind
from pokdeng.ledger.port import LedgerError
from pokdeng.ledger.values import LARGEST_MINOR, Account, BetRecord, Source, bucket_of


class Balance(NamedTuple):
    """What an account has."""

    currency: Currency
    available: int
    held: int
    sequence: int

    @property
    def is_sound(self) -> bool:
        """Whether this can be the balance of an account."""
        return (
            0 <= self.held <= LARGEST_MINOR
            and abs(self.available) <= LARGEST_MINOR
            and self.available + self.held <= LARGEST_MINOR
            and 1 <= self.sequence <= LARGEST_MINOR
        )


class After(NamedTuple):
    """An account right after a movement."""

    available: int
    held: int
    sequence: int


class Bet(NamedTuple):
    """A remembered bet with what is needed to give its first answers again."""

    record: BetRecord
    after_hold: After | None
    cancel_offset: int | None = None
    after_end: After | None = None
    is_settled_anew: bool = False
    """It has had more than one revision; `after_end` is that of the latest."""


class Moved(NamedTuple):
    """A remembered transfer. `reason` where it was refused, else `after`."""

    offset: int
    amount: int
    currency: Currency
    reason: str | None
    after: After | None


TransferName: TypeAlias = tuple[TransferKind, AccountId, TransferId]
RoundKey: TypeAlias = tuple[TableId, RoundId]
Clock: TypeAlias = Callable[[], int]
"""Milliseconds; only differences count."""


@dataclass(slots=True)
class Ownership:
    """What a bucket knows of a source."""

    epoch: int = 0
    calls: int = 0
    highest_offset: int = -1
    group: str = ""
    generation: int = -1


@dataclass(slots=True)
class Bucket:
    """One bucket. Where a value of a dictionary may expire, `expiry` has its time, by the dictionary's name and key."""

    verified: int
    accounts: dict[AccountId, Balance] = field(default_factory=dict)
    rounds: dict[RoundKey, dict[BetId, Bet]] = field(default_factory=dict)
    transfers: dict[TransferName, Moved] = field(default_factory=dict)
    notes: dict[str, dict[str, bytes]] = field(default_factory=dict)
    leases: dict[Source, str] = field(default_factory=dict)
    sources: dict[Source, Ownership] = field(default_factory=dict)
    expiry: dict[tuple[str, object], int] = field(default_factory=dict)
    stamp: tuple[str, int, int] | None = None
    """While it is being restored, whose writes are taken: the restore, the leader's term, the incarnation."""
    is_torn: bool = False
    base: int = 0
    """Epochs that are given out begin above it."""

    def expire(self, now_ms: int) -> None:
        """Drop what has lived its time."""
        if not self.expiry:
            return
        for name, key in [name for name, at_ms in self.expiry.items() if at_ms <= now_ms]:
            getattr(self, name).pop(key, None)
            del self.expiry[name, key]

    def copy(self) -> Bucket:
        """An independent copy."""
        return Bucket(
            verified=self.verified,
            accounts=dict(self.accounts),
            rounds={name: dict(bets) for name, bets in self.rounds.items()},
            transfers=dict(self.transfers),
            notes={page: dict(fields) for page, fields in self.notes.items()},
            leases=dict(self.leases),
            sources={source: replace(of) for source, of in self.sources.items()},
            expiry=dict(self.expiry),
            stamp=self.stamp,
            is_torn=self.is_torn,
            base=self.base,
        )


@dataclass(slots=True)
class RestoreState:
    """A restore under way: its id, its leader and until when, and when each source is quiet."""

    name: str
    term: int = 0
    leader: str = ""
    leads_until: int = 0
    quiet_at: dict[Source, int] = field(default_factory=dict)


Hook: TypeAlias = Callable[[str, int], Awaitable[None]]
"""Told the name of a call and its bucket. It may raise LedgerUnavailableError, wait, or change the store."""


async def undisturbed(_name: str, _bucket: int) -> None:
    """The hook that does nothing."""


class MemoryStore:
    """The state that several `MemoryLedger`s share. One call on one bucket is atomic, as a script is in Redis.

    To break it: `before` runs before each call (raise there: the call is lost; wait there: others go first), `after`
    runs after it (raise there: the call was made and its answer is lost). What only reads is a call, too, with bucket
    -1 where it asks all of them. `flush`, `restore` and `new_incarnation` do what an emptied, a set back and a
    restarted server does.
    """

    def __init__(self, *, clock: Clock = lambda: monotonic_ns() // 1_000_000) -> None:
        """Begin without buckets, as an empty server."""
        self.clock = clock
        self.incarnation = 1
        self.buckets: list[Bucket] = []
        self.restoring: RestoreState | None = None
        self._bases = 0
        self.before: Hook = undisturbed
        self.after: Hook = undisturbed

    def bucket(self, number: int) -> Bucket | None:
        """A bucket as it is now, None where there is none."""
        if number >= len(self.buckets):
            return None
        bucket = self.buckets[number]
        bucket.expire(self.clock())
        return bucket

    def snapshot(self) -> list[Bucket]:
        """The state of now, for `restore`."""
        return [bucket.copy() for bucket in self.buckets]

    def restore(self, snapshot: list[Bucket]) -> None:
        """Set the state back. The incarnation stays: call `new_incarnation` too for a restarted server."""
        self.buckets = [bucket.copy() for bucket in snapshot]

    def flush(self) -> None:
        """Lose everything."""
        self.buckets = []
        self.restoring = None

    def next_base(self) -> int:
        """Above every epoch that any bucket ever gave out, also before it was flushed."""
        self._bases += 1_000_000
        return self._bases

    def new_incarnation(self) -> None:
        """Be another server process with the same data."""
        self.incarnation += 1

    def put(self, account: Account) -> None:
        """Write a balance as it is given, sound or not: for tests of what must not happen."""
        if not self.buckets:
            raise LedgerError("nothing was created here")
        bucket = self.buckets[bucket_of(account.account, len(self.buckets))]
        bucket.accounts[account.account] = Balance(account.currency, account.available, account.held, account.sequence)
