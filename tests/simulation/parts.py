"""The twins as one simulated process uses them: the ports' in-memory sides, told where to fail.

Nothing of the service is replaced. What is added is what the real clients do on their own: the client of Redis sends a
call again that was lost or not answered, and Kafka may keep a batch twice when its producer had to start anew.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from pokdeng.ledger.memory import MemoryLedger
from pokdeng.ledger.port import LedgerUnavailableError
from pokdeng.stream.memory import MemoryLog

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence

    from pokdeng.ledger.memory_store import MemoryStore
    from pokdeng.ledger.values import Answer, BetName, BetRecord, Note, Operation, Revise, RoundName, Source
    from pokdeng.stream.port import Message, TopicPartition

_Result = TypeVar("_Result")


class PassingError(LedgerUnavailableError):
    """The ledger did not answer this time: the client sends the same again."""


async def _again(call: Callable[[], Awaitable[_Result]]) -> _Result:
    while True:
        try:
            return await call()
        except PassingError:
            continue


class SimLedger(MemoryLedger):
    """A worker's handle on the ledger, with a client that sends again."""

    def __init__(self, store: MemoryStore, *, buckets: int) -> None:
        """As `MemoryLedger`."""
        super().__init__(store, buckets=buckets)

    async def acquire(self, sources: Collection[Source], *, group: str, generation: int) -> None:
        """As `MemoryLedger`, again if need be; so all below."""
        await _again(lambda: super(SimLedger, self).acquire(sources, group=group, generation=generation))

    async def renew(self, sources: Collection[Source]) -> None:
        """Again if need be."""
        await _again(lambda: super(SimLedger, self).renew(sources))

    async def apply(self, operations: Sequence[Operation]) -> list[Answer]:
        """Again if need be: the whole of it, in order."""
        return await _again(lambda: super(SimLedger, self).apply(operations))

    async def finish(self, rounds: Sequence[RoundName], *, ttl_ms: int) -> None:
        """Again if need be."""
        await _again(lambda: super(SimLedger, self).finish(rounds, ttl_ms=ttl_ms))

    async def remember(self, notes: Sequence[Note]) -> None:
        """Again if need be."""
        await _again(lambda: super(SimLedger, self).remember(notes))

    async def revise(self, revisions: Sequence[Revise]) -> list[Answer]:
        """Again if need be: the whole of it, in order."""
        return await _again(lambda: super(SimLedger, self).revise(revisions))

    async def keep(self, rounds: Sequence[RoundName]) -> None:
        """Again if need be."""
        await _again(lambda: super(SimLedger, self).keep(rounds))

    async def find_bets(self, names: Sequence[BetName]) -> list[tuple[BetRecord, ...]]:
        """Again if need be."""
        return await _again(lambda: super(SimLedger, self).find_bets(names))

    async def round_bets(self, rounds: Sequence[RoundName]) -> list[tuple[BetRecord, ...]]:
        """Again if need be."""
        return await _again(lambda: super(SimLedger, self).round_bets(rounds))

    async def recall(self, pages: Sequence[str]) -> list[dict[str, bytes]]:
        """Again if need be."""
        return await _again(lambda: super(SimLedger, self).recall(pages))


class SimLog(MemoryLog):
    """A worker's member of the group."""

    def __init__(self, *args: Any, publishing: Callable[[], Awaitable[bool]], **kwargs: Any) -> None:
        """As `MemoryLog`; `publishing` is awaited before each publish, and says whether it comes twice."""
        super().__init__(*args, **kwargs)
        self._publishing = publishing

    async def publish(self, batches: Mapping[TopicPartition, Sequence[Message]], *, compressed: bool = False) -> None:
        """Append, and now and then once more."""
        comes_twice = await self._publishing()
        await super().publish(batches, compressed=compressed)
        if comes_twice:
            await super().publish(batches, compressed=compressed)
