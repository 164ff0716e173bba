"""The steps of a restore in Redis: fenced, atomic where they must be, whoever comes between them."""

from __future__ import annotations

import asyncio
import uuid

import pytest
from redis.asyncio import Redis

from pokdeng.events.ids import AccountId, Currency
from pokdeng.ledger.port import FencedError, LedgerLostError
from pokdeng.ledger.redis_ledger import RedisLedger
from pokdeng.ledger.restoring import Standing
from pokdeng.ledger.values import Account, Source

ONE = Account(account=AccountId("A-1"), currency=Currency("THB"), available=8000, held=2000, sequence=2)
P0, F0 = Source("p0"), Source("f0")


def ledger_at(url: str, prefix: str) -> RedisLedger:
    """Another process's handle."""
    return RedisLedger(url, prefix=prefix, retry_budget_ms=500)


def run(redis_url: str, story: object) -> None:
    """Play a story on a prefix of its own, with two handles."""

    async def go() -> None:
        prefix = f"steps-{uuid.uuid4().hex[:8]}"
        first, second = ledger_at(redis_url, prefix), ledger_at(redis_url, prefix)
        try:
            await story(first, second)  # type: ignore[operator]  # a coroutine function of a test
        finally:
            await first.close()
            await second.close()

    asyncio.run(go())


def test_who_looks_late_does_not_begin_again_what_is_over(redis_url: str) -> None:
    """A worker that found the store lost, and stood still until it was opened, leaves it open."""

    async def story(first: RedisLedger, second: RedisLedger) -> None:
        leader, late = first.restoring(), second.restoring()
        restore = await leader.begin()
        assert await late._begin() == restore
        assert await leader.lead(restore, "leader") == 1
        await leader.put_accounts([ONE])
        await leader.open()
        await late._close_others(restore)
        assert await late.begin() == ""
        assert await late.standing() is Standing.SOUND
        assert await second.account(ONE.account) == ONE

    run(redis_url, story)


def test_a_bucket_that_was_lost_alone_closes_all(redis_url: str) -> None:
    """Bucket 0 looks sound, another one is empty: nobody writes anywhere until it is restored."""

    async def story(first: RedisLedger, second: RedisLedger) -> None:
        await first.create()
        await first.acquire([P0], group="g", generation=1)
        redis: Redis = Redis.from_url(redis_url)
        await redis.delete(second._key(3, "m"))
        await redis.aclose()
        assert await second.restoring().begin()
        with pytest.raises(LedgerLostError, match="check"):
            await first.renew([P0])
        with pytest.raises(LedgerLostError, match="check"):
            await first.account(ONE.account)

    run(redis_url, story)


def test_a_leader_that_was_followed_writes_nothing_more(redis_url: str) -> None:
    """Each of its steps is refused once another one has the lead, and after the store was emptied."""

    async def story(first: RedisLedger, second: RedisLedger) -> None:
        slow, quick = first.restoring(), second.restoring()
        restore = await slow.begin()
        assert await slow.lead(restore, "slow") == 1
        assert await quick.lead(restore, "quick") == 0
        redis: Redis = Redis.from_url(redis_url)
        await redis.delete(first._key(0, "xl"))  # its lease has ended
        assert await quick.lead(restore, "quick") == 2
        assert not await slow.keep_lead(restore, "slow")
        for step in (slow.clear, slow.open):
            with pytest.raises(FencedError):
                await step()
        assert await quick.keep_lead(restore, "quick")
        keys = [key async for key in redis.scan_iter(match=f"{first._prefix}:*")]
        await redis.delete(*keys)
        await redis.aclose()
        with pytest.raises(FencedError):
            await quick.put_accounts([ONE])
        assert await quick.begin() != restore

    run(redis_url, story)


def test_sources_are_quiet_when_their_owners_have_said_so(redis_url: str) -> None:
    """None where nobody has; a wait that runs; the shortest that was said counts."""

    async def story(first: RedisLedger, second: RedisLedger) -> None:
        one, other = first.restoring(), second.restoring()
        restore = await one.begin()
        assert await one.unquiet(restore, [P0, F0]) == {P0: None, F0: None}
        await one.say_quiet(restore, {P0: 60_000})
        waits = await other.unquiet(restore, [P0, F0])
        assert waits[F0] is None
        assert 50_000 < (waits[P0] or 0) <= 60_000
        await other.say_quiet(restore, {P0: 0, F0: 0})
        await one.say_quiet(restore, {P0: 60_000})
        assert await one.unquiet(restore, [P0, F0]) == {}

    run(redis_url, story)


def test_an_owner_from_before_is_fenced_after_a_restore(redis_url: str) -> None:
    """Epochs begin above all that were given out before, although the store has forgotten them."""

    async def story(first: RedisLedger, second: RedisLedger) -> None:
        await first.create()
        await first.acquire([P0], group="g", generation=7)
        await second.doubt()
        leader = second.restoring()
        assert await leader.lead(await leader.begin(), "leader")
        await leader.clear()
        await leader.open()
        with pytest.raises(LedgerLostError, match="does not know"):
            await first.renew([P0])
        await second.acquire([P0], group="g", generation=8)
        with pytest.raises(FencedError):
            await first.renew([P0])

    run(redis_url, story)
