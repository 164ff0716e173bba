"""Kills a worker at a chosen step of its way: every call of the ledger and of the log is two steps, before and after.

As with kill -9, nothing of that worker goes on from there: it hangs where it was hit until the test takes it away.
"""

from __future__ import annotations

import asyncio
import random
from dataclasses import replace
from typing import TYPE_CHECKING

from pokdeng.stream.port import LogUnavailableError
from tests.settlement.plays import Stage, deliver_again

if TYPE_CHECKING:
    from pokdeng.simulator import Play
    from pokdeng.stream.memory import Point
    from pokdeng.stream.port import TopicPartition
    from tests.support.line import Line, RunningWorker

_WITHIN_S = 60.0


class Sniper:
    """Watches one line; hits whoever takes the step, so there should be one worker at a time."""

    def __init__(self, line: Line) -> None:
        """Nothing is aimed at yet."""
        self._left = -1
        self.has_hit = False
        self.hits = 0
        line.store.before = line.store.after = self._in_ledger
        line.broker.intercept = self._in_log

    @property
    def is_aimed(self) -> bool:
        """Whether somebody will be hit, or was."""
        return self._left >= 0

    def aim(self, steps: int) -> None:
        """Hit at the so-manieth step from now."""
        self._left = steps
        self.has_hit = False

    def rest(self) -> None:
        """Hit nothing more."""
        self._left = -1
        self.has_hit = False

    async def _in_ledger(self, _name: str, _bucket: int) -> None:
        if self._is_hit():
            await asyncio.Event().wait()

    def _in_log(self, _point: Point, _member: str, _partition: TopicPartition | None) -> None:
        if self._is_hit():
            raise LogUnavailableError("hit")

    def _is_hit(self) -> bool:
        if self._left == 0 and not self.has_hit:
            self.has_hit = True
            self.hits += 1
        self._left -= self._left > 0
        return self.has_hit


class Survivor:
    """A worker that is started again whenever it was hit."""

    def __init__(self, line: Line, rng: random.Random, *, group: str = "settlement") -> None:
        """Not started yet."""
        self._line = line
        self._rng = rng
        self._group = group
        self._lives = 0
        self._sniper = Sniper(line)
        self._worker: RunningWorker | None = None

    @property
    def hits(self) -> int:
        """How often it was killed."""
        return self._sniper.hits

    async def live(self, turns: int) -> None:
        """Work for some turns of the loop, dying and rising as it comes."""
        for _ in range(turns):
            await self._rise()
            await asyncio.sleep(0)

    async def catch_up(self, *, kills: int) -> None:
        """Work until everything is done; hit so often first, if it takes so long."""
        last = self.hits + kills
        async with asyncio.timeout(_WITHIN_S):
            while True:
                await self._rise(is_aimed_at=self.hits < last)
                if self._worker is not None and self._worker.is_caught_up and not self._sniper.has_hit:
                    break
                await asyncio.sleep(0.0005)
        self._sniper.rest()

    async def stop(self) -> None:
        """As SIGTERM does it."""
        self._sniper.rest()
        if self._worker is not None:
            worker, self._worker = self._worker, None
            await worker.stop()

    async def kill(self) -> None:
        """As kill -9 does it."""
        self._sniper.rest()
        if self._worker is not None:
            worker, self._worker = self._worker, None
            await worker.kill()

    async def _rise(self, *, is_aimed_at: bool = True) -> None:
        if self._sniper.has_hit:
            await self.kill()
        if is_aimed_at and not self._sniper.is_aimed:
            self._sniper.aim(self._rng.choice((3, 20, 60, 200)) + self._rng.randrange(120))
        if self._worker is None:
            self._lives += 1
            self._worker = await self._line.start_worker(self._group, f"life-{self._lives}")


async def play_under_fire(play: Play, seed: int, *, again: float = 0) -> tuple[Stage, Survivor]:
    """A play whose worker is killed at many points of its way; at its end it is caught up.

    `again` is the share of records, 0 .. 1, that come twice, byte for byte.
    """
    rng = random.Random(seed)
    stage = Stage(play)
    worker = Survivor(stage.line, rng)
    await stage.send(stage.beats[0])
    await worker.catch_up(kills=0)
    for beat in stage.beats[1:]:
        await stage.send(replace(beat, steps=deliver_again(rng, beat.steps, again)) if again else beat)
        await worker.live(rng.randrange(40))
    await worker.catch_up(kills=3)
    return stage, worker
