"""A shoe as it stands on the table: eight decks, shuffled, with the cut card in it."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from pokdeng.rules import CARDS, DECKS, SHOE_CARDS, burned_by

if TYPE_CHECKING:
    import random

    from pokdeng.rules import Card

CUT_CARD_FROM_END = (60, 75)
"""The cut card goes in so many cards before the end, at least and at most."""


class Shoe:
    """A shoe being dealt from.

    What lies behind the cut card is never dealt, so its faces can be misread for others without a ninth copy of them.
    """

    def __init__(self, shoe_id: str, rng: random.Random, *, has_cut_card: bool = True) -> None:
        """Shuffle, put in the cut card, draw the burn card and burn."""
        self.shoe_id = shoe_id
        self._cards = list(CARDS) * DECKS
        rng.shuffle(self._cards)
        self._next = 1
        self.burn_card = self._cards[0]
        self._next += burned_by(self.burn_card)
        self._cut = SHOE_CARDS - rng.randint(*CUT_CARD_FROM_END) if has_cut_card else SHOE_CARDS + 1
        self._spare = self._cards[self._cut :]
        self.standing: Counter[Card] = Counter({self.burn_card: 1})
        """The copies of each face that the log knows of."""

    @property
    def is_cut(self) -> bool:
        """The cut card was drawn: no round after this one."""
        return self._next >= self._cut

    @property
    def is_empty(self) -> bool:
        """Too few cards are left for another round."""
        return self._next + 13 > SHOE_CARDS

    def burn(self) -> None:
        """Burn one card face down, as each round begins."""
        self._next += 1

    def draw(self) -> Card:
        """Deal the next card; when none is left, one that the shoe cannot have (a dealer's mistake)."""
        self._next += 1
        if self._next <= SHOE_CARDS:
            return self._cards[self._next - 1]
        return min(CARDS, key=lambda card: self.standing[card])

    def misread(self, card: Card) -> Card | None:
        """Another face that a card may be taken for without being impossible; None when there is none left."""
        while self._spare:
            other = self._spare.pop()
            if other is not card:
                return other
        return None

    def ninth(self) -> Card | None:
        """A face of which all eight copies are seen, if there is one."""
        return next((card for card, copies in self.standing.items() if copies >= DECKS), None)
