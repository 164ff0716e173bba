"""How far the log is needed no more: what is committed, and what leaves memory once it is.

Nothing is committed before everything that follows from it is acknowledged. A finished round leaves memory only when a
replay from the committed offsets needs nothing of it; only then may its bets be forgotten in the ledger, in time.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from typing import TYPE_CHECKING

from pokdeng.ledger.values import RoundName
from pokdeng.restore.stored import noted_table
from pokdeng.settlement.anchors import anchor_note
from pokdeng.settlement.finished import decode_table
from pokdeng.settlement.memory import MARK, table_page
from pokdeng.stream.port import TopicPartition

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pokdeng.ledger.port import Ledger
    from pokdeng.ledger.values import Note
    from pokdeng.settlement.cashier import Cashier
    from pokdeng.settlement.desk import Desk, Key
    from pokdeng.settlement.finished import Finished
    from pokdeng.settlement.house import House
    from pokdeng.stream.port import Log, Message


class Progress:
    """Commits for one assignment."""

    def __init__(self, log: Log, ledger: Ledger, house: House) -> None:
        """Nothing is committed by us yet."""
        self._log = log
        self._ledger = ledger
        self._house = house
        self._committed: dict[TopicPartition, int] = {}
        self._commit: asyncio.Task[dict[TopicPartition, int] | None] | None = None
        self._passed: list[tuple[Desk, dict[Key, Finished]]] = []
        """Rounds that the commit under way passes: noted, still in memory."""
        self._checkpoint_partitions = 0
        self._anchored: dict[TopicPartition, tuple[int, int, int, int]] = {}

    async def tick(self, desks: Iterable[Desk], cashiers: Iterable[Cashier]) -> None:
        """Begin a commit, or take the result of the one under way; must not run beside other calls of the ledger."""
        desks = list(desks)
        if self._commit is not None:
            if not self._commit.done():
                return
            task, self._commit = self._commit, None
            await self._take(task.result())
        offsets = await self._wanted(desks, cashiers)
        if offsets:
            self._commit = asyncio.create_task(self._send(offsets))

    async def finish(self, desks: Iterable[Desk], cashiers: Iterable[Cashier]) -> None:
        """Commit all that is acknowledged, now."""
        desks = list(desks)
        if self._commit is not None:
            task, self._commit = self._commit, None
            await self._take(await task)
        offsets = await self._wanted(desks, cashiers)
        if offsets:
            await self._take(await self._send(offsets))

    async def _wanted(self, desks: list[Desk], cashiers: Iterable[Cashier]) -> dict[TopicPartition, int]:
        cashiers = list(cashiers)
        await self._note_idle(desks)
        topics = self._house.topics
        wanted: dict[TopicPartition, int] = {}
        for desk in desks:
            next_event, next_bet = desk.watermarks
            wanted[TopicPartition(topics.table_events, desk.partition)] = next_event
            wanted[TopicPartition(topics.bets, desk.partition)] = next_bet
        for cashier in cashiers:
            wanted[TopicPartition(topics.funds, cashier.partition)] = cashier.next_transfer
        committed = self._committed
        risen = {partition: offset for partition, offset in wanted.items() if offset > committed.get(partition, 0)}
        if risen:
            await self._note_passed(desks, committed | risen)
        await self._anchor(desks, cashiers, committed | risen)
        return risen

    async def _note_passed(self, desks: list[Desk], offsets: dict[TopicPartition, int]) -> None:
        """Note the rounds of which a replay from these offsets needs nothing.

        Before the commit: whoever goes on from there reads nothing of them again, and must find them noted.
        """
        topics = self._house.topics
        self._passed = []
        for desk in desks:
            over = desk.passed(
                offsets.get(TopicPartition(topics.table_events, desk.partition), 0),
                offsets.get(TopicPartition(topics.bets, desk.partition), 0),
            )
            if over:
                self._passed.append((desk, over))
        await self._recall_tables()
        notes = [note for desk, over in self._passed for note in desk.notes_of(over)]
        if notes:
            await self._remember(desks, notes)

    async def _remember(self, desks: Iterable[Desk], notes: list[Note]) -> None:
        """Write notes, tables' snapshots among them; before it, which of these have rounds put aside."""
        before: list[Note] = []
        after: list[Note] = []
        for desk in desks:
            of_desk = [note for note in notes if note.source == desk.source]
            before += desk.aside.notes_before(desk.source, of_desk)
            after += desk.aside.notes_after(desk.source, of_desk)
        if before:
            await self._ledger.remember(before)
        await self._ledger.remember(notes)
        if after:
            await self._ledger.remember(after)

    async def _recall_tables(self) -> None:
        """Tables that were only read back may be noted as they were later: an older note must not replace that."""
        unloaded = [
            (desk, table_id)
            for desk, over in self._passed
            for table_id in dict.fromkeys(table_id for table_id, _ in over)
            if desk.floor.table(table_id) is None
        ]
        if not unloaded:
            return
        pages = await self._ledger.recall([table_page(table_id) for _, table_id in unloaded])
        for (desk, table_id), page in zip(unloaded, pages, strict=True):
            if MARK in page:
                desk.floor.read_back(table_id, decode_table(page[MARK]))

    async def _note_idle(self, desks: list[Desk]) -> None:
        """Note tables where nothing is going on, so that they keep nothing of the log."""
        notes: list[Note] = []
        for desk in desks:
            notes.extend(desk.idle_notes())
        if notes:
            # Before they are said: a worker that was stopped for long would replace what the next owner said since.
            await self._ledger.renew(sorted({note.source for note in notes}))
            await self._say_idle(notes)
            await self._remember(desks, notes)
            for desk in desks:
                desk.noted_idle()

    async def _say_idle(self, notes: list[Note]) -> None:
        """No fact tells these snapshots: they are said on the internal topic, for a ledger that is lost."""
        topics = self._house.topics
        if not self._checkpoint_partitions:
            self._checkpoint_partitions = (await self._log.partition_counts([topics.checkpoints]))[topics.checkpoints]
        said: defaultdict[TopicPartition, list[Message]] = defaultdict(list)
        for note in notes:
            table_id = note.page.partition("|")[2]
            place, message = noted_table(topics, self._checkpoint_partitions, table_id, note.value)
            said[place].append(message)
        await self._log.publish(said)

    async def _anchor(self, desks: list[Desk], cashiers: list[Cashier], offsets: dict[TopicPartition, int]) -> None:
        """Note the newest acknowledged record of each partition, and what is to be committed: see `anchors`."""
        topics = self._house.topics
        newest = {
            (desk.source, TopicPartition(topic, desk.partition)): place
            for desk in desks
            for topic, place in zip((topics.table_events, topics.bets), desk.newest, strict=True)
        } | {(cashier.source, TopicPartition(topics.funds, cashier.partition)): cashier.newest for cashier in cashiers}
        waiting = {
            TopicPartition(topics.table_events, desk.partition): oldest.offset
            for desk in desks
            if (oldest := desk.revisions.oldest_needed) is not None
        }
        notes: list[Note] = []
        for (source, partition), place in newest.items():
            if place is None:
                continue
            anchor = (*place, offsets.get(partition, 0), waiting.get(partition, place[0] + 1))
            if self._anchored.get(partition) != anchor:
                self._anchored[partition] = anchor
                notes.append(anchor_note(source, partition, *place, committed=anchor[2], dealt=anchor[3]))
        if notes:
            await self._ledger.remember(notes)

    async def _send(self, offsets: dict[TopicPartition, int]) -> dict[TopicPartition, int] | None:
        return offsets if await self._log.commit(offsets) else None

    async def _take(self, offsets: dict[TopicPartition, int] | None) -> None:
        passed, self._passed = self._passed, []
        if offsets is None:
            return  # the group rebalanced: the next owner goes on from what was committed before
        self._committed.update(offsets)
        names = [
            RoundName(desk.source, *key)
            for desk, over in passed
            for key, finished in over.items()
            if desk.is_as_noted(key, finished)
        ]
        if names:
            await self._ledger.finish(names, ttl_ms=self._house.remember_ms)
        for desk, over in passed:
            desk.forget(over)
