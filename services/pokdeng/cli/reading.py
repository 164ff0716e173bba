"""A bar for long reads of the log: on standard error, and only where people look at it."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Self

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

if TYPE_CHECKING:
    from types import TracebackType


class Reading:
    """Counts facts that were read, of those to be read."""

    def __init__(self, what: str, *, is_shown: bool | None = None, console: Console | None = None) -> None:
        """`what` is said before the bar; `is_shown` None: where standard error is a terminal."""
        self._is_shown = sys.stderr.isatty() if is_shown is None else is_shown
        self._progress = Progress(
            TextColumn("{task.description:<32}"),
            BarColumn(bar_width=28),
            TaskProgressColumn(),
            TextColumn("{task.fields[counted]}"),
            TimeRemainingColumn(compact=True),
            console=console or Console(stderr=True),
            disable=not self._is_shown,
            transient=True,
        )
        self._total = self._done = 0
        self._task = self._progress.add_task(what, total=None, counted="")

    def __enter__(self) -> Self:
        """Begin to show it."""
        self._progress.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Take it away."""
        self._progress.stop()

    def say(self, what: str, done: int = 0, total: int = 0) -> None:
        """Show a stage of the work: how many facts were read, of how many (0: not known)."""
        counted = f"{done:,} of {total:,} facts" if total else ""
        self._progress.update(self._task, description=what, completed=done, total=total or None, counted=counted)

    async def begin(self, total: int) -> None:
        """So many facts are to be read."""
        self._total, self._done = total, 0
        self.say("reading facts", 0, total)

    async def read(self, count: int) -> None:
        """So many more were read."""
        self._done += count
        self.say("reading facts", self._done, self._total)
