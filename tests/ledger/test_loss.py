"""A store that lost what it acknowledged is noticed before anything is written (COLD, CHECK, BEHIND)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from pokdeng.ledger.port import LedgerError, LedgerLostError
from pokdeng.ledger.values import Note, Source
from tests.ledger.world import (
    GROUP,
    ONE,
    SOURCES,
    TABLES,
    apply,
    balance,
    deposit,
    hold,
    in_world,
    moved,
    name_of,
    own,
    owner,
    round_of,
)

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from tests.ledger.world import LedgerAndMore, RedisWorld, World

OTHER = Source("p2")

WRITING: dict[str, Callable[[LedgerAndMore], Awaitable[object]]] = {
    "apply": lambda ledger: ledger.apply([deposit(9)]),
    "acquire": lambda ledger: ledger.acquire(SOURCES, group=GROUP, generation=1),
    "renew": lambda ledger: ledger.renew(SOURCES),
    "finish": lambda ledger: ledger.finish([round_of(hold(1))], ttl_ms=1_000),
    "remember": lambda ledger: ledger.remember([Note(TABLES, "page", "x", b"", keep_first=True, ttl_ms=None)]),
}
READING: dict[str, Callable[[LedgerAndMore], Awaitable[object]]] = {
    "account": lambda ledger: ledger.account(ONE),
    "find_bets": lambda ledger: ledger.find_bets([name_of(hold(1))]),
    "round_bets": lambda ledger: ledger.round_bets([round_of(hold(1))]),
    "recall": lambda ledger: ledger.recall(["page"]),
    "accounts": lambda ledger: anext(ledger.accounts()),
}


@pytest.mark.parametrize("method", [*WRITING, *READING])
@in_world
async def test_an_emptied_store_is_cold_not_zero(world: World, method: str) -> None:
    """Nothing is read as zero or written anew where there was something."""
    ledger = await owner(world)
    await apply(ledger, deposit(1))
    await world.empty()
    with pytest.raises(LedgerLostError) as caught:
        await (WRITING | READING)[method](ledger)
    assert caught.value.cause == "cold"
    assert not await world.handle().open()


@pytest.mark.parametrize("method", WRITING)
@in_world
async def test_another_incarnation_refuses_all_writers(world: World, method: str) -> None:
    """Until somebody has verified it, who may read meanwhile."""
    ledger = await owner(world)
    await apply(ledger, deposit(1))
    await world.restart()
    with pytest.raises(LedgerLostError) as caught:
        await WRITING[method](ledger)
    assert caught.value.cause == "check"
    assert await balance(ledger) == (10_000, 0, 1)
    assert await world.handle().open()


@in_world
async def test_an_accepted_incarnation_takes_writers_again(world: World) -> None:
    """Also those that were there before, where nothing was lost."""
    ledger = await owner(world)
    await apply(ledger, deposit(1))
    await world.restart()
    await world.handle().accept_incarnation()
    assert await apply(ledger, deposit(2)) == moved(20_000, 0, 2)


@in_world
async def test_an_empty_store_cannot_be_accepted(world: World) -> None:
    """There is nothing to verify, and nothing is made of it."""
    ledger = await owner(world)
    await world.empty()
    with pytest.raises(LedgerLostError, match="cold"):
        await ledger.accept_incarnation()
    assert not await ledger.open()


@in_world
async def test_a_store_set_back_is_behind(world: World) -> None:
    """An acknowledged call is missing: nothing is written on top of the hole, by any call of that source."""
    ledger = await owner(world)
    await apply(ledger, deposit(1))
    await world.keep()
    await apply(ledger, hold(5))
    await world.set_back()
    with pytest.raises(LedgerLostError) as caught:
        await apply(ledger, hold(6, bet_id="b2"))
    assert caught.value.cause == "behind"
    assert await balance(ledger) == (10_000, 0, 1)


@in_world
async def test_calls_of_others_do_not_hide_a_loss(world: World) -> None:
    """Each source has its own counter: a busy neighbour cannot lift that of the loser."""
    loser, neighbour = await owner(world), world.handle()
    await own(neighbour, sources=(OTHER,))
    await apply(loser, deposit(1))
    await world.keep()
    await apply(loser, hold(5))
    await world.set_back()
    for at in range(5):
        await apply(neighbour, hold(at, 10, bet_id=f"n{at}", table="T-2", source=OTHER))
    with pytest.raises(LedgerLostError, match="behind"):
        await apply(loser, hold(6, bet_id="b2"))


@in_world
async def test_repeated_calls_do_not_hide_a_loss(world: World) -> None:
    """Sending the same again counts once, however often an owner does it before."""
    ledger = await owner(world)
    await apply(ledger, deposit(1))
    for _ in range(3):
        await apply(ledger, hold(5))
    await world.keep()
    await apply(ledger, hold(6, bet_id="b2"))
    await world.set_back()
    with pytest.raises(LedgerLostError, match="behind"):
        await apply(ledger, hold(7, bet_id="b3"))


@in_world
async def test_a_bucket_that_has_forgotten_a_source_is_cold(redis_world: RedisWorld) -> None:
    """As after a rebuild that knows the accounts but no owners: they acquire anew before they write."""
    ledger = await owner(redis_world)
    await apply(ledger, deposit(1))
    for bucket in range(redis_world.buckets):
        meta = f"{redis_world.prefix}:{{{bucket}}}m"
        await redis_world.redis.hdel(meta, *[f"{what}:{source}" for what in "ecg" for source in SOURCES])
    with pytest.raises(LedgerLostError, match="cold"):
        await apply(ledger, deposit(2))
    await ledger.acquire(SOURCES, group=GROUP, generation=1)
    assert await apply(ledger, deposit(2)) == moved(20_000, 0, 2)


@in_world
async def test_a_new_owner_counts_from_what_is_there(world: World) -> None:
    """After a verified restore owners acquire anew and go on."""
    ledger = await owner(world)
    await apply(ledger, deposit(1))
    await world.keep()
    await apply(ledger, hold(5))
    await world.set_back()
    await ledger.acquire(SOURCES, group=GROUP, generation=1)
    assert await apply(ledger, hold(5)) == moved(8_000, 2_000, 2)


@in_world
async def test_another_number_of_buckets_is_refused(world: World) -> None:
    """The number is that of creation for ever: accounts would not be found."""
    await owner(world)
    for buckets in (world.buckets - 1, world.buckets + 1, 2 * world.buckets):
        world.buckets = buckets
        with pytest.raises(LedgerError, match="buckets"):
            await world.handle().open()
    world.buckets = 4


@in_world
async def test_creating_again_changes_nothing(world: World) -> None:
    """Open says what is there; create is idempotent."""
    ledger = world.handle()
    assert not await ledger.open()
    await ledger.create()
    assert await ledger.open()
    await ledger.acquire(SOURCES, group=GROUP, generation=1)
    await apply(ledger, deposit(1))
    await world.handle().create()
    assert await balance(ledger) == (10_000, 0, 1)


@in_world
async def test_a_ledger_that_was_never_created_takes_nothing(world: World) -> None:
    """Acquiring makes no bucket."""
    ledger = world.handle()
    with pytest.raises(LedgerLostError) as caught:
        await ledger.acquire(SOURCES, group=GROUP, generation=1)
    assert caught.value.cause == "cold"
    assert not await ledger.open()
