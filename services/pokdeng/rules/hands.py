"""Hands: what two cards are worth, and which hand is higher.

What a bet pays on them is in `payouts`.
"""

from __future__ import annotations

import reprlib
from dataclasses import dataclass, field
from enum import StrEnum

from pokdeng.rules.cards import CARDS, Card, Rank


class Combination(StrEnum):
    """The special combinations, highest first. They lie between 7 and 8. Source: docs/rules.md, PD-8."""

    AK_FLUSH = "ak_flush"
    SPECIAL_PAIR = "special_pair"
    FACE_CARDS = "face_cards"
    TEN_AND_FACE = "ten_and_face"
    NO_POINT_FLUSH = "no_point_flush"


class InvalidHandError(ValueError):
    """A text that is not two cards. The message names it, shortened where it is long."""


VALUES: tuple[str, ...] = ("0", "1", "2", "3", "4", "5", "6", "7", "7.1", "7.2", "7.3", "7.4", "7.5", "8", "9")
"""The fifteen values a hand can have, lowest first; `VALUES[hand.rank] == hand.value`. Source: docs/rules.md, PD-9."""

_VALUE_OF_COMBINATION = {
    Combination.AK_FLUSH: "7.5",
    Combination.SPECIAL_PAIR: "7.4",
    Combination.FACE_CARDS: "7.3",
    Combination.TEN_AND_FACE: "7.2",
    Combination.NO_POINT_FLUSH: "7.1",
}
_FACE_RANKS = frozenset({Rank.JACK, Rank.QUEEN, Rank.KING})
_SPECIAL_PAIR_RANKS = frozenset({Rank.ACE, Rank.FIVE, Rank.SIX, Rank.TEN})
_ACE_AND_KING = frozenset({Rank.ACE, Rank.KING})
_LOWEST_POINTS_THAT_STAND = 8
_CARDS_OF_A_HAND = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Hand:
    """Two cards, by position, and all that the rules ask of them.

    Get one by `hand_of` or `Hand.parse`. `value` is one of `VALUES` and `rank` its place there, 0 .. 14: a higher rank
    beats a lower one, equal ranks tie whatever is behind them. `points` are 0 .. 9. `combination` is what makes the
    value, None where points do. `is_special`: the hand has a special pattern, a flush, any pair or a combination.
    Source: docs/rules.md, PD-6 .. PD-10.

    >>> hand = Hand.parse("5c 5c")
    >>> hand.value, hand.rank, hand.points, hand.combination, hand.is_pair, hand.is_flush
    ('7.4', 11, 0, <Combination.SPECIAL_PAIR: 'special_pair'>, True, True)
    """

    cards: tuple[Card, Card]
    value: str = field(init=False, compare=False)
    rank: int = field(init=False, compare=False)
    points: int = field(init=False, compare=False)
    combination: Combination | None = field(init=False, compare=False)
    is_pair: bool = field(init=False, compare=False)
    is_flush: bool = field(init=False, compare=False)
    is_special: bool = field(init=False, compare=False)

    def __post_init__(self) -> None:
        """Derive what follows from the cards, so that no hand can contradict itself."""
        first, second = self.cards
        points = (first.points + second.points) % 10
        combination = None if points >= _LOWEST_POINTS_THAT_STAND else _combination(first, second)
        value = str(points) if combination is None else _VALUE_OF_COMBINATION[combination]
        is_pair = first.rank is second.rank
        is_flush = first.suit is second.suit
        object.__setattr__(self, "value", value)
        object.__setattr__(self, "rank", VALUES.index(value))
        object.__setattr__(self, "points", points)
        object.__setattr__(self, "combination", combination)
        object.__setattr__(self, "is_pair", is_pair)
        object.__setattr__(self, "is_flush", is_flush)
        object.__setattr__(self, "is_special", is_pair or is_flush or combination is not None)

    @staticmethod
    def parse(text: str) -> Hand:
        """The hand of two cards written with a space between them, the first position first.

        Raises:
            InvalidHandError: when there are not two.
            InvalidCardError: when one of them is no card.

        >>> Hand.parse("8c Jc").value
        '8'
        >>> Hand.parse("8c")
        Traceback (most recent call last):
        pokdeng.rules.hands.InvalidHandError: not a hand: '8c'; write two cards with a space between, as in '2h 4h'
        """
        cards = text.split()
        if len(cards) != _CARDS_OF_A_HAND:
            raise InvalidHandError(
                f"not a hand: {reprlib.repr(text)}; write two cards with a space between, as in '2h 4h'"
            )
        return hand_of(Card.parse(cards[0]), Card.parse(cards[1]))

    def __str__(self) -> str:
        """The cards as they are written in events, by position."""
        return f"{self.cards[0]} {self.cards[1]}"

    def __repr__(self) -> str:
        """How to get this very hand."""
        return f"Hand.parse({str(self)!r})"


def hand_of(first: Card, second: Card) -> Hand:
    """The hand of two cards by position: a look-up, the same instance each time. Two copies of one face are a hand too.

    >>> hand_of(Card.parse("Qc"), Card.parse("Jc")).value
    '7.3'
    """
    return _HANDS[first.face * len(CARDS) + second.face]


def _combination(first: Card, second: Card) -> Combination | None:
    """The combination that two cards of less than 8 points make. The first that fits is the highest."""
    ranks = {first.rank, second.rank}
    is_flush = first.suit is second.suit
    if is_flush and ranks == _ACE_AND_KING:
        return Combination.AK_FLUSH
    if first.rank is second.rank and first.rank in _SPECIAL_PAIR_RANKS:
        return Combination.SPECIAL_PAIR
    if ranks <= _FACE_RANKS:
        return Combination.FACE_CARDS
    if Rank.TEN in ranks and ranks & _FACE_RANKS:
        return Combination.TEN_AND_FACE
    if is_flush and not ranks & _FACE_RANKS and (first.points + second.points) % 10 == 0:
        return Combination.NO_POINT_FLUSH
    return None


_HANDS: tuple[Hand, ...] = tuple(Hand(cards=(first, second)) for first in CARDS for second in CARDS)
