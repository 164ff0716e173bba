"""The ledger in memory: the same answers as Redis, for tests, simulations and reading."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Final, TypeVar
from zlib import crc32

from pokdeng.ledger.memory_decide import Decision
from pokdeng.ledger.memory_restoring import MemoryRestoring
from pokdeng.ledger.memory_store import Balance, Bucket, MemoryStore, Ownership
from pokdeng.ledger.port import FencedError, LedgerCorruptError, LedgerError, LedgerLostError
from pokdeng.ledger.values import (
    BUCKETS,
    FOR_EVER,
    Account,
    Answer,
    BetName,
    BetRecord,
    Note,
    Operation,
    Revise,
    RoundName,
    Source,
    bucket_of,
)

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Collection, Iterable, Sequence

    from pokdeng.events.ids import AccountId

DAY_MS: Final = 86_400_000

_Result = TypeVar("_Result")
_Item = TypeVar("_Item")


@dataclass(slots=True)
class _Owned:
    """A source that this handle owns: its epoch, and per bucket how many of its calls were acknowledged."""

    group: str
    epoch: int
    calls: list[int]


class MemoryLedger:
    """`Ledger` in memory. Handles on one store are as several workers on one Redis."""

    def __init__(
        self,
        store: MemoryStore,
        *,
        buckets: int = BUCKETS,
        lease_ms: int = 30_000,
        transfer_ttl_ms: int = 32 * DAY_MS,
    ) -> None:
        """Take part in a store. The settings mean what they mean for `RedisLedger`."""
        self._store = store
        self._buckets = buckets
        self._lease_ms = lease_ms
        self._transfer_ttl_ms = transfer_ttl_ms
        self._owned: dict[Source, _Owned] = {}
        self._restoring = MemoryRestoring(store, buckets=buckets)

    async def open(self) -> bool:
        """Whether something was created. Raises LedgerError where with another number of buckets."""
        count = len(self._store.buckets)
        if count not in (0, self._buckets):
            raise LedgerError(f"created with {count} buckets, opened with {self._buckets}")
        return count > 0

    async def create(self) -> None:
        """Make the buckets. Idempotent."""
        if not self._store.buckets:
            self._store.buckets = [Bucket(self._store.incarnation) for _ in range(self._buckets)]

    async def close(self) -> None:
        """Nothing is open."""

    def restoring(self) -> MemoryRestoring:
        """The same store, to be filled anew."""
        return self._restoring

    async def accept_incarnation(self) -> None:
        """Let writers in again after LedgerLostError("check"), once everything was verified against the log."""
        for number in range(self._buckets):
            self._there(number).verified = self._store.incarnation

    async def doubt(self) -> None:
        """Keep all writers out until somebody has verified."""
        for number in range(self._buckets):
            self._there(number).verified = 0

    async def acquire(self, sources: Collection[Source], *, group: str, generation: int) -> None:
        """Become the owner of sources. A source's home bucket gives out the epoch, which then goes to all buckets."""
        epochs: dict[Source, int] = {}
        for home, here in _grouped(sorted(sources), self._home).items():
            epochs |= await self._call("acquire", home, partial(self._take, here, group, generation))
        calls: dict[Source, list[int]] = {source: [] for source in epochs}
        for number in range(self._buckets):
            counted = await self._call("enter", number, partial(self._enter, epochs))
            for source, count in counted.items():
                calls[source].append(count)
        for source, epoch in epochs.items():
            self._owned[source] = _Owned(group, epoch, calls[source])

    async def renew(self, sources: Collection[Source]) -> None:
        """Renew leases. Raises FencedError where one of the sources is another's by now."""
        for home, here in _grouped(sorted(sources), self._home).items():
            await self._call("lease", home, partial(self._renew, here))

    async def release(self, sources: Collection[Source]) -> None:
        """End leases and forget the sources. Those that are another's by now are left alone."""
        for source in sorted(set(sources) & self._owned.keys()):
            try:
                await self._call("lease", self._home(source), partial(self._end_lease, source))
            except FencedError:
                continue
            finally:
                del self._owned[source]

    async def apply(self, operations: Sequence[Operation]) -> list[Answer]:
        """Apply operations, bucket by bucket in the order of their first one."""
        return await self._counted_call("apply", operations)

    async def revise(self, revisions: Sequence[Revise]) -> list[Answer]:
        """Reverse bets and settle them anew, bucket by bucket in the order of their first one."""
        return await self._counted_call("revise", revisions)

    async def _counted_call(self, name: str, operations: Sequence[Operation | Revise]) -> list[Answer]:
        for source in _sources(operations):
            self._owner(source)
        answers: dict[int, Answer] = {}
        errors: list[LedgerError] = []
        touched: list[tuple[int, list[Source]]] = []
        by_bucket = _grouped(range(len(operations)), lambda at: bucket_of(operations[at].account, self._buckets))
        for number, positions in by_bucket.items():
            some = [operations[at] for at in positions]
            try:
                decided = await self._call(name, number, partial(self._decide, number, some))
            except (LedgerLostError, FencedError, LedgerCorruptError) as error:
                errors.append(error)
            else:
                answers.update(zip(positions, decided, strict=True))
                touched.append((number, _sources(some)))
        if errors:
            raise min(errors, key=_severity)
        for number, sources in touched:
            for source in sources:
                self._owned[source].calls[number] += 1
        return [answers[at] for at in range(len(operations))]

    async def finish(self, rounds: Sequence[RoundName], *, ttl_ms: int) -> None:
        """Set the time to live of all records of these rounds, in every bucket."""
        for number in range(self._buckets):
            await self._call("finish", number, partial(self._finish, rounds, ttl_ms))

    async def keep(self, rounds: Sequence[RoundName]) -> None:
        """Take the time to live of all records of these rounds away, in every bucket."""
        for number in range(self._buckets):
            await self._call("keep", number, partial(self._keep, rounds))

    async def find_bets(self, names: Sequence[BetName]) -> list[tuple[BetRecord, ...]]:
        """Ask every bucket for each bet id."""
        buckets = await self._all("find_bets")
        return [
            tuple(
                bucket.rounds[name.table, name.round][name.bet_id].record
                for bucket in buckets
                if name.bet_id in bucket.rounds.get((name.table, name.round), {})
            )
            for name in names
        ]

    async def round_bets(self, rounds: Sequence[RoundName]) -> list[tuple[BetRecord, ...]]:
        """All bets of each round, by offset and id."""
        buckets = await self._all("round_bets")
        return [
            tuple(
                sorted(
                    (
                        bet.record
                        for bucket in buckets
                        for bet in bucket.rounds.get((name.table, name.round), {}).values()
                    ),
                    key=lambda record: (record.offset, record.bet_id),
                )
            )
            for name in rounds
        ]

    async def remember(self, notes: Sequence[Note]) -> None:
        """Write notes, fenced like an apply."""
        for number, here in _grouped(notes, lambda note: self._page_bucket(note.page)).items():
            await self._call("remember", number, partial(self._note, here))

    async def recall(self, pages: Sequence[str]) -> list[dict[str, bytes]]:
        """Whole pages."""
        await self._store.before("recall", -1)
        found = [dict(self._readable(self._page_bucket(page)).notes.get(page, {})) for page in pages]
        await self._store.after("recall", -1)
        return found

    async def newest_transfers(self, sources: Sequence[Source]) -> list[int]:
        """The highest offset of `funds` that was applied, by source; -1 where none was."""
        known = [bucket.sources for bucket in await self._all("newest_transfers")]
        return [
            max((bucket[source].highest_offset for bucket in known if source in bucket), default=-1)
            for source in sources
        ]

    async def account(self, account: AccountId) -> Account | None:
        """One account."""
        number = bucket_of(account, self._buckets)
        await self._store.before("account", number)
        balance = self._readable(number).accounts.get(account)
        await self._store.after("account", number)
        return None if balance is None else _account(account, balance)

    async def accounts(self) -> AsyncIterator[Account]:
        """All accounts, bucket by bucket."""
        for number in range(self._buckets):
            for account, balance in list(self._readable(number).accounts.items()):
                yield _account(account, balance)

    async def _call(self, name: str, number: int, work: Callable[[Bucket], _Result]) -> _Result:
        """One atomic call on one bucket, between the store's hooks."""
        await self._store.before(name, number)
        result = work(self._there(number))
        await self._store.after(name, number)
        return result

    async def _all(self, name: str) -> list[Bucket]:
        """One call that reads every bucket."""
        await self._store.before(name, -1)
        return [self._readable(number) for number in range(self._buckets)]

    def _there(self, number: int) -> Bucket:
        bucket = self._store.bucket(number)
        if bucket is None:
            raise LedgerLostError("cold", f"bucket {number} is empty")
        return bucket

    def _readable(self, number: int) -> Bucket:
        """A bucket to read from: not one that is doubted, unless by who leads its restore."""
        bucket = self._there(number)
        if bucket.verified == 0 and not self._restoring.may_read:
            raise LedgerLostError("check", "it is doubted, or being restored")
        return bucket

    def _verified(self, bucket: Bucket) -> None:
        if bucket.verified != self._store.incarnation:
            raise LedgerLostError("check", f"verified as {bucket.verified}, is {self._store.incarnation}")

    def _guard(self, bucket: Bucket, sources: Iterable[Source], number: int | None = None) -> None:
        """May these sources of this handle write? With a bucket number: and are all acknowledged calls there?"""
        self._verified(bucket)
        for source in sources:
            known = bucket.sources.get(source)
            if known is None:
                raise LedgerLostError("cold", f"the bucket does not know source {source}")
            if known.epoch != self._owner(source).epoch:
                raise FencedError(f"{source} is at epoch {known.epoch}, the caller at {self._owner(source).epoch}")
        for source in sources:
            if number is not None and bucket.sources[source].calls < self._owner(source).calls[number]:
                raise LedgerLostError("behind", f"{source}: {bucket.sources[source].calls} calls are there")

    def _decide(self, number: int, operations: Sequence[Operation | Revise], bucket: Bucket) -> list[Answer]:
        sources = _sources(operations)
        self._guard(bucket, sources, number)
        decision = Decision(bucket)
        answers = [decision.decide(operation) for operation in operations]
        decision.write(transfers_expire_at_ms=self._store.clock() + self._transfer_ttl_ms)
        for source in sources:
            known = bucket.sources[source]
            known.calls = max(known.calls, self._owner(source).calls[number] + 1)
        return answers

    def _take(self, sources: Sequence[Source], group: str, generation: int, bucket: Bucket) -> dict[Source, int]:
        """Give out a new epoch of each source whose home this is."""
        self._verified(bucket)
        for source in sources:
            leased = bucket.leases.get(source, group)
            if leased != group:
                raise FencedError(f"{source} is leased by group {leased}")
            known = bucket.sources.get(source)
            if known is not None and known.group == group and known.generation > generation:
                raise FencedError(f"{source} was acquired with generation {known.generation}, not {generation}")
        for source in sources:
            known = bucket.sources.setdefault(source, Ownership())
            known.epoch = max(known.epoch, bucket.base) + 1
            known.group, known.generation = group, generation
            self._lease(bucket, source, group)
        return {source: bucket.sources[source].epoch for source in sources}

    def _enter(self, epochs: dict[Source, int], bucket: Bucket) -> dict[Source, int]:
        """Bring epochs into a bucket; gives the calls counted there."""
        self._verified(bucket)
        for source, epoch in epochs.items():
            known = bucket.sources.setdefault(source, Ownership())
            if known.epoch > epoch:
                raise FencedError(f"{source} is at epoch {known.epoch}, the caller at {epoch}")
            known.epoch = epoch
        return {source: bucket.sources[source].calls for source in epochs}

    def _lease(self, bucket: Bucket, source: Source, group: str) -> None:
        bucket.leases[source] = group
        bucket.expiry["leases", source] = self._store.clock() + self._lease_ms

    def _renew(self, sources: Sequence[Source], bucket: Bucket) -> None:
        self._guard(bucket, sources)
        for source in sources:
            self._lease(bucket, source, self._owner(source).group)

    def _end_lease(self, source: Source, bucket: Bucket) -> None:
        self._guard(bucket, [source])
        bucket.leases.pop(source, None)

    def _finish(self, rounds: Sequence[RoundName], ttl_ms: int, bucket: Bucket) -> None:
        self._guard(bucket, dict.fromkeys(name.source for name in rounds))
        for name in rounds:
            if (name.table, name.round) in bucket.rounds:
                bucket.expiry["rounds", (name.table, name.round)] = self._store.clock() + ttl_ms

    def _keep(self, rounds: Sequence[RoundName], bucket: Bucket) -> None:
        self._guard(bucket, dict.fromkeys(name.source for name in rounds))
        for name in rounds:
            bucket.expiry.pop(("rounds", (name.table, name.round)), None)

    def _note(self, notes: Sequence[Note], bucket: Bucket) -> None:
        self._guard(bucket, dict.fromkeys(note.source for note in notes))
        for note in notes:
            page = bucket.notes.setdefault(note.page, {})
            page[note.field] = page.get(note.field, note.value) if note.keep_first else note.value
            if note.ttl_ms == FOR_EVER:
                bucket.expiry.pop(("notes", note.page), None)
            elif note.ttl_ms is not None:
                bucket.expiry["notes", note.page] = self._store.clock() + note.ttl_ms

    def _home(self, source: Source) -> int:
        return crc32(source.encode()) % self._buckets

    def _page_bucket(self, page: str) -> int:
        return crc32(page.encode()) % self._buckets

    def _owner(self, source: Source) -> _Owned:
        owned = self._owned.get(source)
        if owned is None:
            raise FencedError(f"{source} was not acquired by this handle")
        return owned


def _sources(operations: Iterable[Operation | Revise]) -> list[Source]:
    return list(dict.fromkeys(operation.source for operation in operations))


def _grouped(items: Iterable[_Item], bucket_of_item: Callable[[_Item], int]) -> dict[int, list[_Item]]:
    """Items by bucket, in order."""
    grouped: dict[int, list[_Item]] = {}
    for item in items:
        grouped.setdefault(bucket_of_item(item), []).append(item)
    return grouped


def _account(name: AccountId, balance: Balance) -> Account:
    if not balance.is_sound:
        raise LedgerCorruptError(f"account {name}: {balance}")
    return Account(account=name, **balance._asdict())


def _severity(error: LedgerError) -> int:
    """Which of several errors is told first: a loss, then a fence, then corruption."""
    if isinstance(error, LedgerLostError):
        return ("cold", "check", "behind").index(error.cause)
    return 3 if isinstance(error, FencedError) else 4
