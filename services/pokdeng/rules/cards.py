"""Cards: the 52 faces of a deck, each one value, and how a card is written.

Hands are in `hands`, the count of a shoe in `shoe`. A card here is a face: its eight copies in a shoe are one card.
"""

from __future__ import annotations

import reprlib
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable


class Rank(StrEnum):
    """The thirteen ranks, in the order of `Card.face`. The value is how the rank is written."""

    ACE = "A"
    TWO = "2"
    THREE = "3"
    FOUR = "4"
    FIVE = "5"
    SIX = "6"
    SEVEN = "7"
    EIGHT = "8"
    NINE = "9"
    TEN = "T"
    JACK = "J"
    QUEEN = "Q"
    KING = "K"


class Suit(StrEnum):
    """The four suits, in the order of `Card.face`. No suit is worth more than another."""

    CLUBS = "c"
    DIAMONDS = "d"
    HEARTS = "h"
    SPADES = "s"


class InvalidCardError(ValueError):
    """A text that is no card. The message names it, shortened where it is long."""


_RANKS = tuple(Rank)
_SUITS = tuple(Suit)
_NO_POINTS = frozenset({Rank.TEN, Rank.JACK, Rank.QUEEN, Rank.KING})


@dataclass(frozen=True, slots=True, kw_only=True)
class Card:
    """One of the 52 faces.

    Get one by `Card.parse` or from `CARDS`: these are the same 52 instances for ever, through pickles and copies too.
    `face` is its place in `CARDS`, 0 .. 51; `points` are 0 .. 9 (ace 1; ten, jack, queen, king 0); `code` is its text.
    Source: docs/rules.md, PD-6.

    >>> Card.parse("Th").points, Card.parse("Ah").points, Card.parse("9h").points
    (0, 1, 9)
    """

    rank: Rank = field(compare=False)
    suit: Suit = field(compare=False)
    face: int = field(init=False)
    points: int = field(init=False, compare=False)
    code: str = field(init=False, compare=False)

    def __post_init__(self) -> None:
        """Derive what follows from rank and suit, so that no card can contradict itself."""
        place = _RANKS.index(self.rank)
        object.__setattr__(self, "face", place * len(_SUITS) + _SUITS.index(self.suit))
        object.__setattr__(self, "points", 0 if self.rank in _NO_POINTS else place + 1)
        object.__setattr__(self, "code", f"{self.rank}{self.suit}")

    @staticmethod
    def parse(text: str) -> Card:
        """The card that is written so: a rank `A 2 3 4 5 6 7 8 9 T J Q K`, then a suit `c d h s`; `10h` is `Th`.

        Raises:
            InvalidCardError: for anything else; case counts, spaces are not tolerated.

        >>> str(Card.parse("10h"))
        'Th'
        >>> Card.parse("10h") is Card.parse("Th")
        True
        >>> Card.parse("th")
        Traceback (most recent call last):
        pokdeng.rules.cards.InvalidCardError: not a card: 'th'; write a rank (A 2-9 T J Q K, or 10) and a suit (c d h s)
        """
        try:
            return _BY_TEXT[text]
        except (KeyError, TypeError):  # TypeError: what cannot be a key is no text
            raise InvalidCardError(
                f"not a card: {reprlib.repr(text)}; write a rank (A 2-9 T J Q K, or 10) and a suit (c d h s)"
            ) from None

    def __str__(self) -> str:
        """How the card is written in events: `Th`, never `10h`."""
        return self.code

    def __repr__(self) -> str:
        """How to get this very card."""
        return f"Card.parse({self.code!r})"

    def __reduce__(self) -> tuple[Callable[[str], Card], tuple[str]]:
        """Pickles and copies give back the one instance of this face."""
        return Card.parse, (self.code,)


CARDS: tuple[Card, ...] = tuple(Card(rank=rank, suit=suit) for rank in Rank for suit in Suit)
"""The 52 faces; `CARDS[card.face] is card`."""

_BY_TEXT: dict[str, Card] = {card.code: card for card in CARDS} | {
    f"10{card.suit}": card for card in CARDS if card.rank is Rank.TEN
}
