"""The ledger as the worker sees it: accounts with exact balances, and a memory of what was decided.

Two sides implement it with one contract test: Redis (`redis_ledger.py`, scripts in Lua) and an in-memory twin
(`memory.py`). Every operation is idempotent: it is named by a bet or a transfer, and its first answer is remembered
and given again to the very record that was decided.

An account lives in one of N buckets (`bucket_of`). An operation has a *source*: the co-partition or funds partition
whose owner sends it (`p7`, `f2`); a source has one owner at a time, who sends in log order.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Collection, Sequence

    from pokdeng.events.ids import AccountId
    from pokdeng.ledger.restoring import Restoring
    from pokdeng.ledger.values import (
        Account,
        Answer,
        BetName,
        BetRecord,
        Note,
        Operation,
        Revise,
        RoundName,
        Source,
    )


class Ledger(Protocol):
    """Balances and memory. Several tasks may await methods at the same time: calls are made one after the other.

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
