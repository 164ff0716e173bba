"""Commands on the in-memory twins: a scene with its worker in one loop, and the command line beside it."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from click.testing import CliRunner

from pokdeng.cli import main
from pokdeng.cli.log_access import Surroundings
from pokdeng.stream.memory import MemoryLog

if TYPE_CHECKING:
    from collections.abc import Coroutine

    from click.testing import Result

    from tests.settlement.scene import Scene
    from tests.support.line import Line


async def pokdeng(
    played: Scene, *arguments: str, answers: str | None = None, env: dict[str, str] | None = None
) -> Result:
    """Call the command line, ten milliseconds after what was said last; it reads the scene's log and clock."""
    played.talk.now_ms += 10
    return await pokdeng_on(played.line, lambda: played.talk.now_ms, *arguments, answers=answers, env=env)


async def pokdeng_on(
    line: Line, now_ms: Any, *arguments: str, answers: str | None = None, env: dict[str, str] | None = None
) -> Result:
    """The same on any line. The command runs in a thread of its own, its work in this loop, where the worker is."""
    loop = asyncio.get_running_loop()

    def run(work: Coroutine[Any, Any, Any]) -> Any:
        return asyncio.run_coroutine_threadsafe(work, loop).result()

    around = Surroundings(
        open_log=lambda _: MemoryLog(line.broker, "command", copartitioned=()), run=run, now_ms=now_ms
    )
    # Any width is a terminal's: nothing is cut.
    runner = CliRunner(env={"COLUMNS": "200", **(env or {})})
    return await asyncio.to_thread(runner.invoke, main, arguments, input=answers, obj=around)
