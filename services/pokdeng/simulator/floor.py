"""The dealing floor: one table's shoes and rounds, played from its seed, mishaps included."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from pokdeng.rules import Seat
from pokdeng.simulator.shoe import Shoe
from pokdeng.simulator.steps import Kind, Step
from pokdeng.simulator.tellings import Telling, corrected, dealt, of_round, opened, started

if TYPE_CHECKING:
    from pokdeng.rules import Card
    from pokdeng.simulator.play import Play

PHASES: Final = 8
"""Beats of a round: it opens, takes bets in four, closes, reveals, and rests."""
OPENING: Final = 0
BETTING: Final = (1, 2, 3, 4)
CLOSING: Final = 5
REVEALING: Final = 6
RESTING: Final = 7


@dataclass(slots=True)
class RoundPlay:
    """A round as the floor will play it: what it says in each phase, in order."""

    round_id: str
    starts_at_ms: int
    phases: list[list[Telling]] = field(default_factory=lambda: [[] for _ in range(PHASES)])


class Floor:
    """One table."""

    def __init__(self, table_id: str, play: Play) -> None:
        """Its play depends on the seed and its own name only."""
        self.table_id = table_id
        self.key = table_id.encode()
        self._play = play
        self._rng = random.Random(f"{play.seed}/{table_id}")
        self._rounds = 0
        self._shoes = 0
        self._shoe: Shoe | None = None
        self._last_shoe = ""
        self._carried: list[list[Telling]] = [[] for _ in range(PHASES)]
        self._said = 0

    def next_round(self, starts_at_ms: int) -> RoundPlay:
        """Play the next round."""
        self._rounds += 1
        self._said = 0
        round_ = RoundPlay(f"{self._play.seed}-{self._rounds}", starts_at_ms)
        for phase, tellings in enumerate(self._carried):
            round_.phases[phase] += tellings
        self._carried = [[] for _ in range(PHASES)]
        shoe = self._shoe_for(round_)
        shoe.burn()
        round_.phases[OPENING].append(opened(round_.round_id, shoe.shoe_id))
        round_.phases[CLOSING].append(of_round(Kind.CLOSE, "betting_closed", round_.round_id))
        if shoe.is_empty:
            self._exhaust(round_, shoe)
        else:
            self._deal(round_, shoe)
        self._pauses_and_closes(round_)
        self._strays(round_)
        return round_

    def steps(self, round_: RoundPlay, phase: int) -> list[Step]:
        """What the table says in one phase of a round, spread over it in order."""
        tellings = round_.phases[phase]
        starts_at_ms = round_.starts_at_ms + phase * self._play.beat_ms
        each = self._play.beat_ms // (len(tellings) + 1)
        steps = []
        for index, telling in enumerate(tellings, start=1):
            self._said += 1
            at_ms = starts_at_ms + index * each + self._rng.randrange(max(1, each // 2))
            event_id = f"e-{self.table_id}-{round_.round_id}-{self._said}"
            steps.append(telling.step(self.table_id, self.key, event_id, at_ms))
        return steps

    def _shoe_for(self, round_: RoundPlay) -> Shoe:
        if self._shoe is None:
            self._last_shoe = f"{self._play.seed}-S{self._shoes}" if self._shoes else ""
            self._shoes += 1
            is_forgotten = self._happens(self._play.mischief.forgotten_cut_cards)
            self._shoe = Shoe(f"{self._play.seed}-S{self._shoes}", self._rng, has_cut_card=not is_forgotten)
            round_.phases[OPENING].append(started(self._shoe.shoe_id, self._shoe.burn_card))
        return self._shoe

    def _deal(self, round_: RoundPlay, shoe: Shoe) -> None:
        """Twelve cards, before the close or after it, and at most one of the mishaps that a round can have."""
        places = [(seat, position) for position in (1, 2) for seat in Seat]
        cards = [(seat, position, shoe.draw()) for seat, position in places]
        if self._happens(self._play.mischief.any_order):
            self._rng.shuffle(cards)
        is_face_down = self._rng.random() < 0.5  # noqa: PLR2004 - half of the rounds
        mishap = self._mishap()
        reveal = round_.phases[REVEALING]
        if mishap is None or mishap == "after":
            self._say_cards(round_, cards, is_face_down=is_face_down)
        elif mishap == "cancelled_open":
            round_.phases[self._rng.choice(BETTING[1:])].append(of_round(Kind.ROUND_CANCEL, "round_cancelled", round_.round_id))
            round_.phases[CLOSING].clear()
            return
        else:
            self._say_cards(round_, cards[:-1], is_face_down=is_face_down)
            getattr(self, f"_{mishap}")(round_, shoe, *cards[-1])
        for seat, position, card in cards:
            del seat, position
            shoe.standing[card] += 1
        del reveal
