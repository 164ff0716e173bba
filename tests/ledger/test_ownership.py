"""A source has one owner at a time: whoever was overtaken writes nothing more."""

from __future__ import annotations

from typing import TYPE_CHECKING
from zlib import crc32

import pytest

from pokdeng.events.ids import AccountId
from pokdeng.ledger.port import FencedError
from pokdeng.ledger.values import Note, Source
from tests.ledger.world import (
    FUNDS,
    GROUP,
    SOURCES,
    TABLES,
    apply,
    balance,
    deposit,
    hold,
    in_world,
    moved,
    own,
    owner,
    round_of,
    settle,
)

if TYPE_CHECKING:
    from pokdeng.ledger.values import Operation
    from tests.ledger.world import RedisWorld, World

OTHER = Source("p2")


@in_world
async def test_a_zombie_is_fenced_and_changes_nothing(world: World) -> None:
    """After a takeover every writing method of the earlier owner fails, also for one source of several."""
    old, new = world.handle(), world.handle()
    await own(old)
    bet = hold(5)
    await old.apply([deposit(1), bet])
    await new.acquire(SOURCES, group=GROUP, generation=2)
    attempts: list[list[Operation]] = [[settle(bet, 3_000)], [deposit(2)], [settle(bet, 3_000), deposit(2)]]
    for operations in attempts:
        with pytest.raises(FencedError, match="epoch"):
            await old.apply(operations)
    with pytest.raises(FencedError):
        await old.remember([Note(TABLES, "page", "field", b"value", keep_first=False, ttl_ms=None)])
    with pytest.raises(FencedError):
        await old.finish([round_of(bet)], ttl_ms=1_000)
    with pytest.raises(FencedError):
        await old.renew(SOURCES)
    assert await balance(old) == (8_000, 2_000, 2)
    assert await new.recall(["page"]) == [{}]
    assert await new.apply([bet, settle(bet, 3_000)]) == [moved(8_000, 2_000, 2, is_fresh=False), moved(11_000, 0, 3)]


@in_world
async def test_owners_of_different_sources_do_not_fence_each_other(world: World) -> None:
    """Two workers write to the same buckets and accounts by turns."""
    one, two = world.handle(), world.handle()
    await own(one)
    await own(two, sources=(OTHER,))
    await apply(one, deposit(1))
    assert await apply(one, hold(5)) == moved(8_000, 2_000, 2)
    assert await apply(two, hold(5, table="T-2", source=OTHER)) == moved(6_000, 4_000, 3)
    assert await apply(one, settle(hold(5), 0)) == moved(6_000, 2_000, 4)
    assert await apply(two, settle(hold(5, table="T-2", source=OTHER), 0)) == moved(6_000, 0, 5)


@in_world
async def test_what_was_not_acquired_cannot_be_written(world: World) -> None:
    """A handle without the source is not its owner."""
    ledger = await owner(world, sources=(FUNDS,))
    with pytest.raises(FencedError, match="p1"):
        await ledger.apply([deposit(1), hold(5)])
    assert await balance(ledger) == (0, 0, 0)


@in_world
async def test_an_older_generation_cannot_acquire(world: World) -> None:
    """A member of an earlier generation comes too late; the present owner goes on."""
    old, new = world.handle(), world.handle()
    await own(new, generation=7)
    with pytest.raises(FencedError, match="generation 7"):
        await old.acquire(SOURCES, group=GROUP, generation=6)
    assert await apply(new, deposit(1)) == moved(10_000, 0, 1)


@in_world
async def test_the_same_member_may_acquire_again(world: World) -> None:
    """A restart with the same generation takes over from its former self."""
    before, after = world.handle(), world.handle()
    await own(before, generation=3)
    await after.acquire(SOURCES, group=GROUP, generation=3)
    with pytest.raises(FencedError):
        await apply(before, deposit(1))
    assert await apply(after, deposit(1)) == moved(10_000, 0, 1)


@in_world
async def test_another_group_waits_for_the_lease(world: World) -> None:
    """It is refused while the lease lives, whatever its generation, and needs nothing but its end."""
    first, second = world.handle(), world.handle()
    await own(first, generation=9)
    with pytest.raises(FencedError, match=GROUP):
        await second.acquire(SOURCES, group="others", generation=50)
    assert await apply(first, deposit(1)) == moved(10_000, 0, 1)
    await world.expire()
    await second.acquire(SOURCES, group="others", generation=1)
    with pytest.raises(FencedError):
        await apply(first, deposit(2))
    assert await apply(second, deposit(2)) == moved(20_000, 0, 2)


@in_world
async def test_a_renewed_lease_keeps_other_groups_out(world: World) -> None:
    """Renewing begins the lease anew, also where it had run out."""
    first, second = world.handle(), world.handle()
    await own(first)
    await world.expire()
    await first.renew(SOURCES)
    with pytest.raises(FencedError):
        await second.acquire([FUNDS], group="others", generation=1)


@in_world
async def test_a_released_source_is_free_at_once(world: World) -> None:
    """Another group need not wait; who released can no longer write."""
    first, second = world.handle(), world.handle()
    await own(first)
    await first.release(SOURCES)
    with pytest.raises(FencedError):
        await apply(first, deposit(1))
    await second.acquire(SOURCES, group="others", generation=1)
    assert await apply(second, deposit(1)) == moved(10_000, 0, 1)


@in_world
async def test_a_zombie_cannot_release_what_is_anothers(world: World) -> None:
    """Its release is silent and leaves the new owner's lease alone."""
    old, new, third = world.handle(), world.handle(), world.handle()
    await own(old)
    await new.acquire(SOURCES, group=GROUP, generation=2)
    await old.release(SOURCES)
    with pytest.raises(FencedError):
        await third.acquire(SOURCES, group="others", generation=1)
    assert await apply(new, deposit(1)) == moved(10_000, 0, 1)


@in_world
async def test_sources_may_be_acquired_one_after_the_other(world: World) -> None:
    """A later acquire of more sources leaves the earlier ones owned."""
    ledger = world.handle()
    await own(ledger, sources=(FUNDS,))
    await ledger.acquire([TABLES], group=GROUP, generation=1)
    answers = await ledger.apply([deposit(1), hold(5)])
    assert answers == [moved(10_000, 0, 1), moved(8_000, 2_000, 2)]


@in_world
async def test_owners_come_and_go_and_every_bet_is_moved_once(world: World) -> None:
    """Ten takeovers, each new owner reads the last records again: the books hold."""
    bets = [hold(at, 10, bet_id=f"b{at}") for at in range(40)]
    ledger = await owner(world)
    await apply(ledger, deposit(1))
    for generation in range(2, 12):
        end = 4 * (generation - 1)
        batch = bets[max(0, end - 6) : end]
        await ledger.apply([*batch, *[settle(bet, 0) for bet in batch[:3]]])
        ledger = world.handle()
        await ledger.acquire(SOURCES, group=GROUP, generation=generation)
    answers = await ledger.apply([*bets, *[settle(bet, 0) for bet in bets]])
    assert not any(answer.is_fresh for answer in answers[:40])
    assert await balance(ledger) == (10_000 - 40 * 20, 0, 81)


@in_world
async def test_an_epoch_never_falls(redis_world: RedisWorld) -> None:
    """Where the bucket that gives epochs out was set back, the next one is above all that the others have seen."""
    ledger = await owner(redis_world)
    home = crc32(FUNDS.encode()) % redis_world.buckets
    metas = [f"{redis_world.prefix}:{{{bucket}}}m" for bucket in range(redis_world.buckets)]
    for bucket, meta in enumerate(metas):
        if bucket != home:
            await redis_world.put(meta, f"e:{FUNDS}", "50")
    await ledger.acquire([FUNDS], group=GROUP, generation=1)
    assert [int(await redis_world.get(meta, f"e:{FUNDS}")) for meta in metas] == [51] * redis_world.buckets
    accounts = [AccountId(f"A-{number}") for number in range(20)]
    answers = await ledger.apply([deposit(at, account=account) for at, account in enumerate(accounts)])
    assert all(answer.is_fresh for answer in answers)
