"""A ledger filled from the log is the one that was lost."""

from __future__ import annotations

import asyncio
import uuid

import pytest
from redis.asyncio import Redis

from pokdeng.ledger.redis_ledger import RedisLedger
from pokdeng.simulator import QUIET, MemorySender, Mischief, Play, perform, script
from tests.restore.dumps import check_same, dump
from tests.restore.filled import check_same_contents, fill_ledger, filled, latest_ms, pages
from tests.support.line import Line

CORRECTED = Mischief(corrections_after_settlement=0.3, cancels_after_settlement=0.2)


@pytest.mark.parametrize("seed", range(8))
def test_a_played_ledger_is_filled_from_the_log_as_it_lives(seed: int) -> None:
    """Accounts, bets with their first answers, and transfers are equal; notes differ in nothing that counts."""

    async def go() -> None:
        line = Line()
        play = Play(tables=3, rounds=5, accounts=20, bets_per_round=12, seed=seed, mischief=Mischief.at(0.3))
        async with line.worker() as worker:
            await worker.owns()
            await perform(script(play), MemorySender(line.broker, line.topics), opened=worker.caught_up)
            await worker.caught_up()
        store, restored = await filled(line, now_ms=latest_ms(line))
        assert not restored.holes
        check_same_contents(store, line.store)
        living, there = pages(line.store), pages(store)
        for page in {page for page in {*living, *there} if not page.startswith("shoe|")}:
            kept, found = living.get(page, {}), there.get(page, {})
            strays = {field for field in kept.keys() - found.keys() if field.startswith(("b|", "e|"))}
            assert {field: value for field, value in kept.items() if field not in strays} == found, page

    asyncio.run(go())


@pytest.mark.parametrize("seed", range(5))
def test_revised_rounds_are_filled_from_the_log_as_they_live(seed: int) -> None:
    """Bets in their latest revision with what it reversed, overdrawn accounts, and how their rounds ended last."""

    async def go() -> None:
        line = Line()
        play = Play(tables=3, rounds=5, accounts=20, bets_per_round=12, seed=seed, mischief=CORRECTED)
        async with line.worker() as worker:
            await worker.owns()
            await perform(script(play), MemorySender(line.broker, line.topics), opened=worker.caught_up)
            await worker.caught_up()
        store, restored = await filled(line, now_ms=latest_ms(line))
        assert not restored.holes
        check_same_contents(store, line.store)
        living, there = pages(line.store), pages(store)
        rounds = [page for page in living if page.startswith("round|")]
        assert [living[page]["m"] for page in rounds] == [there[page]["m"] for page in rounds]
        assert any(
            bet.is_settled_anew for bucket in store.buckets for of in bucket.rounds.values() for bet in of.values()
        )

    asyncio.run(go())


@pytest.mark.parametrize("mischief", [QUIET, CORRECTED], ids=["quiet", "corrected"])
@pytest.mark.parametrize("seed", range(2))
def test_redis_is_filled_with_the_bytes_that_it_had(redis_url: str, seed: int, mischief: Mischief) -> None:
    """Balances, bets and transfers, byte by byte: on an emptied Redis, and on one where something else was written."""

    async def go() -> None:
        prefix = f"same-{uuid.uuid4().hex[:8]}"
        line = Line(ledger=lambda: RedisLedger(redis_url, prefix=prefix))
        play = Play(tables=3, rounds=5, accounts=20, bets_per_round=12, seed=seed, mischief=mischief)
        async with line.worker() as worker:
            await worker.owns()
            await perform(script(play), MemorySender(line.broker, line.topics), opened=worker.caught_up)
            await worker.caught_up()
        living = await dump(redis_url, prefix)
        assert len(living) > 50
        for damage in ("nothing", "everything", "a balance"):
            ledger = RedisLedger(redis_url, prefix=prefix)
            redis: Redis = Redis.from_url(redis_url)
            keys = [key async for key in redis.scan_iter(match=f"{prefix}:*")]
            if damage == "everything":
                await redis.delete(*keys)
            elif damage == "a balance":
                await redis.hset(f"{prefix}:{{0}}a", "A-000001", b"nonsense")
                await redis.hset(f"{prefix}:{{0}}r:T-99|R-99", "b1", b"nonsense")
            await redis.aclose()
            if damage != "everything":
                await ledger.doubt()
            await fill_ledger(line, ledger, now_ms=latest_ms(line))
            assert await ledger.open()
            check_same(await dump(redis_url, prefix), living)
            await ledger.close()

    asyncio.run(go())
