"""How far the log is needed no more: what is committed, and what leaves memory once it is.

Nothing is committed before everything that follows from it is acknowledged. A finished round leaves memory only when a
replay from the committed offsets needs nothing of it; only then may its bets be forgotten in the ledger, in time.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from pokdeng.ledger.port import RoundName
from pokdeng.stream.port import TopicPartition

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pokdeng.ledger.port import Ledger, Note
    from pokdeng.settlement.cashier import Cashier
    from pokdeng.settlement.desk import Desk
    from pokdeng.settlement.house import House
    from pokdeng.stream.port import Log


class Progress:
    """Commits for one assignment."""

    def __init__(self, log: Log, ledger: Ledger, house: House) -> None:
        """Nothing is committed by us yet."""
        self._log = log
        self._ledger = ledger
        self._house = house
        self._committed: dict[TopicPartition, int] = {}
        self._commit: asyncio.Task[dict[TopicPartition, int] | None] | None = None

    async def tick(self, desks: Iterable[Desk], cashiers: Iterable[Cashier]) -> None:
        """Begin a commit, or take the result of the one under way; must not run beside other calls of the ledger."""
        desks = list(desks)
        if self._commit is not None:
            if not self._commit.done():
                return
            task, self._commit = self._commit, None
            await self._take(task.result(), desks)
        offsets = await self._wanted(desks, cashiers)
        if offsets:
            self._commit = asyncio.create_task(self._send(offsets))

    async def finish(self, desks: Iterable[Desk], cashiers: Iterable[Cashier]) -> None:
        """Commit all that is acknowledged, now."""
        desks = list(desks)
        if self._commit is not None:
            task, self._commit = self._commit, None
            await self._take(await task, desks)
        offsets = await self._wanted(desks, cashiers)
        if offsets:
            await self._take(await self._send(offsets), desks)

    async def _wanted(self, desks: list[Desk], cashiers: Iterable[Cashier]) -> dict[TopicPartition, int]:
        await self._note_idle(desks)
        topics = self._house.topics
        wanted: dict[TopicPartition, int] = {}
        for desk in desks:
            next_event, next_bet = desk.watermarks
            wanted[TopicPartition(topics.table_events, desk.partition)] = next_event
            wanted[TopicPartition(topics.bets, desk.partition)] = next_bet
        for cashier in cashiers:
            wanted[TopicPartition(topics.funds, cashier.partition)] = cashier.next_transfer
        return {partition: offset for partition, offset in wanted.items() if offset > self._committed.get(partition, 0)}

    async def _note_idle(self, desks: list[Desk]) -> None:
        """Note tables where nothing is going on, so that they keep nothing of the log."""
        notes: list[Note] = []
        for desk in desks:
            notes.extend(desk.idle_notes())
        if notes:
            await self._ledger.remember(notes)
            for desk in desks:
                desk.noted_idle()

    async def _send(self, offsets: dict[TopicPartition, int]) -> dict[TopicPartition, int] | None:
        return offsets if await self._log.commit(offsets) else None

    async def _take(self, offsets: dict[TopicPartition, int] | None, desks: list[Desk]) -> None:
        if offsets is None:
            return  # the group rebalanced: the next owner goes on from what was committed before
        self._committed.update(offsets)
        topics = self._house.topics
        names: list[RoundName] = []
        notes: list[Note] = []
        passed = []
        for desk in desks:
            over = desk.passed(
                self._committed.get(TopicPartition(topics.table_events, desk.partition), 0),
                self._committed.get(TopicPartition(topics.bets, desk.partition), 0),
            )
            if over:
                passed.append((desk, over))
                names.extend(RoundName(desk.source, *key) for key in over)
                notes.extend(desk.notes_of(over))
        if names:
            await self._ledger.remember(notes)
            await self._ledger.finish(names, ttl_ms=self._house.remember_ms)
            for desk, over in passed:
                desk.forget(over)
