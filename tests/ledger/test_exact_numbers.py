"""Every digit of every amount, and nothing at all where a stored value cannot be trusted (O08, O09)."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import pytest

from pokdeng.events.ids import AccountId, Minor
from pokdeng.events.reasons import BetReason
from pokdeng.ledger.encoding import encode_account
from pokdeng.ledger.port import LedgerCorruptError
from pokdeng.ledger.values import LARGEST_MINOR
from tests.ledger.world import (
    ONE,
    RedisWorld,
    apply,
    balance,
    deposit,
    hold,
    in_world,
    moved,
    owner,
    planted,
    refused,
    round_of,
    settle,
    withdraw,
    withdrawal,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from pokdeng.ledger.values import Operation
    from tests.ledger.world import World

TWO = AccountId("A-2")
SOUND = encode_account(planted(8_000, 2_000, 2))


@in_world
async def test_fifteen_digits_stay_exact(world: World) -> None:
    """100000000000001, less 2000, plus 3000: in the answers and in the store (O09)."""
    ledger = await owner(world)
    bet = hold(5)
    answers = await ledger.apply([deposit(1, 10**14), deposit(2, 1), bet, settle(bet, 3_000)])
    assert [answer.available for answer in answers] == [10**14, 100000000000001, 99999999998001, 100000000001001]
    assert await balance(ledger) == (100000000001001, 0, 4)
    assert (await apply(ledger, bet)).available == 99999999998001


@in_world
async def test_one_unit_too_little_is_too_little(world: World) -> None:
    """Available 100000000000000 does not pay for 100000000000001 (O09)."""
    ledger = await owner(world)
    bet = hold(5)._replace(taken=Minor(100000000000001))
    await ledger.apply([deposit(1, 100000000000000)])
    assert await apply(ledger, bet) == refused(BetReason.INSUFFICIENT_FUNDS)


@in_world
async def test_a_balance_may_reach_the_largest_number(world: World) -> None:
    """9007199254739991, a bet and its win end at 2^53 - 1 (O09)."""
    ledger = await owner(world)
    await world.plant(planted(9007199254739991, 0, 1))
    bet = hold(5)
    assert await apply(ledger, bet) == moved(9007199254737991, 2_000, 2)
    assert await apply(ledger, settle(bet, 3_000)) == moved(9007199254740991, 0, 3)
    assert await balance(ledger) == (LARGEST_MINOR, 0, 3)
    assert await ledger.apply([bet, settle(bet, 3_000)]) == [
        moved(9007199254737991, 2_000, 2, is_fresh=False),
        moved(9007199254740991, 0, 3, is_fresh=False),
    ]


@in_world
async def test_a_win_beyond_the_largest_number_is_refused_not_rounded(world: World) -> None:
    """From 9007199254739992 the win would pass 2^53 - 1: nothing changes, and no mark is left (O09)."""
    ledger = await owner(world)
    await world.plant(planted(9007199254739992, 0, 1))
    bet = hold(5)
    assert await apply(ledger, bet) == moved(9007199254737992, 2_000, 2)
    for _ in range(2):
        with pytest.raises(LedgerCorruptError, match="A-1"):
            await apply(ledger, settle(bet, 3_000))
    assert await balance(ledger) == (9007199254737992, 2_000, 2)
    assert await apply(ledger, settle(bet, 2_999)) == moved(LARGEST_MINOR, 0, 3)


@in_world
async def test_numbers_around_four_bytes_are_exact(world: World) -> None:
    """Answers are stored in four bytes a number or more; the border changes nothing."""
    ledger = await owner(world)
    border = 2**32
    around = (border + step for step in (-2_001, -2_000, -1_003, -1_002, -1_000, -999, -1, 0, 1))
    for at, available in enumerate(around):
        account = AccountId(f"B-{at}")
        await world.plant(planted(available, 0, 1, account=account))
        bet = hold(5, account=account, bet_id=f"b{at}")
        first = await ledger.apply([bet, settle(bet, 3_000)])
        assert first == [moved(available - 2_000, 2_000, 2), moved(available + 1_000, 0, 3)]
        assert await ledger.apply([bet, settle(bet, 3_000)]) == [answer._replace(is_fresh=False) for answer in first]


@in_world
async def test_an_overdrawn_account_takes_settlements_and_deposits_only(world: World) -> None:
    """After a reversal of spent money available is negative: bets and withdrawals have no funds (promise 3)."""
    ledger = await owner(world)
    bet = hold(5)
    await ledger.apply([deposit(1), bet])
    await world.plant(planted(-2_500, 2_000, 5))
    assert await ledger.apply([hold(6, 1, bet_id="b2"), withdrawal(2, 1)]) == [
        refused(BetReason.INSUFFICIENT_FUNDS),
        refused(BetReason.INSUFFICIENT_FUNDS),
    ]
    assert await apply(ledger, settle(bet, 1_000)) == moved(-1_500, 0, 6)
    assert await apply(ledger, settle(bet, 1_000)) == moved(-1_500, 0, 6, is_fresh=False)
    assert await apply(ledger, deposit(3, 1_500)) == moved(0, 0, 7)


@pytest.mark.parametrize(
    ("available", "held", "sequence"),
    [
        (8_000, -1, 2),
        (9223372036854775800, 0, 2),
        (LARGEST_MINOR, 1, 2),
        (LARGEST_MINOR + 1, 0, 2),
        (-LARGEST_MINOR - 1, 0, 2),
        (-2_000, LARGEST_MINOR + 1, 2),
        (8_000, 2_000, 0),
        (8_000, 2_000, LARGEST_MINOR + 1),
    ],
)
@in_world
async def test_an_unsound_balance_stops_everything(world: World, available: int, held: int, sequence: int) -> None:
    """No operation on the account is applied, and reading it fails too (O08)."""
    ledger = await owner(world)
    bet = hold(5)
    await ledger.apply([deposit(1), bet])
    await world.plant(planted(available, held, sequence))
    operations: list[Operation] = [settle(bet, 3_000), withdraw(bet, 9), hold(6, bet_id="b2"), deposit(2)]
    for operation in operations:
        with pytest.raises(LedgerCorruptError, match="A-1"):
            await apply(ledger, operation)
    with pytest.raises(LedgerCorruptError, match="A-1"):
        await ledger.account(ONE)
    await world.plant(planted(8_000, 2_000, 2))
    assert await apply(ledger, settle(bet, 3_000)) == moved(11_000, 0, 3)


@in_world
async def test_a_corrupt_account_leaves_no_half_of_another(world: World) -> None:
    """A-1 sound, A-2 corrupt, both settled at once: each wholly or not at all; once after the repair (O08)."""
    ledger = await owner(world)
    one, two = hold(5), hold(6, bet_id="b2", account=TWO)
    settlements = [settle(one, 3_000), settle(two, 3_000)]
    await ledger.apply([deposit(1), deposit(2, account=TWO), one, two])
    await world.plant(planted(8_000, -5, 2, account=TWO))
    with pytest.raises(LedgerCorruptError, match="A-2"):
        await ledger.apply(settlements)
    assert await balance(ledger) in ((8_000, 2_000, 2), (11_000, 0, 3))
    await world.plant(planted(8_000, 2_000, 2, account=TWO))
    answers = await ledger.apply(settlements)
    assert [answer[3:] for answer in answers] == [(11_000, 0, 3), (11_000, 0, 3)]
    assert await balance(ledger) == (11_000, 0, 3)
    assert await balance(ledger, TWO) == (11_000, 0, 3)


@in_world
async def test_a_held_amount_that_is_missing_is_corrupt(world: World) -> None:
    """Held less than what the bet has taken, or no account at all under a bet: nothing is paid."""
    ledger = await owner(world)
    bet = hold(5)
    await ledger.apply([deposit(1), bet])
    await world.plant(planted(8_000, 1_999, 2))
    for operation in (settle(bet, 3_000), withdraw(bet, 6)):
        with pytest.raises(LedgerCorruptError, match="A-1"):
            await apply(ledger, operation)
    assert await balance(ledger) == (8_000, 1_999, 2)


@pytest.mark.parametrize("amount", [-1, 2**53, 2**60])
@in_world
async def test_an_amount_out_of_range_stops_the_call(world: World, amount: int) -> None:
    """A negative amount or one that a Lua number cannot hold is nobody's to apply."""
    ledger = await owner(world)
    bet = hold(5)
    await ledger.apply([deposit(1), bet])
    strange: list[Operation] = [
        settle(bet, amount),
        hold(6, bet_id="b2")._replace(taken=Minor(amount)),
        deposit(7, amount),
        withdrawal(8, amount),
    ]
    for operation in strange:
        with pytest.raises(LedgerCorruptError):
            await apply(ledger, operation)
    assert await balance(ledger) == (8_000, 2_000, 2)


@pytest.mark.parametrize("revision", [0, -1, 2**24])
@in_world
async def test_a_revision_out_of_range_stops_the_call(world: World, revision: int) -> None:
    """Revisions count from 1, in three bytes."""
    ledger = await owner(world)
    bet = hold(5)
    await ledger.apply([deposit(1), bet])
    with pytest.raises(LedgerCorruptError, match="revision"):
        await apply(ledger, settle(bet, 0, revision=revision))
    assert await apply(ledger, settle(bet, 0, revision=2**24 - 1)) == moved(8_000, 0, 3)


@pytest.mark.parametrize("raw", [b"8000:text:2", b"", SOUND[:-1], SOUND + b"x"])
@in_world
async def test_text_in_the_place_of_a_balance_is_corrupt(redis_world: RedisWorld, raw: bytes) -> None:
    """`held` corrupted to text: no change, no mark, an error that names the account; sound again, once (O08)."""
    ledger = await owner(redis_world)
    bet = hold(5)
    await ledger.apply([deposit(1), bet])
    await redis_world.plant_raw(ONE, raw)
    with pytest.raises(LedgerCorruptError, match="A-1"):
        await apply(ledger, settle(bet, 3_000))
    with pytest.raises(LedgerCorruptError, match="A-1"):
        await ledger.account(ONE)
    await redis_world.plant(planted(8_000, 2_000, 2))
    assert await apply(ledger, settle(bet, 3_000)) == moved(11_000, 0, 3)


def with_state(state: int, raw: bytes) -> bytes:
    """The record in another state."""
    return bytes([state]) + raw[1:]


DAMAGES: dict[str, Callable[[bytes], bytes]] = {
    **{f"cut at {at}": partial(lambda at, raw: raw[:at], at) for at in (0, 1, 27, 28, 33, 45)},
    "one byte more": lambda raw: raw + b"x",
    "an end too many": lambda raw: raw + b"\0" * 25,
    "no answer at all": lambda raw: raw[:3] + b"\0" + raw[4:31],
    "longer name": lambda raw: raw[:2] + bytes([raw[2] + 1]) + raw[3:],
    "no answer": lambda raw: raw[:3] + b"\0" + raw[4:],
    "negative taken": lambda raw: raw[:21] + b"\xff" * 7 + raw[28:],
}


HELD_DAMAGES = DAMAGES | {f"state {state}": partial(with_state, state) for state in (0, 3, 4, 5, 255)}
SETTLED_DAMAGES = (
    DAMAGES
    | {f"state {state}": partial(with_state, state) for state in (0, 1, 2, 5, 255)}
    | {f"cut at {at}": partial(lambda at, raw: raw[:at], at) for at in (46, 56, 57, 70)}
)


@pytest.mark.parametrize("damage", HELD_DAMAGES)
@in_world
async def test_a_damaged_record_of_a_held_bet_is_corrupt(redis_world: RedisWorld, damage: str) -> None:
    """A record that lost its end, grew or was changed is not read as another bet."""
    await damage_and_repair(redis_world, HELD_DAMAGES[damage], is_settled=False)


@pytest.mark.parametrize("damage", SETTLED_DAMAGES)
@in_world
async def test_a_damaged_record_of_a_settled_bet_is_corrupt(redis_world: RedisWorld, damage: str) -> None:
    """The same once the record has an end."""
    await damage_and_repair(redis_world, SETTLED_DAMAGES[damage], is_settled=True)


async def damage_and_repair(redis_world: RedisWorld, damage: Callable[[bytes], bytes], *, is_settled: bool) -> None:
    """Nothing goes through while the record is damaged, and all is as it was once it is repaired."""
    ledger = await owner(redis_world)
    bet = hold(5)
    await ledger.apply([deposit(1), bet, *([settle(bet, 3_000)] if is_settled else [])])
    key = redis_world.key(ONE, "r:T-1|R-1")
    whole = await redis_world.get(key, "b1")
    await redis_world.put(key, "b1", damage(whole))
    for operation in (bet, settle(bet, 3_000), withdraw(bet, 6)):
        with pytest.raises(LedgerCorruptError, match="b1"):
            await apply(ledger, operation)
    with pytest.raises(LedgerCorruptError, match="b1"):
        await ledger.round_bets([round_of(bet)])
    await redis_world.put(key, "b1", whole)
    assert await apply(ledger, settle(bet, 3_000)) == moved(11_000, 0, 3, is_fresh=not is_settled)


@pytest.mark.parametrize("raw", [b"\x93\x01", b"\x93\x01\x02\x03", b"\x01", b""])
@in_world
async def test_a_damaged_transfer_is_corrupt(redis_world: RedisWorld, raw: bytes) -> None:
    """A transfer's record that cannot be read stops the call, and the transfer is not done again."""
    ledger = await owner(redis_world)
    await apply(ledger, deposit(1, transfer="X"))
    await redis_world.redis.set(redis_world.key(ONE, f"t:d:{ONE}|X"), raw)
    with pytest.raises(LedgerCorruptError, match="X"):
        await apply(ledger, deposit(1, transfer="X"))
    assert await balance(ledger) == (10_000, 0, 1)


@in_world
async def test_a_key_of_another_kind_is_corrupt(redis_world: RedisWorld) -> None:
    """A text where a hash belongs stops the call before it writes."""
    ledger = await owner(redis_world)
    await apply(ledger, deposit(1))
    await redis_world.redis.set(redis_world.key(ONE, "r:T-1|R-1"), "x")
    with pytest.raises(LedgerCorruptError, match="WRONGTYPE"):
        await ledger.apply([deposit(2), hold(5)])
    assert await balance(ledger) == (10_000, 0, 1)
