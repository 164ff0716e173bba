"""Worlds and what is played in them, from a seed: small, with little money, and much mischief."""

from __future__ import annotations

import random
import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from pokdeng.simulator import Kind as StepKind
from pokdeng.simulator import Mischief, Play, Step, script
from pokdeng.simulator.clock import time_text
from pokdeng.simulator.crowd import player
from pokdeng.wire import TopicKind
from tests.simulation.faults import LOSSES, Kind
from tests.simulation.late_cards import LateCards
from tests.simulation.second_thoughts import SecondThoughts

if TYPE_CHECKING:
    from collections.abc import Iterator

_AMOUNT: Final = re.compile(rb'"amount":(\d+)')
_DRAWN: Final = 0.3
"""Of the play's withdrawals: whoever draws out all they have there asks for one sum after the other."""
_NIGHTS: Final = 0.08
"""How often the world is hit where nights fall: not before it has begun."""
_SLOW: Final = 0.8
"""Of the worlds with a night: so slow that workers have settled and committed rounds before it."""
_BEATS_LATER: Final = 5
"""So long after the play supervisors still think."""
_LARGE: Final = 10**10
DAY_MS: Final = 24 * 3_600_000
_LONGER_THAN_REMEMBERED_S: Final = 30 * 3600.0
_LONGER_THAN_CORRECTED_S: Final = 25 * 3600.0
"""Beyond the window of corrections, within the two hours more for which everything is remembered."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Spec:
    """A world: its size, its play, and what may go wrong in it."""

    seed: int
    partitions: int
    buckets: int
    workers: int
    slice_records: int
    credit_records: int
    step_s: float
    commit_every_s: float
    shared_from: int
    """With so much waiting a turn has two batches."""
    restart_s: float
    """How long after its end a worker is started again."""
    trouble_s: float
    """For so long after the last input things still go wrong."""
    play: Play
    kinds: frozenset[Kind]
    rate: float
    beat_rate: float
    most: int
    correction_window_ms: int
    """For so long a settled round may be corrected: a day, or a few beats of the play."""
    thoughts: float
    """How often in a beat a supervisor corrects or cancels any round, 0 .. 1."""
    night_s: float
    """How long all workers are down, the first time that they are."""
    held_ms: int
    """Rounds that are held for so long are put aside."""
    holds: float
    """How many of the cards come many beats late, so that their rounds are held meanwhile, 0 .. 1."""
    jumps: bool
    """The whole log is read again a day and more later, when what may be forgotten is forgotten."""


def spec_of(seed: int, *, can_lose: bool = True) -> Spec:
    """The world of a seed; `can_lose`: its ledger may lose what it acknowledged."""
    rng = random.Random(f"world/{seed}")
    tables = rng.choice((1, 1, 2, 2, 3))
    kinds = {kind for kind in Kind if rng.random() < 0.6}
    keeps_ledger = rng.random() < 0.55
    if keeps_ledger or not can_lose:
        kinds -= LOSSES
    has_long_down = rng.random() < 0.2
    kinds.discard(Kind.LONG_DOWN)
    if has_long_down:
        kinds.add(Kind.LONG_DOWN)
    jumps = rng.random() < 0.2
    mischief = Mischief.at(rng.choice((0.0, 0.3, 0.6, 1.0)))
    after = random.Random(f"corrections/{seed}")
    share = after.choice((0.0, 0.3, 0.9))
    mischief = mischief.with_corrections(share)
    night_s = _LONGER_THAN_CORRECTED_S
    if share:
        mischief = replace(mischief, spent_before_correction=after.choice((0.0, 0.5, 1.0)))
    elif has_long_down:  # what comes twice then is forgotten, and rightly so; the checker remembers for ever
        night_s = _LONGER_THAN_REMEMBERED_S
        mischief = replace(mischief, duplicates=0.0, conflicts=0.0, transfers=0.0, late_cancels=0.0)
    beat_ms = rng.choice((3, 6, 20, 20, 60, 250))
    if has_long_down and after.random() < _SLOW:
        beat_ms = 250
    rare = random.Random(f"held/{seed}")
    holds = rare.choice((0.0, 0.0, 0.0, 0.04, 0.1))
    play = Play(
        tables=tables,
        rounds=(rng.choice((1, 2, 2, 3)) if tables < 3 else 1) + (1 if holds else 0),
        accounts=rng.choice((2, 3, 4, 7)),
        bets_per_round=rng.choice((3, 5, 8)),
        seed=seed,
        mischief=mischief,
        beat_ms=beat_ms,
        is_staggered=rng.random() < 0.5,
        puts_money_in=False,
    )
    return Spec(
        seed=seed,
        correction_window_ms=after.choice((DAY_MS, DAY_MS, 2 * play.beat_ms, 6 * play.beat_ms)),
        thoughts=after.choice((0.0, 0.3, 0.7)) if share else 0.0,
        night_s=night_s,
        partitions=rng.choice((1, 2, 2, 3)),
        buckets=rng.choice((1, 2, 2, 4)),
        workers=rng.choice((1, 1, 2)),
        slice_records=rng.choice((1, 4, 50, 1000)),
        credit_records=rng.choice((12, 60, 1000, 1000)),
        step_s=rng.choice((0.000001, 0.00002, 0.0003)),
        commit_every_s=max(rng.choice((0.002, 0.02, 0.1, 0.5)), play.beat_ms / 20_000),
        restart_s=rng.choice((0.002, 0.01, 0.05, 0.3)),
        trouble_s=rng.choice((0.0, 0.1, 0.5)),
        play=play,
        kinds=frozenset(kinds),
        rate=rng.choice((0.005, 0.02, 0.05, 0.1)),
        beat_rate=_NIGHTS if has_long_down else rng.choice((0.03, 0.1, 0.3)),
        most=rng.choice((4, 8, 16)),
        held_ms=rare.choice((0, 0, 5, 40, 200, 1000)),
        holds=holds,
        jumps=jumps,
        shared_from=random.Random(f"shares/{seed}").choice((0, 1, 6, 1_000)),
    )


def steps_of(spec: Spec) -> Iterator[list[Step]]:
    """The records to append, beat by beat, each with its moment."""
    rng = random.Random(f"money/{spec.seed}")
    play = spec.play
    yield [
        _deposit(number, f"{spec.seed}-o{number}-{nth}", rng.choice((15_000, 40_000, 150_000)), play.starts_at_ms)
        for number in range(1, play.accounts + 1)
        for nth in range(rng.choice((0, 1, 1, 2)))
    ]
    thoughts = SecondThoughts(
        random.Random(f"thoughts/{spec.seed}"),
        play,
        rate=spec.thoughts,
        spends=play.mischief.spent_before_correction,
        repeats=random.Random(f"repeats/{spec.seed}"),
    )
    late = LateCards(random.Random(f"late/{spec.seed}"), share=spec.holds, beat_ms=play.beat_ms)
    ends_at_ms = play.starts_at_ms
    for beat in script(replace(play, starts_at_ms=play.starts_at_ms + play.beat_ms)):
        ends_at_ms = beat.starts_at_ms + play.beat_ms
        steps = [
            _poorer(step) if step.topic is TopicKind.FUNDS else step
            for step in beat.steps
            if step.kind is not StepKind.WITHDRAWAL or rng.random() < _DRAWN
        ]
        yield late.pass_on(thoughts.of_beat(steps, beat.starts_at_ms))
    for later in range(_BEATS_LATER if spec.thoughts else 0):
        yield late.pass_on(thoughts.of_beat([], ends_at_ms + later * play.beat_ms))
    while late.are_waiting:
        yield late.pass_on([])


def _deposit(number: int, transfer: str, amount: int, at_ms: int) -> Step:
    who = player(number)
    value = (
        f'{{"type":"funds_deposited","event_id":"e-{transfer}","occurred_at":"{time_text(at_ms)}",'
        f'"transfer_id":"{transfer}",{who.tail}"amount":{amount},"currency":"{who.money.currency}"}}'
    )
    return Step(at_ms, TopicKind.FUNDS, who.key, value.encode(), StepKind.DEPOSIT)


def _poorer(step: Step) -> Step:
    """The same transfer of much less, so that money runs out; copies stay copies."""
    if step.value is None:
        return step
    value = _AMOUNT.sub(
        lambda found: found[0] if int(found[1]) > _LARGE else b'"amount":%d' % (int(found[1]) % 60_013 + 1), step.value
    )
    return step._replace(value=value)
