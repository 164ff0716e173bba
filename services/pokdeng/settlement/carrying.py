"""The carrier: has batches folded, and carries each through the ledger to where it begins to be said.

Where a turn has two batches the second is folded while the ledger has the first, and the answers to the first are
worked on while it has the second. They are of different partitions, so each is folded with all answers to the one
before it of the same; and the ledger has one call at a time.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from pokdeng.ledger.port import Ledger
    from pokdeng.ledger.values import Answer
    from pokdeng.settlement.batch import Batch
    from pokdeng.settlement.fuse import Fuse
    from pokdeng.settlement.observer import Observer
    from pokdeng.settlement.speaker import Speaker


class Carrier:
    """One turn's batches at a time."""

    def __init__(
        self,
        ledger: Ledger,
        speaker: Speaker,
        observer: Observer,
        fuse: Fuse,
        clock: Callable[[], float],
    ) -> None:
        """`clock` is monotonic, in seconds."""
        self._ledger = ledger
        self._speaker = speaker
        self._observer = observer
        self._fuse = fuse
        self._clock = clock
        self.asked_at: float | None = None
        """Since when an answer of the ledger is waited for."""
        self.load = 0
        """Records and operations of the last turn."""

    async def carry(self, folds: Sequence[Callable[[], Awaitable[Batch]]]) -> list[Batch]:
        """Fold, apply and say a batch of each; those that are not empty. The ledger has none of them any more then."""
        batches: list[Batch] = []
        self.load = 0
        asking: asyncio.Task[list[Answer]] | None = None
        try:
            for fold in folds:
                batch = await fold()
                if batch.is_empty:
                    continue
                self.load += sum(batch.records.values()) + len(batch.operations)
                answers = None if asking is None else await asking
                asking = asyncio.create_task(self._ask(batch))
                if len(folds) > 1:
                    await _begun()
                if answers is not None:
                    await self._answer(batches[-1], answers)
                batches.append(batch)
            if asking is not None:
                await self._answer(batches[-1], await asking)
        except BaseException as error:
            if asking is not None:
                asking.cancel()
                (outcome,) = await asyncio.gather(asking, return_exceptions=True)
                if isinstance(error, Exception) and isinstance(outcome, Exception) and outcome is not error:
                    raise outcome from error  # what the ledger says comes first: it may be lost, or another's
            raise
        return batches

    async def _ask(self, batch: Batch) -> list[Answer]:
        """What the ledger answers to a batch's operations, after its revisions."""
        batch.applied_at = self._clock()
        if batch.revisions:
            self.asked_at = self._clock()
            batch.revised(await self._ledger.revise(batch.revisions))
            self.asked_at = None
        if not batch.operations:
            if batch.has_decided and not batch.notes:  # by what was read: is it still there, and ours?
                await self._ledger.renew(batch.sources)
            return []
        began = self.asked_at = self._clock()
        answers = await self._ledger.apply(batch.operations)
        self.asked_at = None
        self._observer.ledger_called(self._clock() - began)
        return answers

    async def _answer(self, batch: Batch, answers: list[Answer]) -> None:
        """Work on the answers, note what is to be noted, and begin to say it all."""
        batch.answered(answers)
        if self._fuse.is_there:
            self._fuse.count(batch.records, batch.dead_by_partition(), self._clock())
        if batch.notes:
            await self._ledger.remember(batch.notes)
        await self._speaker.say(batch)


async def _begun() -> None:
    """A task that was made just now has begun, and what it wrote is on its way: the loop writes at a turn's end."""
    await asyncio.sleep(0)
    await asyncio.sleep(0)
