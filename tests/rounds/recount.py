"""A second count of shoes and cards, from what came and what became of it: another way to the same numbers.

It keeps every card in one dictionary and counts by going through all of them, each time.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, TypeAlias

from pokdeng.events.inputs import CardCorrected, CardDealt, RoundOpened, ShoeStarted
from pokdeng.rounds import Applied

if TYPE_CHECKING:
    from pokdeng.events.inputs import TableEvent
    from pokdeng.rounds import Verdict

Place: TypeAlias = tuple[str, str, int]
"""Round, seat, position."""


class Recount:
    """What stands where, and in which shoe."""

    def __init__(self) -> None:
        """Nothing came yet."""
        self.burn_cards: dict[str, str] = {}
        self.shoe_of: dict[str, str] = {}
        self.standing: dict[Place, str] = {}

    def follow(self, event: TableEvent, verdict: Verdict) -> None:
        """Take in what an event that counts has brought."""
        if not isinstance(verdict, Applied):
            return
        if isinstance(event, ShoeStarted):
            self.burn_cards[event.shoe_id] = event.burn_card.code
        elif isinstance(event, RoundOpened):
            self.shoe_of[event.round_id] = event.shoe_id
        elif isinstance(event, (CardDealt, CardCorrected)):
            self.standing[event.round_id, event.seat, event.position] = event.card.code

    def gone(self, shoe_id: str) -> int:
        """Cards that left a shoe."""
        rank = self.burn_cards[shoe_id][0]
        burned = 1 if rank == "A" else 10 if rank in "TJQK" else int(rank)
        rounds = list(self.shoe_of.values()).count(shoe_id)
        return 1 + burned + rounds + sum(1 for place in self.standing if self.shoe_of[place[0]] == shoe_id)

    def copies(self, shoe_id: str) -> Counter[str]:
        """Copies seen of each card."""
        seen = Counter(card for place, card in self.standing.items() if self.shoe_of[place[0]] == shoe_id)
        seen[self.burn_cards[shoe_id]] += 1
        return seen

    def impossible(self, event: CardDealt | CardCorrected) -> str | None:
        """Why the event's card cannot lie at its place, instead of what lies there."""
        shoe_id, place = self.shoe_of[event.round_id], (event.round_id, event.seat.value, event.position)
        lies = self.standing.get(place)
        if self.copies(shoe_id)[event.card.code] - (lies == event.card.code) >= 8:
            return "ninth_copy"
        if lies is None and self.gone(shoe_id) >= 416:
            return "shoe_exhausted"
        return None
