"""Ways to break a line at a chosen point: the ledger does not answer, or the worker is killed right there."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from pokdeng.stream.port import LogUnavailableError

if TYPE_CHECKING:
    from collections.abc import Callable

    from pokdeng.stream.memory import Point
    from pokdeng.stream.port import TopicPartition
    from tests.settlement.scene import Scene

_WITHIN_S = 30.0


class Frozen:
    """A ledger hook: the call of that name stops for ever, so that the test can kill the worker in it."""

    def __init__(self, call: str = "apply", *, skip: int = 0) -> None:
        """`skip` as many such calls before."""
        self._call = call
        self._skip = skip
        self.reached = asyncio.Event()

    async def __call__(self, name: str, _bucket: int) -> None:
        """Of the store's hooks."""
        if name != self._call:
            return
        if self._skip:
            self._skip -= 1
            return
        self.reached.set()
        await asyncio.Event().wait()


class Failing:
    """A ledger hook: the next call of that name raises, once."""

    def __init__(self, error: Exception, call: str = "apply") -> None:
        """What it raises."""
        self._error: Exception | None = error
        self._call = call

    async def __call__(self, name: str, _bucket: int) -> None:
        """Of the store's hooks."""
        if name == self._call and self._error is not None:
            error, self._error = self._error, None
            raise error


async def no_hook(_name: str, _bucket: int) -> None:
    """Nothing is broken any more."""


def heal(scene: Scene) -> None:
    """Nothing is broken any more."""
    scene.line.store.before = scene.line.store.after = no_hook
    scene.line.broker.intercept = None


async def kill_in_ledger(scene: Scene, text: str, *, is_answer_lost: bool, call: str = "apply", skip: int = 0) -> None:
    """Say a text, and kill the worker before or after a call of the ledger has done its work."""
    frozen = Frozen(call, skip=skip)
    if is_answer_lost:
        scene.line.store.after = frozen
    else:
        scene.line.store.before = frozen
    scene.say(text)
    async with asyncio.timeout(_WITHIN_S):
        await frozen.reached.wait()
    await scene.kill()
    heal(scene)


async def kill_in_log(
    scene: Scene, text: str, point: Point, topic: str | None = None, *, when: Callable[[], bool] = lambda: True
) -> None:
    """Say a text, and kill the worker at a point of the log, of a topic if one is named, once something is so."""

    def intercept(reached: Point, _member: str, partition: TopicPartition | None) -> None:
        is_there = topic is None or (partition is not None and partition.topic == topic)
        if reached == point and is_there and when():
            raise LogUnavailableError("killed here")

    scene.line.broker.intercept = intercept
    scene.say(text)
    worker = scene.worker
    if worker is None:
        raise ValueError("no worker runs")
    async with asyncio.timeout(_WITHIN_S):
        await asyncio.wait({worker.task})
    await scene.kill()
    heal(scene)
