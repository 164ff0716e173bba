"""Redis Cluster of three masters: buckets spread over them, slots moved under load. The contract runs over it, too."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from pokdeng.events.ids import AccountId
from pokdeng.ledger.port import LedgerLostError, LedgerUnavailableError
from pokdeng.ledger.restoring import Standing
from tests.ledger.cluster import redis_cluster
from tests.ledger.world import GROUP, SOURCES, ClusterWorld, balance, deposit, hold, in_world, moved, own, owner

if TYPE_CHECKING:
    from pokdeng.ledger.values import Operation
    from tests.ledger.world import LedgerAndMore

ACCOUNTS = [AccountId(f"A-{number}") for number in range(200)]


def deposits(first: int) -> list[Operation]:
    """One for each account."""
    return [deposit(first + at, 10, account=account) for at, account in enumerate(ACCOUNTS)]


async def total(ledger: LedgerAndMore) -> int:
    """What all accounts hold."""
    return sum([account.available async for account in ledger.accounts()])


@in_world
async def test_buckets_lie_on_all_masters_and_each_is_its_own() -> None:
    """One apply moves accounts on every master; another handle, asked at another node, finds them."""
    async with redis_cluster() as cluster:
        world = ClusterWorld(cluster.url)
        ledger = await owner(world)
        assert [answer[3:] for answer in await ledger.apply(deposits(0))] == [(10, 0, 1)] * len(ACCOUNTS)
        counts = [await master.ask("DBSIZE") for master in cluster.masters]
        assert all(count > 0 for count in counts), counts
        other = world.handle(url=f"redis://127.0.0.1:{cluster.masters[2].port}/0")
        assert await other.open()
        assert await total(other) == 10 * len(ACCOUNTS)
        assert await other.restoring().standing() is Standing.SOUND
        await world.close()


@in_world
async def test_a_moved_slot_is_followed_and_doubted_until_it_was_verified() -> None:
    """The bucket is found where it is now; as its server is another, nothing is written before somebody has looked."""
    async with redis_cluster() as cluster:
        world = ClusterWorld(cluster.url)
        ledger = await owner(world)
        await ledger.apply(deposits(0))
        for bucket in range(0, world.buckets, 5):
            await cluster.move(f"{world.prefix}:{{{bucket}}}m")
        with pytest.raises(LedgerLostError, match="check"):
            await ledger.apply(deposits(1_000))
        assert await ledger.restoring().standing() is Standing.DOUBTFUL
        await ledger.accept_incarnation()
        await ledger.acquire(SOURCES, group=GROUP, generation=2)
        again = await ledger.apply(deposits(1_000))
        assert {answer.status for answer in again} == {"moved"}
        assert await total(ledger) == 20 * len(ACCOUNTS)
        await world.close()


@in_world
async def test_slots_that_move_under_load_lose_and_double_nothing() -> None:
    """Every bucket moves while deposits are applied; whoever is told to look, looks and goes on: each is there once."""
    async with redis_cluster() as cluster:
        world = ClusterWorld(cluster.url)
        ledger = await owner(world)
        await ledger.apply(deposits(0))

        async def move_all() -> None:
            for bucket in range(world.buckets):
                await cluster.move(f"{world.prefix}:{{{bucket}}}m")

        moving = asyncio.create_task(move_all())
        rounds, doubts, generation = 0, 0, 1
        while not moving.done() or rounds < 20:
            rounds += 1
            has_applied = is_doubted = False
            while not has_applied:
                if moving.done():
                    moving.result()
                try:
                    if is_doubted:
                        generation += 1
                        await ledger.accept_incarnation()
                        await ledger.acquire(SOURCES, group=GROUP, generation=generation)
                    await ledger.apply(deposits(rounds * 1_000))
                    has_applied = True
                except (LedgerLostError, LedgerUnavailableError):
                    is_doubted = True
                    doubts += 1
        await moving
        assert doubts > 0
        assert await total(ledger) == 10 * len(ACCOUNTS) * (rounds + 1)
        assert {(await balance(ledger, account))[2] for account in ACCOUNTS[:10]} == {rounds + 1}
        await world.close()


@in_world
async def test_a_node_that_forgot_its_scripts_costs_nothing_but_time() -> None:
    """SCRIPT FLUSH on one master of three: its part of the pipeline fails, all of it is sent again, once."""
    async with redis_cluster() as cluster:
        world = ClusterWorld(cluster.url)
        ledger = world.handle()
        await own(ledger)
        await ledger.apply(deposits(0))
        await cluster.masters[1].ask("SCRIPT FLUSH")
        await ledger.apply(deposits(1_000))
        assert await total(ledger) == 20 * len(ACCOUNTS)
        hold_answer = (await ledger.apply([hold(5, 5, account=ACCOUNTS[0])]))[0]
        assert hold_answer == moved(10, 10, 3)
        await world.close()
