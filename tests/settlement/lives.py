"""What can have happened to a worker and its memory between a round's end and what comes for it later."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from tests.settlement.scene import Scene

HOURS_MS = 3_600_000


async def in_memory(played: Scene) -> None:
    """The worker that settled it runs on."""


async def killed(played: Scene) -> None:
    """It died right after; the round is read back from `rounds`, perhaps before it was committed."""
    await played.restart()


async def stopped(played: Scene) -> None:
    """It was stopped in order: everything is committed and noted, the round is read back."""
    await played.stop()
    await played.start()


async def forgotten(played: Scene) -> None:
    """It runs on, and has forgotten the round, but not the table."""
    assert played.worker is not None
    desk = played.worker.engine.owned._desks[0]
    await played.worker.until(lambda: not desk.finished)
    assert not desk.floor.has_round("T-1", "R-1")  # type: ignore[arg-type]  # ids are texts


async def noted_only(played: Scene) -> None:
    """Hours later, so that the round is not read back: only the ledger's notes know it."""
    await played.stop()
    await played.start()
    played.talk.now_ms += 3 * HOURS_MS
    name = played.talk.now_ms
    await played.play(f"shoe S-{name} 4h at T-2\nopen R-{name} in S-{name} at T-2")
    await played.play(f"close R-{name} at T-2\ndeal R-{name} W at T-2")
    await played.stop()
    await played.start()
    assert played.worker is not None
    assert ("T-1", "R-1") not in played.worker.engine.owned._desks[0].finished


async def another_group(played: Scene) -> None:
    """A new group reads everything again, over the same store."""
    await played.stop()
    await played.start(group="second")
    await played.caught_up()


LIVES: tuple[Callable[[Scene], Awaitable[None]], ...] = (
    in_memory,
    killed,
    stopped,
    forgotten,
    noted_only,
    another_group,
)
