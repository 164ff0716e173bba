"""Checkpoints: what was folded need not be folded again, and a restore from one is the same as from the beginning."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING

import pytest

from pokdeng.restore.books_said import BooksReader
from pokdeng.restore.closing_books import AnotherWritesError, BooksDoNotBalanceError, Written, close_books
from pokdeng.restore.folding import Times
from pokdeng.restore.stored import find_checkpoint, read_slots
from pokdeng.rules import CARDS
from pokdeng.settlement.past import Past
from pokdeng.simulator import MemorySender, Play, perform, script
from pokdeng.stream.memory import Point
from pokdeng.stream.port import LogUnavailableError, TopicPartition
from pokdeng.wire import TopicKind
from tests.restore.filled import TRANSFER_TTL_MS, contents, filled, latest_ms, pages, reader
from tests.support.line import REMEMBER_MS, Line

if TYPE_CHECKING:
    from collections.abc import Callable

HOUR_MS = 3_600_000
PLAY = Play(tables=3, rounds=4, accounts=15, bets_per_round=10, seed=1)


def later(number: int, hours: int) -> Play:
    """Another play with the same accounts."""
    return Play(
        tables=3,
        rounds=4,
        accounts=15,
        bets_per_round=10,
        seed=10 + number,
        puts_money_in=False,
        starts_at_ms=PLAY.starts_at_ms + hours * HOUR_MS,
    )


async def played(line: Line, play: Play) -> None:
    """A play, settled."""
    async with line.worker() as worker:
        await worker.owns()
        await perform(script(play), MemorySender(line.broker, line.topics), opened=worker.caught_up)
        await worker.caught_up()


async def checkpointed(
    line: Line, *, now_ms: int | None = None, writer: str = "test", remember_ms: int = REMEMBER_MS
) -> Written:
    """A checkpoint as of now."""
    return await close_books(
        reader(line),
        line.topics,
        Past(remember_ms=remember_ms),
        writer=writer,
        times=Times(
            now_ms=latest_ms(line) if now_ms is None else now_ms,
            remember_ms=remember_ms,
            transfer_ttl_ms=TRANSFER_TTL_MS,
        ),
    )


def plays_clock(line: Line) -> Callable[[], int]:
    """The facts lie in the log at the time of the play, too."""
    return lambda: latest_ms(line) if line.records(TopicKind.FUNDS) else PLAY.starts_at_ms


def new_line() -> Line:
    """A line whose broker stamps with the time of the play."""
    line = Line()
    line.broker._clock_ms = plays_clock(line)
    return line


@pytest.mark.parametrize("hours", [1, 20, 25, 40])
def test_a_restore_from_a_checkpoint_is_one_from_the_beginning(hours: int) -> None:
    """Whatever time lies between: balances, remembered bets and transfers, pages and tables."""

    async def go() -> None:
        line = new_line()
        await played(line, PLAY)
        first = await checkpointed(line)
        await played(line, later(1, hours))
        second = await checkpointed(line)
        assert (first.slot, second.slot) == ("a", "b")
        assert second.end.number == 2
        await played(line, later(2, 2 * hours))
        now_ms = latest_ms(line)
        whole, of_whole = await filled(line, now_ms=now_ms, from_checkpoint=False)
        short, of_short = await filled(line, now_ms=now_ms)
        assert contents(short) == contents(whole)
        assert pages(short) == pages(whole)
        if hours > REMEMBER_MS // HOUR_MS:
            assert of_short.facts < of_whole.facts

    asyncio.run(go())


@pytest.mark.parametrize("remember_hours", [26, 80])
def test_rounds_corrected_late_are_restored_from_a_checkpoint_that_came_after(
    remember_hours: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Decided before what the checkpoint has read again, and remembered for their correction: as from the beginning.

    Little is read at a time, as of a long log: a settlement is told long before its reversal.
    """
    monkeypatch.setattr("pokdeng.restore.reading.CHUNK_RECORDS", 5)
    monkeypatch.setattr("pokdeng.restore.folding.SWEEP_EVERY_RECORDS", 5)
    remember_ms = remember_hours * HOUR_MS

    async def go() -> None:
        line = new_line()
        await played(line, PLAY)
        await checkpointed(line, remember_ms=remember_ms)
        await corrected(line, latest_ms(line) + 22 * HOUR_MS)
        for number in (1, 2):
            await played(line, later(number, remember_hours + number))
            await checkpointed(line, remember_ms=remember_ms)
        await played(line, later(3, remember_hours + 4))
        for wait_hours in (0, 10):
            now_ms = latest_ms(line) + wait_hours * HOUR_MS
            whole, of_whole = await filled(line, now_ms=now_ms, remember_ms=remember_ms, from_checkpoint=False)
            short, of_short = await filled(line, now_ms=now_ms, remember_ms=remember_ms)
            assert contents(short) == contents(whole)
            assert pages(short) == pages(whole)
            assert of_short.facts < of_whole.facts
            assert any(
                bet.is_settled_anew for bucket in short.buckets for of in bucket.rounds.values() for bet in of.values()
            )

    asyncio.run(go())


async def corrected(line: Line, at_ms: int) -> None:
    """Every other settled round is given another card at that broker time."""
    settled = [json.loads(record.value or b"") for record in line.records(TopicKind.ROUNDS)]
    line.broker._clock_ms = lambda: at_ms
    async with line.worker() as worker:
        await worker.owns()
        for number, told in enumerate(settled[::2]):
            shown = {*told["banker"]["cards"], *(card for one in told["players"] for card in one["cards"])}
            event = {
                "type": "card_corrected", "event_id": f"late-{number}", "occurred_at": "2026-01-01T00:00:00Z",
                "table_id": told["table_id"], "round_id": told["round_id"], "seat": "banker", "position": 1,
                "card": next(str(card) for card in CARDS if str(card) not in shown), "reason": "misread",
            }  # fmt: skip
            name = line.topics.name(TopicKind.TABLE_EVENTS)
            line.broker.append(name, told["table_id"].encode(), json.dumps(event).encode(), (), None, at_ms)
        await worker.caught_up()
    line.broker._clock_ms = plays_clock(line)


def test_what_is_old_moves_nothing_after_a_restore_from_a_checkpoint() -> None:
    """An older transfer and an older bet, delivered again, are known: no balance moves and nothing new is said."""

    async def go() -> None:
        line = new_line()
        await played(line, PLAY)
        await checkpointed(line)
        await played(line, later(1, 2))
        line.store.flush()
        async with line.worker() as worker:
            await worker.caught_up()
            before = {one.account: one async for one in worker.ledger.accounts()}
            said = len(line.records(TopicKind.BET_DECISIONS, TopicKind.FUNDS_DECISIONS, TopicKind.SETTLEMENTS))
            for kind in (TopicKind.FUNDS, TopicKind.BETS):
                for record in line.records(kind)[:40]:
                    line.broker.append(record.topic, record.key, record.value, partition=record.partition)
            await worker.caught_up()
            assert {one.account: one async for one in worker.ledger.accounts()} == before
        decisions = [
            json.loads(record.value or b"")
            for record in line.records(TopicKind.BET_DECISIONS, TopicKind.FUNDS_DECISIONS, TopicKind.SETTLEMENTS)
        ]
        assert len(decisions) == said, [one for one in decisions if one["type"] == "bet_rejected"][-3:]

    asyncio.run(go())


@pytest.mark.parametrize("at", range(17))
def test_a_half_written_checkpoint_is_never_used(at: int) -> None:
    """Killed at any record that it writes, before or after it arrives: the one before is found; the next goes well."""

    async def go() -> None:
        line = new_line()
        await played(line, PLAY)
        await checkpointed(line)
        await played(line, later(1, 1))
        seen = 0

        def kill(point: Point, _member: str, partition: TopicPartition | None) -> None:
            nonlocal seen
            if (partition is None or partition.topic == line.topics.checkpoints) and point in (
                Point.APPEND,
                Point.ACKNOWLEDGE,
            ):
                seen += 1
                if seen > at:
                    raise LogUnavailableError("killed here")

        line.broker.intercept = kill
        with pytest.raises(LogUnavailableError):
            await checkpointed(line, writer="killed")
        line.broker.intercept = None
        log = reader(line)
        found = await find_checkpoint(log, line.topics)
        assert found is not None
        is_second = found.end.number == 2
        assert is_second == (at >= 15), seen
        store, _ = await filled(line, now_ms=latest_ms(line))
        whole, _ = await filled(line, now_ms=latest_ms(line), from_checkpoint=False)
        assert contents(store) == contents(whole)
        again = await checkpointed(line, writer="killed")
        assert again.end.number == found.end.number + 1
        assert all(slot.is_complete for slot in (await read_slots(log, line.topics)).values())

    asyncio.run(go())


def test_a_second_writer_is_refused() -> None:
    """While one writes, another one finds its claim; when it is given back, the next may."""

    async def go() -> None:
        line = Line()
        await played(line, PLAY)

        async def second() -> None:
            with pytest.raises(AnotherWritesError, match="first"):
                await checkpointed(line, writer="second")

        asked: list[asyncio.Task[None]] = []

        async def begin(_total: int) -> None:
            asked.append(asyncio.create_task(second()))
            await asyncio.wait(asked)

        await close_books(
            reader(line),
            line.topics,
            Past(remember_ms=REMEMBER_MS),
            writer="first",
            times=Times(now_ms=latest_ms(line), remember_ms=REMEMBER_MS, transfer_ttl_ms=TRANSFER_TTL_MS),
            begin=begin,
        )
        await asked[0]
        assert (await checkpointed(line, writer="second")).end.number == 2

    asyncio.run(go())


def test_books_that_do_not_balance_are_not_closed() -> None:
    """A fact whose balance does not follow from what moved: no checkpoint is written, and the difference is said."""

    async def go() -> None:
        line = Line()
        await played(line, PLAY)
        last = line.records(TopicKind.SETTLEMENTS)[-1]
        fact = json.loads(last.value or b"")
        states = {}
        for record in line.records(TopicKind.BET_DECISIONS, TopicKind.FUNDS_DECISIONS, TopicKind.SETTLEMENTS):
            said = json.loads(record.value or b"")
            if said["account_id"] == fact["account_id"] and "balance" in said:
                states[said["balance"]["sequence"]] = said["balance"]
        newest = states[max(states)]
        forged = fact | {
            "event_id": "forged",
            "bet_id": "forged",
            "taken": 0,
            "returned": 0,
            "balance": newest | {"available": newest["available"] + 7, "sequence": newest["sequence"] + 1},
        }
        line.broker.append(last.topic, last.key, json.dumps(forged).encode(), partition=last.partition)
        with pytest.raises(BooksDoNotBalanceError, match=r"by 7 "):
            await checkpointed(line)
        assert await find_checkpoint(reader(line), line.topics) is None
        said = await BooksReader(reader(line), line.topics).newest()
        assert said is not None
        assert 7 in {abs(difference) for difference in said.differences.values()}

    asyncio.run(go())
