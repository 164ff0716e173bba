"""Folds the facts of a log, from its beginning or from a checkpoint, up to given ends."""

from __future__ import annotations

import gc
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from pokdeng.restore.facts import decode_round_fact
from pokdeng.restore.fold import RESUME, Fold, RoundKey
from pokdeng.restore.reading import beginnings_of, fact_partitions, offsets_at, side_by_side
from pokdeng.stream.reading import read_on
from pokdeng.wire import TopicKind

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence

    from pokdeng.restore.checkpoint import Checkpoint
    from pokdeng.restore.fold import Sink
    from pokdeng.restore.reading import Offsets
    from pokdeng.stream.port import Log, Record, TopicPartition
    from pokdeng.wire import Topics

SWEEP_EVERY_RECORDS = 20_000


class FactsMissingError(Exception):
    """The log does not keep the facts that are needed, and no checkpoint stands for them."""


class WritingSink(Protocol):
    """A sink that writes what it has gathered between slices."""

    @property
    def is_full(self) -> bool:
        """Whether enough is gathered to be written."""

    async def write(self) -> None:
        """Write what is gathered."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Times:
    """What is remembered for how long, and what time it is: milliseconds."""

    now_ms: int
    remember_ms: int
    transfer_ttl_ms: int

    @property
    def horizon_ms(self) -> int:
        """Bets and refusals from before are forgotten."""
        return self.now_ms - self.remember_ms

    @property
    def funds_horizon_ms(self) -> int:
        """Transfers from before are forgotten."""
        return self.now_ms - self.transfer_ttl_ms


@dataclass(frozen=True, slots=True, kw_only=True)
class Stretch:
    """Which facts are read: for ids alone from `ids_from`, with their money from `money_from`, up to `ends`."""

    ids_from: Offsets
    money_from: Offsets
    ends: Offsets
    early_before: Offsets
    """Decisions below are *early*: a checkpoint that is made now must tell their bets itself."""

    @property
    def records(self) -> int:
        """How many offsets are to be read."""
        starts = {one: min(self.ids_from.get(one, end), self.money_from[one]) for one, end in self.ends.items()}
        return sum(max(0, end - starts[one]) for one, end in self.ends.items())


async def stretch_of(
    log: Log, topics: Topics, ends: Offsets, *, times: Times, checkpoint: Checkpoint | None, has_sink: bool
) -> Stretch:
    """What must be read.

    Raises:
        FactsMissingError: where the log begins later.
    """
    partitions = await fact_partitions(log, topics)
    begin = await beginnings_of(log, partitions)
    money_from = {one: 0 if checkpoint is None else checkpoint.offsets.get(one, 0) for one in ends}
    for one, start in money_from.items():
        if begin[one] > start:
            raise FactsMissingError(
                f"{one.topic}[{one.partition}] begins at {begin[one]}, facts are needed from {start}: it must "
                "keep all, or there must be a checkpoint from before they went"
            )
    ids_from = dict(ends) if checkpoint is None or not has_sink else {**ends, **checkpoint.ids_from}
    ids_from = {one: max(begin[one], min(start, money_from[one])) for one, start in ids_from.items()}
    early: Offsets = {}
    if has_sink:
        early = await offsets_at(log, partitions[TopicKind.BET_DECISIONS], times.horizon_ms)
    return Stretch(ids_from=ids_from, money_from=money_from, ends=ends, early_before=early)


async def revised_rounds(log: Log, topics: Topics, ends: Offsets, times: Times) -> frozenset[RoundKey]:
    """Rounds revised lately: their bets are remembered from the latest revision on."""
    found: set[RoundKey] = set()
    for one, end in ends.items():
        if one.topic != topics.rounds:
            continue
        start = await log.offset_for_time(one, max(0, times.horizon_ms))
        async for record in read_on(log, one, start, end):
            if record.value is None or not any(name == RESUME for name, _ in record.headers):
                continue
            fact = decode_round_fact(record.value)
            if fact.revision > 1:
                found.add((fact.table_id, fact.round_id))
    return frozenset(found)


class Folding:
    """One pass over the facts."""

    def __init__(
        self,
        log: Log,
        topics: Topics,
        fold: Fold,
        *,
        sink: WritingSink | None = None,
        progress: Callable[[int], Awaitable[None]] | None = None,
    ) -> None:
        """`progress` is told how many offsets were read, after each slice."""
        self._log = log
        self._fold = fold
        self._sink = sink
        self._progress = progress
        self._unswept = 0
        self._kinds = {topics.name(kind): kind for kind in TopicKind}

    async def read(self, starts: Mapping[TopicPartition, int], ends: Offsets, early: Offsets, *, moves: bool) -> None:
        """Fold the facts from `starts` up to `ends`."""
        partitions = [one for one, end in ends.items() if starts.get(one, 0) < end]
        async with self._log.open_stretches(starts, {one: ends[one] for one in partitions}) as stretches:
            async for partition, records, passed_ms in side_by_side(stretches, partitions):
                self._fold.passed(passed_ms)
                self._take(partition, records, early, moves=moves)
                self._unswept += len(records)
                if self._unswept >= SWEEP_EVERY_RECORDS:
                    self._fold.sweep(drops_ends=not moves)
                    self._unswept = 0
                if self._sink is not None and self._sink.is_full:
                    await self._sink.write()
                if self._progress is not None:
                    await self._progress(len(records))

    def _take(self, partition: TopicPartition, records: Sequence[Record], early: Offsets, *, moves: bool) -> None:
        fold, kind = self._fold, self._kinds[partition.topic]
        if kind is TopicKind.FUNDS_DECISIONS:
            fold.funds(records, moves=moves)
        elif kind is TopicKind.ROUNDS:
            fold.rounds_said(records)
        else:
            until = early.get(partition, 0)
            if records[0].offset >= until:
                fold.bets(records, moves=moves)
            else:
                before = [record for record in records if record.offset < until]
                fold.bets(before, is_early=True, moves=moves)
                fold.bets(records[len(before) :], moves=moves)


async def fold_log(
    log: Log,
    topics: Topics,
    stretch: Stretch,
    *,
    times: Times,
    checkpoint: Checkpoint | None = None,
    sink: Sink | None = None,
    writing: WritingSink | None = None,
    progress: Callable[[int], Awaitable[None]] | None = None,
) -> Fold:
    """Fold all facts of a stretch, going on from a checkpoint if there is one.

    `sink` and `writing` are two sides of the same: one takes, the other writes what was taken.
    """
    with _no_collector():
        return await _fold(log, topics, stretch, times, checkpoint, sink, writing, progress)


async def _fold(
    log: Log,
    topics: Topics,
    stretch: Stretch,
    times: Times,
    checkpoint: Checkpoint | None,
    sink: Sink | None,
    writing: WritingSink | None,
    progress: Callable[[int], Awaitable[None]] | None,
) -> Fold:
    revised = frozenset[RoundKey]() if sink is None else await revised_rounds(log, topics, stretch.ends, times)
    fold = Fold(
        sink,
        horizon_ms=times.horizon_ms,
        funds_horizon_ms=times.funds_horizon_ms,
        transfer_ttl_ms=times.transfer_ttl_ms,
        remember_ms=times.remember_ms,
        revised=revised,
    )
    folding = Folding(log, topics, fold, sink=writing, progress=progress)
    if checkpoint is not None:
        if sink is not None:
            await folding.read(stretch.ids_from, stretch.money_from, stretch.early_before, moves=False)
            fold.end()
        await checkpoint.load(fold, sink)
    await folding.read(stretch.money_from, stretch.ends, stretch.early_before, moves=True)
    fold.end()
    return fold


@contextmanager
def _no_collector() -> Iterator[None]:
    """What a fold keeps are no circles, and it keeps very much: a collector would look at it again and again."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
