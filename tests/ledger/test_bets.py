"""What becomes of bets: each is decided once and ended once, and every record gets its first answer again."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from pokdeng.events.ids import AccountId, Currency
from pokdeng.events.reasons import BetReason
from pokdeng.ledger.port import LedgerCorruptError
from pokdeng.ledger.values import Status, bucket_of
from pokdeng.rules import Bet
from tests.ledger.world import (
    ONE,
    apply,
    balance,
    deposit,
    hold,
    in_world,
    moved,
    owner,
    refuse,
    refused,
    said,
    settle,
    withdraw,
)

if TYPE_CHECKING:
    from pokdeng.ledger.values import Hold, Operation
    from tests.ledger.world import World


@in_world
async def test_a_bet_is_held_and_settled(world: World) -> None:
    """A win moves what was taken into held, and back with the winnings."""
    ledger = await owner(world)
    bet = hold(5)
    assert await apply(ledger, deposit(1)) == moved(10_000, 0, 1)
    assert await apply(ledger, bet) == moved(8_000, 2_000, 2)
    assert await apply(ledger, settle(bet, 3_000)) == moved(11_000, 0, 3)
    assert await balance(ledger) == (11_000, 0, 3)


@in_world
async def test_a_settlement_sees_the_hold_of_the_same_call(world: World) -> None:
    """Operations of one call build on each other in order."""
    ledger = await owner(world)
    bet = hold(5)
    answers = await ledger.apply([deposit(1), bet, settle(bet, 0)])
    assert answers == [moved(10_000, 0, 1), moved(8_000, 2_000, 2), moved(8_000, 0, 3)]


@in_world
async def test_the_very_record_gets_its_first_answer_whatever_came_after(world: World) -> None:
    """A hold read again says the account as it was right after it, settled or not; the settlement likewise."""
    ledger = await owner(world)
    bet, other = hold(5), hold(6, bet_id="b2")
    await ledger.apply([deposit(1), bet])
    assert await apply(ledger, bet) == moved(8_000, 2_000, 2, is_fresh=False)
    await ledger.apply([settle(bet, 3_000), other])
    again: list[Operation] = [deposit(1), bet, settle(bet, 3_000), other]
    expected = [
        moved(10_000, 0, 1, is_fresh=False),
        moved(8_000, 2_000, 2, is_fresh=False),
        moved(11_000, 0, 3, is_fresh=False),
        moved(9_000, 2_000, 4, is_fresh=False),
    ]
    assert await ledger.apply(again) == expected
    assert await ledger.apply([*again, *again]) == expected * 2
    assert await balance(ledger) == (9_000, 2_000, 4)


@in_world
async def test_a_copy_is_a_duplicate_and_other_content_a_conflict(world: World) -> None:
    """The same id at another offset moves nothing, whether it says the same or not, in the same call or later."""
    ledger = await owner(world)
    bet = hold(5)
    copies: list[Operation] = [
        hold(6),
        refuse(hold(6)),
        hold(7, 2_500),
        hold(8, bet=Bet.PLAYER_2),
        hold(9, currency=Currency("EUR")),
        refuse(hold(10, 2_500)),
    ]
    expected = [said(Status.DUPLICATE), said(Status.DUPLICATE), *[said(Status.CONFLICT)] * 4]
    await apply(ledger, deposit(1))
    assert (await ledger.apply([bet, *copies]))[1:] == expected
    assert await ledger.apply(copies) == expected
    assert await balance(ledger) == (8_000, 2_000, 2)
    await ledger.apply([settle(bet, 3_000)])
    assert await ledger.apply(copies) == expected
    assert await balance(ledger) == (11_000, 0, 3)


@in_world
async def test_another_account_of_the_bucket_cannot_take_over_a_bet(world: World) -> None:
    """A bet id under another account is a conflict, and its settlement and cancel do not stand."""
    ledger = await owner(world)
    other = next(
        name
        for name in (AccountId(f"B-{number}") for number in range(100))
        if bucket_of(name, world.buckets) == bucket_of(ONE, world.buckets)
    )
    bet = hold(5)
    await ledger.apply([deposit(1), deposit(2, account=other), bet])
    assert await ledger.apply([hold(6, account=other), settle(bet, 9, account=other)]) == [
        said(Status.CONFLICT),
        said(Status.ABSENT),
    ]
    assert await apply(ledger, withdraw(bet, 7, account=other)) == said(Status.ABSENT)
    assert await balance(ledger, other) == (10_000, 0, 1)
    assert await balance(ledger) == (8_000, 2_000, 2)


@in_world
async def test_the_same_bet_id_in_another_round_is_another_bet(world: World) -> None:
    """Ids name within table and round."""
    ledger = await owner(world)
    bets = [hold(5), hold(6, round_="R-2"), hold(7, table="T-2")]
    answers = await ledger.apply([deposit(1), *bets])
    assert [answer.status for answer in answers] == [Status.MOVED] * 4
    assert await balance(ledger) == (4_000, 6_000, 4)


@in_world
async def test_a_refusal_is_remembered_before_a_deposit_changes_the_account(world: World) -> None:
    """Decided without funds stays refused, for that record and for its copies."""
    ledger = await owner(world)
    bet = hold(5)
    assert await apply(ledger, bet) == refused(BetReason.INSUFFICIENT_FUNDS)
    await apply(ledger, deposit(1))
    assert await ledger.apply([bet, hold(6)]) == [
        refused(BetReason.INSUFFICIENT_FUNDS, is_fresh=False),
        said(Status.DUPLICATE),
    ]
    assert await balance(ledger) == (10_000, 0, 1)


@pytest.mark.parametrize(
    ("bet", "reason"),
    [
        (hold(5, 5_001), BetReason.INSUFFICIENT_FUNDS),
        (hold(5, 1, account=AccountId("A-2")), BetReason.INSUFFICIENT_FUNDS),
        (hold(5, 1, currency=Currency("EUR")), BetReason.CURRENCY_MISMATCH),
        (hold(5, 9_999, currency=Currency("EUR")), BetReason.CURRENCY_MISMATCH),
    ],
)
@in_world
async def test_a_bet_is_refused_by_the_account(world: World, bet: Hold, reason: BetReason) -> None:
    """Another currency comes before too little money; an unknown account has no money."""
    ledger = await owner(world)
    await apply(ledger, deposit(1))
    assert await apply(ledger, bet) == refused(reason)
    assert await apply(ledger, bet) == refused(reason, is_fresh=False)
    assert await balance(ledger) == (10_000, 0, 1)


@in_world
async def test_all_of_a_balance_may_be_bet(world: World) -> None:
    """Exactly what is available is enough, one unit less is not."""
    ledger = await owner(world)
    await apply(ledger, deposit(1))
    assert await apply(ledger, hold(5, 5_000)) == moved(0, 10_000, 2)
    assert await apply(ledger, hold(6, 1, bet_id="b2", bet=Bet.PLAYER_1_PAIR)) == refused(BetReason.INSUFFICIENT_FUNDS)


@in_world
async def test_a_refusal_by_the_fold_moves_nothing_and_stands(world: World) -> None:
    """It is remembered with its reason; a hold of the same record later, under other limits, gets it again."""
    ledger = await owner(world)
    bet = hold(5)
    await apply(ledger, deposit(1))
    assert await apply(ledger, refuse(bet, BetReason.STAKE_OUT_OF_RANGE)) == refused(BetReason.STAKE_OUT_OF_RANGE)
    assert await ledger.apply([refuse(bet, BetReason.ROUND_HELD), bet, hold(6), hold(7, 9)]) == [
        refused(BetReason.STAKE_OUT_OF_RANGE, is_fresh=False),
        refused(BetReason.STAKE_OUT_OF_RANGE, is_fresh=False),
        said(Status.DUPLICATE),
        said(Status.CONFLICT),
    ]
    assert await balance(ledger) == (10_000, 0, 1)


@in_world
async def test_an_accepted_bet_cannot_be_refused_later(world: World) -> None:
    """The same record, now refused by the fold, gets its acceptance again."""
    ledger = await owner(world)
    bet = hold(5)
    await ledger.apply([deposit(1), bet])
    assert await apply(ledger, refuse(bet)) == moved(8_000, 2_000, 2, is_fresh=False)


@in_world
async def test_a_cancel_takes_back_an_accepted_bet_once(world: World) -> None:
    """The same cancel gets its answer again, another one is a duplicate; the bet keeps its first answer."""
    ledger = await owner(world)
    bet = hold(5)
    await ledger.apply([deposit(1), bet])
    assert await apply(ledger, withdraw(bet, 6)) == moved(10_000, 0, 3)
    again: list[Operation] = [withdraw(bet, 6), withdraw(bet, 7), bet, hold(8)]
    expected = [
        moved(10_000, 0, 3, is_fresh=False),
        said(Status.DUPLICATE),
        moved(8_000, 2_000, 2, is_fresh=False),
        said(Status.DUPLICATE),
    ]
    assert await ledger.apply(again) == expected
    assert await apply(ledger, settle(bet, 3_000)) == said(Status.ABSENT)
    assert await balance(ledger) == (10_000, 0, 3)


@in_world
async def test_hold_cancel_and_copies_in_one_call(world: World) -> None:
    """What is decided in a call is known to the rest of the call."""
    ledger = await owner(world)
    bet = hold(5)
    answers = await ledger.apply([deposit(1), bet, withdraw(bet, 6), withdraw(bet, 6), withdraw(bet, 7), bet])
    assert answers[2:] == [
        moved(10_000, 0, 3),
        moved(10_000, 0, 3, is_fresh=False),
        said(Status.DUPLICATE),
        moved(8_000, 2_000, 2, is_fresh=False),
    ]


@in_world
async def test_what_does_not_stand_is_absent(world: World) -> None:
    """Unknown, refused and settled bets cannot be cancelled, unknown and refused ones not be settled."""
    ledger = await owner(world)
    settled, poor, unknown = hold(5), hold(6, 90_000, bet_id="b2"), hold(7, bet_id="b3")
    await ledger.apply([deposit(1), settled, poor, settle(settled, 0)])
    operations: list[Operation] = [
        withdraw(settled, 8),
        withdraw(poor, 8),
        withdraw(unknown, 8),
        settle(poor, 9),
        settle(unknown, 9),
    ]
    assert await ledger.apply(operations) == [said(Status.ABSENT)] * 5
    assert await balance(ledger) == (8_000, 0, 3)


@in_world
async def test_a_settlement_of_another_amount_is_corrupt(world: World) -> None:
    """A revision that was paid is never paid differently, and what came with it in the bucket is not applied."""
    ledger = await owner(world)
    bet = hold(5)
    await ledger.apply([deposit(1), bet, settle(bet, 3_000)])
    attempts: list[list[Operation]] = [[settle(bet, 3_001)], [hold(6, bet_id="b2"), settle(bet, 2_999)]]
    for operations in attempts:
        with pytest.raises(LedgerCorruptError, match="3000"):
            await ledger.apply(operations)
    assert await balance(ledger) == (11_000, 0, 3)
    assert await apply(ledger, settle(bet, 3_000)) == moved(11_000, 0, 3, is_fresh=False)


@in_world
async def test_a_settlement_of_a_further_revision_needs_a_reversal(world: World) -> None:
    """A settled bet does not stand for revision 2."""
    ledger = await owner(world)
    bet = hold(5)
    await ledger.apply([deposit(1), bet, settle(bet, 3_000)])
    assert await apply(ledger, settle(bet, 1_000, revision=2)) == said(Status.ABSENT)


@in_world
async def test_many_accounts_and_bets_in_one_apply(world: World) -> None:
    """Answers come in the order of the operations, across buckets and beyond the size of one script call."""
    ledger = await owner(world)
    accounts = [AccountId(f"A-{number}") for number in range(60)]
    await ledger.apply([deposit(at, account=account) for at, account in enumerate(accounts)])
    bets = [
        hold(at, 1, bet_id=f"b{at}", account=accounts[at % 60], round_=f"R-{at % 7}", bet=Bet.PLAYER_1_PAIR)
        for at in range(6_000)
    ]
    answers = await ledger.apply(bets)
    assert answers == [moved(10_000 - 1 - at // 60, 1 + at // 60, 2 + at // 60) for at in range(6_000)]
    answers = await ledger.apply([settle(bet, 12) for bet in bets])
    assert answers == [moved(10_000 - 100 + 12 * (1 + at // 60), 99 - at // 60, 102 + at // 60) for at in range(6_000)]
