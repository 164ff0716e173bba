"""Checkpoints while the storm rages, as an operator has them written on a schedule; some writers are killed."""

from __future__ import annotations

import asyncio
import json
import random
import signal
import sys
from collections import Counter
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from pathlib import Path

    from tests.chaos.workers import Where

PAUSE_S: Final = (15.0, 45.0)
"""Between two checkpoints."""
KILLED: Final = 0.25
"""Of the writers: kill -9 after at most so many seconds of their work."""
_KILLED_WITHIN_S: Final = 6.0
REFUSED: Final = "refused"
"""How an end begins of which the reason is that the books do not balance."""


class Checkpoints:
    """Writes one after the other until it is cancelled."""

    def __init__(self, seed: int, where: Where, folder: Path) -> None:
        """Nothing is written yet."""
        self._rng = random.Random(f"{seed}/checkpoints")
        self._log = folder / "checkpoints.log"
        self._command = (
            *(sys.executable, "-m", "pokdeng", "balances", "checkpoint", "--json"),
            *("--bootstrap", where.bootstrap, "--prefix", where.prefix),
        )
        self.ends: Counter[str] = Counter()
        """How they ended: "written", "killed", `REFUSED` with the books, or "failed" with their last words."""

    async def go_on(self) -> None:
        """For ever."""
        while True:
            await asyncio.sleep(self._rng.uniform(*PAUSE_S))
            killed_after = self._rng.uniform(0.5, _KILLED_WITHIN_S) if self._rng.random() < KILLED else None
            self.ends[await self._write(killed_after)] += 1

    async def _write(self, killed_after: float | None) -> str:
        with self._log.open("ab") as errors:
            process = await asyncio.create_subprocess_exec(
                *self._command, stdout=asyncio.subprocess.PIPE, stderr=errors
            )
        try:
            said = await asyncio.wait_for(process.communicate(), killed_after)
        except TimeoutError:
            process.kill()
            await process.wait()
            return "killed"
        except asyncio.CancelledError:
            process.kill()
            await process.wait()
            raise
        if process.returncode == 0:
            return "written"
        if process.returncode == -signal.SIGKILL:
            return "killed"
        text = said[0].decode().strip()
        if text.startswith("{"):
            return f"{REFUSED}: the books do not balance: {json.loads(text).get('books')}"
        return f"failed: {self._last_words()}"

    def _last_words(self) -> str:
        lines = self._log.read_text(errors="replace").strip().splitlines()
        return lines[-1][:100] if lines else "without a word"


def is_wrong(how: str) -> bool:
    """Whether no writer of a checkpoint may end so, whatever befalls it: it may say in a sentence why it cannot."""
    return how.startswith(REFUSED) or (how.startswith("failed") and not how.startswith("failed: Error: "))
