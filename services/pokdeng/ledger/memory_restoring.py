"""Filling a ledger in memory anew: the same steps as in Redis, one call on one bucket at a time."""

from __future__ import annotations

import secrets
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, TypeVar
from zlib import crc32

from pokdeng.events.ids import AccountId, BetId, Currency, Minor, RoundId, TableId
from pokdeng.events.reasons import BetReason
from pokdeng.ledger.memory_store import After, Balance, Bet, Bucket, Moved, Ownership, RestoreState
from pokdeng.ledger.port import FencedError, LedgerLostError
from pokdeng.ledger.restoring import LEAD_MS, Standing
from pokdeng.ledger.values import BetRecord, BetState, Source, bucket_of
from pokdeng.rules import Bet as Option

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Collection, Iterable, Mapping, Sequence

    from pokdeng.ledger.memory_store import MemoryStore
    from pokdeng.ledger.restoring import AfterState, RestoredBet, RestoredNote, RestoredRound, RestoredTransfer
    from pokdeng.ledger.values import Account

_Item = TypeVar("_Item")
_Result = TypeVar("_Result")


class MemoryRestoring:
    """`Restoring` in memory."""

    def __init__(self, store: MemoryStore, *, buckets: int) -> None:
        """Over the ledger's own store."""
        self._store = store
        self._buckets = buckets
        self._restore = ""
        self._term = 0
        self._looks_in = False

    @property
    def may_read(self) -> bool:
        """Whether a store that is doubted may be read: by who leads its restore, or knows what he does."""
        return self._looks_in or self._term > 0

    def look_in(self) -> None:
        """Let the ledger read although the store is doubted."""
        self._looks_in = True

    async def standing(self) -> Standing:
        """How the store is found now."""
        await self._store.before("standing", 0)
        return self._standing()

    async def begin(self) -> str:
        """Have every bucket refuse every writer. Whoever led leads anew: the server may have restarted meanwhile."""
        self._term = 0
        return await self._call("begin", 0, self._begin)

    async def say_quiet(self, restore: str, waits_ms: Mapping[Source, int]) -> None:
        """Nothing more will be said of these sources by who owned them before."""
        await self._call("quiet", 0, partial(self._quiet, restore, waits_ms))

    async def unquiet(self, restore: str, sources: Collection[Source]) -> dict[Source, int | None]:
        """Which of them are not quiet yet."""
        state = await self._call("unquiet", 0, partial(self._state, restore))
        now = self._store.clock()
        at = {source: state.quiet_at.get(source) for source in sources}
        return {
            source: None if when is None else when - now for source, when in at.items() if when is None or when > now
        }

    async def lead(self, restore: str, leader: str) -> int:
        """Take the lead."""
        self._term = await self._call("lead", 0, partial(self._lead, restore, leader))
        return self._term

    async def keep_lead(self, restore: str, leader: str) -> bool:
        """Keep the lead."""
        is_kept = await self._call("keep", 0, partial(self._keep, restore, leader))
        if not is_kept:
            self._term = 0
        return is_kept

    def step_back(self) -> None:
        """What this handle leads next is another attempt."""
        self._term = 0

    async def leader(self) -> str:
        """Who leads, "" where nobody does."""
        state = self._store.restoring
        return "" if state is None or state.leads_until <= self._store.clock() else state.leader

    async def is_torn(self) -> bool:
        """Whether some leader has begun to forget what was there."""
        await self._store.before("is_torn", 0)
        return any(bucket.is_torn for bucket in self._store.buckets)

    async def clear(self) -> None:
        """Forget everything."""
        await self._write("clear", range(self._buckets), lambda number: number, self._clear)

    async def put_accounts(self, accounts: Sequence[Account]) -> None:
        """Write balances."""
        await self._write("put", accounts, lambda one: bucket_of(one.account, self._buckets), _put_accounts)

    async def put_bets(self, bets: Sequence[RestoredBet]) -> None:
        """Write bets; a later revision of one that is there changes how it ended."""
        await self._write("put", bets, lambda one: crc32(one.account.encode()) % self._buckets, _put_bets)

    async def put_transfers(self, transfers: Sequence[RestoredTransfer]) -> None:
        """Write transfers."""
        put = partial(_put_transfers, self._store.clock())
        await self._write("put", transfers, lambda one: bucket_of(one.account, self._buckets), put)

    async def put_notes(self, notes: Sequence[RestoredNote]) -> None:
        """Write notes."""
        put = partial(_put_notes, self._store.clock())
        await self._write("put", notes, lambda one: crc32(one.page.encode()) % self._buckets, put)

    async def put_offsets(self, highest: Mapping[Source, int]) -> None:
        """The highest offsets of `funds`, in every bucket."""
        for number in range(self._buckets):
            await self._call("put", number, partial(self._fenced, number, list(highest.items()), _put_offsets))

    async def expire(self, rounds: Sequence[RestoredRound]) -> None:
        """Let the bets of finished rounds be forgotten in time."""
        for number in range(self._buckets):
            expire = partial(_expire, self._store.clock())
            await self._call("put", number, partial(self._fenced, number, rounds, expire))

    async def open(self) -> None:
        """Take writers again, bucket 0 last."""
        for number in reversed(range(self._buckets)):
            await self._write("open", [number], lambda at: at, self._open)
        self._term = 0

    async def leased(self) -> list[Source]:
        """Sources whose owners hold a live lease."""
        there = [self._store.bucket(number) for number in range(self._buckets)]
        return sorted(source for bucket in there if bucket is not None for source in bucket.leases)

    async def holds(self) -> AsyncIterator[BetRecord]:
        """All bets that stand."""
        for number in range(self._buckets):
            bucket = self._store.bucket(number)
            for bets in list(bucket.rounds.values()) if bucket is not None else []:
                for bet in bets.values():
                    if bet.record.state is BetState.ACCEPTED:
                        yield bet.record

    # One call each

    def _standing(self) -> Standing:
        buckets = self._store.buckets
        if not buckets:
            return Standing.EMPTY
        is_sound = all(bucket.verified == self._store.incarnation for bucket in buckets)
        return Standing.SOUND if is_sound else Standing.DOUBTFUL

    def _begin(self) -> str:
        if self._standing() is Standing.SOUND:
            return ""
        store = self._store
        if not store.buckets:
            store.buckets = [Bucket(0) for _ in range(self._buckets)]
        for bucket in store.buckets:
            bucket.verified = 0
        if store.restoring is None:
            store.restoring = RestoreState(secrets.token_hex(8))
        return store.restoring.name

    def _state(self, restore: str) -> RestoreState:
        state = self._store.restoring
        if state is None or state.name != restore:
            raise FencedError("the restore is another one")
        return state

    def _quiet(self, restore: str, waits_ms: Mapping[Source, int]) -> None:
        state, now = self._state(restore), self._store.clock()
        for source, wait_ms in waits_ms.items():
            state.quiet_at[source] = min(state.quiet_at.get(source, now + wait_ms), now + wait_ms)

    def _lead(self, restore: str, leader: str) -> int:
        state, now = self._state(restore), self._store.clock()
        is_led = state.leads_until > now
        if is_led and state.leader != leader:
            return 0
        if not is_led:
            state.term += 1
        self._restore = restore
        for bucket in self._store.buckets:
            bucket.stamp = (restore, state.term, self._store.incarnation)
        state.leader, state.leads_until = leader, now + LEAD_MS
        return state.term

    def _keep(self, restore: str, leader: str) -> bool:
        state, now = self._state(restore), self._store.clock()
        if self._restore != restore or not self._term:
            return False
        if state.leads_until <= now or state.leader != leader or state.term != self._term:
            return False
        state.leads_until = now + LEAD_MS
        return True

    def _clear(self, _: object, bucket: Bucket) -> None:
        fresh = Bucket(0, stamp=bucket.stamp, base=bucket.base, is_torn=True)
        for number, known in enumerate(self._store.buckets):
            if known is bucket:
                self._store.buckets[number] = fresh

    def _open(self, numbers: Sequence[int], bucket: Bucket) -> None:
        bucket.verified = self._store.incarnation
        bucket.stamp, bucket.is_torn = None, False
        bucket.base = max(bucket.base, *[of.epoch for of in bucket.sources.values()], self._store.next_base())
        if 0 in numbers:
            self._store.restoring = None

    async def _call(self, name: str, number: int, work: Callable[[], _Result]) -> _Result:
        await self._store.before(name, number)
        result = work()
        await self._store.after(name, number)
        return result

    async def _write(
        self,
        name: str,
        items: Iterable[_Item],
        bucket_of_item: Callable[[_Item], int],
        work: Callable[[Sequence[_Item], Bucket], None],
    ) -> None:
        grouped: dict[int, list[_Item]] = {}
        for item in items:
            grouped.setdefault(bucket_of_item(item), []).append(item)
        for number, some in grouped.items():
            await self._call(name, number, partial(self._fenced, number, some, work))

    def _fenced(self, number: int, items: Sequence[_Item], work: Callable[[Sequence[_Item], Bucket], None]) -> None:
        bucket = self._store.bucket(number)
        if bucket is None:
            raise LedgerLostError("cold", f"bucket {number} is empty")
        stamp = (self._restore, self._term, self._store.incarnation)
        if bucket.stamp != stamp:
            raise FencedError("the restore was taken over, or the store is another one")
        work(items, bucket)


def _put_accounts(accounts: Sequence[Account], bucket: Bucket) -> None:
    for one in accounts:
        bucket.accounts[one.account] = Balance(one.currency, one.available, one.held, one.sequence)


def _put_bets(bets: Sequence[RestoredBet], bucket: Bucket) -> None:
    for bet in bets:
        of_round = bucket.rounds.setdefault((TableId(bet.table), RoundId(bet.round)), {})
        bet_id, end = BetId(bet.bet_id), _after(bet.after_end)
        if bet.offset < 0:
            known = of_round.get(bet_id)
            if known is not None:
                changed = replace(
                    known.record,
                    state=bet.state,
                    returned=Minor(bet.returned),
                    revision=bet.revision,
                    reversed=Minor(bet.reversed),
                )
                of_round[bet_id] = Bet(changed, known.after_hold, None, end, is_settled_anew=bet.revision > 1)
            continue
        record = BetRecord(
            account=AccountId(bet.account),
            table=TableId(bet.table),
            round=RoundId(bet.round),
            bet_id=bet_id,
            bet=Option(bet.bet),
            stake=Minor(bet.stake),
            currency=Currency(bet.currency),
            offset=bet.offset,
            state=bet.state,
            reason=BetReason(bet.reason) if bet.reason else None,
            taken=Minor(bet.taken),
            returned=Minor(bet.returned),
            revision=bet.revision,
            reversed=Minor(bet.reversed),
            cancel_offset=bet.cancel_offset if bet.state is BetState.WITHDRAWN else -1,
        )
        of_round[bet_id] = Bet(
            record,
            _after(bet.after_hold),
            bet.cancel_offset if bet.cancel_offset >= 0 else None,
            end,
            is_settled_anew=bet.revision > 1,
        )


def _after(state: AfterState | None) -> After | None:
    return None if state is None else After(state.available, state.held, state.sequence)


def _put_transfers(now_ms: int, transfers: Sequence[RestoredTransfer], bucket: Bucket) -> None:
    for one in transfers:
        name = (one.kind, one.account, one.transfer)
        after = None if one.after is None else After(*one.after)
        bucket.transfers[name] = Moved(one.offset, one.amount, one.currency, one.reason or None, after)
        bucket.expiry["transfers", name] = now_ms + one.ttl_ms


def _put_notes(now_ms: int, notes: Sequence[RestoredNote], bucket: Bucket) -> None:
    for note in notes:
        page = bucket.notes.setdefault(note.page, {})
        page[note.field] = page.get(note.field, note.value) if note.keep_first else note.value
        if note.ttl_ms is not None:
            bucket.expiry["notes", note.page] = now_ms + note.ttl_ms


def _put_offsets(highest: Sequence[tuple[Source, int]], bucket: Bucket) -> None:
    for source, offset in highest:
        bucket.sources.setdefault(source, Ownership()).highest_offset = offset


def _expire(now_ms: int, rounds: Sequence[RestoredRound], bucket: Bucket) -> None:
    for one in rounds:
        key = (one.table, one.round)
        if key in bucket.rounds:
            bucket.expiry["rounds", key] = now_ms + one.ttl_ms
