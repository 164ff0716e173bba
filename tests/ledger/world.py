"""Worlds that a ledger can live in, with one set of ways to look behind it and to break it; makers of operations."""

from __future__ import annotations

import asyncio
from functools import wraps
from typing import TYPE_CHECKING, Any, Protocol, TypeVar
from uuid import uuid4

from redis.asyncio import Redis
from redis.asyncio.cluster import RedisCluster

from pokdeng.events.ids import AccountId, BetId, Currency, Minor, RoundId, TableId, TransferId
from pokdeng.events.reasons import BetReason, TransferKind, TransferReason
from pokdeng.ledger.encoding import encode_account
from pokdeng.ledger.memory import MemoryLedger
from pokdeng.ledger.memory_store import MemoryStore
from pokdeng.ledger.port import Ledger
from pokdeng.ledger.redis_ledger import RedisLedger
from pokdeng.ledger.values import (
    Account,
    Answer,
    BetName,
    Hold,
    Operation,
    Refuse,
    Revise,
    RoundName,
    Settle,
    Source,
    Status,
    Transfer,
    Withdraw,
    bucket_of,
)
from pokdeng.rules import Bet

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine
    from typing import ParamSpec

    P = ParamSpec("P")

TABLES = Source("p1")
FUNDS = Source("f1")
SOURCES = (TABLES, FUNDS)
GROUP = "workers"
THB = Currency("THB")
ONE = AccountId("A-1")
FIRST = Minor(10_000)


class LedgerAndMore(Ledger, Protocol):
    """A ledger of either kind."""

    async def accept_incarnation(self) -> None:
        """Let writers in again."""


L = TypeVar("L", bound="World")


class World(Protocol):
    """A place where several handles share one ledger."""

    buckets: int

    def handle(self, *, lease_ms: int = ..., transfer_ttl_ms: int = ...) -> LedgerAndMore:
        """A handle of its own, as another worker has it; not opened."""

    async def plant(self, account: Account) -> None:
        """Write a balance behind the ledger's back, sound or not."""

    async def keep(self) -> None:
        """Remember the state of now, for `set_back`."""

    async def set_back(self) -> None:
        """Make the state that of `keep` again, as a server that has lost its newest writes."""

    async def empty(self) -> None:
        """Lose everything."""

    async def restart(self) -> None:
        """Seem to be another incarnation with the same data."""

    async def expire(self) -> None:
        """Let all times to live pass."""

    async def close(self) -> None:
        """Close all handles and leave nothing behind."""


class MemoryWorld:
    """The in-memory twin."""

    def __init__(self, *, buckets: int = 4) -> None:
        """Begin empty."""
        self.buckets = buckets
        self._now_ms = 0
        self.store = MemoryStore(clock=lambda: self._now_ms)
        self._kept = self.store.snapshot()

    def handle(self, *, lease_ms: int = 30_000, transfer_ttl_ms: int = 3_600_000) -> MemoryLedger:
        """A handle of its own."""
        return MemoryLedger(self.store, buckets=self.buckets, lease_ms=lease_ms, transfer_ttl_ms=transfer_ttl_ms)

    async def plant(self, account: Account) -> None:
        """Write a balance."""
        self.store.put(account)

    async def keep(self) -> None:
        """Remember the state."""
        self._kept = self.store.snapshot()

    async def set_back(self) -> None:
        """Set it back."""
        self.store.restore(self._kept)

    async def empty(self) -> None:
        """Lose everything."""
        self.store.flush()

    async def restart(self) -> None:
        """Be another incarnation."""
        self.store.new_incarnation()

    async def expire(self) -> None:
        """Let a year pass."""
        self._now_ms += 366 * 86_400_000

    async def close(self) -> None:
        """Nothing is open."""


class RedisWorld:
    """A server, with a prefix of its own in it."""

    def __init__(self, url: str, *, buckets: int = 4) -> None:
        """Begin empty, without connecting."""
        self.buckets = buckets
        self.url = url
        self.prefix = f"test-{uuid4().hex[:12]}"
        self.redis: Any = Redis.from_url(url, protocol=2)
        self._handles: list[RedisLedger] = []
        self._kept: dict[bytes, bytes] = {}

    def handle(
        self,
        *,
        lease_ms: int = 30_000,
        transfer_ttl_ms: int = 3_600_000,
        url: str | None = None,
        timeout_ms: int = 2_000,
        retry_budget_ms: int = 5_000,
    ) -> RedisLedger:
        """A handle of its own; `url` may lead through a proxy."""
        handle = RedisLedger(
            url or self.url,
            prefix=self.prefix,
            buckets=self.buckets,
            lease_ms=lease_ms,
            timeout_ms=timeout_ms,
            retry_budget_ms=retry_budget_ms,
            transfer_ttl_ms=transfer_ttl_ms,
        )
        self._handles.append(handle)
        return handle

    def key(self, account: AccountId, rest: str) -> str:
        """A key in the bucket of an account."""
        return f"{self.prefix}:{{{bucket_of(account, self.buckets)}}}{rest}"

    async def plant(self, account: Account) -> None:
        """Write a balance."""
        await self.plant_raw(account.account, encode_account(account))

    async def plant_raw(self, account: AccountId, raw: bytes) -> None:
        """Write anything in the place of a balance."""
        await self.put(self.key(account, "a"), account, raw)

    async def put(self, key: str, field: str, value: bytes | str) -> None:
        """Write a field behind the ledger's back."""
        await self.redis.hset(key, field, value)

    async def get(self, key: str, field: str) -> bytes:
        """Read a field."""
        value = await self.redis.hget(key, field)
        assert isinstance(value, bytes)
        return value

    async def keys(self) -> list[bytes]:
        """All keys of this world."""
        return [key async for key in self.redis.scan_iter(match=f"{self.prefix}:*", count=1000)]

    async def keep(self) -> None:
        """Remember the state."""
        self._kept = {key: await self.redis.dump(key) or b"" for key in await self.keys()}

    async def set_back(self) -> None:
        """Set it back."""
        await self.empty()
        for key, value in self._kept.items():
            await self.redis.restore(key, 0, value)

    async def empty(self) -> None:
        """Lose all keys of this world, and no others."""
        for key in await self.keys():
            await self.redis.delete(key)

    async def restart(self) -> None:
        """Seem to have been verified under another run id."""
        for bucket in range(self.buckets):
            await self.put(f"{self.prefix}:{{{bucket}}}m", "r", "0" * 40)

    async def expire(self) -> None:
        """Drop whatever has a time to live."""
        for key in await self.keys():
            if await self.redis.pttl(key) > 0:
                await self.redis.delete(key)

    async def close(self) -> None:
        """Close all handles and drop all keys."""
        for handle in self._handles:
            await handle.close()
        await self.empty()
        await self.redis.aclose()


class ClusterWorld(RedisWorld):
    """A Redis Cluster, with a prefix of its own in it; as many buckets as spread over all masters."""

    def __init__(self, url: str, *, buckets: int = 16) -> None:
        """Begin empty, without connecting."""
        super().__init__(url, buckets=buckets)
        self.redis: Any = RedisCluster.from_url(url, protocol=2)


def in_world(test: Callable[P, Coroutine[Any, Any, None]]) -> Callable[P, None]:
    """Run an async test, and close its worlds whatever happens."""

    @wraps(test)
    def run(*args: P.args, **kwargs: P.kwargs) -> None:
        async def whole() -> None:
            try:
                await test(*args, **kwargs)
            finally:
                for value in kwargs.values():
                    if isinstance(value, MemoryWorld | RedisWorld):
                        await value.close()

        asyncio.run(whole())

    return run


async def owner(world: World, *, generation: int = 1, sources: tuple[Source, ...] = SOURCES) -> LedgerAndMore:
    """A handle on a created ledger that owns sources."""
    ledger = world.handle()
    await own(ledger, generation=generation, sources=sources)
    return ledger


async def own(ledger: Ledger, *, generation: int = 1, sources: tuple[Source, ...] = SOURCES) -> None:
    """Open, create where nothing is, acquire."""
    if not await ledger.open():
        await ledger.create()
    await ledger.acquire(sources, group=GROUP, generation=generation)


async def apply(ledger: Ledger, operation: Operation) -> Answer:
    """Apply one operation."""
    (answer,) = await ledger.apply([operation])
    return answer


async def balance(ledger: Ledger, account: AccountId = ONE) -> tuple[int, int, int]:
    """Available, held, sequence; zeros where there is no account."""
    found = await ledger.account(account)
    return (0, 0, 0) if found is None else (found.available, found.held, found.sequence)


def planted(available: int, held: int, sequence: int, *, account: AccountId = ONE, currency: Currency = THB) -> Account:
    """An account to plant."""
    return Account(account=account, currency=currency, available=available, held=held, sequence=sequence)


def moved(available: int, held: int, sequence: int, *, is_fresh: bool = True) -> Answer:
    """The answer to what moved money."""
    return Answer(Status.MOVED, is_fresh, None, available, held, sequence)


def refused(reason: BetReason | TransferReason, *, is_fresh: bool = True) -> Answer:
    """The answer to what was refused."""
    return Answer(Status.REFUSED, is_fresh, reason.value)


def said(status: Status) -> Answer:
    """An answer that says nothing but its status."""
    return Answer(status, is_fresh=False)


def deposit(
    offset: int,
    amount: int = FIRST,
    *,
    transfer: str | None = None,
    account: AccountId = ONE,
    currency: Currency = THB,
    refused: TransferReason | None = None,
    source: Source = FUNDS,
) -> Transfer:
    """A deposit, named by its offset unless told otherwise."""
    name = TransferId(transfer or f"D-{offset}")
    return Transfer(source, offset, TransferKind.DEPOSIT, account, name, Minor(amount), currency, refused)


def withdrawal(
    offset: int,
    amount: int,
    *,
    transfer: str | None = None,
    account: AccountId = ONE,
    currency: Currency = THB,
    refused: TransferReason | None = None,
) -> Transfer:
    """A withdrawal, named by its offset unless told otherwise."""
    name = TransferId(transfer or f"D-{offset}")
    return Transfer(FUNDS, offset, TransferKind.WITHDRAWAL, account, name, Minor(amount), currency, refused)


def hold(
    offset: int,
    stake: int = 1_000,
    *,
    bet_id: str = "b1",
    account: AccountId = ONE,
    bet: Bet = Bet.PLAYER_1,
    currency: Currency = THB,
    table: str = "T-1",
    round_: str = "R-1",
    source: Source = TABLES,
) -> Hold:
    """A bet; takes what its kind takes."""
    taken = Minor(stake * bet.units_taken)
    name = (TableId(table), RoundId(round_), BetId(bet_id))
    return Hold(source, offset, account, *name, bet, Minor(stake), currency, taken)


def refuse(of: Hold, reason: BetReason = BetReason.BETTING_CLOSED) -> Refuse:
    """The same bet, refused by the fold."""
    return Refuse(
        of.source, of.offset, of.account, of.table, of.round, of.bet_id, of.bet, of.stake, of.currency, reason
    )


def withdraw(of: Hold, offset: int, *, account: AccountId | None = None) -> Withdraw:
    """A cancel of a bet."""
    return Withdraw(of.source, offset, account or of.account, of.table, of.round, of.bet_id)


def settle(of: Hold, returned: int, *, revision: int = 1, account: AccountId | None = None) -> Settle:
    """The settlement of a bet."""
    return Settle(of.source, account or of.account, of.table, of.round, of.bet_id, Minor(returned), revision)


def revise(of: Hold, before: int, returned: int, *, revision: int = 2, account: AccountId | None = None) -> Revise:
    """A bet that returned `before` is settled anew."""
    name = (account or of.account, of.table, of.round, of.bet_id)
    return Revise(of.source, *name, Minor(before), Minor(returned), revision)


def name_of(of: Hold) -> BetName:
    """What names a bet."""
    return BetName(of.table, of.round, of.bet_id)


def round_of(of: Hold) -> RoundName:
    """What names the round of a bet."""
    return RoundName(of.source, of.table, of.round)
