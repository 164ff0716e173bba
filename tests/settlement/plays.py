"""Plays of the simulator on a line, and what is asked of everything that came of them."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from pokdeng.simulator import MemorySender, Mischief, Play, script
from pokdeng.stream.port import TopicPartition
from tests.checker.checker import check
from tests.support.line import INPUTS, OUTPUTS, Line

if TYPE_CHECKING:
    import random
    from collections.abc import Iterable, Sequence

    from pokdeng.simulator import Beat, Step
    from pokdeng.stream.port import Record
    from pokdeng.wire import TopicKind
    from tests.checker.report import Report

Said = dict[str, tuple[bytes | None, bytes | None, tuple[tuple[str, bytes], ...]]]
"""What was said, by event id or the place of a dead letter: key, value, and the headers that others may read."""

OWN_HEADER = "pokdeng-resume"


def a_play(seed: int, *, mischief: float = 0.6, rounds: int = 6) -> Play:
    """A play with much of everything; few accounts, so that they meet at several tables."""
    return Play(
        tables=4,
        rounds=rounds,
        accounts=20,
        bets_per_round=10,
        seed=seed,
        mischief=Mischief.at(mischief),
        beat_ms=1000,
    )


def one_table(seed: int, beat_ms: int) -> Play:
    """A play at one table, all its money put in before: whatever the lag, there is one order of its records."""
    return Play(
        tables=1,
        rounds=5,
        accounts=8,
        bets_per_round=8,
        seed=seed,
        beat_ms=beat_ms,
        mischief=replace(Mischief.at(0.8), transfers=0.0),
    )


class Stage:
    """A line and a sender, with beats to send."""

    def __init__(self, play: Play, *, partitions: int = 3) -> None:
        """Nothing is sent yet. The line's clock is that of the play, so that outputs lie in its time."""
        self.now_ms = play.starts_at_ms
        self.line = Line(partitions=partitions, clock_ms=lambda: self.now_ms)
        self._sender = MemorySender(self.line.broker, self.line.topics)
        self.beats = list(script(play))
        self._rest: list[Beat] = []

    async def send(self, beat: Beat) -> None:
        """Append a beat's records; the time goes on to its end."""
        await self._sender.send(beat.steps)
        self.now_ms = max(self.now_ms, beat.starts_at_ms + beat.lasts_ms)

    async def send_all_but_first(self) -> None:
        """Append everything behind the first deposits."""
        for beat in self.beats[1:]:
            await self.send(beat)

    async def send_next_play(self, play: Play, *, beats: int) -> None:
        """Append the first beats of another play that comes after; `send_rest` appends the others."""
        later = replace(play, starts_at_ms=self.now_ms + play.beat_ms, puts_money_in=False)
        self._rest = list(script(later))
        for beat in self._rest[:beats]:
            await self.send(beat)
        del self._rest[:beats]

    async def send_rest(self) -> None:
        """Append what is left of the play that was begun."""
        for beat in self._rest:
            await self.send(beat)
        self._rest.clear()


def said(line: Line) -> Said:
    """What was said, copies folded into one.

    Raises:
        AssertionError: when two copies differ.
    """
    found: Said = {}
    for record in line.records(*OUTPUTS):
        headers = tuple((name, value) for name, value in record.headers if name != OWN_HEADER)
        copy = (record.key, record.value, headers)
        first = found.setdefault(name_of(record), copy)
        assert first == copy, f"said again in other bytes: {copy} after {first}"
    return found


def name_of(record: Record) -> str:
    """The event id of a fact, or the place of a dead letter's record."""
    headers = dict(record.headers)
    if "dlq.reason" in headers:
        return "/".join(headers[name].decode() for name in ("dlq.topic", "dlq.partition", "dlq.offset"))
    return headers["ce_id"].decode()


def meaning(records: Iterable[Any]) -> dict[str, object]:
    """What outputs say, by their names, however it is written: a fact's fields, a dead letter's reason."""
    found: dict[str, object] = {}
    for record in records:
        reason = dict(record.headers).get("dlq.reason")
        found[name_of(record)] = json.loads(record.value or b"") if reason is None else reason
    return found


async def balances(line: Line) -> dict[str, tuple[int, int, int, str]]:
    """Available, held, sequence and currency of every account."""
    ledger = line.new_ledger()
    await ledger.open()
    found = {
        str(one.account): (one.available, one.held, one.sequence, str(one.currency)) async for one in ledger.accounts()
    }
    await ledger.close()
    return found


async def report_of(line: Line) -> Report:
    """What the independent checker finds."""
    return check(
        line.records(*INPUTS),
        line.records(*OUTPUTS),
        partitions=line.partitions,
        final_balances=await balances(line),
    )


def places(line: Line, *kinds: TopicKind) -> list[TopicPartition]:
    """All partitions of these topics."""
    return [TopicPartition(line.topics.name(kind), number) for kind in kinds for number in range(line.partitions)]


def deliver_again(rng: random.Random, steps: Sequence[Step], rate: float) -> list[Step]:
    """The steps of a beat with some of them twice, byte for byte, the second anywhere behind the first."""
    out = list(steps)
    for step in steps:
        if rng.random() < rate:
            at = rng.randrange(out.index(step) + 1, len(out) + 1)
            moment = out[at - 1].at_ms
            out.insert(at, step._replace(at_ms=max(step.at_ms, moment)))
    return out
