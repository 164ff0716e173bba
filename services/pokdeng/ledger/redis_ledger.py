"""The ledger in Redis (6.2 or later) or Valkey: one script call per bucket and apply.

Keys, all of bucket n under the hash tag `{n}`: `m` meta, `a` accounts, `r:<table>|<round>` bets of a round,
`t:<d|w>:<account>|<transfer>` one transfer, `n:<page>` notes, `l:<source>` leases.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any, Final, TypeAlias
from zlib import crc32

from pokdeng.events.ids import AccountId
from pokdeng.ledger.encoding import (
    calls_of,
    decode_account,
    decode_answers,
    decode_bet,
    decode_fields,
    decode_round,
    encode,
)
from pokdeng.ledger.port import FencedError, LedgerError, LedgerLostError
from pokdeng.ledger.redis_pipeline import RedisPipeline, ScriptCall
from pokdeng.ledger.redis_restoring import RedisRestoring
from pokdeng.ledger.revision_calls import calls_of_revisions
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
    from collections.abc import AsyncIterator, Collection, Iterable, Sequence

    from pokdeng.ledger.redis_nodes import Command
    from pokdeng.ledger.redis_settings import RedisSettings

FORMAT: Final = "1"
"""Version of what is stored; another one is refused."""

DAY_MS: Final = 86_400_000
_KNOWN_BUCKETS: Final = 1 << 18
_MAX_KEYS_A_CALL: Final = 1000
_ACQUIRE_ATTEMPTS: Final = 4


_Counted: TypeAlias = "dict[tuple[Source, int], int]"
"""Calls of a pipeline so far, by source and bucket."""


@dataclass(slots=True)
class _Owned:
    """A source that this handle owns: its epoch, and per bucket how many of its calls were acknowledged."""

    group: str
    epoch: int
    calls: list[int]


class RedisLedger:
    """`Ledger` in Redis. The layout of values and the checks are told in `scripts/`."""

    def __init__(
        self,
        address: RedisSettings | str,
        *,
        prefix: str = "pokdeng",
        buckets: int = BUCKETS,
        lease_ms: int = 30_000,
        timeout_ms: int = 2_000,
        retry_budget_ms: int = 10_000,
        transfer_ttl_ms: int = 32 * DAY_MS,
        replicas: int = 0,
    ) -> None:
        """Remember the settings; nothing is connected before `open`.

        Args:
            address: `redis://`, `rediss://` or `unix://`, or that with names, passwords and certificates.
            prefix: begins every key; one ledger per prefix.
            buckets: fixed when the ledger is created.
            lease_ms: how long a silent owner keeps other groups out.
            timeout_ms: of connecting and of each answer.
            retry_budget_ms: how long a failing pipeline is sent again before LedgerUnavailableError.
            transfer_ttl_ms: how long a transfer is remembered: the retention of `funds` and a day.
            replicas: so many must have what was applied or noted before it is answered (WAIT).

        Raises:
            LedgerError: where the prefix has a brace, which would part the keys of a bucket.
        """
        if set("{}") & set(prefix):
            raise LedgerError(f"prefix {prefix!r} has a brace")
        self._prefix = prefix
        self._buckets = buckets
        self._lease_ms = lease_ms
        self._transfer_ttl_ms = transfer_ttl_ms
        self._owned: dict[Source, _Owned] = {}
        self._bucket = lru_cache(maxsize=_KNOWN_BUCKETS)(partial(bucket_of, buckets=buckets))
        self._pipeline = RedisPipeline(
            address, timeout_ms=timeout_ms, retry_budget_ms=retry_budget_ms, replicas=replicas
        )
        self._restoring = RedisRestoring(self._pipeline, prefix=prefix, buckets=buckets, version=FORMAT)

    async def open(self) -> bool:
        """Connect and check. Raises LedgerError where keys may be evicted or another bucket count was created."""
        keys = [self._key(bucket, "m") for bucket in range(self._buckets)]
        found = await self._pipeline.send(
            [command for key in keys for command in (("INFO", "memory", key), ("HMGET", key, "n", "v"))]
        )
        for memory in found[::2]:
            policy = memory.get("maxmemory_policy")
            if int(memory.get("maxmemory", 0)) > 0 and policy != "noeviction":
                raise LedgerError(f"this Redis may evict accounts: maxmemory-policy is {policy}, not noeviction")
        rows = found[1::2]
        counts = [None if row[0] is None else int(row[0]) for row in rows]
        if counts[0] is None:
            return False
        if counts[0] != self._buckets:
            raise LedgerError(f"created with {counts[0]} buckets, opened with {self._buckets}")
        if rows[0][1] != FORMAT.encode():
            raise LedgerError(f"stored in format {rows[0][1].decode()}, this is format {FORMAT}")
        for bucket, count in enumerate(counts):
            if count != self._buckets:
                raise LedgerLostError("cold", f"bucket {bucket} is empty")
        return True

    async def create(self) -> None:
        """Make the buckets, the first one last: `open` says True only when all are there. Idempotent."""
        for bucket in reversed(range(self._buckets)):
            await self._pipeline.call("create", [([self._key(bucket, "m")], [str(self._buckets), FORMAT])])

    async def close(self) -> None:
        """Close connections. Idempotent."""
        await self._pipeline.close()

    def restoring(self) -> RedisRestoring:
        """The same store, to be filled anew."""
        return self._restoring

    async def accept_incarnation(self) -> None:
        """Let writers in again after LedgerLostError("check").

        Only after somebody has verified all accounts and records against the log; then every owner must `acquire`
        anew, which reads the counters as they are.
        """
        await self._pipeline.call("accept", [([self._key(bucket, "m")], []) for bucket in range(self._buckets)])

    async def doubt(self) -> None:
        """Keep all writers out until somebody has verified."""
        await self._pipeline.send([("HSET", self._key(bucket, "m"), "r", "-") for bucket in range(self._buckets)])

    async def acquire(self, sources: Collection[Source], *, group: str, generation: int) -> None:
        """Become the owner of sources. A source's home bucket gives out the epoch, which then goes to all buckets."""
        least = dict.fromkeys(sorted(sources), 0)
        for _ in range(_ACQUIRE_ATTEMPTS):
            homes = self._homes(least)
            calls = []
            for bucket, here in homes.items():
                named = [value for source in here for value in (source, least[source])]
                argument = encode((group, generation, self._lease_ms, named))
                calls.append((self._lease_keys(bucket, here), [argument]))
            epochs: dict[Source, int] = {}
            for here, reply in zip(homes.values(), await self._pipeline.call("acquire", calls), strict=True):
                epochs.update(zip(here, map(int, reply[1:]), strict=True))
            argument = encode([value for pair in epochs.items() for value in pair])
            every = [([self._key(bucket, "m")], [argument]) for bucket in range(self._buckets)]
            replies = await self._pipeline.call("enter", every)
            over = {Source(reply[1].decode()): int(reply[2]) for reply in replies if reply[0] == b"OVER"}
            if not over:
                for at, (source, epoch) in enumerate(epochs.items(), 1):
                    self._owned[source] = _Owned(group, epoch, [int(reply[at]) for reply in replies])
                return
            least.update(over)
        raise FencedError(f"another owner takes {', '.join(least)} at the same time")

    async def renew(self, sources: Collection[Source]) -> None:
        """Renew leases. Raises FencedError where one of the sources is another's by now."""
        await self._lease(sources, self._lease_ms)

    async def release(self, sources: Collection[Source]) -> None:
        """End leases and forget the sources. Those that are another's by now are left alone."""
        for source in sorted(set(sources) & self._owned.keys()):
            try:
                await self._lease([source], 0)
            except FencedError:
                continue
            finally:
                del self._owned[source]

    async def apply(self, operations: Sequence[Operation]) -> list[Answer]:
        """Apply operations. A lost answer makes them be sent again: `is_fresh` is False then.

        After LedgerUnavailableError nothing else may be applied before the same operations or a new `acquire`.
        """
        calls = calls_of(operations, self._bucket)
        counted: _Counted = {}
        arguments = []
        for call in calls:
            heads = self._counted_heads(call.bucket, call.sources, counted)
            arguments.append((call.keys(self._prefix), [call.payload(heads, self._transfer_ttl_ms)]))
        return await self._counted_call("apply", arguments, counted, [call.positions for call in calls])

    async def revise(self, revisions: Sequence[Revise]) -> list[Answer]:
        """Reverse bets and settle them anew; what is said of `apply` holds here too."""
        calls = calls_of_revisions(revisions, self._bucket)
        counted: _Counted = {}
        arguments = []
        for call in calls:
            heads = self._counted_heads(call.bucket, call.sources, counted)
            arguments.append((call.keys(self._prefix), [call.payload(heads)]))
        return await self._counted_call("revise", arguments, counted, [call.positions for call in calls])

    async def finish(self, rounds: Sequence[RoundName], *, ttl_ms: int) -> None:
        """Set the time to live of all records of these rounds, in every bucket."""
        await self._set_times(rounds, ttl_ms)

    async def keep(self, rounds: Sequence[RoundName]) -> None:
        """Take the time to live of all records of these rounds away, in every bucket."""
        await self._set_times(rounds, FOR_EVER)

    async def _set_times(self, rounds: Sequence[RoundName], ttl_ms: int) -> None:
        calls = []
        for start in range(0, len(rounds), _MAX_KEYS_A_CALL):
            some = rounds[start : start + _MAX_KEYS_A_CALL]
            argument = encode((self._heads(name.source for name in some), ttl_ms))
            for bucket in range(self._buckets):
                keys = [self._round_key(bucket, name.table, name.round) for name in some]
                calls.append(([self._key(bucket, "m"), *keys], [argument]))
        await self._pipeline.call("finish", calls)

    async def find_bets(self, names: Sequence[BetName]) -> list[tuple[BetRecord, ...]]:
        """Ask every bucket for each bet id."""
        rows = await self._read(
            ("HGET", self._round_key(bucket, name.table, name.round), name.bet_id)
            for name in names
            for bucket in range(self._buckets)
        )
        found = [rows[at : at + self._buckets] for at in range(0, len(rows), self._buckets)]
        return [
            tuple(decode_bet(name, raw) for raw in raws if raw is not None)
            for name, raws in zip(names, found, strict=True)
        ]

    async def round_bets(self, rounds: Sequence[RoundName]) -> list[tuple[BetRecord, ...]]:
        """Ask every bucket for its bets of each round; by offset and id."""
        rows = await self._read(
            ("HGETALL", self._round_key(bucket, name.table, name.round))
            for name in rounds
            for bucket in range(self._buckets)
        )
        return [
            decode_round(name.table, name.round, rows[at * self._buckets : (at + 1) * self._buckets])
            for at, name in enumerate(rounds)
        ]

    async def remember(self, notes: Sequence[Note]) -> None:
        """Write notes, fenced like an apply."""
        calls = []
        for bucket, here in self._notes_by_bucket(notes).items():
            for start in range(0, len(here), _MAX_KEYS_A_CALL):
                some = here[start : start + _MAX_KEYS_A_CALL]
                pages: dict[str, int] = {}
                flat: list[int | str | bool] = []
                for note in some:
                    place = pages.setdefault(note.page, len(pages) + 1)
                    flat += (place, note.field, note.keep_first, note.ttl_ms or 0)
                argument = encode((self._heads(note.source for note in some), flat))
                keys = [self._key(bucket, f"n:{page}") for page in pages]
                calls.append(([self._key(bucket, "m"), *keys], [argument, *[note.value for note in some]]))
        await self._pipeline.call("remember", calls, is_copied=True)

    async def recall(self, pages: Sequence[str]) -> list[dict[str, bytes]]:
        """Whole pages."""
        rows = await self._read(("HGETALL", self._key(self._page_bucket(page), f"n:{page}")) for page in pages)
        return [decode_fields(row) for row in rows]

    async def newest_transfers(self, sources: Sequence[Source]) -> list[int]:
        """The highest offset of `funds` that was applied, by source; -1 where none was."""
        if not sources:
            return []
        fields = [f"f:{source}" for source in sources]
        rows = await self._read([("HMGET", self._key(bucket, "m"), *fields) for bucket in range(self._buckets)])
        return [max(int(offset or -1) for offset in column) for column in zip(*rows, strict=True)]

    async def account(self, account: AccountId) -> Account | None:
        """One account."""
        (raw,) = await self._read([("HGET", self._key(self._bucket(account), "a"), account)])
        return None if raw is None else decode_account(account, raw)

    async def accounts(self) -> AsyncIterator[Account]:
        """All accounts, bucket by bucket."""
        for bucket in range(self._buckets):
            seen: set[bytes] = set()
            cursor = 0
            while True:
                ((cursor, rows),) = await self._read([("HSCAN", self._key(bucket, "a"), cursor, "COUNT", 1000)])
                for name, raw in rows.items():
                    if name not in seen:
                        seen.add(name)
                        yield decode_account(AccountId(name.decode()), raw)
                if cursor == 0:
                    break

    def _key(self, bucket: int, rest: str) -> str:
        return f"{self._prefix}:{{{bucket}}}{rest}"

    def _round_key(self, bucket: int, table: str, round_: str) -> str:
        return f"{self._prefix}:{{{bucket}}}r:{table}|{round_}"

    def _page_bucket(self, page: str) -> int:
        return crc32(page.encode()) % self._buckets

    def _notes_by_bucket(self, notes: Iterable[Note]) -> dict[int, list[Note]]:
        grouped: dict[int, list[Note]] = {}
        for note in notes:
            grouped.setdefault(self._page_bucket(note.page), []).append(note)
        return grouped

    def _homes(self, sources: Iterable[Source]) -> dict[int, list[Source]]:
        homes: dict[int, list[Source]] = {}
        for source in sources:
            homes.setdefault(crc32(source.encode()) % self._buckets, []).append(source)
        return homes

    def _lease_keys(self, bucket: int, sources: Iterable[Source]) -> list[str]:
        return [self._key(bucket, "m"), *[self._key(bucket, f"l:{source}") for source in sources]]

    def _owner(self, source: Source) -> _Owned:
        owned = self._owned.get(source)
        if owned is None:
            raise FencedError(f"{source} was not acquired by this handle")
        return owned

    def _counted_heads(self, bucket: int, sources: Iterable[Source], counted: _Counted) -> list[int | str]:
        """What a script that counts its calls is to check; the call is added to those `counted` in this pipeline."""
        heads: list[int | str] = []
        for source in sources:
            owned = self._owner(source)
            acknowledged = owned.calls[bucket]
            earlier = counted.get((source, bucket), 0)
            counted[source, bucket] = earlier + 1
            heads += (source, owned.epoch, acknowledged + earlier, acknowledged)
        return heads

    async def _counted_call(
        self, name: str, arguments: Sequence[ScriptCall], counted: _Counted, positions: Sequence[Sequence[int]]
    ) -> list[Answer]:
        """Call a script that counts, once per item; the answers by the position that each has."""
        replies = await self._pipeline.call(name, arguments, is_copied=True)
        for (source, bucket), count in counted.items():
            self._owned[source].calls[bucket] += count
        answers: list[Any] = [None] * sum(map(len, positions))
        for places, reply in zip(positions, replies, strict=True):
            for position, answer in zip(places, decode_answers(reply[1], reply[2]), strict=True):
                answers[position] = answer
        return answers

    def _heads(self, sources: Iterable[Source]) -> list[int | str]:
        """What a script without a counter is to check: the epochs alone."""
        return [part for source in dict.fromkeys(sources) for part in (source, self._owner(source).epoch, 0, 0)]

    async def _lease(self, sources: Collection[Source], lease_ms: int) -> None:
        groups = {source: self._owner(source).group for source in sorted(sources)}
        await self._pipeline.call(
            "lease",
            [
                (self._lease_keys(bucket, here), [encode((self._heads(here), groups[here[0]], lease_ms))])
                for bucket, here in self._homes(groups).items()
            ],
        )

    async def _read(self, commands: Iterable[Command]) -> list[Any]:
        """Run reading commands. Raises LedgerLostError where the ledger is not there: nothing is ever read as zero."""
        verified, *rows = await self._pipeline.send([("HGET", self._key(0, "m"), "r"), *commands])
        if verified is None:
            raise LedgerLostError("cold", "the ledger is empty")
        if verified == b"-" and not self._restoring.may_read:
            raise LedgerLostError("check", "it is doubted, or being restored")
        return rows
