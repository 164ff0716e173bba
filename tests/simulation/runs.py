"""Many worlds, one after the other or on several processes, without what they would log."""

from __future__ import annotations

import gc
import logging
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from multiprocessing import get_context
from typing import TYPE_CHECKING

import structlog

from tests.simulation.inputs import spec_of
from tests.simulation.shrink import shrink
from tests.simulation.story import story
from tests.simulation.world import Outcome, run_world

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from tests.simulation.faults import Fault

_COLLECT_EVERY = 25
_CHUNK = 25


@dataclass(slots=True)
class Tally:
    """What came of many worlds."""

    runs: int = 0
    steps: int = 0
    records: int = 0
    faults: Counter[str] = field(default_factory=Counter)
    failed: list[Outcome] = field(default_factory=list)

    def add(self, outcome: Outcome) -> None:
        """One more."""
        self.runs += 1
        self.steps += outcome.steps
        self.records += outcome.records
        self.faults.update(fired.fault.kind.value for fired in outcome.fired)
        if outcome.is_failed:
            self.failed.append(outcome)

    def merge(self, other: Tally) -> None:
        """Many more."""
        self.runs += other.runs
        self.steps += other.steps
        self.records += other.records
        self.faults.update(other.faults)
        self.failed.extend(other.failed)


@contextmanager
def quiet() -> Iterator[None]:
    """Nothing is logged, and the collector of circles runs only when it is asked: both cost more than the worlds."""
    before = structlog.get_config()
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.CRITICAL))
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        structlog.configure(**before)
        if was_enabled:
            gc.enable()


def run_seeds(seeds: Iterable[int]) -> Tally:
    """Play the worlds of these seeds."""
    tally = Tally()
    with quiet():
        for number, seed in enumerate(seeds):
            tally.add(run_world(spec_of(seed)))
            if number % _COLLECT_EVERY == _COLLECT_EVERY - 1:
                gc.collect()
    return tally


def run_many(seeds: Sequence[int], *, processes: int) -> Iterator[Tally]:
    """Play worlds on several processes; the tally grows with each that is given out."""
    chunks = [seeds[start : start + _CHUNK] for start in range(0, len(seeds), _CHUNK)]
    tally = Tally()
    with ProcessPoolExecutor(processes, mp_context=get_context("spawn")) as pool:
        for part in pool.map(run_seeds, chunks):
            tally.merge(part)
            yield tally


def explain(seed: int) -> str:
    """Play a world, shrink its faults if it fails, and tell it."""
    spec = spec_of(seed)

    def play(faults: Sequence[Fault]) -> Outcome:
        return run_world(spec, faults)

    with quiet():
        outcome = run_world(spec)
        shrunk = shrink([fired.fault for fired in outcome.fired], play) if outcome.is_failed else None
    return story(spec, outcome, shrunk)
