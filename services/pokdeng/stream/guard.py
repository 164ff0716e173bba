"""One listener, called one call at a time and in order, until its first exception: shared by both logs."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from types import TracebackType

    from pokdeng.stream.port import Assignment, Listener, Record, TopicPartition


class Guard:
    """Stands between a log and its listener.

    `assigned` runs as a task of its own, so that it may take long without the member being thrown out of its group; a
    rebalance cancels it. Nothing is delivered before it returned, nor after `revoke` began. The first exception of any
    call is kept, ends all calls, and is raised by `wait`.
    """

    def __init__(self, listener: Listener, changed: Callable[[], None] = lambda: None) -> None:
        """Nothing is owned yet; `changed` is called when `ready` or `is_over` becomes true."""
        self._listener = listener
        self._changed = changed
        self._assigned: asyncio.Task[None] | None = None
        self._revoking = asyncio.Lock()
        self._over = asyncio.Event()
        self._error: BaseException | None = None
        self.owned: Assignment | None = None
        """What the listener owns; None before the first assignment and after a revocation."""
        self.ready = asyncio.Event()
        """Set while records may be delivered."""

    @property
    def is_over(self) -> bool:
        """Whether the listener failed or the log was stopped: it is called no more."""
        return self._over.is_set()

    @property
    def has_failed(self) -> bool:
        """Whether an exception ended it: nothing may be committed any more."""
        return self._error is not None

    def assign(self, assignment: Assignment) -> None:
        """Tell the listener what it owns; records may be delivered once `ready` is set."""
        if self.is_over:
            return
        self.owned = assignment
        self._assigned = asyncio.get_running_loop().create_task(self._assign(assignment))

    async def revoke(self) -> None:
        """Have the listener finish and forget, if it owns anything. Nothing is delivered from the call on.

        What is owned now is meant: what is assigned while this waits for another to end stays.
        """
        self.ready.clear()
        meant = self.owned
        async with self._revoking:
            if meant is None or self.owned is not meant:
                return
            task, self._assigned = self._assigned, None
            if task is not None and not task.done():
                task.cancel()
                await asyncio.wait([task])
            if not self.is_over:
                with _Recording(self):
                    await self._listener.revoked()
            if self.owned is meant:
                self.owned = None

    def arrive(self, partition: TopicPartition, records: Sequence[Record]) -> None:
        """Deliver; the caller has seen that `ready` is set."""
        with _Recording(self):
            self._listener.arrived(partition, records)

    def fail(self, error: BaseException) -> None:
        """Keep the first error and call the listener no more."""
        if not self.is_over:
            self._error = error
            self.close()

    def close(self) -> None:
        """The log was stopped: let `wait` return."""
        self._over.set()
        self.ready.clear()
        self._changed()

    async def wait(self) -> None:
        """Return when the log was stopped; raise what the listener or the log raised."""
        await self._over.wait()
        if self._error is not None:
            raise self._error

    async def _assign(self, assignment: Assignment) -> None:
        async with self._revoking:
            pass  # what was owned before is given back first
        with _Recording(self):
            await self._listener.assigned(assignment)
        # Not if it is being revoked: where a library swallows the cancellation this comes to its end all the same.
        if not self.is_over and self._assigned is asyncio.current_task():
            self.ready.set()
            self._changed()


class _Recording:
    """Hands any exception of its block to the guard instead of the caller; a cancellation passes."""

    def __init__(self, guard: Guard) -> None:
        self._guard = guard

    def __enter__(self) -> None:
        return None

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool:
        if isinstance(error, Exception):
            self._guard.fail(error)
            return True
        return False
