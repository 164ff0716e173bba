"""A store in memory filled from a line's log, and what of two stores must be equal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pokdeng.ledger.memory import MemoryLedger
from pokdeng.ledger.memory_store import MemoryStore
from pokdeng.ledger.values import BetState
from pokdeng.restore.folding import Times
from pokdeng.restore.reading import ends_of, fact_partitions
from pokdeng.restore.restore import Restored, answered_funds, fill
from pokdeng.restore.stored import find_checkpoint
from pokdeng.settlement.past import past_of
from pokdeng.stream.memory import MemoryLog
from tests.support.line import INPUTS, REMEMBER_MS

if TYPE_CHECKING:
    from pokdeng.ledger.port import Ledger
    from tests.support.line import Line

GROUP = "settlement"
_NO_FACT = "e|"
TRANSFER_TTL_MS = 32 * 86_400_000


def reader(line: Line, group: str = GROUP) -> MemoryLog:
    """A log that is never started."""
    return MemoryLog(line.broker, group, copartitioned=(), name="restorer")


def latest_ms(line: Line) -> int:
    """The broker time of the newest input record."""
    return max(record.timestamp for record in line.records(*INPUTS))


async def fill_ledger(
    line: Line, ledger: Ledger, *, now_ms: int, remember_ms: int = REMEMBER_MS, from_checkpoint: bool = True
) -> Restored:
    """A ledger that takes no writers, filled from all that was said, and opened."""
    restoring = ledger.restoring()
    log = reader(line)
    past = await past_of(log, line.topics, now_ms=now_ms, remember_ms=remember_ms)
    assert await restoring.lead(await restoring.begin(), "test")
    restored = await fill(
        log,
        line.topics,
        restoring,
        past,
        ends=await ends_of(log, await fact_partitions(log, line.topics)),
        times=Times(now_ms=now_ms, remember_ms=remember_ms, transfer_ttl_ms=TRANSFER_TTL_MS),
        checkpoint=await find_checkpoint(log, line.topics) if from_checkpoint else None,
        read_funds=await answered_funds(log, line.topics),
    )
    await restoring.open()
    return restored


async def filled(
    line: Line, *, now_ms: int, remember_ms: int = REMEMBER_MS, from_checkpoint: bool = True
) -> tuple[MemoryStore, Restored]:
    """An empty store, filled from all that was said."""
    store = MemoryStore(clock=lambda: now_ms)
    return store, await fill_ledger(
        line, MemoryLedger(store), now_ms=now_ms, remember_ms=remember_ms, from_checkpoint=from_checkpoint
    )


def contents(store: MemoryStore) -> dict[str, Any]:
    """What of a store is about money and memory: what a restore must bring back."""
    return {
        "accounts": [bucket.accounts for bucket in store.buckets],
        "rounds": [bucket.rounds for bucket in store.buckets],
        "transfers": [bucket.transfers for bucket in store.buckets],
    }


def pages(store: MemoryStore) -> dict[str, dict[str, bytes]]:
    """All notes, but where the log was last read; and no table events after a round's end, for no fact tells them."""
    return {
        page: {field: value for field, value in fields.items() if not field.startswith(_NO_FACT)}
        for bucket in store.buckets
        for page, fields in bucket.notes.items()
        if not page.startswith("log|")
    }


def check_same_contents(restored: MemoryStore, living: MemoryStore) -> None:
    """Every balance, bet and transfer is there as it was; what was refused may be a record instead of a note."""
    for there, was in zip(restored.buckets, living.buckets, strict=True):
        assert there.accounts == was.accounts
        assert there.transfers == was.transfers
        for round_, bets in there.rounds.items():
            known = was.rounds.get(round_, {})
            assert {bet_id: bets.get(bet_id) for bet_id in known} == known
            assert all(bets[bet_id].record.state is BetState.REFUSED for bet_id in bets.keys() - known.keys())
        assert was.rounds.keys() <= there.rounds.keys()
