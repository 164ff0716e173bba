"""Whatever is done, Redis and the twin in memory say the same, and the books balance (promise 4)."""

from __future__ import annotations

import random
from collections import Counter
from typing import TYPE_CHECKING

import pytest

from pokdeng.events.ids import AccountId, Currency, Minor
from pokdeng.events.reasons import BetReason, TransferKind, TransferReason
from pokdeng.ledger.port import LedgerError
from pokdeng.ledger.values import Answer, BetState, Hold, Settle, Source, Status, Transfer
from pokdeng.rules import Bet
from tests.ledger.proxy import Fault, proxy_before
from tests.ledger.world import (
    TABLES,
    THB,
    LedgerAndMore,
    MemoryWorld,
    RedisWorld,
    deposit,
    hold,
    in_world,
    own,
    refuse,
    round_of,
    settle,
    withdraw,
    withdrawal,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pokdeng.ledger.values import Account, Operation, RoundName

FUNDS_OF = (Source("f1"), Source("f2"))
ACCOUNTS = [AccountId(f"A-{number}") for number in range(8)]
ROUNDS = [(f"T-{table}", f"R-{round_}") for table in range(2) for round_ in range(3)]
BETS = tuple(Bet)


class Player:
    """Makes operations at random: new ones, ends, copies, conflicts, and old ones again."""

    def __init__(self, seed: int) -> None:
        """Begin with an empty log."""
        self._random = random.Random(seed)
        self._offset = 0
        self._log: list[Operation] = []
        self._bets: list[Hold] = []
        self.paid: dict[Hold, int] = {}

    def batch(self) -> list[Operation]:
        """The next records, now and then after old ones again, as after a restart."""
        fresh = [self._one() for _ in range(self._random.randrange(1, 25))]
        start = self._random.randrange(len(self._log) + 1)
        again = self._log[start : start + 30] if self._random.random() < 0.4 else []
        self._log += fresh
        return again + fresh

    def _one(self) -> Operation:
        self._offset += 1
        chance = self._random.random()
        if chance < 0.2:
            return self._transfer()
        if chance < 0.5 or not self._bets:
            return self._bet()
        if chance < 0.6:
            return self._copy()
        bet = self._random.choice(self._bets)
        if chance < 0.7:
            return withdraw(bet, self._offset)
        # A bet has one result for ever, in whichever batch it is said.
        returned = self.paid.setdefault(bet, self._random.choice((0, bet.taken, bet.taken + bet.stake, 12 * bet.stake)))
        return settle(bet, returned)

    def _transfer(self) -> Operation:
        at = self._random.randrange(len(ACCOUNTS))
        transfer = f"X-{self._random.randrange(60)}"
        amount = self._random.choice((1, 500, 500, 10_000, 10**15))
        currency = self._random.choice((THB, THB, THB, Currency("EUR")))
        if self._random.random() < 0.3:
            return withdrawal(
                self._offset, amount, transfer=transfer, account=ACCOUNTS[at], currency=currency
            )._replace(source=FUNDS_OF[at % 2])
        refused = TransferReason.AMOUNT_OUT_OF_RANGE if self._random.random() < 0.05 else None
        return deposit(
            self._offset,
            amount,
            transfer=transfer,
            account=ACCOUNTS[at],
            currency=currency,
            refused=refused,
            source=FUNDS_OF[at % 2],
        )

    def _bet(self) -> Operation:
        table, round_ = self._random.choice(ROUNDS)
        bet = hold(
            self._offset,
            self._random.choice((1, 10, 10, 100, 3_000, 10**12)),
            bet_id=f"b{self._offset}",
            account=self._random.choice(ACCOUNTS),
            bet=self._random.choice(BETS),
            currency=self._random.choice((THB, THB, THB, Currency("EUR"))),
            table=table,
            round_=round_,
        )
        self._bets.append(bet)
        return refuse(bet, self._random.choice(tuple(BetReason))) if self._random.random() < 0.1 else bet

    def _copy(self) -> Operation:
        bet = self._random.choice(self._bets)._replace(offset=self._offset)
        change = self._random.randrange(5)
        if change == 0:
            bet = bet._replace(stake=Minor(bet.stake + 1))
        elif change == 1:
            bet = bet._replace(bet=self._random.choice(BETS))
        elif change == 2:
            bet = bet._replace(account=self._random.choice(ACCOUNTS))
        return bet


def house_net(states: Sequence[tuple[BetState, int, int]]) -> int:
    """Taken less returned of settled bets."""
    return sum(taken - returned for state, taken, returned in states if state is BetState.SETTLED)


async def said_by(ledger: LedgerAndMore, operations: Sequence[Operation]) -> list[Answer] | type[LedgerError]:
    """The answers, or the kind of error."""
    try:
        return await ledger.apply(operations)
    except LedgerError as error:
        return type(error)


async def told_by(ledger: LedgerAndMore) -> tuple[dict[AccountId, Account], list[object]]:
    """All accounts and all bets."""
    rounds: list[RoundName] = [round_of(hold(1, table=table, round_=round_)) for table, round_ in ROUNDS]
    accounts = {account.account: account async for account in ledger.accounts()}
    return accounts, list(await ledger.round_bets(rounds))


async def check_books(ledger: LedgerAndMore, transferred: dict[tuple[Currency, TransferKind], int]) -> None:
    """Available and held, over all accounts = deposits - withdrawals - house net, exactly and per currency."""
    rounds = [round_of(hold(1, table=table, round_=round_)) for table, round_ in ROUNDS]
    bets = [bet for found in await ledger.round_bets(rounds) for bet in found]
    accounts = [account async for account in ledger.accounts()]
    for currency in (THB, Currency("EUR")):
        mine = [account for account in accounts if account.currency == currency]
        assert all(account.available >= 0 for account in mine)
        have = sum(account.available + account.held for account in mine)
        deposits = transferred.get((currency, TransferKind.DEPOSIT), 0)
        withdrawals = transferred.get((currency, TransferKind.WITHDRAWAL), 0)
        net = house_net([(bet.state, bet.taken, bet.returned) for bet in bets if bet.currency == currency])
        assert have == deposits - withdrawals - net
        open_bets = [bet.taken for bet in bets if bet.currency == currency and bet.state is BetState.ACCEPTED]
        assert sum(account.held for account in mine) == sum(open_bets)


async def begin(ledger: LedgerAndMore, generation: int) -> None:
    """Own all sources."""
    await own(ledger, generation=generation, sources=(TABLES, *FUNDS_OF))


@pytest.mark.parametrize("seed", range(8))
@in_world
async def test_both_ledgers_say_the_same(redis_world: RedisWorld, seed: int) -> None:
    """Random batches with copies, conflicts, old records again and takeovers: each answer is identical."""
    memory_world, player = MemoryWorld(), Player(seed)
    one: LedgerAndMore = memory_world.handle()
    two: LedgerAndMore = redis_world.handle()
    await begin(one, 1)
    await begin(two, 1)
    transferred: Counter[tuple[Currency, TransferKind]] = Counter()
    seen: Counter[Status] = Counter()
    chance = random.Random(seed)
    for step in range(60):
        operations = player.batch()
        answers = await said_by(one, operations)
        assert await said_by(two, operations) == answers
        assert isinstance(answers, list)
        for operation, answer in zip(operations, answers, strict=True):
            seen[answer.status] += 1
            if isinstance(operation, Transfer) and answer.status is Status.MOVED and answer.is_fresh:
                transferred[operation.currency, operation.kind] += operation.amount
        if chance.random() < 0.1:
            one, two = memory_world.handle(), redis_world.handle()
            await begin(one, step + 2)
            await begin(two, step + 2)
    assert await told_by(one) == await told_by(two)
    await check_books(two, transferred)
    assert set(seen) == set(Status) - {Status.FORGOTTEN}


@pytest.mark.parametrize("seed", range(8))
@in_world
async def test_broken_connections_change_no_answer(redis_world: RedisWorld, seed: int) -> None:
    """The same over a connection that breaks at random: only whether an answer is fresh may differ."""
    memory_world, player, chance = MemoryWorld(), Player(100 + seed), random.Random(seed)
    one = memory_world.handle()
    await begin(one, 1)
    async with proxy_before(redis_world.url.removeprefix("unix://")) as proxy:
        two = redis_world.handle(url=proxy.url)
        await begin(two, 1)
        for _ in range(40):
            operations = player.batch()
            expected = await one.apply(operations)
            proxy.fault = chance.choice((None, Fault.DROP_REPLY, Fault.CUT_REQUEST, Fault.CUT_REQUEST))
            proxy.cut_at = chance.randrange(4_000)
            answers = await two.apply(operations)
            proxy.fault = None
            assert [answer._replace(is_fresh=True) for answer in answers] == [
                answer._replace(is_fresh=True) for answer in expected
            ]
        assert await told_by(one) == await told_by(two)
        await two.close()


@pytest.mark.parametrize("seed", range(4))
@in_world
async def test_a_fresh_reading_of_the_whole_log_changes_nothing(redis_world: RedisWorld, seed: int) -> None:
    """All records once more, in larger batches, by a new owner: the first answers, none of them fresh (promise 2)."""
    player = Player(200 + seed)
    ledger: LedgerAndMore = redis_world.handle()
    await begin(ledger, 1)
    log: list[Operation] = []
    answers: list[Answer] = []
    for _ in range(40):
        batch = player.batch()
        log += batch
        answers += await ledger.apply(batch)
    before = await told_by(ledger)
    ledger = redis_world.handle()
    await begin(ledger, 2)
    again: list[Answer] = []
    for start in range(0, len(log), 300):
        again += await ledger.apply(log[start : start + 300])
    assert not any(answer.is_fresh for answer in again)
    for operation, first, second in zip(log, answers, again, strict=True):
        if first.status in (Status.MOVED, Status.REFUSED):
            assert second == first._replace(is_fresh=False), operation
        if isinstance(operation, Settle) and first.status is Status.ABSENT:
            assert second.status in (Status.ABSENT, Status.MOVED)
    assert await told_by(ledger) == before
