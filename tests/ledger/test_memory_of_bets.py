"""What is remembered can be asked for: bets, rounds, accounts and notes; and is forgotten when it may be."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pokdeng.events.ids import AccountId, Minor
from pokdeng.events.reasons import BetReason
from pokdeng.ledger.values import FOR_EVER, Account, BetRecord, BetState, Hold, Note, Status
from pokdeng.rules import Bet
from tests.ledger.world import (
    TABLES,
    THB,
    apply,
    deposit,
    hold,
    in_world,
    moved,
    name_of,
    own,
    owner,
    refuse,
    round_of,
    said,
    settle,
    withdraw,
)

if TYPE_CHECKING:
    from tests.ledger.world import World

TWO = AccountId("A-2")


def recorded(
    of: Hold,
    state: BetState,
    *,
    returned: int = 0,
    revision: int = 0,
    reason: BetReason | None = None,
    reversed_: int = 0,
    cancel_offset: int = -1,
) -> BetRecord:
    """What is remembered of a bet."""
    return BetRecord(
        account=of.account,
        table=of.table,
        round=of.round,
        bet_id=of.bet_id,
        bet=of.bet,
        stake=of.stake,
        currency=of.currency,
        offset=of.offset,
        state=state,
        reason=reason,
        taken=Minor(0) if state is BetState.REFUSED else of.taken,
        returned=Minor(returned),
        revision=revision,
        reversed=Minor(reversed_),
        cancel_offset=cancel_offset,
    )


@in_world
async def test_each_state_of_a_bet_is_told_in_full(world: World) -> None:
    """Accepted, refused, withdrawn and settled bets of a round, by offset."""
    ledger = await owner(world)
    bets = [hold(at, bet_id=f"b{at}", bet=bet, account=AccountId(f"A-{at}")) for at, bet in enumerate(Bet)]
    await ledger.apply([deposit(at, account=bet.account) for at, bet in enumerate(bets[:-1])])
    await ledger.apply([*bets, settle(bets[2], 24), withdraw(bets[1], 77)])
    late = hold(2**40, bet_id="late", stake=10**12)
    await apply(ledger, refuse(late, BetReason.BETTING_CLOSED))
    (found,) = await ledger.round_bets([round_of(bets[0])])
    assert found == (
        recorded(bets[0], BetState.ACCEPTED),
        recorded(bets[1], BetState.WITHDRAWN, returned=bets[1].taken, cancel_offset=77),
        recorded(bets[2], BetState.SETTLED, returned=24, revision=1),
        *[recorded(bet, BetState.ACCEPTED) for bet in bets[3:-1]],
        recorded(bets[-1], BetState.REFUSED, reason=BetReason.INSUFFICIENT_FUNDS),
        recorded(late, BetState.REFUSED, reason=BetReason.BETTING_CLOSED),
    )


@in_world
async def test_a_bet_is_found_by_its_name_under_any_account(world: World) -> None:
    """One answer per name, in their order; nothing where nothing is remembered."""
    ledger = await owner(world)
    one, two, unknown = hold(5), hold(6, bet_id="b2", account=TWO), hold(7, bet_id="b3")
    await ledger.apply([deposit(1), one, two])
    assert await ledger.find_bets([name_of(unknown), name_of(two), name_of(one)]) == [
        (),
        (recorded(two, BetState.REFUSED, reason=BetReason.INSUFFICIENT_FUNDS),),
        (recorded(one, BetState.ACCEPTED),),
    ]
    assert await ledger.round_bets([round_of(hold(1, table="T-9"))]) == [()]


@in_world
async def test_accounts_are_told_one_by_one_and_all(world: World) -> None:
    """Each once, with currency, balances and sequence."""
    ledger = await owner(world)
    names = [AccountId(f"A-{number}") for number in range(300)]
    await ledger.apply([deposit(at, at + 1, account=name) for at, name in enumerate(names)])
    expected = {
        name: Account(account=name, currency=THB, available=at + 1, held=0, sequence=1) for at, name in enumerate(names)
    }
    found = [account async for account in ledger.accounts()]
    assert len(found) == len(names)
    assert {account.account: account for account in found} == expected
    assert await ledger.account(names[7]) == expected[names[7]]
    assert await ledger.account(AccountId("nobody")) is None


@in_world
async def test_bets_of_an_unfinished_round_never_expire(world: World) -> None:
    """However long the round waits."""
    ledger = await owner(world)
    bet = hold(5)
    await ledger.apply([deposit(1), bet])
    await world.expire()
    ledger = world.handle()
    await own(ledger, generation=2)
    assert await apply(ledger, settle(bet, 3_000)) == moved(11_000, 0, 3)


@in_world
async def test_bets_of_a_finished_round_are_forgotten_after_their_time(world: World) -> None:
    """Only that round's, and its accounts keep what they have."""
    ledger = await owner(world)
    done, other = hold(5), hold(6, round_="R-2")
    await ledger.apply([deposit(1), done, other, settle(done, 3_000)])
    await ledger.finish([round_of(done)], ttl_ms=3_600_000)
    await ledger.finish([round_of(done), round_of(hold(9, table="T-9"))], ttl_ms=3_600_000)
    assert await apply(ledger, settle(done, 3_000)) == moved(11_000 - 2_000, 2_000, 4, is_fresh=False)
    await world.expire()
    assert await ledger.find_bets([name_of(done), name_of(other)]) == [(), (recorded(other, BetState.ACCEPTED),)]
    assert await apply(ledger, settle(done, 3_000)) == said(Status.ABSENT)
    assert await apply(ledger, settle(other, 2_000)) == moved(11_000, 0, 5)


@in_world
async def test_notes_are_read_back_as_whole_pages(world: World) -> None:
    """Any bytes; the last writing wins unless the first is to be kept; a page that is not there is empty."""
    ledger = await owner(world)
    await ledger.remember(
        [
            Note(TABLES, "rounds/p1", "R-1", b"\x00\xff\xfe", keep_first=False, ttl_ms=None),
            Note(TABLES, "rounds/p1", "R-1", b"second", keep_first=True, ttl_ms=None),
            Note(TABLES, "rounds/p1", "R-2", b"", keep_first=True, ttl_ms=None),
            Note(TABLES, "shoes/p1", "S-1", b"one", keep_first=False, ttl_ms=None),
            Note(TABLES, "shoes/p1", "S-1", b"two", keep_first=False, ttl_ms=None),
        ]
    )
    assert await ledger.recall(["rounds/p1", "nothing", "shoes/p1"]) == [
        {"R-1": b"\x00\xff\xfe", "R-2": b""},
        {},
        {"S-1": b"two"},
    ]


@in_world
async def test_a_page_lives_as_long_as_its_last_note_says(world: World) -> None:
    """A note without a time leaves it as it is; a page without any lives for ever."""
    ledger = await owner(world)
    await ledger.remember(
        [
            Note(TABLES, "short", "x", b"1", keep_first=True, ttl_ms=60_000),
            Note(TABLES, "short", "y", b"2", keep_first=True, ttl_ms=None),
            Note(TABLES, "long", "x", b"3", keep_first=True, ttl_ms=None),
            Note(TABLES, "saved", "x", b"4", keep_first=True, ttl_ms=60_000),
            Note(TABLES, "saved", "y", b"5", keep_first=True, ttl_ms=FOR_EVER),
        ]
    )
    assert await ledger.recall(["short"]) == [{"x": b"1", "y": b"2"}]
    await world.expire()
    assert await ledger.recall(["short", "long", "saved"]) == [{}, {"x": b"3"}, {"x": b"4", "y": b"5"}]
    await ledger.remember([Note(TABLES, "saved", "x", b"4", keep_first=True, ttl_ms=60_000)])
    await world.expire()
    assert await ledger.recall(["saved"]) == [{}]
