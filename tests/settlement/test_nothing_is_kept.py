"""Nothing is kept in the worker per settled round or bet: all objects that it can reach are counted, by type."""

from __future__ import annotations

import asyncio
import gc
import sys
from collections import Counter
from types import FrameType, ModuleType
from typing import TYPE_CHECKING

from tests.settlement.scene import scene
from tests.settlement.table_talk import FIVE_ACCOUNTS

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tests.settlement.scene import Scene

ROUNDS = 32
"""Of each count, at four tables, with four bets each."""
SOME = ROUNDS // 2
"""So many objects of a type more or less depend on the moment: what the last batch was, what is being committed."""


def reachable(played: Scene) -> Counter[str]:
    """The objects that the engine and the service's modules reach, but not through the stage or its log and ledger."""
    gc.collect()
    line = played.line
    assert played.worker is not None
    outside = {id(one) for one in (played, played.talk, line, line.broker, line.store, asyncio.get_running_loop())}
    waiting: list[object] = [vars(module) for name, module in sys.modules.items() if name.startswith("pokdeng")]
    waiting.append(played.worker.engine)
    seen: set[int] = set(outside)
    found: Counter[str] = Counter()
    while waiting:
        one = waiting.pop()
        if id(one) in seen or isinstance(one, ModuleType | FrameType):
            continue
        seen.add(id(one))
        found[f"{type(one).__module__}.{type(one).__qualname__}"] += 1
        waiting.extend(_referents(one))
    return found


def _referents(one: object) -> Iterable[object]:
    if isinstance(one, type) and not one.__module__.startswith("pokdeng"):
        return ()
    return gc.get_referents(one)


async def play_rounds(played: Scene, part: int) -> None:
    """Two shoes a table, all of each settled, some of it cancelled since; then everything is noted and forgotten."""
    tables = [f"T-{number}" for number in range(1, 5)]
    for shoe in (f"S-{part}-1", f"S-{part}-2"):
        await played.play("\n".join(f"shoe {shoe} 2h at {table}" for table in tables))
        for name in (f"R-{shoe}-{number}" for number in range(ROUNDS // len(tables) // 2)):
            for table in tables:
                played.say(f"open {name} in {shoe} at {table}")
                for bet in range(1, 5):
                    played.say(f"bet b{bet} A-{bet} player_{bet} 100 of {name} at {table}")
            await played.caught_up()
            await played.play("\n".join(f"close {name} at {table}\ndeal {name} W at {table}" for table in tables))
            if name.endswith("3"):
                await played.play(f"void {name} at T-1")
    worker = played.worker
    assert worker is not None
    await worker.until(lambda: not any(desk.finished or desk.revisions for desk in worker.engine.owned.desks))


def test_a_worker_holds_as_much_after_many_rounds_as_after_some() -> None:
    """No type of object becomes more by a settled round."""

    async def play() -> None:
        async with scene(is_checked=False) as played:
            await played.play(FIVE_ACCOUNTS)
            counts = []
            for part in range(3):
                await play_rounds(played, part)
                counts.append(reachable(played))
            first, second = counts[1:]
            assert {name: (first[name], many) for name, many in second.items() if many > first[name] + SOME} == {}

    asyncio.run(play())
