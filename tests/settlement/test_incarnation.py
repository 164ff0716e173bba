"""A ledger that restarted: taken back if it has all that was said, restored where something is missing."""

from __future__ import annotations

import asyncio
import json

import pytest

from pokdeng.events.ids import AccountId
from pokdeng.simulator import MemorySender, Play, perform, script
from tests.checker.checker import check
from tests.support.line import INPUTS, OUTPUTS, Line

PLAY = Play(tables=2, rounds=4, accounts=20, bets_per_round=10, seed=3)
MORE = Play(
    tables=2,
    rounds=2,
    accounts=20,
    bets_per_round=10,
    seed=4,
    puts_money_in=False,
    starts_at_ms=PLAY.starts_at_ms + 3_600_000,
)
"""An hour later."""


async def played(line: Line) -> None:
    """A play, settled by a worker that stops in order."""
    async with line.worker() as worker:
        await worker.owns()
        await perform(script(PLAY), MemorySender(line.broker, line.topics), opened=worker.caught_up)
        await worker.caught_up()


def test_a_ledger_that_restarted_and_lost_nothing_is_taken_back() -> None:
    """The next worker verifies it against what was said, and goes on exactly."""

    async def go() -> None:
        line = Line()
        await played(line)
        line.store.new_incarnation()
        async with line.worker() as worker:
            await worker.owns()
            await perform(script(MORE), MemorySender(line.broker, line.topics))
            await worker.caught_up()
            balances = {
                str(one.account): (one.available, one.held, one.sequence, str(one.currency))
                async for one in worker.ledger.accounts()
            }
        report = check(
            line.records(*INPUTS),
            line.records(*OUTPUTS),
            partitions=line.partitions,
            final_balances=balances,
        )
        assert not report.findings, report

    asyncio.run(go())


@pytest.mark.parametrize("what", ["bet", "withdrawal"])
def test_a_ledger_that_lost_a_refusal_gets_it_back(what: str) -> None:
    """A refusal moves nothing, but it was said: a store without it would decide anew, and otherwise.

    So once money is there it is refused all the same when its record is read again.
    """

    async def go() -> None:
        line = Line()
        topics = line.topics
        common = {"occurred_at": "2026-01-01T00:00:00Z", "account_id": "A-1", "currency": "THB"}
        deposit = {"type": "funds_deposited", "event_id": "e1", "transfer_id": "t1", "amount": 100} | common
        refused = {
            "bet": (
                topics.bets,
                b"T-1",
                {"type": "bet_placed", "event_id": "e2", "bet_id": "b1", "table_id": "T-1", "round_id": "R-1"}
                | {"bet": "player_1", "stake": 1}
                | common,
            ),
            "withdrawal": (
                topics.funds,
                b"A-1",
                {"type": "funds_withdrawn", "event_id": "e2", "transfer_id": "w1", "amount": 1000} | common,
            ),
        }[what]
        worker = await line.start_worker()
        await worker.owns()
        line.broker.append(topics.funds, b"A-1", json.dumps(deposit).encode())
        await worker.caught_up()
        before = line.store.snapshot()
        line.broker.append(refused[0], refused[1], json.dumps(refused[2]).encode())
        await worker.caught_up()
        await worker.kill()
        line.store.restore(before)
        line.store.new_incarnation()
        line.broker.group("settlement").committed.clear()
        said = [record.value for record in line.records(*OUTPUTS)]
        async with line.worker() as again:
            await again.caught_up()
            enough = deposit | {"transfer_id": "t2", "amount": 100_000}
            line.broker.append(topics.funds, b"A-1", json.dumps(enough).encode())
            await again.caught_up()
            account = await again.ledger.account(AccountId("A-1"))
        assert account is not None
        assert (account.available, account.held, account.sequence) == (100_100, 0, 2)
        assert {record.value for record in line.records(*OUTPUTS)} >= set(said)
        assert len({record.value for record in line.records(*OUTPUTS)}) == len(set(said)) + 1

    asyncio.run(go())
