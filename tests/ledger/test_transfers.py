"""What becomes of deposits and withdrawals: each moves money once, also when its record has long expired."""

from __future__ import annotations

import pytest

from pokdeng.events.ids import AccountId, Currency
from pokdeng.events.reasons import BetReason, TransferReason
from pokdeng.ledger.values import Source, Status
from tests.ledger.world import (
    FUNDS,
    SOURCES,
    RedisWorld,
    World,
    apply,
    balance,
    deposit,
    hold,
    in_world,
    moved,
    own,
    owner,
    refused,
    said,
    withdrawal,
)

EUR = Currency("EUR")


@in_world
async def test_deposits_and_withdrawals_move_money(world: World) -> None:
    """The first deposit makes the account."""
    ledger = await owner(world)
    assert await ledger.account(AccountId("A-1")) is None
    answers = await ledger.apply([deposit(1, 100), withdrawal(2, 30), withdrawal(3, 70), deposit(4, 5)])
    assert answers == [moved(100, 0, 1), moved(70, 0, 2), moved(0, 0, 3), moved(5, 0, 4)]


@in_world
async def test_the_very_record_gets_its_first_answer(world: World) -> None:
    """Whatever the balance has become since."""
    ledger = await owner(world)
    records = [deposit(1, 100), withdrawal(2, 30), withdrawal(3, 71)]
    expected = [moved(100, 0, 1), moved(70, 0, 2), refused(TransferReason.INSUFFICIENT_FUNDS)]
    assert await ledger.apply(records) == expected
    await ledger.apply([deposit(4, 900)])
    again = [answer._replace(is_fresh=False) for answer in expected]
    assert await ledger.apply(records) == again
    assert await ledger.apply(records + records) == again + again
    assert await balance(ledger) == (970, 0, 3)


@in_world
async def test_a_copy_is_a_duplicate_and_other_content_a_conflict(world: World) -> None:
    """Of a transfer that moved and of one that was refused."""
    ledger = await owner(world)
    await ledger.apply([deposit(1, 100, transfer="X"), withdrawal(2, 500, transfer="Y")])
    copies = [
        deposit(3, 100, transfer="X"),
        deposit(4, 101, transfer="X"),
        deposit(5, 100, transfer="X", currency=EUR),
        withdrawal(6, 500, transfer="Y"),
        withdrawal(7, 50, transfer="Y"),
    ]
    expected = [
        said(Status.DUPLICATE),
        said(Status.CONFLICT),
        said(Status.CONFLICT),
        said(Status.DUPLICATE),
        said(Status.CONFLICT),
    ]
    assert await ledger.apply(copies) == expected
    assert await balance(ledger) == (100, 0, 1)


@in_world
async def test_a_deposit_and_a_withdrawal_may_share_an_id(world: World) -> None:
    """Their ids are apart, and so are those of two accounts."""
    ledger = await owner(world)
    two = AccountId("A-2")
    answers = await ledger.apply(
        [
            deposit(1, 100, transfer="X"),
            withdrawal(2, 100, transfer="X"),
            deposit(3, 100, transfer="X", account=two),
        ]
    )
    assert answers == [moved(100, 0, 1), moved(0, 0, 2), moved(100, 0, 1)]


@in_world
async def test_the_first_credited_deposit_gives_the_currency(world: World) -> None:
    """Before it, a withdrawal has no funds whatever its currency; after it, another currency is a mismatch."""
    ledger = await owner(world)
    answers = await ledger.apply(
        [
            withdrawal(1, 1, currency=EUR),
            deposit(2, 10**15 + 1, currency=EUR),
            deposit(3, 100),
            deposit(4, 100, currency=EUR),
            withdrawal(5, 1, currency=EUR),
            withdrawal(6, 101),
        ]
    )
    assert answers == [
        refused(TransferReason.INSUFFICIENT_FUNDS),
        refused(TransferReason.AMOUNT_OUT_OF_RANGE),
        moved(100, 0, 1),
        refused(TransferReason.CURRENCY_MISMATCH),
        refused(TransferReason.CURRENCY_MISMATCH),
        refused(TransferReason.INSUFFICIENT_FUNDS),
    ]


@in_world
async def test_a_deposit_counts_what_is_held_against_its_limit(world: World) -> None:
    """Available and held together may reach 10^15 by a deposit, and not pass it."""
    ledger = await owner(world)
    await ledger.apply([deposit(1, 10**15 - 1_000), hold(1)])
    assert await ledger.apply([deposit(2, 1_001), deposit(3, 1_000), deposit(4, 1)]) == [
        refused(TransferReason.AMOUNT_OUT_OF_RANGE),
        moved(10**15 - 2_000, 2_000, 3),
        refused(TransferReason.AMOUNT_OUT_OF_RANGE),
    ]


@in_world
async def test_a_reason_found_beforehand_is_remembered(world: World) -> None:
    """It moves nothing, makes no account, and is the answer for ever."""
    ledger = await owner(world)
    record = deposit(1, 100, refused=TransferReason.AMOUNT_OUT_OF_RANGE)
    assert await apply(ledger, record) == refused(TransferReason.AMOUNT_OUT_OF_RANGE)
    assert await apply(ledger, record._replace(refused=None)) == refused(
        TransferReason.AMOUNT_OUT_OF_RANGE, is_fresh=False
    )
    assert await ledger.account(AccountId("A-1")) is None
    assert await apply(ledger, hold(1)) == refused(BetReason.INSUFFICIENT_FUNDS)


@in_world
async def test_an_expired_transfer_never_moves_money_again(world: World) -> None:
    """At or below the highest applied offset of its source it is forgotten; above it is new."""
    ledger = await owner(world)
    records = [deposit(1, 100), deposit(2, 100), deposit(3, 1, account=AccountId("A-2"))]
    await ledger.apply(records)
    await world.expire()
    assert await ledger.apply(records) == [said(Status.FORGOTTEN)] * 3
    assert await ledger.apply([deposit(4, 5), deposit(2, 100)]) == [moved(205, 0, 3), said(Status.FORGOTTEN)]


@in_world
async def test_a_duplicate_counts_as_applied_offset(world: World) -> None:
    """What was seen as a copy stays a copy after the record has expired."""
    ledger = await owner(world)
    copy = deposit(9, 100, transfer="X")
    await ledger.apply([deposit(1, 100, transfer="X"), copy])
    await world.expire()
    assert await apply(ledger, copy) == said(Status.FORGOTTEN)
    assert await balance(ledger) == (100, 0, 1)


@in_world
async def test_each_source_has_its_own_highest_offset(world: World) -> None:
    """A low offset of another funds partition is new there."""
    ledger = await owner(world, sources=(*SOURCES, Source("f2")))
    two = AccountId("A-2")
    await ledger.apply([deposit(100, 100)])
    assert await apply(ledger, deposit(3, 7, account=two, source=Source("f2"))) == moved(7, 0, 1)


@in_world
async def test_a_hundred_deposits_are_a_hundred_movements(world: World) -> None:
    """Twenty at a time, after a settlement: 11000/0/3 becomes 11100/0/103 (O06)."""
    ledger = await owner(world)
    await ledger.apply([deposit(0, 10_000), deposit(1, 500), deposit(2, 500)])
    for first in range(3, 103, 20):
        await ledger.apply([deposit(offset, 1) for offset in range(first, first + 20)])
    assert await balance(ledger) == (11_100, 0, 103)


@pytest.mark.parametrize("buckets", [1, 3])
@in_world
async def test_money_goes_where_it_is_sent_with_any_number_of_buckets(world: World, buckets: int) -> None:
    """Balances do not depend on how accounts are spread."""
    world.buckets = buckets
    ledger = world.handle()
    await own(ledger, sources=(FUNDS,))
    accounts = [AccountId(f"A-{number}") for number in range(20)]
    await ledger.apply([deposit(at, at + 1, account=account) for at, account in enumerate(accounts)])
    assert {found.account: found.available async for found in ledger.accounts()} == {
        account: at + 1 for at, account in enumerate(accounts)
    }


@in_world
async def test_a_transfer_is_remembered_for_the_configured_time(redis_world: RedisWorld) -> None:
    """Redis ends it by itself; bets and accounts have no end."""
    ledger = redis_world.handle(transfer_ttl_ms=1_000_000)
    await own(ledger)
    await ledger.apply([deposit(1), withdrawal(2, 10**6), hold(1)])
    left = {key: await redis_world.redis.pttl(key) for key in await redis_world.keys() if b"}l:" not in key}
    assert sum(990_000 < ttl <= 1_000_000 for ttl in left.values()) == 2
    assert {ttl for key, ttl in left.items() if b"}t:" not in key} == {-1}
