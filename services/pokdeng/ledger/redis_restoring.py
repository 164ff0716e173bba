"""Filling a ledger in Redis anew; the scripts say how each step is fenced.

Keys besides those of the ledger, in bucket 0: `x` the restore, `xq` when each source is quiet, `xl` the lease of
the lead.
"""

from __future__ import annotations

import secrets
import time
from collections import defaultdict
from typing import TYPE_CHECKING, Any, Final
from zlib import crc32

from pokdeng.events.ids import BetId, RoundId, TableId
from pokdeng.ledger.encoding import decode_bet, decode_fields, encode, encode_account
from pokdeng.ledger.port import FencedError
from pokdeng.ledger.records import encode_bet, encode_transfer, pack_texts, revise, transfer_key
from pokdeng.ledger.restoring import LEAD_MS, Standing
from pokdeng.ledger.values import BetName, BetState, Source, bucket_of

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Collection, Iterable, Mapping, Sequence

    from pokdeng.ledger.redis_pipeline import RedisPipeline, ScriptCall
    from pokdeng.ledger.restoring import RestoredBet, RestoredNote, RestoredRound, RestoredTransfer
    from pokdeng.ledger.values import Account, BetRecord

_FORGET, _HASH, _KEEP, _TEXT, _LEAVE = range(5)
_KEYS_A_CALL: Final = 500
_VALUES_A_CALL: Final = 2_000
_SCAN: Final = 2_000


class _Writing:
    """Script calls of one bucket that write what is restored, none of them too large."""

    def __init__(self, meta: str, stamp: bytes) -> None:
        self._meta = meta
        self._stamp = stamp
        self.calls: list[ScriptCall] = []
        self._begin()

    def _begin(self) -> None:
        self._keys = [self._meta]
        self._what: list[int] = []
        self._values: list[bytes] = []
        self._count = 0

    def add(self, key: str, how: int, values: Sequence[bytes | str], ttl_ms: int = 0) -> None:
        """Write one key, in pieces where it has very many values."""
        for start in range(0, max(1, len(values)), _VALUES_A_CALL):
            some = values[start : start + _VALUES_A_CALL]
            if len(self._keys) > _KEYS_A_CALL or self._count + len(some) > 2 * _VALUES_A_CALL:
                self.finish()
            self._keys.append(key)
            self._what += (how, ttl_ms)
            self._count += len(some)
            self._values.append(pack_texts(some) if some else b"")

    def finish(self) -> None:
        """What was added becomes a call."""
        if self._what:
            self.calls.append((self._keys, [self._stamp, encode(self._what), *self._values]))
            self._begin()


class RedisRestoring:
    """`Restoring` in Redis, for one prefix."""

    def __init__(self, pipeline: RedisPipeline, *, prefix: str, buckets: int, version: str) -> None:
        """Over the ledger's own connection; `version` is that of what is stored."""
        self._pipeline = pipeline
        self._prefix = prefix
        self._buckets = buckets
        self._version = version
        self._led = ("", 0)
        self._stamps: list[bytes] = []
        self._looks_in = False

    @property
    def may_read(self) -> bool:
        """Whether a store that is doubted may be read: by who leads its restore, or knows what he does."""
        return self._looks_in or self._led[1] > 0

    def look_in(self) -> None:
        """Let the ledger read although the store is doubted."""
        self._looks_in = True

    async def standing(self) -> Standing:
        """How the store is found now."""
        keys = [self._key(bucket, "m") for bucket in range(self._buckets)]
        found = await self._pipeline.send(
            [command for key in keys for command in (("INFO", "server", key), ("HGET", key, "r"))]
        )
        rows = found[1::2]
        if None in rows:
            return Standing.EMPTY
        run_ids = [server["run_id"].encode() for server in found[::2]]
        return Standing.SOUND if rows == run_ids else Standing.DOUBTFUL

    async def begin(self) -> str:
        """Have every bucket refuse every writer. Bucket 0 is asked: it is opened last, so if it is sound all are."""
        restore = await self._begin()
        if not restore and await self.standing() is not Standing.SOUND:
            await self._pipeline.send([("HSET", self._key(0, "m"), "r", "-")])  # only others were lost
            restore = await self._begin()
        if restore:
            await self._close_others(restore)
        return restore

    async def _close_others(self, restore: str) -> None:
        arguments = [restore, str(self._buckets), self._version]
        await self._pipeline.call("close", [([self._key(n, "m")], arguments) for n in range(1, self._buckets)])

    async def _begin(self) -> str:
        keys = [self._key(0, "m"), self._key(0, "x")]
        arguments = [secrets.token_hex(8), str(self._buckets), self._version]
        ((_, restore),) = await self._pipeline.call("begin", [(keys, arguments)])
        return restore.decode()

    async def say_quiet(self, restore: str, waits_ms: Mapping[Source, int]) -> None:
        """Nothing more will be said of these sources by who owned them before."""
        flat = [str(part) for pair in waits_ms.items() for part in pair]
        await self._pipeline.call("quiet", [([self._key(0, "x"), self._key(0, "xq")], [restore, *flat])])

    async def unquiet(self, restore: str, sources: Collection[Source]) -> dict[Source, int | None]:
        """Which of them are not quiet yet."""
        flat = [part for source in sources for part in (source, "-1")]
        ((_, *waits),) = await self._pipeline.call(
            "quiet", [([self._key(0, "x"), self._key(0, "xq")], [restore, *flat])]
        )
        found = {source: None if wait == b"?" else int(wait) for source, wait in zip(sources, waits, strict=True)}
        return {source: wait for source, wait in found.items() if wait != 0}

    async def lead(self, restore: str, leader: str) -> int:
        """Take the lead."""
        term = await self._lead(restore, leader, 0)
        if not term:
            self.step_back()
            return 0
        stamps = await self._pipeline.call(
            "stamp", [([self._key(bucket, "m")], [restore, str(term)]) for bucket in range(self._buckets)]
        )
        self._stamps = [stamp for _, stamp in stamps]
        self._led = (restore, term)
        return term

    async def keep_lead(self, restore: str, leader: str) -> bool:
        """Keep the lead."""
        led = self._led
        if led[0] != restore or not led[1]:
            return False
        is_kept = await self._lead(restore, leader, led[1]) == led[1]
        if not is_kept:
            self.step_back()
        return is_kept

    async def _lead(self, restore: str, leader: str, term: int) -> int:
        keys = [self._key(0, "x"), self._key(0, "xl")]
        ((_, found),) = await self._pipeline.call("lead", [(keys, [restore, leader, str(LEAD_MS), str(term)])])
        return int(found)

    def step_back(self) -> None:
        """What this handle leads next is another attempt."""
        self._led, self._stamps = ("", 0), []

    async def leader(self) -> str:
        """Who leads, "" where nobody does."""
        (name,) = await self._pipeline.send([("GET", self._key(0, "xl"))])
        return "" if name is None else name.decode()

    async def is_torn(self) -> bool:
        """Whether some leader has begun to forget what was there."""
        return any(await self._pipeline.send([("HEXISTS", self._key(n, "m"), "w") for n in range(self._buckets)]))

    async def clear(self) -> None:
        """Forget everything."""
        await self._pipeline.call("wipe", [([self._key(n, "m")], [stamp]) for n, stamp in enumerate(self._stamped())])
        for bucket in range(self._buckets):
            for kind in ("a", "r:*", "t:*", "n:*", "l:*"):
                async for names in self._scan(self._key(bucket, kind)):
                    writing = self._writing(bucket)
                    for name in names:
                        writing.add(name, _FORGET, ())
                    await self._write([writing])

    async def put_accounts(self, accounts: Sequence[Account]) -> None:
        """Write balances."""
        rows: defaultdict[int, list[bytes | str]] = defaultdict(list)
        for account in accounts:
            rows[bucket_of(account.account, self._buckets)] += (account.account, encode_account(account))
        await self._put((bucket, self._key(bucket, "a"), _HASH, values, 0) for bucket, values in rows.items())

    async def put_bets(self, bets: Sequence[RestoredBet]) -> None:
        """Write bets; a later revision of one that is there changes how it ended."""
        rows: defaultdict[tuple[int, str, str], list[bytes | str]] = defaultdict(list)
        revisions: list[RestoredBet] = []
        buckets, places = self._buckets, dict[str, int]()
        for bet in bets:
            if bet.offset < 0:
                revisions.append(bet)
                continue
            account = bet.account
            bucket = places.get(account)
            if bucket is None:
                bucket = places[account] = crc32(account.encode()) % buckets
            rows[bucket, bet.table, bet.round] += (bet.bet_id, encode_bet(bet))
        await self._put(
            (bucket, self._key(bucket, f"r:{table}|{round_}"), _HASH, values, 0)
            for (bucket, table, round_), values in rows.items()
        )
        if revisions:
            await self._revise(revisions)

    async def put_transfers(self, transfers: Sequence[RestoredTransfer]) -> None:
        """Write transfers."""
        buckets = [bucket_of(transfer.account, self._buckets) for transfer in transfers]
        await self._put(
            (bucket, self._key(bucket, transfer_key(transfer)), _TEXT, (encode_transfer(transfer),), transfer.ttl_ms)
            for bucket, transfer in zip(buckets, transfers, strict=True)
        )

    async def put_notes(self, notes: Sequence[RestoredNote]) -> None:
        """Write notes."""
        buckets = [crc32(note.page.encode()) % self._buckets for note in notes]
        await self._put(
            (
                bucket,
                self._key(bucket, f"n:{note.page}"),
                _KEEP if note.keep_first else _HASH,
                (note.field, note.value),
                note.ttl_ms or 0,
            )
            for bucket, note in zip(buckets, notes, strict=True)
        )

    async def put_offsets(self, highest: Mapping[Source, int]) -> None:
        """The highest offsets of `funds`, in every bucket."""
        flat = [part for source, offset in highest.items() for part in (f"f:{source}", str(offset))]
        if flat:
            await self._put((bucket, self._key(bucket, "m"), _HASH, flat, 0) for bucket in range(self._buckets))

    async def expire(self, rounds: Sequence[RestoredRound]) -> None:
        """Let the bets of finished rounds be forgotten in time."""
        await self._put(
            (
                bucket,
                self._key(bucket, f"r:{one.table}|{one.round}"),
                _LEAVE if one.ttl_ms > 0 else _FORGET,
                (),
                max(0, one.ttl_ms),
            )
            for one in rounds
            for bucket in range(self._buckets)
        )

    async def open(self) -> None:
        """Take writers again, bucket 0 last: it is the one that is asked first."""
        base = str(time.time_ns() // 1_000_000)
        for bucket in reversed(range(self._buckets)):
            more = [] if bucket else [self._key(0, name) for name in ("x", "xq", "xl")]
            await self._pipeline.call("open", [([self._key(bucket, "m"), *more], [self._stamped()[bucket], base])])
        self._led, self._stamps = ("", 0), []

    async def leased(self) -> list[Source]:
        """Sources whose owners hold a live lease."""
        found: list[str] = []
        for bucket in range(self._buckets):
            start = self._key(bucket, "l:")
            async for names in self._scan(f"{start}*"):
                found += [name.removeprefix(start) for name in names]
        return sorted(map(Source, found))

    async def holds(self) -> AsyncIterator[BetRecord]:
        """All bets that stand: of rounds that may not be forgotten yet, so that have no time to live."""
        for bucket in range(self._buckets):
            start = self._key(bucket, "r:")
            async for names in self._scan(f"{start}*"):
                ttls = await self._pipeline.send([("PTTL", name) for name in names])
                kept = [name for name, ttl in zip(names, ttls, strict=True) if ttl == -1]
                rows = await self._pipeline.send([("HGETALL", name) for name in kept]) if kept else []
                for name, row in zip(kept, rows, strict=True):
                    table, _, round_ = name.removeprefix(start).partition("|")
                    for bet_id, raw in decode_fields(row).items():
                        bet = decode_bet(BetName(TableId(table), RoundId(round_), BetId(bet_id)), raw)
                        if bet.state is BetState.ACCEPTED:
                            yield bet

    async def _revise(self, bets: list[RestoredBet]) -> None:
        places = [
            (crc32(bet.account.encode()) % self._buckets, f"r:{bet.table}|{bet.round}", bet.bet_id) for bet in bets
        ]
        stored = await self._pipeline.send([("HGET", self._key(bucket, key), field) for bucket, key, field in places])
        await self._put(
            (bucket, self._key(bucket, key), _HASH, (field, revise(raw, bet)), 0)
            for bet, raw, (bucket, key, field) in zip(bets, stored, places, strict=True)
            if raw is not None
        )

    async def _put(self, writes: Iterable[tuple[int, str, int, Sequence[bytes | str], int]]) -> None:
        by_bucket: dict[int, _Writing] = {}
        for bucket, key, how, values, ttl_ms in writes:
            writing = by_bucket.get(bucket)
            if writing is None:
                writing = by_bucket[bucket] = self._writing(bucket)
            writing.add(key, how, values, ttl_ms)
        await self._write(by_bucket.values())

    async def _write(self, writings: Iterable[_Writing]) -> None:
        for writing in writings:
            writing.finish()
            if writing.calls:
                await self._pipeline.call("put", writing.calls)

    async def _scan(self, pattern: str) -> AsyncIterator[list[str]]:
        """Keys by pattern, some at a time; perhaps one twice."""
        cursor: Any = 0
        while True:
            ((cursor, names),) = await self._pipeline.send([("SCAN", cursor, "MATCH", pattern, "COUNT", _SCAN)])
            if names:
                yield [name.decode() for name in names]
            if int(cursor) == 0:
                return

    def _writing(self, bucket: int) -> _Writing:
        return _Writing(self._key(bucket, "m"), self._stamped()[bucket])

    def _stamped(self) -> list[bytes]:
        if not self._stamps:
            raise FencedError("this handle does not lead a restore")
        return self._stamps

    def _key(self, bucket: int, rest: str) -> str:
        return f"{self._prefix}:{{{bucket}}}{rest}"
