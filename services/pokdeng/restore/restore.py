"""Fills a ledger from the log: clears it, folds, writes, to the unit what was said. Idempotent from any point."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pokdeng.ledger.values import Source
from pokdeng.restore.filling import ENOUGH, Filling
from pokdeng.restore.folding import fold_log, stretch_of
from pokdeng.stream.port import TopicPartition

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from pokdeng.ledger.restoring import RestoredNote, Restoring
    from pokdeng.ledger.values import Account
    from pokdeng.restore.accounts import Hole
    from pokdeng.restore.checkpoint import Checkpoint
    from pokdeng.restore.filling import Notes
    from pokdeng.restore.fold import Fold
    from pokdeng.restore.folding import Times
    from pokdeng.restore.reading import Offsets
    from pokdeng.stream.port import Log
    from pokdeng.wire import Topics


@dataclass(frozen=True, slots=True, kw_only=True)
class Restored:
    """What a ledger was filled with."""

    facts: int
    accounts: int
    holds: int
    remembered: int
    """Bets, transfers and notes that were written."""
    holes: tuple[Hole, ...]
    """Movements that nobody had said: they are decided again."""


async def _silent(_count: int) -> None:
    """Nobody wants to know."""


async def fill(
    log: Log,
    topics: Topics,
    ledger: Restoring,
    notes: Notes,
    *,
    ends: Offsets,
    times: Times,
    checkpoint: Checkpoint | None,
    read_funds: dict[int, int],
    more_notes: Sequence[RestoredNote] = (),
    begin: Callable[[int], Awaitable[None]] | None = None,
    progress: Callable[[int], Awaitable[None]] = _silent,
) -> Restored:
    """Make the ledger hold what the log says up to `ends`. Its caller leads the restore, and opens the ledger after.

    `read_funds`: by partition of `funds`, below which offset everything is answered and acknowledged.
    `begin` is told how many offsets will be read, `progress` how many more were.
    """
    stretch = await stretch_of(log, topics, ends, times=times, checkpoint=checkpoint, has_sink=True)
    if begin is not None:
        await begin(stretch.records)
    await ledger.clear()
    filling = Filling(ledger, notes, now_ms=times.now_ms, remember_ms=times.remember_ms)
    fold = await fold_log(
        log,
        topics,
        stretch,
        times=times,
        checkpoint=checkpoint,
        sink=filling,
        writing=filling,
        progress=progress,
    )
    await filling.finish(fold.standing(), progress)
    accounts = await _put_accounts(ledger, fold, progress)
    if more_notes:
        await ledger.put_notes(more_notes)
    await ledger.put_offsets({Source(f"f{number}"): offset - 1 for number, offset in read_funds.items() if offset > 0})
    return Restored(
        facts=fold.facts,
        accounts=accounts,
        holds=sum(len(bets) for bets in fold.holds().values()),
        remembered=filling.written,
        holes=tuple(fold.book.holes),
    )


async def _put_accounts(ledger: Restoring, fold: Fold, progress: Callable[[int], Awaitable[None]]) -> int:
    some: list[Account] = []
    count = 0
    for account in fold.accounts():
        some.append(account)
        count += 1
        if len(some) >= ENOUGH:
            await ledger.put_accounts(some)
            await progress(0)
            some = []
    if some:
        await ledger.put_accounts(some)
    return count


async def answered_funds(log: Log, topics: Topics) -> dict[int, int]:
    """By partition of `funds`, below which offset the group has answered everything; else below what is kept."""
    count = (await log.partition_counts([topics.funds])).get(topics.funds, 0)
    places = [TopicPartition(topics.funds, number) for number in range(count)]
    committed = await log.committed(places)
    beginnings = await log.beginning_offsets(places)
    return {place.partition: max(committed[place] or 0, beginnings[place]) for place in places}
