"""An event loop whose time is virtual and whose order is drawn from a seed: one seed runs the same steps, always.

Nothing waits: where nothing is ready, time jumps to the next timer. Which of the ready callbacks runs next is drawn,
for asyncio promises no order between tasks. Callbacks belong to a `Process` (through their context), so that a process
can be killed or stopped between any two of its steps, as the kernel does it: killed, nothing of it runs any more, not
even a `finally`; stopped, all of it waits.
"""

from __future__ import annotations

import asyncio
from asyncio import events
from contextlib import suppress
from contextvars import Context, ContextVar, copy_context
from heapq import heappop, heappush
from typing import TYPE_CHECKING, Any, TypeVar, cast

if TYPE_CHECKING:
    import random
    from collections.abc import Callable, Coroutine

_Result = TypeVar("_Result")
_MOST_STEPS = 100_000
"""A world takes one or two thousand, one with late cards some ten."""


class StandstillError(Exception):
    """Everything waits and no timer is set: nothing will ever happen again."""


class Process:
    """What one process runs: its tasks live and die together."""

    def __init__(self, name: str) -> None:
        """Runs."""
        self.name = name
        self.is_dead = False
        self.is_stopped = False
        self.waiting: list[Handle] = []
        """What is to run when it is continued."""

    def __repr__(self) -> str:
        """Its name."""
        return self.name


OWNER: ContextVar[Process | None] = ContextVar("OWNER", default=None)
"""The process of what runs now; None: the world itself."""


class Handle:
    """A callback that will run."""

    __slots__ = ("args", "callback", "context", "is_cancelled", "moment")

    def __init__(self, callback: Callable[..., Any], args: tuple[Any, ...], context: Context, moment: float) -> None:
        """At a moment, if it is a timer."""
        self.callback = callback
        self.args = args
        self.context = context
        self.moment = moment
        self.is_cancelled = False

    def cancel(self) -> None:
        """Do not run."""
        self.is_cancelled = True

    def cancelled(self) -> bool:
        """Whether it will not run."""
        return self.is_cancelled

    def when(self) -> float:
        """The moment of a timer."""
        return self.moment


class VirtualLoop:
    """What asyncio asks of an event loop, and no more. Runs until the main task is done.

    Args:
        rng: draws the order of what is ready.
        step_s: how much virtual time each callback takes.
    """

    def __init__(self, rng: random.Random, *, step_s: float = 0.0) -> None:
        """At time 0."""
        self._as_loop = cast("asyncio.AbstractEventLoop", self)
        self._draw = rng.random
        self._step_s = step_s
        self._now = 0.0
        self._ready: list[Handle] = []
        self._timers: list[tuple[float, int, Handle]] = []
        self._count = 0
        self._tasks: dict[asyncio.Task[Any], None] = {}
        self.steps = 0
        self.errors: list[BaseException] = []
        """What callbacks raised, and nobody took."""

    # What asyncio asks of a loop

    def time(self) -> float:
        """Virtual seconds."""
        return self._now

    def get_debug(self) -> bool:
        """Never."""
        return False

    def is_running(self) -> bool:
        """Always, where it is asked."""
        return True

    def is_closed(self) -> bool:
        """Never, where it is asked."""
        return False

    def call_soon(self, callback: Callable[..., Any], *args: Any, context: Context | None = None) -> Handle:
        """Run when it is drawn."""
        handle = Handle(callback, args, copy_context() if context is None else context, self._now)
        self._ready.append(handle)
        return handle

    call_soon_threadsafe = call_soon

    def call_later(
        self, delay: float, callback: Callable[..., Any], *args: Any, context: Context | None = None
    ) -> Handle:
        """Run after so many virtual seconds."""
        return self.call_at(self._now + delay, callback, *args, context=context)

    def call_at(self, when: float, callback: Callable[..., Any], *args: Any, context: Context | None = None) -> Handle:
        """Run at a virtual moment."""
        handle = Handle(callback, args, copy_context() if context is None else context, when)
        self._count += 1
        heappush(self._timers, (when, self._count, handle))
        return handle

    def create_future(self) -> asyncio.Future[Any]:
        """A future of this loop."""
        return asyncio.Future(loop=self._as_loop)

    def create_task(
        self, coro: Coroutine[Any, Any, _Result], *, context: Context | None = None, **_: Any
    ) -> asyncio.Task[_Result]:
        """A task of this loop; it belongs to the process of its context."""
        task = asyncio.Task(coro, loop=self._as_loop, context=context)
        self._tasks[task] = None
        return task

    def call_exception_handler(self, context: dict[str, Any]) -> None:
        """Keep what nobody asked for; tasks that died with their process are no error."""
        error = context.get("exception")
        if error is not None:
            self.errors.append(error)

    # Processes

    def spawn(self, process: Process, coro: Coroutine[Any, Any, _Result]) -> asyncio.Task[_Result]:
        """Run a coroutine, and all that comes of it, as a process."""
        context = copy_context()
        context.run(OWNER.set, process)
        return self.create_task(coro, context=context)

    def go_on(self, process: Process) -> None:
        """Continue a stopped process."""
        process.is_stopped = False
        waiting, process.waiting = process.waiting, []
        self._ready.extend(waiting)

    # Running

    def run(self, main: Coroutine[Any, Any, _Result]) -> _Result:
        """Run until `main` returns.

        Raises:
            StandstillError: when nothing can ever happen again.
        """
        events._set_running_loop(self._as_loop)
        try:
            task = self.create_task(main)
            while not task.done():
                self._run_one()
                if self.steps > _MOST_STEPS:
                    raise StandstillError(f"no end after {self.steps} steps")
            return task.result()
        finally:
            self._bury()
            events._set_running_loop(None)

    def _run_one(self) -> None:
        ready, timers = self._ready, self._timers
        if timers and (not ready or timers[0][0] <= self._now):
            self._ring()
        elif not ready:
            raise StandstillError(f"everything waits at {self._now:.3f} s")
        if not ready:
            return
        at = int(self._draw() * len(ready)) if len(ready) > 1 else 0
        handle = ready[at]
        ready[at] = ready[-1]
        ready.pop()
        if handle.is_cancelled:
            return
        owner = handle.context.get(OWNER)
        if owner is not None and (owner.is_dead or owner.is_stopped):
            owner.waiting.append(handle)
            return
        self.steps += 1
        self._now += self._step_s
        try:
            handle.context.run(handle.callback, *handle.args)
        except (SystemExit, KeyboardInterrupt):
            raise
        except BaseException as error:  # noqa: BLE001 - as a loop must
            self.errors.append(error)

    def _ring(self) -> None:
        """Time goes on to the next timer; what is due is ready."""
        timers = self._timers
        self._now = max(self._now, timers[0][0])
        while timers and timers[0][0] <= self._now:
            handle = heappop(timers)[2]
            if not handle.is_cancelled:
                self._ready.append(handle)

    def _bury(self) -> None:
        """Close what was left of killed processes, so that nothing of it runs when it is collected."""
        self._ready.clear()
        self._timers.clear()
        for task in self._tasks:
            if not task.done():
                coroutine = task.get_coro()
                with suppress(BaseException):
                    coroutine.close()
        self._tasks.clear()
