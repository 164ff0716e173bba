"""A bet that is reversed and settled anew: one step, two sequence numbers, once per revision. Source: O12, O14."""

from __future__ import annotations

import asyncio
import random
from typing import TYPE_CHECKING

import pytest

from pokdeng.events.ids import AccountId
from pokdeng.events.reasons import BetReason, TransferReason
from pokdeng.ledger.port import FencedError, LedgerCorruptError, LedgerLostError
from pokdeng.ledger.values import LARGEST_MINOR, BetState, Status
from tests.ledger.test_memory_of_bets import recorded
from tests.ledger.world import (
    MemoryWorld,
    RedisWorld,
    apply,
    balance,
    deposit,
    hold,
    in_world,
    moved,
    own,
    owner,
    planted,
    refuse,
    refused,
    revise,
    round_of,
    said,
    settle,
    withdraw,
    withdrawal,
)

if TYPE_CHECKING:
    from pokdeng.ledger.port import Ledger
    from pokdeng.ledger.values import Answer, Hold, Revise
    from tests.ledger.world import LedgerAndMore, World

TWO = AccountId("A-2")


async def settled(world: World, returned: int = 3_000) -> tuple[LedgerAndMore, Hold]:
    """A-1 has one settled bet, of which 2,000 were taken."""
    ledger = await owner(world)
    bet = hold(5)
    await ledger.apply([deposit(1), bet, settle(bet, returned)])
    return ledger, bet


async def once(ledger: Ledger, one: Revise) -> Answer:
    """Revise one bet."""
    (answer,) = await ledger.revise([one])
    return answer


@in_world
async def test_a_reversal_and_what_follows_are_one_step_with_two_sequence_numbers(world: World) -> None:
    """O12: reversed 3,000 and refunded 2,000; the answer is after both."""
    ledger, bet = await settled(world)
    assert await balance(ledger) == (11_000, 0, 3)
    assert await once(ledger, revise(bet, 3_000, 2_000)) == moved(10_000, 0, 5)
    assert await balance(ledger) == (10_000, 0, 5)


@in_world
async def test_a_revision_again_gives_its_first_answer(world: World) -> None:
    """However the account has moved since, under a later owner too; nothing moves again."""
    ledger, bet = await settled(world)
    first = await once(ledger, revise(bet, 3_000, 1_000))
    assert first == moved(9_000, 0, 5)
    await ledger.apply([deposit(2, 70)])
    assert await once(ledger, revise(bet, 3_000, 1_000)) == first._replace(is_fresh=False)
    later = await owner(world, generation=2)
    assert await once(later, revise(bet, 3_000, 1_000)) == first._replace(is_fresh=False)
    assert await balance(ledger) == (9_070, 0, 6)


@in_world
async def test_winnings_already_spent_leave_the_account_overdrawn(world: World) -> None:
    """O14: below zero nothing more is taken, corrections always go through, deposits lead back."""
    ledger, bet = await settled(world)
    assert await apply(ledger, withdrawal(2, 10_500)) == moved(500, 0, 4)
    assert await once(ledger, revise(bet, 3_000, 1_000)) == moved(-1_500, 0, 6)
    assert await apply(ledger, hold(6, 1, bet_id="b2")) == refused(BetReason.INSUFFICIENT_FUNDS)
    assert await apply(ledger, withdrawal(3, 1)) == refused(TransferReason.INSUFFICIENT_FUNDS)
    assert await balance(ledger) == (-1_500, 0, 6)
    assert await once(ledger, revise(bet, 1_000, 3_000, revision=3)) == moved(500, 0, 8)
    assert await once(ledger, revise(bet, 3_000, 1_000, revision=4)) == moved(-1_500, 0, 10)
    assert await ledger.apply([deposit(4, 1_500), deposit(5, 2), hold(7, 1, bet_id="b3")]) == [
        moved(0, 0, 11),
        moved(2, 0, 12),
        moved(0, 2, 13),
    ]


@in_world
async def test_an_overdrawn_account_settles_and_withdraws_what_it_holds(world: World) -> None:
    """Settlements, cancels and revisions go through below zero."""
    ledger, bet = await settled(world)
    other, third = hold(6, bet_id="b2"), hold(7, bet_id="b3")
    await ledger.apply([other, third, withdrawal(2, 7_000)])
    assert await once(ledger, revise(bet, 3_000, 0)) == moved(-3_000, 4_000, 8)
    assert await apply(ledger, settle(other, 500)) == moved(-2_500, 2_000, 9)
    assert await apply(ledger, withdraw(third, 9)) == moved(-500, 0, 10)


@in_world
async def test_a_bet_keeps_its_latest_revision_and_what_that_reversed(world: World) -> None:
    """And all that it was."""
    ledger, bet = await settled(world)
    for number, (before, returned) in enumerate(((3_000, 1_000), (1_000, 0), (0, 3_000)), 2):
        await once(ledger, revise(bet, before, returned, revision=number))
        (found,) = await ledger.round_bets([round_of(bet)])
        assert found == (recorded(bet, BetState.SETTLED, returned=returned, revision=number, reversed_=before),)


@in_world
async def test_a_revised_bet_still_knows_its_own_record_a_copy_and_a_conflict(world: World) -> None:
    """Its hold is answered as the first time; a cancel finds nothing that stands."""
    ledger, bet = await settled(world)
    await once(ledger, revise(bet, 3_000, 1_000))
    assert await ledger.apply(
        [bet, bet._replace(offset=9), hold(9, 2_500), refuse(bet), withdraw(bet, 9), settle(bet, 3_000, account=TWO)]
    ) == [
        moved(8_000, 2_000, 2, is_fresh=False),
        said(Status.DUPLICATE),
        said(Status.CONFLICT),
        moved(8_000, 2_000, 2, is_fresh=False),
        said(Status.ABSENT),
        said(Status.ABSENT),
    ]


@in_world
async def test_what_was_settled_anew_is_not_settled_in_an_earlier_revision(world: World) -> None:
    """The first may be asked for again only while nothing has followed it: its round is not said then."""
    ledger, bet = await settled(world)
    assert await apply(ledger, settle(bet, 3_000)) == moved(11_000, 0, 3, is_fresh=False)
    await once(ledger, revise(bet, 3_000, 1_000))
    for revision in (1, 2, 3):
        with pytest.raises(LedgerCorruptError, match="anew"):
            await apply(ledger, settle(bet, 3_000, revision=revision))
    assert await balance(ledger) == (9_000, 0, 5)


@pytest.mark.parametrize(
    ("before", "returned", "revision"),
    [
        (3_000, 1_000, 0),
        (3_000, 1_000, 1),
        (3_000, 1_000, 2**24),
        (3_000, 1_000, 3),
        (2_999, 1_000, 2),
        (0, 1_000, 2),
        (-1, 1_000, 2),
        (3_000, -1, 2),
        (3_000, LARGEST_MINOR + 1, 2),
        (LARGEST_MINOR + 1, 0, 2),
    ],
)
@in_world
async def test_what_does_not_follow_is_corrupt(world: World, before: int, returned: int, revision: int) -> None:
    """A gap, another amount than was returned, no amount: nothing of the call is applied."""
    ledger, bet = await settled(world)
    other = hold(6, bet_id="b2")
    await ledger.apply([other, settle(other, 0)])
    stands = await balance(ledger)
    with pytest.raises(LedgerCorruptError):
        await ledger.revise([revise(other, 0, 1), revise(bet, before, returned, revision=revision)])
    assert await balance(ledger) == stands
    assert await once(ledger, revise(bet, 3_000, 1_000)) == moved(7_000, 0, 7)


@pytest.mark.parametrize(("before", "returned"), [(3_000, 1_001), (3_001, 1_000), (2_999, 999)])
@in_world
async def test_a_revision_has_one_result_for_ever(world: World, before: int, returned: int) -> None:
    """Asked for again with other amounts it is corrupt; so is an older one."""
    ledger, bet = await settled(world)
    await once(ledger, revise(bet, 3_000, 1_000))
    with pytest.raises(LedgerCorruptError):
        await once(ledger, revise(bet, before, returned))
    await once(ledger, revise(bet, 1_000, 0, revision=3))
    with pytest.raises(LedgerCorruptError):
        await once(ledger, revise(bet, 3_000, 1_000))
    assert await balance(ledger) == (8_000, 0, 7)


@in_world
async def test_only_a_settled_bet_is_revised(world: World) -> None:
    """Not one that is unknown, refused, withdrawn, still held, another account's or of a lost account."""
    ledger = await owner(world)
    held, gone, no = hold(5), hold(6, bet_id="b2"), hold(7, bet_id="b3")
    await ledger.apply([deposit(1), held, gone, withdraw(gone, 8), refuse(no)])
    stands = await balance(ledger)
    attempts = [revise(bet, 0, 0) for bet in (held, gone, no, hold(9, bet_id="b4"))]
    await apply(ledger, settle(held, 3_000))
    for one in (*attempts[1:], revise(held, 3_000, 0, account=AccountId("A-1x"))):
        with pytest.raises(LedgerCorruptError):
            await once(ledger, one)
    assert await balance(ledger) == (stands[0] + 3_000, 0, stands[2] + 1)


@pytest.mark.parametrize(
    ("available", "held", "returned"),
    [
        (LARGEST_MINOR - 2_000, 0, 5_001),
        (LARGEST_MINOR - 5_000, 3_001, 5_000),
        (-LARGEST_MINOR + 2_999, 0, 3_000),
        (-5_000, LARGEST_MINOR - 1_999, 0),
    ],
)
@in_world
async def test_no_sum_passes_the_exact_numbers(world: World, available: int, held: int, returned: int) -> None:
    """Above or below, in between or after: refused, and nothing changed or rounded."""
    ledger, bet = await settled(world)
    await world.plant(planted(available, held, 7))
    with pytest.raises(LedgerCorruptError):
        await once(ledger, revise(bet, 3_000, returned))
    assert await balance(ledger) == (available, held, 7)


@in_world
async def test_the_largest_numbers_are_exact(world: World) -> None:
    """Every digit, from one end to the other."""
    ledger, bet = await settled(world, returned=0)
    await world.plant(planted(LARGEST_MINOR - 2_000, 0, 3))
    assert await once(ledger, revise(bet, 0, 2_000)) == moved(LARGEST_MINOR, 0, 5)
    await world.plant(planted(-LARGEST_MINOR + 2_000, 5, 5))
    assert await once(ledger, revise(bet, 2_000, 0, revision=3)) == moved(-LARGEST_MINOR, 5, 7)
    assert await once(ledger, revise(bet, 2_000, 0, revision=3)) == moved(-LARGEST_MINOR, 5, 7, is_fresh=False)


@in_world
async def test_a_corrupt_account_stops_the_call(world: World) -> None:
    """Nothing of it is applied in that bucket."""
    ledger, bet = await settled(world)
    await world.plant(planted(11_000, -1, 3))
    with pytest.raises(LedgerCorruptError, match="A-1"):
        await once(ledger, revise(bet, 3_000, 0))
    await world.plant(planted(11_000, 0, 3))
    assert await once(ledger, revise(bet, 3_000, 0)) == moved(8_000, 0, 5)


@in_world
async def test_many_bets_of_many_rounds_in_their_order(world: World) -> None:
    """Across buckets and beyond one script call, an account's movements in the order that was asked."""
    ledger = await owner(world)
    accounts = [AccountId(f"A-{number}") for number in range(12)]
    await ledger.apply([deposit(at, account=account) for at, account in enumerate(accounts)])
    bets = [hold(at, 1, bet_id=f"b{at}", account=accounts[at % 12], round_=f"R-{at // 1200}") for at in range(3_600)]
    await ledger.apply(bets)
    await ledger.apply([settle(bet, 3) for bet in bets])
    asked = [revise(bet, 3, 1) for bet in bets] + [revise(bet, 1, 2, revision=3) for bet in bets[:50]]
    answers = await ledger.revise(asked)
    after = dict.fromkeys(accounts, (10000 + 300, 0, 601))
    for one, answer in zip(asked, answers, strict=True):
        available, held, sequence = after[one.account]
        after[one.account] = (available - one.reversed + one.returned, held, sequence + 2)
        assert answer == moved(*after[one.account])
    assert [answer._replace(is_fresh=True) for answer in await ledger.revise(asked[50:3_600])] == answers[50:3_600]


@in_world
async def test_a_revision_is_fenced_and_counted_as_an_apply(world: World) -> None:
    """An earlier owner is kept out, and a store that lost a revision is found out before the next write."""
    ledger, bet = await settled(world)
    await world.keep()
    await once(ledger, revise(bet, 3_000, 1_000))
    await world.set_back()
    with pytest.raises(LedgerLostError, match="behind"):
        await ledger.apply([hold(6, bet_id="b2")])
    with pytest.raises(LedgerLostError, match="behind"):
        await once(ledger, revise(bet, 3_000, 1_000))
    later = await owner(world, generation=2)
    with pytest.raises(FencedError):
        await once(ledger, revise(bet, 3_000, 1_000))
    assert await once(later, revise(bet, 3_000, 1_000)) == moved(9_000, 0, 5)


@in_world
async def test_a_round_that_is_kept_lives_until_it_is_finished_again(world: World) -> None:
    """Its time to live is taken away, and set anew."""
    ledger, bet = await settled(world)
    await ledger.finish([round_of(bet)], ttl_ms=60_000)
    await ledger.keep([round_of(bet), round_of(hold(1, round_="R-none"))])
    await world.expire()
    assert await once(ledger, revise(bet, 3_000, 1_000)) == moved(9_000, 0, 5)
    await ledger.finish([round_of(bet)], ttl_ms=60_000)
    await world.expire()
    assert await ledger.round_bets([round_of(bet)]) == [()]
    with pytest.raises(LedgerCorruptError):
        await once(ledger, revise(bet, 1_000, 0, revision=3))


@in_world
async def test_nothing_to_revise_is_nothing(world: World) -> None:
    """No call, no answer."""
    ledger = await owner(world)
    assert await ledger.revise([]) == []


@pytest.mark.parametrize("seed", range(4))
@in_world
async def test_both_ledgers_revise_alike(redis_world: RedisWorld, seed: int) -> None:
    """Random revisions, right and wrong, with the same again and takeovers: the same answers, accounts and records."""
    chance = random.Random(seed)
    memory_world = MemoryWorld()
    pair: list[LedgerAndMore] = [memory_world.handle(), redis_world.handle()]
    accounts = [AccountId(f"A-{number}") for number in range(5)]
    bets = [hold(at, chance.choice((1, 100, 10**11)), bet_id=f"b{at}", account=chance.choice(accounts),
                 round_=f"R-{at // 20}") for at in range(60)]  # fmt: skip
    paid = [chance.choice((0, bet.taken, bet.taken + bet.stake)) for bet in bets]
    for ledger in pair:
        await own(ledger)
        await ledger.apply([deposit(at, 10**13, account=account) for at, account in enumerate(accounts)])
        await ledger.apply([*bets, *[settle(bet, gave) for bet, gave in zip(bets, paid, strict=True)]])
    last = [(1, 0, gave) for gave in paid]
    for step in range(60):
        asked = []
        for at in sorted(chance.sample(range(60), chance.randrange(1, 12))):
            revision, reversed_, gave = last[at]
            kind = chance.random()
            if kind < 0.2 and revision > 1:
                asked.append(revise(bets[at], reversed_, gave, revision=revision))
            elif kind < 0.21:
                asked.append(revise(bets[at], gave + 1, 0, revision=revision + 1))
            else:
                last[at] = (revision + 1, gave, chance.choice((0, bets[at].taken, 3 * bets[at].stake)))
                asked.append(revise(bets[at], gave, last[at][2], revision=revision + 1))
        told = [await _told(ledger, asked) for ledger in pair]
        assert told[0] == told[1]
        if chance.random() < 0.1:
            pair = [memory_world.handle(), redis_world.handle()]
            for ledger in pair:
                await own(ledger, generation=step + 2)
        if told[0] is LedgerCorruptError:
            (found,) = await asyncio.gather(pair[0].round_bets([round_of(bet) for bet in bets[::20]]))
            records = {record.bet_id: record for some in found for record in some}
            last = [(records[bet.bet_id].revision, records[bet.bet_id].reversed, records[bet.bet_id].returned)
                    for bet in bets]  # fmt: skip
    rounds = [round_of(bet) for bet in bets[::20]]
    assert await pair[0].round_bets(rounds) == await pair[1].round_bets(rounds)
    assert [one async for one in pair[0].accounts()] == [one async for one in pair[1].accounts()]


async def _told(ledger: Ledger, asked: list[Revise]) -> list[Answer] | type[LedgerCorruptError]:
    try:
        return await ledger.revise(asked)
    except LedgerCorruptError:
        return LedgerCorruptError
