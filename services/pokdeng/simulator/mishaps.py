"""What can happen to the cards of a round: each function lays out one round's deal, all but the close."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, TypeAlias

from pokdeng.rules import Seat
from pokdeng.simulator.steps import Kind
from pokdeng.simulator.tellings import REASONS, Telling, cancelled, closed, corrected, cut_card, dealt

if TYPE_CHECKING:
    import random
    from collections.abc import Callable, Sequence

    from pokdeng.rules import Card
    from pokdeng.simulator.shoe import Shoe

PHASES: Final = 8
"""Beats of a round: it opens, takes bets in four, closes, reveals, and rests."""
OPENING: Final = 0
BETTING: Final = (1, 2, 3, 4)
CLOSING: Final = 5
REVEALING: Final = 6
RESTING: Final = 7

_BACK: Final = 0.3
_THEN_CANCELLED: Final = 0.15
"""Of the corrections after settlement: so many are taken back, so many end with a cancellation."""

Dealt: TypeAlias = tuple[tuple[Seat, int], "Card"]


@dataclass(slots=True)
class RoundPlay:
    """A round as the floor will play it: what is said in each phase, in order."""

    round_id: str
    starts_at_ms: int
    shoe: Shoe
    rng: random.Random
    is_face_down: bool
    """The cards are dealt while bets are open."""
    phases: list[list[Telling]] = field(default_factory=lambda: [[] for _ in range(PHASES)])
    carried: list[list[Telling]] = field(default_factory=lambda: [[] for _ in range(PHASES)])
    """What is said only in the phases of the table's next round."""
    cards: list[Dealt] = field(default_factory=list)
    """In the order of their events."""
    is_spent: bool = False
    """If it is corrected after its settlement, some who bet on it draw out all they have first."""

    def say(self, phase: int, *tellings: Telling) -> None:
        """Say something in a phase, after what is already to be said in it."""
        self.phases[phase] += tellings

    def say_after_settlement(self, *tellings: Telling) -> None:
        """Say a correction when the round is settled, and another one when the first is known to all."""
        first, *others = tellings
        if self.is_spent:
            self.carried[BETTING[0]].append(first)
        else:
            self.say(RESTING, first)
        self.carried[BETTING[1] if self.is_spent else BETTING[0]] += others

    def lay(self, cards: Sequence[Dealt]) -> None:
        """Deal cards: over the later betting phases, or all after the close."""
        if self.shoe.is_cut:
            self.say(BETTING[1] if self.is_face_down else REVEALING, cut_card(self.round_id, self.shoe.shoe_id))
        for index, (place, card) in enumerate(cards):
            phase = BETTING[1] + index // 4 if self.is_face_down else REVEALING
            self.say(phase, dealt(self.round_id, place, card))
            self.shoe.standing[card] += 1

    def close(self) -> None:
        """Betting ends."""
        self.say(CLOSING, closed(self.round_id))

    def reason(self) -> str:
        """What the supervisor writes."""
        return self.rng.choice(REASONS)


def smooth(round_: RoundPlay) -> None:
    """Nothing happens."""
    round_.lay(round_.cards)
    round_.close()


def seat_conflict(round_: RoundPlay) -> None:
    """A card is read wrongly, then rightly: the second is refused, until the supervisor says which one lies there."""
    *cards, (last_place, last) = round_.cards
    index = round_.rng.randrange(len(cards))
    place, card = cards[index]
    wrong = round_.shoe.misread(card)
    if wrong is None:
        smooth(round_)
        return
    cards[index] = (place, wrong)
    round_.lay(cards)
    round_.close()
    noticed = BETTING[-1] if round_.is_face_down else REVEALING
    round_.say(noticed, dealt(round_.round_id, place, card, Kind.SEAT_CONFLICT))
    settled = round_.rng.choice((card, wrong))
    round_.shoe.standing[wrong] -= 1
    for stands in (settled, last):
        round_.shoe.standing[stands] += 1
    round_.say(RESTING, corrected(round_.round_id, place, settled), dealt(round_.round_id, last_place, last))


def correction(round_: RoundPlay) -> None:
    """A card is read wrongly and corrected before the round is complete."""
    *cards, (last_place, last) = round_.cards
    index = round_.rng.randrange(len(cards))
    place, card = cards[index]
    wrong = round_.shoe.misread(card)
    if wrong is None:
        smooth(round_)
        return
    cards[index] = (place, wrong)
    round_.lay(cards)
    round_.close()
    round_.shoe.standing[wrong] -= 1
    for stands in (card, last):
        round_.shoe.standing[stands] += 1
    round_.say(REVEALING, corrected(round_.round_id, place, card, round_.reason()))
    round_.say(RESTING, dealt(round_.round_id, last_place, last))


def ninth_copy(round_: RoundPlay) -> None:
    """The last card is read as a face of which all copies are seen, and then corrected."""
    *cards, (place, card) = round_.cards
    ninth = round_.shoe.ninth()
    if ninth is None:
        smooth(round_)
        return
    round_.lay(cards)
    round_.close()
    round_.shoe.standing[card] += 1
    round_.say(REVEALING, dealt(round_.round_id, place, ninth, Kind.NINTH_COPY))
    round_.say(RESTING, corrected(round_.round_id, place, card, round_.reason()))


def cancelled_open(round_: RoundPlay) -> None:
    """Cancelled while bets are open, with a few cards on the table."""
    round_.is_face_down = True
    round_.lay(round_.cards[:4])
    round_.say(round_.rng.choice(BETTING[2:]), cancelled(round_.round_id, round_.reason()))


def cancelled_closed(round_: RoundPlay) -> None:
    """Cancelled after the close, a card missing."""
    round_.lay(round_.cards[:-1])
    round_.close()
    round_.say(RESTING, cancelled(round_.round_id, round_.reason()))


def exhausted(round_: RoundPlay) -> None:
    """Nobody drew the cut card: the deal runs over the end of the shoe, and the round is cancelled."""
    round_.is_face_down = True
    round_.lay(round_.cards)
    round_.say(BETTING[-1], cancelled(round_.round_id, "the shoe is empty"))


def stalled(round_: RoundPlay) -> None:
    """The last card comes when the table's next round is open."""
    *cards, (place, card) = round_.cards
    round_.lay(cards)
    round_.close()
    round_.shoe.standing[card] += 1
    round_.carried[BETTING[2]].append(dealt(round_.round_id, place, card))


def corrected_after_settlement(round_: RoundPlay) -> None:
    """A card is corrected when the round is settled; now and then back again, or the round is cancelled then."""
    smooth(round_)
    place, card = round_.rng.choice(round_.cards)
    other = round_.shoe.misread(card)
    if other is None:
        round_.is_spent = False
        return
    correction = corrected(round_.round_id, place, other, round_.reason())
    chance = round_.rng.random()
    if chance < _BACK:
        round_.say_after_settlement(correction, corrected(round_.round_id, place, card, round_.reason()))
        return
    round_.shoe.standing[card] -= 1
    round_.shoe.standing[other] += 1
    if chance < _BACK + _THEN_CANCELLED:
        round_.say_after_settlement(correction, cancelled(round_.round_id, round_.reason()))
    else:
        round_.say_after_settlement(correction)


def cancelled_after_settlement(round_: RoundPlay) -> None:
    """The round is cancelled when it is settled."""
    smooth(round_)
    round_.say_after_settlement(cancelled(round_.round_id, round_.reason()))


MISHAPS: Final[dict[str, Callable[[RoundPlay], None]]] = {
    "seat_conflicts": seat_conflict,
    "corrections": correction,
    "ninth_copies": ninth_copy,
    "cancelled_open": cancelled_open,
    "cancelled_closed": cancelled_closed,
    "stalled": stalled,
    "corrections_after_settlement": corrected_after_settlement,
    "cancels_after_settlement": cancelled_after_settlement,
}
"""By the name of their rate in `Mischief`; a round has at most one."""
UNPAUSED: Final = frozenset({corrected_after_settlement, cancelled_after_settlement})
"""These need the round to be settled before it rests: it is not paused."""
