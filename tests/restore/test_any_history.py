"""Any history of a ledger, told in facts in any order and any number of times, makes that ledger anew."""

from __future__ import annotations

import asyncio
import json
import random
from typing import TYPE_CHECKING

import pytest

from pokdeng.events.reasons import BetReason
from pokdeng.ledger.memory import MemoryLedger
from pokdeng.ledger.memory_store import MemoryStore
from pokdeng.ledger.values import Hold, Refuse, Settle, Status, Transfer, Withdraw
from pokdeng.restore.filling import Filling
from pokdeng.restore.fold import Fold
from pokdeng.settlement.past import Past
from pokdeng.stream.port import LogRecord
from tests.ledger.test_twins import FUNDS_OF, Player
from tests.ledger.world import TABLES

if TYPE_CHECKING:
    from pokdeng.ledger.values import Account, Answer, Operation

AS_NOTES = (BetReason.ROUND_UNKNOWN, BetReason.CANCELLED_BEFORE)
REMEMBER_MS = 26 * 3_600_000
NOW_MS = 10 * REMEMBER_MS


async def ledger_on(store: MemoryStore) -> MemoryLedger:
    """A handle that owns every source."""
    ledger = MemoryLedger(store)
    if not await ledger.open():
        await ledger.create()
    await ledger.acquire([TABLES, *FUNDS_OF], group="test", generation=1)
    return ledger


class History:
    """What a ledger was asked, in order, and what of it is told."""

    def __init__(self, seed: int, batches: int) -> None:
        """Nothing yet."""
        self.random = random.Random(seed)
        self.player = Player(seed)
        self.batches = batches
        self.operations: list[Operation] = []
        self.answers: dict[int, Answer] = {}
        self.facts: dict[int, dict[str, object]] = {}
        """By the operation's place: the fact that follows from its first answer."""
        self._owners: dict[tuple[object, ...], str] = {}
        self._holds: dict[tuple[object, ...], Hold | Refuse] = {}

    async def play(self, ledger: MemoryLedger) -> None:
        """Ask the ledger everything, batch by batch."""
        for _ in range(self.batches):
            batch = [self._as_said(operation) for operation in self.player.batch() if self._is_possible(operation)]
            for operation, answer in zip(batch, await ledger.apply(batch), strict=True):
                place = len(self.operations)
                self.operations.append(operation)
                self.answers[place] = answer
                if answer.is_fresh:
                    self.facts[place] = self._fact(operation, answer)

    def _is_possible(self, operation: Operation) -> bool:
        """Whether a worker would ask it: never one bet id of a round for two accounts."""
        if not isinstance(operation, Hold | Refuse):
            return True
        name = (operation.table, operation.round, operation.bet_id)
        return self._owners.setdefault(name, operation.account) == operation.account

    def _as_said(self, operation: Operation) -> Operation:
        """What is refused while its round is not open is a note, not a bet."""
        if isinstance(operation, Refuse) and operation.reason in AS_NOTES:
            return operation._replace(reason=BetReason.BETTING_CLOSED)
        return operation

    def _fact(self, operation: Operation, answer: Answer) -> dict[str, object]:
        fact: dict[str, object] = {"account_id": operation.account}
        if answer.status is Status.MOVED:
            fact["balance"] = {"available": answer.available, "held": answer.held, "sequence": answer.sequence}
        if isinstance(operation, Transfer):
            kind = f"funds_{'credited' if operation.kind.value == 'deposit' else 'debited'}"
            if answer.status is Status.REFUSED:
                kind, fact["reason"], fact["transfer"] = "funds_rejected", answer.reason, operation.kind.value
            return fact | {
                "type": kind,
                "cause": {"partition": int(operation.source[1:]), "offset": operation.offset},
                "transfer_id": operation.transfer,
                "amount": operation.amount,
                "currency": operation.currency,
            }
        name = (operation.table, operation.round, operation.bet_id)
        if isinstance(operation, Hold | Refuse):
            self._holds[name] = operation
            kind = "bet_accepted" if answer.status is Status.MOVED else "bet_rejected"
            fact |= {"type": kind, "reason": answer.reason or ""}
        else:
            kind = "bet_withdrawn" if isinstance(operation, Withdraw) else "bet_settled"
            fact |= {"type": kind, "revision": operation.revision if isinstance(operation, Settle) else 0}
        bet = self._holds[name]
        taken = bet.taken if isinstance(bet, Hold) else 0
        offset = 0 if isinstance(operation, Settle) else operation.offset
        return fact | {
            "cause": {"partition": 0, "offset": offset},
            "table_id": operation.table,
            "round_id": operation.round,
            "bet_id": operation.bet_id,
            "bet": bet.bet.value,
            "stake": bet.stake,
            "currency": bet.currency,
            "taken": taken if fact["type"] != "bet_rejected" else 0,
            "returned": operation.returned if isinstance(operation, Settle) else taken,
        }

    async def restored(self, told: list[dict[str, object]]) -> tuple[MemoryStore, Fold]:
        """An empty store, filled from what is told: in any order, some of it twice."""
        store = MemoryStore()
        restoring = MemoryLedger(store).restoring()
        assert await restoring.lead(await restoring.begin(), "test")
        filling = Filling(restoring, Past(remember_ms=REMEMBER_MS), now_ms=NOW_MS, remember_ms=REMEMBER_MS)
        fold = Fold(filling, funds_horizon_ms=NOW_MS - 32 * 86_400_000)
        again = told + self.random.sample(told, len(told) // 3)
        self.random.shuffle(again)
        for fact in again:
            record = LogRecord("facts", 0, 0, NOW_MS, None, json.dumps(fact).encode(), ())
            (fold.funds if "transfer_id" in fact else fold.bets)([record])
        await filling.finish(fold.standing(), _quietly)
        await restoring.put_accounts(list(fold.accounts()))
        await restoring.open()
        return store, fold


async def _quietly(_count: int) -> None:
    """Nobody wants to know."""


async def accounts_of(ledger: MemoryLedger) -> dict[str, Account]:
    """All of them."""
    return {one.account: one async for one in ledger.accounts()}


@pytest.mark.parametrize("seed", range(40))
def test_a_ledger_made_from_facts_answers_as_the_first_one(seed: int) -> None:
    """Every account is equal, and whatever was asked before gets its first answer again and moves nothing."""

    async def go() -> None:
        living = await ledger_on(MemoryStore())
        history = History(seed, batches=12)
        await history.play(living)
        store, fold = await history.restored(list(history.facts.values()))
        assert not fold.book.holes
        assert not any(one.difference for one in fold.book.books().values())
        restored = await ledger_on(store)
        before = await accounts_of(restored)
        assert before == await accounts_of(living)
        assert await restored.apply(history.operations) == await living.apply(history.operations)
        assert await accounts_of(restored) == before

    asyncio.run(go())


@pytest.mark.parametrize("seed", range(40))
def test_what_was_never_said_is_decided_once_more_and_moves_once(seed: int) -> None:
    """Facts of the last operations are missing: asked again, every account has moved as often as it must."""

    async def go() -> None:
        living = await ledger_on(MemoryStore())
        history = History(seed, batches=12)
        await history.play(living)
        recent = [place for place in history.facts if place >= len(history.operations) * 3 // 4]
        unsaid = {place for place in recent if history.random.random() < 0.3}
        names = {bet_of(history.operations[place]) for place in unsaid} - {None}
        unsaid |= {place for place in recent if bet_of(history.operations[place]) in names}  # no end without its begin
        told = [fact for place, fact in history.facts.items() if place not in unsaid]
        store, _ = await history.restored(told)
        restored = await ledger_on(store)
        answers = await restored.apply(history.operations)
        movements: dict[str, list[int]] = {}
        for place, fact in history.facts.items():
            if place not in unsaid and "balance" in fact:
                add(movements, history.operations[place], fact)
        decided = {}
        for operation, answer in zip(history.operations, answers, strict=True):
            if answer.is_fresh and answer.status is Status.MOVED:
                decided[operation] = answer
                fact = history._fact(operation, answer)
                add(movements, operation, fact)
        for name, account in (await accounts_of(restored)).items():
            assert [account.available, account.held] == movements.get(name, [0, 0]), name
            assert account.held >= 0

    asyncio.run(go())


def bet_of(operation: Operation) -> tuple[object, ...] | None:
    """What names its bet, None of a transfer."""
    return None if isinstance(operation, Transfer) else (operation.table, operation.round, operation.bet_id)


def add(movements: dict[str, list[int]], operation: Operation, fact: dict[str, object]) -> None:
    """Count what a fact moves."""
    row = movements.setdefault(operation.account, [0, 0])
    taken, returned, amount = (int(str(fact.get(name, 0))) for name in ("taken", "returned", "amount"))
    match fact["type"]:
        case "bet_accepted":
            available, held = -taken, taken
        case "funds_credited":
            available, held = amount, 0
        case "funds_debited":
            available, held = -amount, 0
        case _:
            available, held = returned, -taken
    row[0] += available
    row[1] += held
