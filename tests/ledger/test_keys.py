"""All keys of one script call lie in one slot, whatever the ids are (O11)."""

from __future__ import annotations

import pytest
from redis.crc import key_slot

from pokdeng.events.ids import AccountId
from pokdeng.events.reasons import BetReason
from pokdeng.ledger.embedded import embedded_server
from pokdeng.ledger.encoding import calls_of
from pokdeng.ledger.port import LedgerError
from pokdeng.ledger.redis_ledger import RedisLedger
from pokdeng.ledger.values import Note, Operation, bucket_of
from tests.ledger.world import (
    TABLES,
    RedisWorld,
    deposit,
    hold,
    in_world,
    moved,
    name_of,
    owner,
    refuse,
    round_of,
    settle,
    withdraw,
    withdrawal,
)

ACCOUNTS = [AccountId(name) for name in ("A-1", "a", "0", "x.y:z_-", "9" * 64, "A" * 64, "A.1", "A:1", "A_1")]


def everything() -> list[Operation]:
    """Each kind of operation on each account."""
    operations: list[Operation] = []
    for at, account in enumerate(ACCOUNTS):
        bets = [
            hold(10 * at + k, 10, bet_id=f"b:{at}.{k}", account=account, table="T:_.-", round_="R" * 64)
            for k in (1, 2, 3)
        ]
        operations += [deposit(2 * at, account=account), withdrawal(2 * at + 1, 10, account=account), *bets]
        operations += [
            settle(bets[0], 30),
            withdraw(bets[1], 10 * at + 5),
            refuse(hold(10 * at + 6, bet_id=f"r{at}", account=account), BetReason.ROUND_UNKNOWN),
        ]
    return operations


@pytest.mark.parametrize("buckets", [1, 16, 64])
def test_the_keys_of_a_call_share_a_slot(buckets: int) -> None:
    """O11: for every form of id that the contract allows."""
    calls = calls_of(everything(), lambda account: bucket_of(account, buckets))
    for call in calls:
        assert len({key_slot(key.encode()) for key in call.keys("pokdeng")}) == 1
    assert {call.bucket for call in calls} == {bucket_of(account, buckets) for account in ACCOUNTS}


@pytest.mark.parametrize("prefix", ["a{b", "a}b", "{a}"])
def test_a_prefix_cannot_part_the_keys_of_a_bucket(prefix: str) -> None:
    """The first brace of a key is that of its bucket."""
    with pytest.raises(LedgerError, match="brace"):
        RedisLedger("redis://127.0.0.1:1", prefix=prefix)


@in_world
async def test_a_cluster_takes_every_call() -> None:
    """In cluster mode the server itself refuses a key of another slot, declared or not."""
    async with embedded_server({"cluster-enabled": "yes"}) as server:
        world = RedisWorld(server.url, buckets=16)
        await world.redis.execute_command("CLUSTER ADDSLOTSRANGE", 0, 16383)
        ledger = await owner(world)
        answers = await ledger.apply(everything())
        assert answers[0] == moved(10_000, 0, 1)
        assert {answer.status for answer in answers} == {"moved", "refused"}
        await ledger.remember(
            [Note(TABLES, f"page/{at}", "x", b"1", keep_first=True, ttl_ms=9_000) for at in range(40)]
        )
        await ledger.finish([round_of(hold(1)), round_of(hold(1, round_="R-2"))], ttl_ms=60_000)
        await ledger.renew([TABLES])
        assert await ledger.recall(["page/7"]) == [{"x": b"1"}]
        assert await ledger.find_bets([name_of(hold(1, bet_id="r0"))]) != [()]
        await ledger.release([TABLES])
        slots: dict[bytes, set[int]] = {}
        for key in await world.keys():
            slots.setdefault(key[: key.index(b"}") + 1], set()).add(key_slot(key))
        assert all(len(found) == 1 for found in slots.values())
        await world.close()
