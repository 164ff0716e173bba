"""How a ledger can be lost between a round's end and what comes for it later, and how it comes back from the log."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pokdeng.restore.closing_books import close_books
from pokdeng.restore.folding import Times
from pokdeng.restore.protocol import Restorer
from pokdeng.settlement.engine import LEASES_EVERY_S
from pokdeng.settlement.past import Past
from pokdeng.settlement.restoring import TRANSFER_TTL_MS, plan_of
from tests.restore.filled import latest_ms, reader
from tests.support.line import REMEMBER_MS

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from pokdeng.ledger.port import Ledger
    from pokdeng.restore.closing_books import Written
    from pokdeng.restore.restore import Restored
    from tests.settlement.scene import Scene
    from tests.support.line import Line


async def checkpointed(line: Line) -> Written:
    """`balances checkpoint`: the books are closed as of now."""
    return await close_books(
        reader(line),
        line.topics,
        Past(remember_ms=REMEMBER_MS),
        writer="test",
        times=Times(now_ms=latest_ms(line), remember_ms=REMEMBER_MS, transfer_ttl_ms=TRANSFER_TTL_MS),
    )


async def rebuilt(line: Line, ledger: Ledger) -> Restored | None:
    """`balances rebuild --stopped`: the same plan, without the words."""
    plan = plan_of(
        reader(line),
        ledger,
        line.topics,
        name="rebuild",
        remember_ms=REMEMBER_MS,
        patience_s=0,
        looks_first=False,
        now_ms=lambda: latest_ms(line),
    )
    return await Restorer(plan).run(lambda _: {})


async def restored_by_the_worker(played: Scene) -> None:
    """The store is emptied while the worker runs: it notices, restores it and goes on."""
    await checkpointed(played.line)
    store, worker = played.line.store, played.worker
    assert worker is not None
    store.flush()
    played.line.elapse(LEASES_EVERY_S)
    await worker.until(lambda: any(bucket.notes for bucket in store.buckets))
    await worker.caught_up()


async def restored_without_a_checkpoint(played: Scene) -> None:
    """A worker that starts finds an empty store."""
    await played.stop()
    played.line.store.flush()
    await played.start()
    await played.caught_up()


async def rebuilt_by_command(played: Scene) -> None:
    """The worker is stopped, the store emptied and filled by command; then the worker starts."""
    await checkpointed(played.line)
    await played.stop()
    played.line.store.flush()
    assert await rebuilt(played.line, played.line.new_ledger())
    await played.start()
    await played.caught_up()


LOSSES: tuple[Callable[[Scene], Awaitable[None]], ...] = (
    restored_by_the_worker,
    restored_without_a_checkpoint,
    rebuilt_by_command,
)
