"""The dealing floor: one table's shoes and rounds, played from its seed, mishaps included."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

from pokdeng.rules import CARDS, Seat
from pokdeng.simulator import mishaps
from pokdeng.simulator.mishaps import BETTING, CLOSING, OPENING, PHASES, RESTING, REVEALING, RoundPlay
from pokdeng.simulator.shoe import Shoe
from pokdeng.simulator.steps import Kind
from pokdeng.simulator.tellings import Telling, closed, cut_card, dealt, opened, paused, resumed, started

if TYPE_CHECKING:
    from collections.abc import Callable

    from pokdeng.simulator.play import Play
    from pokdeng.simulator.steps import Step

PLACES = tuple((seat, position) for position in (1, 2) for seat in Seat)
"""In the order of the deal."""


class Floor:
    """One table."""

    def __init__(self, table_id: str, play: Play) -> None:
        """Its play depends on the seed and its own name only."""
        self.table_id = table_id
        self.key = table_id.encode()
        self._play = play
        self._mischief = play.mischief
        self._rng = random.Random(f"{play.seed}/{table_id}")
        self._rounds = self._shoes = self._said = 0
        self._shoe: Shoe | None = None
        self._carried: list[list[Telling]] = [[] for _ in range(PHASES)]

    def next_round(self, starts_at_ms: int) -> RoundPlay:
        """Play the next round; it opens at `starts_at_ms`."""
        self._rounds += 1
        self._said = 0
        tellings, shoe = self._next_shoe()
        round_ = RoundPlay(
            f"{self._play.seed}-{self._rounds}", starts_at_ms, shoe, self._rng, is_face_down=self._happens(0.5)
        )
        round_.say(OPENING, *tellings, opened(round_.round_id, shoe.shoe_id))
        for phase, carried in enumerate(self._carried):
            round_.say(phase, *carried)
        mishap = mishaps.exhausted if shoe.is_empty else self._mishap()
        if mishap in mishaps.UNPAUSED and self._rounds < self._play.rounds:
            round_.is_spent = self._happens(self._mischief.spent_before_correction)
        shoe.burn()
        round_.cards = [(place, shoe.draw()) for place in PLACES]
        if self._happens(self._mischief.any_order):
            self._rng.shuffle(round_.cards)
        mishap(round_)
        self._small_mishaps(round_, is_paused=mishap not in mishaps.UNPAUSED)
        self._carried = round_.carried
        if shoe.is_cut or mishap is mishaps.exhausted:
            self._shoe = None
        return round_

    def steps(self, round_: RoundPlay, phase: int) -> list[Step]:
        """What the table says in one phase of a round, spread over it in order."""
        tellings = round_.phases[phase]
        beat_ms = self._play.beat_ms
        each = beat_ms // (len(tellings) + 1)
        at_ms = round_.starts_at_ms + phase * beat_ms
        steps = []
        for telling in tellings:
            self._said += 1
            at_ms += each
            steps.append(
                telling.step(self.table_id, self.key, f"e-{self.table_id}-{round_.round_id}-{self._said}", at_ms)
            )
        return steps

    def _next_shoe(self) -> tuple[list[Telling], Shoe]:
        if self._shoe is not None:
            return [], self._shoe
        self._shoes += 1
        has_cut_card = not self._happens(self._mischief.forgotten_cut_cards)
        shoe = self._shoe = Shoe(f"{self._play.seed}-S{self._shoes}", self._rng, has_cut_card=has_cut_card)
        return [started(shoe.shoe_id, shoe.burn_card)], shoe

    def _mishap(self) -> Callable[[RoundPlay], None]:
        choice = self._rng.random()
        for name, mishap in mishaps.MISHAPS.items():
            choice -= getattr(self._mischief, name)
            if choice < 0:
                is_last = self._rounds == self._play.rounds
                return mishaps.smooth if is_last and mishap is mishaps.stalled else mishap
        return mishaps.smooth

    def _small_mishaps(self, round_: RoundPlay, *, is_paused: bool) -> None:
        if self._happens(self._mischief.repeated_cards):
            self._repeat_a_card(round_)
        if self._happens(self._mischief.second_closes) and round_.phases[CLOSING]:
            round_.say(self._rng.choice((CLOSING, REVEALING)), closed(round_.round_id, Kind.SECOND_CLOSE))
        if is_paused and self._happens(self._mischief.pauses):
            from_phase = self._rng.choice(BETTING[1:])
            round_.say(from_phase, paused(round_.round_id, round_.reason()))
            round_.say(self._rng.randint(from_phase + 1, RESTING), resumed(round_.round_id, round_.reason()))
        if self._happens(self._mischief.strays):
            self._stray(round_)

    def _repeat_a_card(self, round_: RoundPlay) -> None:
        laid = [
            (tellings, index)
            for tellings in round_.phases
            for index, telling in enumerate(tellings)
            if telling.kind is Kind.CARD
        ]
        if laid:
            tellings, index = self._rng.choice(laid)
            tellings.insert(index + 1, tellings[index]._replace(kind=Kind.REPEATED_CARD))

    def _stray(self, round_: RoundPlay) -> None:
        """An event that fits nothing: an unknown round or shoe, an old shoe, an id that says something else."""
        place, card = self._rng.choice(round_.cards)
        nowhere = f"{round_.round_id}-x"
        shoe_id = round_.shoe.shoe_id
        before = f"{self._play.seed}-S{self._shoes - 1}"
        event_id = f"e-{self.table_id}-{round_.round_id}-first"
        first = dealt(round_.round_id, place, card, Kind.STRAY)._replace(event_id=event_id)
        other = next(face for face in CARDS if face is not card)
        strays = [
            [dealt(nowhere, place, card, Kind.STRAY)],
            [closed(nowhere, Kind.STRAY)],
            [opened(nowhere, "never-started", Kind.STRAY)],
            [opened(nowhere, before, Kind.STRAY)],
            [cut_card(round_.round_id, "never-started", Kind.STRAY)],
            [opened(round_.round_id, "never-started", Kind.STRAY)],
            [started(shoe_id, next(face for face in CARDS if face is not round_.shoe.burn_card), Kind.STRAY)],
            [first, dealt(round_.round_id, place, other, Kind.STRAY)._replace(event_id=event_id)],
        ]
        round_.say(RESTING, *self._rng.choice(strays))

    def _happens(self, rate: float) -> bool:
        return rate > 0 and self._rng.random() < rate
