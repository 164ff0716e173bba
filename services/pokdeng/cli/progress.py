"""How far a long reading has come: a bar on a terminal, else a line now and then; on standard error."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Final, Self

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

if TYPE_CHECKING:
    from types import TracebackType

    from rich.progress import TaskID

_SHOWN_AFTER_S: Final = 1.0
_LINES_EVERY_S: Final = 5.0


class Bar:
    """A `pokdeng.history.reading.Progress`. Nothing is shown of what takes less than a second."""

    def __init__(self, console: Console | None = None, *, unit: str = "records") -> None:
        """Draw on this console, by default the standard error."""
        self._console = console or Console(stderr=True, highlight=False)
        self._progress = Progress(
            TextColumn("{task.description}", style="grey58"),
            BarColumn(bar_width=32, complete_style="dodger_blue1", finished_style="grey58"),
            MofNCompleteColumn(),
            TextColumn(unit, style="grey58"),
            TimeElapsedColumn(),
            TimeRemainingColumn(),
            console=self._console,
            transient=True,
        )
        self._task: TaskID | None = None
        self._what = ""
        self._total = self._done = 0
        self._began = self._next_line = time.monotonic()

    def __enter__(self) -> Self:
        """Begin to count the time."""
        self._began = time.monotonic()
        self._next_line = self._began + _LINES_EVERY_S
        return self

    def __exit__(
        self, error_type: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Take the bar away."""
        if self._task is not None:
            self._progress.stop()

    def begin(self, what: str, total: int) -> None:
        """`total` more records will be read, for the sake of `what`; something else begins anew."""
        if what != self._what:
            self._what, self._total, self._done = what, 0, 0
        self._total += total
        self.advance(0)

    def advance(self, count: int) -> None:
        """So many of them were read."""
        self._done += count
        now = time.monotonic()
        if not self._console.is_terminal:
            if now >= self._next_line:
                self._next_line = now + _LINES_EVERY_S
                self._console.print(f"{self._what}: {self._done:,} of {self._total:,}", soft_wrap=True)
            return
        if now - self._began < _SHOWN_AFTER_S:
            return
        if self._task is None:
            self._progress.start()
            self._task = self._progress.add_task(self._what)
        self._progress.update(self._task, description=self._what, total=self._total, completed=self._done)
