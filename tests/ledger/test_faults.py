"""Connections break, answers are lost or late, servers restart: money moves once all the same."""

from __future__ import annotations

import asyncio
import socket
import struct
import threading
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING

import pytest
import uvloop

from pokdeng.events.ids import AccountId
from pokdeng.events.reasons import BetReason
from pokdeng.ledger.embedded import embedded_server
from pokdeng.ledger.lua import script
from pokdeng.ledger.port import LedgerError, LedgerLostError, LedgerUnavailableError
from pokdeng.ledger.redis_ledger import RedisLedger
from pokdeng.ledger.values import Source, Status
from tests.ledger.proxy import Fault, proxy_before
from tests.ledger.world import (
    FIRST,
    GROUP,
    SOURCES,
    RedisWorld,
    apply,
    balance,
    deposit,
    hold,
    in_world,
    moved,
    own,
    owner,
    refused,
    settle,
)

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from pokdeng.ledger.values import Operation
    from tests.ledger.proxy import Proxy

BET = hold(5)
BEFORE: list[Operation] = [deposit(1), BET]


@asynccontextmanager
async def behind_a_proxy(
    world: RedisWorld, *, timeout_ms: int = 2_000, retry_budget_ms: int = 5_000
) -> AsyncIterator[tuple[RedisLedger, Proxy]]:
    """An owner whose connection leads through a proxy."""
    async with proxy_before(world.url.removeprefix("unix://")) as proxy:
        ledger = world.handle(url=proxy.url, timeout_ms=timeout_ms, retry_budget_ms=retry_budget_ms)
        await own(ledger)
        yield ledger, proxy
        proxy.release.set()
        await ledger.close()


@pytest.mark.parametrize(
    ("before", "operation", "after"),
    [
        ([deposit(1, 1_000)], deposit(2, 100), (1_100, 0, 2)),
        ([deposit(1)], BET, (8_000, 2_000, 2)),
        (BEFORE, settle(BET, 3_000), (11_000, 0, 3)),
    ],
)
@in_world
async def test_a_lost_reply_moves_money_once(
    redis_world: RedisWorld, before: list[Operation], operation: Operation, after: tuple[int, int, int]
) -> None:
    """The server did the work, the answer is lost: it is asked again and says the same (O04)."""
    async with behind_a_proxy(redis_world) as (ledger, proxy):
        await ledger.apply(before)
        proxy.fault = Fault.DROP_REPLY
        assert await apply(ledger, operation) == moved(*after, is_fresh=False)
        assert not proxy.is_armed
        assert await balance(ledger) == after


@in_world
async def test_a_call_sent_twice_does_not_hide_a_later_loss(redis_world: RedisWorld) -> None:
    """It counts once: the loss of the next one is noticed (BEHIND)."""
    async with behind_a_proxy(redis_world) as (ledger, proxy):
        await apply(ledger, deposit(1))
        proxy.fault = Fault.DROP_REPLY
        await apply(ledger, BET)
        await redis_world.keep()
        await apply(ledger, hold(6, bet_id="b2"))
        await redis_world.set_back()
        with pytest.raises(LedgerLostError, match="behind"):
            await apply(ledger, hold(7, bet_id="b3"))


@in_world
async def test_a_late_reply_moves_money_once(redis_world: RedisWorld) -> None:
    """The client's patience ends before the answer comes: 1100/0/2, not 2100 (O04)."""
    async with behind_a_proxy(redis_world, timeout_ms=60) as (ledger, proxy):
        await apply(ledger, deposit(1, 1_000))
        proxy.fault = Fault.HOLD_REPLY
        assert await apply(ledger, deposit(2, 100)) == moved(1_100, 0, 2, is_fresh=False)
        proxy.release.set()
        assert await apply(ledger, deposit(3, 100)) == moved(1_200, 0, 3)


@pytest.mark.parametrize("cut_at", [1, 100, 700, 2_000, 4_000, 8_000])
@in_world
async def test_a_torn_pipeline_is_sent_again_as_a_whole(redis_world: RedisWorld, cut_at: int) -> None:
    """Some of its calls ran, some did not: each account ends as if all had run once."""
    accounts = [AccountId(f"A-{number}") for number in range(40)]
    bets = [hold(at, 10, bet_id=f"b{at}", account=accounts[at % 40], round_=f"R-{at % 3}") for at in range(160)]
    async with behind_a_proxy(redis_world) as (ledger, proxy):
        await ledger.apply([deposit(at, account=account) for at, account in enumerate(accounts)])
        proxy.fault, proxy.cut_at = Fault.CUT_REQUEST, cut_at
        answers = await ledger.apply(bets)
        assert not proxy.is_armed
        assert [answer[3:] for answer in answers] == [
            (10_000 - 20 * (1 + at // 40), 20 * (1 + at // 40), 2 + at // 40) for at in range(160)
        ]


@in_world
async def test_a_cancelled_call_leaves_no_answer_behind(redis_world: RedisWorld) -> None:
    """The next call gets its own answers, not those that the cancelled one did not wait for."""
    async with behind_a_proxy(redis_world) as (ledger, proxy):
        await apply(ledger, deposit(1))
        proxy.fault = Fault.HOLD_REPLY
        task = asyncio.create_task(ledger.apply([deposit(2, 7)]))
        await proxy.held.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        proxy.release.set()
        assert await apply(ledger, BET) == moved(8_007, 2_000, 3)
        assert await apply(ledger, deposit(2, 7)) == moved(10_007, 0, 2, is_fresh=False)


@in_world
async def test_an_emptied_script_cache_costs_nothing_but_time(redis_world: RedisWorld) -> None:
    """Deposits of 10, 5 and 100 while the scripts are flushed: 115/0/3, each credited once (O10)."""
    ledger = await owner(redis_world)
    for at, amount in enumerate((10, 5, 100)):
        await redis_world.redis.script_flush()
        assert (await apply(ledger, deposit(at, amount))).is_fresh
    assert await balance(ledger) == (115, 0, 3)


@pytest.mark.parametrize("count", [200, 2_500])
@in_world
async def test_one_unknown_script_in_a_pipeline_does_not_part_it_from_its_neighbours(
    redis_world: RedisWorld, count: int
) -> None:
    """The first call fails with NOSCRIPT, the others run, or find it missing (GAP): all moves once, in order (O10)."""
    accounts = [AccountId("A-1")] if count > 1_000 else [AccountId(f"A-{number}") for number in range(20)]
    deposits = [deposit(at, at + 1, account=accounts[at % len(accounts)]) for at in range(count)]
    sha = script("apply").sha.encode()
    async with behind_a_proxy(redis_world) as (ledger, proxy):
        proxy.fault, proxy.old, proxy.new = Fault.REPLACE_IN_REQUEST, sha, b"0" * 40
        answers = await ledger.apply(deposits)
        assert not proxy.is_armed
        assert [answer.sequence for answer in answers] == [1 + at // len(accounts) for at in range(count)]
        total = sum([account.available async for account in ledger.accounts()])
        assert total == count * (count + 1) // 2


@in_world
async def test_fifty_concurrent_settlements_pay_once(redis_world: RedisWorld) -> None:
    """From two owners at once: one applied, 49 known; then two bets for the same money: one accepted (O06)."""
    one, two = redis_world.handle(), redis_world.handle()
    other = Source("p2")
    await own(one)
    await own(two, sources=(other,))
    await one.apply(BEFORE)

    async def settle_often(ledger: RedisLedger, source: Source) -> int:
        return sum([(await apply(ledger, settle(BET._replace(source=source), 3_000))).is_fresh for _ in range(25)])

    assert sum(await asyncio.gather(settle_often(one, BET.source), settle_often(two, other))) == 1
    assert await balance(one) == (11_000, 0, 3)

    await apply(one, deposit(2, account=AccountId("A-2")))
    rivals = [
        hold(7, 3_000, bet_id="x", account=AccountId("A-2")),
        hold(8, 3_000, bet_id="y", account=AccountId("A-2"), table="T-2", source=other),
    ]
    answers = await asyncio.gather(apply(one, rivals[0]), apply(two, rivals[1]))
    assert sorted(answer.status for answer in answers) == [Status.MOVED, Status.REFUSED]
    assert await balance(one, AccountId("A-2")) == (4_000, 6_000, 2)
    await apply(one, deposit(3, account=AccountId("A-2")))
    again = [await apply(one, rivals[0]), await apply(two, rivals[1])]
    assert again == [answer._replace(is_fresh=False) for answer in answers]
    assert await balance(one, AccountId("A-2")) == (14_000, 6_000, 3)


@in_world
async def test_a_silent_server_is_unavailable_within_the_budget(redis_world: RedisWorld) -> None:
    """Nothing answers: the caller is told, and the same operations go through later."""
    async with behind_a_proxy(redis_world, timeout_ms=30, retry_budget_ms=50) as (ledger, proxy):
        await apply(ledger, deposit(1))
        proxy.is_silent = True
        with pytest.raises(LedgerUnavailableError, match="50 ms"):
            await apply(ledger, BET)
        proxy.is_silent = False
        proxy.release.set()
        assert (await apply(ledger, BET))[3:] == (8_000, 2_000, 2)


@pytest.mark.parametrize("how", ["stop", "kill"])
@in_world
async def test_a_restarted_server_is_checked_before_it_is_written(how: str) -> None:
    """Its append-only file keeps what was acknowledged, but nobody knows before it was verified (CHECK)."""
    async with embedded_server() as server:
        world = RedisWorld(server.url)
        ledger = await owner(world)
        await ledger.apply(BEFORE)
        await (server.stop() if how == "stop" else server.kill())
        short = world.handle(timeout_ms=50, retry_budget_ms=50)
        with pytest.raises(LedgerUnavailableError):
            await short.open()
        await server.start()
        assert await ledger.open()
        with pytest.raises(LedgerLostError, match="check"):
            await apply(ledger, settle(BET, 3_000))
        assert await balance(ledger) == (8_000, 2_000, 2)
        await ledger.accept_incarnation()
        await ledger.acquire(SOURCES, group=GROUP, generation=1)
        assert await apply(ledger, settle(BET, 3_000)) == moved(11_000, 0, 3)
        await world.close()


@in_world
async def test_a_flushed_server_is_cold() -> None:
    """FLUSHALL on a server of our own: no balance is read as zero, no deposit begins anew."""
    async with embedded_server() as server:
        world = RedisWorld(server.url)
        ledger = await owner(world)
        await ledger.apply(BEFORE)
        await world.redis.flushall()
        with pytest.raises(LedgerLostError, match="cold"):
            await apply(ledger, deposit(2))
        assert await world.keys() == []
        await world.close()


@pytest.mark.parametrize("policy", ["allkeys-lru", "volatile-ttl"])
@in_world
async def test_a_server_that_may_evict_is_refused(policy: str) -> None:
    """A ledger that loses keys under pressure is none."""
    async with embedded_server({"maxmemory": "64mb", "maxmemory-policy": policy}) as server:
        world = RedisWorld(server.url)
        with pytest.raises(LedgerError, match=policy):
            await world.handle().open()
        await world.close()


@in_world
async def test_a_full_server_applies_nothing_of_a_call() -> None:
    """Out of memory before its first write a call is refused as a whole; with room again it goes through once."""
    async with embedded_server({"maxmemory": "64mb"}) as server:
        world = RedisWorld(server.url)
        ledger = world.handle(retry_budget_ms=50)
        await own(ledger)
        await ledger.apply([deposit(1)])
        await world.redis.config_set("maxmemory", "1mb")
        with pytest.raises(LedgerUnavailableError, match="memory"):
            await ledger.apply([BET, settle(BET, 3_000)])
        assert await balance(ledger) == (FIRST, 0, 1)
        await world.redis.config_set("maxmemory", "64mb")
        assert await ledger.apply([BET, settle(BET, 3_000)]) == [moved(8_000, 2_000, 2), moved(11_000, 0, 3)]
        await world.close()


@in_world
async def test_a_refused_bet_stays_refused_when_its_reply_was_lost(redis_world: RedisWorld) -> None:
    """The reason is in the record, not in the balance of the second asking."""
    async with behind_a_proxy(redis_world) as (ledger, proxy):
        proxy.fault = Fault.DROP_REPLY
        assert await apply(ledger, BET) == refused(BetReason.INSUFFICIENT_FUNDS, is_fresh=False)
        await apply(ledger, deposit(1))
        assert await apply(ledger, BET) == refused(BetReason.INSUFFICIENT_FUNDS, is_fresh=False)


def test_a_server_that_hangs_up_at_once_is_one_that_does_not_answer() -> None:
    """At the very first question, on uvloop as workers run: no error of its own kind, which would end the worker."""

    def hang_up(listener: socket.socket) -> None:
        with suppress(OSError):
            while True:
                connection, _ = listener.accept()
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))  # by a reset
                connection.close()

    async def run(port: int) -> None:
        for _ in range(200):  # who is first, the end or the question, is a race
            ledger = RedisLedger(f"redis://127.0.0.1:{port}/0", timeout_ms=500, retry_budget_ms=1)
            with pytest.raises(LedgerUnavailableError):
                await ledger.open()
            await ledger.close()

    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=hang_up, args=(listener,), daemon=True)
        thread.start()
        uvloop.run(run(listener.getsockname()[1]))
        listener.shutdown(socket.SHUT_RDWR)
    thread.join()
