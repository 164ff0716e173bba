"""The script of a play: all tables and the crowd in one stream of beats, made as it is read, in bounded memory."""

from __future__ import annotations

import random
from operator import itemgetter
from typing import TYPE_CHECKING, Final

from pokdeng.simulator.betting import Betting, Spot
from pokdeng.simulator.crowd import Crowd
from pokdeng.simulator.floor import Floor
from pokdeng.simulator.mishaps import BETTING, PHASES, RESTING
from pokdeng.simulator.steps import Beat, Kind, Step

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pokdeng.simulator.mishaps import RoundPlay
    from pokdeng.simulator.play import Play

_BY_TIME: Final = itemgetter(0)
_BEATS_LATER: Final = (0, 0, 0, 1, 2, 5, 8)
"""When a record is delivered again: mostly at once, now and then when its round is over."""

_DISPUTED: Final = frozenset({Kind.NINTH_COPY, Kind.SEAT_CONFLICT})
"""Cards that dispute a place: again after the supervisor's correction, they would dispute it anew, and for ever."""


def script(play: Play) -> Iterator[Beat]:
    """The beats of a play, in order.

    Everything of one record key is in the order in which it must be appended; so are, by the barriers between beats, a
    round's opening, its bets, its close and its late bets.

    >>> from pokdeng.simulator.play import Play
    >>> sum(len(beat.steps) for beat in script(Play(tables=1, rounds=1, accounts=10, bets_per_round=0)))
    25
    """
    return _Script(play).beats()


class _Script:
    def __init__(self, play: Play) -> None:
        self._play = play
        self._rng = random.Random(f"{play.seed}/script")
        self._crowd = Crowd(play)
        self._betting = Betting(play, self._crowd)
        self._floors = [Floor(f"T-{number:02d}", play) for number in range(1, play.tables + 1)]
        self._rounds: list[RoundPlay | None] = [None] * play.tables
        self._agenda: dict[int, list[Step]] = {}

    def beats(self) -> Iterator[Beat]:
        play = self._play
        first = 0
        if play.puts_money_in:
            first = 1
            opening = self._crowd.opening(play.starts_at_ms)
            yield Beat(number=0, starts_at_ms=play.starts_at_ms, lasts_ms=play.beat_ms, steps=opening, is_opening=True)
        number = first
        last = first + play.rounds * PHASES + (PHASES if play.is_staggered else 0)
        while number < last or self._agenda:
            starts_at_ms = play.starts_at_ms + number * play.beat_ms
            steps = self._agenda.pop(number, [])
            for index in range(play.tables):
                steps += self._table(index, number, number - first, starts_at_ms)
            if play.mischief.duplicates:
                steps += self._again(steps, number, starts_at_ms)
            steps.sort(key=_BY_TIME)
            yield Beat(number=number, starts_at_ms=starts_at_ms, lasts_ms=play.beat_ms, steps=steps)
            number += 1

    def _table(self, index: int, number: int, beats_played: int, starts_at_ms: int) -> list[Step]:
        play, floor = self._play, self._floors[index]
        beat = beats_played - (index % PHASES if play.is_staggered else 0)
        if not 0 <= beat < play.rounds * PHASES:
            return []
        phase = beat % PHASES
        if phase == 0:
            self._rounds[index] = floor.next_round(starts_at_ms)
        round_ = self._rounds[index]
        if round_ is None:
            return []
        steps = floor.steps(round_, phase)
        if phase == RESTING and round_.is_spent:
            steps += self._betting.spend(floor.table_id, starts_at_ms)
        if phase in BETTING and play.bets_per_round:
            bets, later = self._betting.play(Spot(floor.table_id, floor.key, round_.round_id, phase, starts_at_ms))
            steps += bets
            for beats, step in later:
                self._agenda.setdefault(number + beats, []).append(step)
        return steps

    def _again(self, steps: list[Step], number: int, starts_at_ms: int) -> list[Step]:
        """Some of the records once more: after the first, in this beat or in a later one."""
        rng, rate, beat_ms = self._rng, self._play.mischief.duplicates, self._play.beat_ms
        now: list[Step] = []
        for step in steps:
            if step.kind is Kind.REDELIVERY or rng.random() >= rate:
                continue
            beats = 0 if step.kind in _DISPUTED else rng.choice(_BEATS_LATER)
            if beats:
                at_ms = starts_at_ms + beats * beat_ms + rng.randrange(beat_ms)
                again = step._replace(at_ms=at_ms, kind=Kind.REDELIVERY)
                self._agenda.setdefault(number + beats, []).append(again)
            else:
                at_ms = rng.randint(step.at_ms, starts_at_ms + beat_ms - 1)
                now.append(step._replace(at_ms=at_ms, kind=Kind.REDELIVERY))
        return now
