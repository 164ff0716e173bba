"""The ledger as the worker sees it: accounts with exact balances, and a memory of what was decided.

Two sides implement it with one contract test: Redis (`redis_ledger.py`, scripts in Lua) and an in-memory twin
(`memory.py`). Every operation is idempotent: it is named by a bet or a transfer, and its first answer is remembered
and given again to the very record that was decided.

An account lives in one of N buckets (`bucket_of`). An operation has a *source*: the co-partition or funds partition
whose owner sends it (`p7`, `f2`); a source has one owner at a time, who sends in log order.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple, NewType, Protocol, TypeAlias
from zlib import crc32

from pokdeng.events.ids import Minor

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Collection, Sequence

    from pokdeng.events.ids import AccountId, BetId, Currency, RoundId, TableId, TransferId
    from pokdeng.events.reasons import BetReason, TransferKind, TransferReason
    from pokdeng.ledger.restoring import Restoring
    from pokdeng.rules import Bet

Source = NewType("Source", str)
"""`p<partition>` of tables and bets, `f<partition>` of funds."""

LARGEST_MINOR = 2**53 - 1
"""No balance, and no sum of available and held, may pass this: a move beyond is refused, never rounded."""

LARGEST_AFTER_DEPOSIT_MINOR = 10**15
"""A deposit that would take available + held above this is `amount_out_of_range`."""


BUCKETS = 4
"""How many buckets a ledger has unless it is told: few make each call large. A cluster or a fleet may want more."""


def bucket_of(account: AccountId, buckets: int) -> int:
    """The bucket of an account, for ever: 0 .. buckets - 1.

    >>> from pokdeng.events.ids import AccountId
    >>> bucket_of(AccountId("A-1"), 16)
    0
    """
    return crc32(account.encode()) % buckets


class Hold(NamedTuple):
    """Accept a bet if the account can pay: available - taken, held + taken; else refuse it.

    Refused with `currency_mismatch` (the account has another currency), else `insufficient_funds` (no such account,
    no currency yet, or available < taken). Remembered either way.
    """

    source: Source
    offset: int
    account: AccountId
    table: TableId
    round: RoundId
    bet_id: BetId
    bet: Bet
    stake: Minor
    currency: Currency
    taken: Minor


class Refuse(NamedTuple):
    """Remember that a bet was refused by the fold, before it is said. Moves nothing."""

    source: Source
    offset: int
    account: AccountId
    table: TableId
    round: RoundId
    bet_id: BetId
    bet: Bet
    stake: Minor
    currency: Currency
    reason: BetReason


class Withdraw(NamedTuple):
    """Take back an accepted bet (a cancel in time): available + taken, held - taken. `offset` is the cancel's."""

    source: Source
    offset: int
    account: AccountId
    table: TableId
    round: RoundId
    bet_id: BetId


class Settle(NamedTuple):
    """Pay out a standing bet: available + returned, held - taken. Once per revision.

    A refund is a settlement that returns what was taken.
    """

    source: Source
    account: AccountId
    table: TableId
    round: RoundId
    bet_id: BetId
    returned: Minor
    revision: int


class Revise(NamedTuple):
    """Reverse what the revision before returned, and settle the bet anew, in one step with two sequence numbers.

    First available - reversed, held + taken; then available + returned, held - taken. Available may go below zero, and
    is there in between or after it: the account is overdrawn. Only revision n is followed by revision n + 1; asked for
    again, revision n + 1 gives its first answer.
    """

    source: Source
    account: AccountId
    table: TableId
    round: RoundId
    bet_id: BetId
    reversed: Minor
    """What the revision before returned: it must be so."""
    returned: Minor
    revision: int
    """2 or more."""


class Transfer(NamedTuple):
    """A deposit (available + amount; gives the account its currency) or a withdrawal (available - amount).

    Refused, first match: `currency_mismatch` (the account has another currency); a withdrawal: `insufficient_funds`
    (no such account, or available < amount); a deposit: `amount_out_of_range` (available + held + amount above
    10^15). `refused` is a reason that the caller found beforehand: nothing moves, it is remembered as the answer.
    """

    source: Source
    offset: int
    kind: TransferKind
    account: AccountId
    transfer: TransferId
    amount: Minor
    currency: Currency
    refused: TransferReason | None = None


Operation: TypeAlias = Hold | Refuse | Withdraw | Settle | Transfer


class Status(StrEnum):
    """What became of an operation."""

    MOVED = "moved"
    """It moved money: now, or earlier by this very record (`is_fresh` tells); the balance is that right after it."""
    REFUSED = "refused"
    """It was refused, now or earlier, by this very record: `reason` says why."""
    DUPLICATE = "duplicate"
    """The same id with the same content was decided by another record: nothing moves, nothing is to be said."""
    CONFLICT = "conflict"
    """The same id with other content was decided before: a dead letter."""
    ABSENT = "absent"
    """A settlement or withdrawal of a bet that does not stand (refused, withdrawn or unknown): nothing moves."""
    FORGOTTEN = "forgotten"
    """A transfer at or below the highest applied offset of its source whose record has expired: nothing moves."""


class Answer(NamedTuple):
    """What became of one operation.

    `available`, `held`, `sequence` are the account right after the operation's movement (MOVED only, else 0).
    """

    status: Status
    is_fresh: bool
    """True where it was applied by this call, False where an earlier call had applied it."""
    reason: str | None = None
    available: int = 0
    held: int = 0
    sequence: int = 0


_NOTHING = Minor(0)


class BetState(StrEnum):
    """What the ledger remembers of a bet."""

    ACCEPTED = "accepted"
    REFUSED = "refused"
    WITHDRAWN = "withdrawn"
    SETTLED = "settled"


@dataclass(frozen=True, slots=True, kw_only=True)
class BetRecord:
    """A remembered bet. `offset` is that of the `bets` record that was decided."""

    account: AccountId
    table: TableId
    round: RoundId
    bet_id: BetId
    bet: Bet
    stake: Minor
    currency: Currency
    offset: int
    state: BetState
    reason: BetReason | None
    taken: Minor
    returned: Minor
    revision: int
    reversed: Minor = _NOTHING
    """What the revision before returned; 0 in the first."""
    cancel_offset: int = -1
    """That of the `bets` record that took it back; -1 where it was not."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    """An account at this moment. `currency` is that of its first credited deposit."""

    account: AccountId
    currency: Currency
    available: int
    held: int
    sequence: int


class BetName(NamedTuple):
    """What names a bet."""

    table: TableId
    round: RoundId
    bet_id: BetId


class RoundName(NamedTuple):
    """What names a round; `source` is that of its table's partition."""

    source: Source
    table: TableId
    round: RoundId


class Note(NamedTuple):
    """Something remembered that moves no money (finished rounds, shoes, refused strays): a field of a named page.

    A page is one Redis hash, in the bucket of crc32(page). `keep_first`: an existing field stays as it is.
    `ttl_ms` sets the whole page's time to live anew; None leaves it as it is (a new page without one lives for ever),
    `FOR_EVER` takes it away.
    """

    source: Source
    page: str
    field: str
    value: bytes
    keep_first: bool
    ttl_ms: int | None


FOR_EVER = -1
"""As a note's time to live: none."""


class Ledger(Protocol):
    """Balances and memory. All methods may be awaited by one task at a time, in order.

    Errors of all methods: `LedgerUnavailableError` after bounded retries; `FencedError` where another owner has
    taken a source; `LedgerLostError` where the store is empty, another incarnation or behind what was acknowledged;
    `LedgerCorruptError` where a stored account or record is not what it must be, with nothing of that call applied.
    """

    async def open(self) -> bool:
        """Connect and check (bucket count as created, no eviction). False: nothing was ever created here."""

    async def create(self) -> None:
        """Make the buckets of a new ledger. Only where `open` said False and the log holds no fact."""

    async def close(self) -> None:
        """Close connections. Idempotent."""

    def restoring(self) -> Restoring:
        """The same store, to be filled anew from what was said."""

    async def accept_incarnation(self) -> None:
        """Let writers in again after LedgerLostError("check"), once it was verified against the log; then `acquire`."""

    async def doubt(self) -> None:
        """Keep all writers out with `check` until somebody has verified: acknowledged writes are missing."""

    async def acquire(self, sources: Collection[Source], *, group: str, generation: int) -> None:
        """Become the owner of sources: later calls of an earlier owner are fenced.

        Raises FencedError where the same group has acquired with a higher generation, or another group that still
        holds a live lease (`lease_ms`, renewed by every `acquire` and `renew`).
        """

    async def renew(self, sources: Collection[Source]) -> None:
        """Renew the leases of owned sources."""

    async def release(self, sources: Collection[Source]) -> None:
        """End the leases of owned sources early, so that another group need not wait for them."""

    async def apply(self, operations: Sequence[Operation]) -> list[Answer]:
        """Apply operations in order (per account exactly; across accounts as if in order), answers in the same order.

        One script call per bucket touched. Atomic per bucket: all checks first, then all writes. A later operation
        sees the earlier ones of the same call. Sending the same again gives the same answers with is_fresh False.
        Raises LedgerCorruptError, with nothing of the call applied in that bucket, where a balance or record is not
        an exact integer, held would go below 0, a sum would pass `LARGEST_MINOR`, a settlement of a revision
        already paid names another amount, or a bet that was settled anew is to be settled in the revision before.
        """

    async def revise(self, revisions: Sequence[Revise]) -> list[Answer]:
        """Reverse bets and settle them anew, in order, answers (all MOVED) in the same order.

        An answer has the account after both movements; in between it had `available - returned`, `held + taken`,
        `sequence - 1`. As atomic, idempotent and counted as `apply`; a bet keeps its latest revision and what that
        reversed. Raises LedgerCorruptError, with nothing of the call applied in that bucket, where a bet is missing or
        another account's, is not settled in the revision before (or in this one, with these amounts), returned then
        something else than is to be reversed, or where a sum would pass `LARGEST_MINOR`, below zero too.
        """

    async def finish(self, rounds: Sequence[RoundName], *, ttl_ms: int) -> None:
        """The bets of these rounds need be remembered only `ttl_ms` longer. Idempotent; a later call renews."""

    async def keep(self, rounds: Sequence[RoundName]) -> None:
        """The bets of these rounds are needed again: they live until the next `finish`. Idempotent."""

    async def find_bets(self, names: Sequence[BetName]) -> list[tuple[BetRecord, ...]]:
        """What is remembered of each bet id, under any account (usually none or one). Rare: asks every bucket."""

    async def round_bets(self, rounds: Sequence[RoundName]) -> list[tuple[BetRecord, ...]]:
        """All remembered bets of each round. Rare."""

    async def remember(self, notes: Sequence[Note]) -> None:
        """Write notes. Idempotent."""

    async def recall(self, pages: Sequence[str]) -> list[dict[str, bytes]]:
        """Whole pages; an empty dict where there is none."""

    async def newest_transfers(self, sources: Sequence[Source]) -> list[int]:
        """The highest offset of `funds` that was applied, by source; -1 where none was."""

    async def account(self, account: AccountId) -> Account | None:
        """One account, None where it has never been credited."""

    def accounts(self) -> AsyncIterator[Account]:
        """All accounts, each once, while nobody writes."""


class LedgerError(Exception):
    """Something about the ledger."""


class LedgerUnavailableError(LedgerError):
    """The store did not answer within bounded retries: stop, commit nothing, be started again."""


class FencedError(LedgerError):
    """Another owner holds a source: this worker must stop writing at once."""


class LedgerLostError(LedgerError):
    """The store has lost what it acknowledged, or may have: nothing may be written before it is restored."""

    def __init__(self, cause: str, detail: str) -> None:
        """`cause` is `cold` (empty), `check` (another incarnation) or `behind` (acknowledged writes are missing)."""
        super().__init__(f"{cause}: {detail}")
        self.cause = cause


class LedgerCorruptError(LedgerError):
    """A stored value is not what it must be: the process stops, with nothing of the call applied."""
