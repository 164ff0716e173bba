"""The shoe: how many cards are gone, and how many copies of each face were seen.

Counts only: which card lies where, and what follows from a ninth copy, is not said here. A count is taken for every
dealt card, so the 52 counters are one integer.
"""

from __future__ import annotations

from typing import Final, NewType

from pokdeng.rules.cards import CARDS, Card, Rank

DECKS: Final = 8
"""Decks in a shoe. Source: docs/rules.md, PD-1."""

COPIES_PER_FACE: Final = DECKS
"""How often a face is in a shoe."""

SHOE_CARDS: Final = DECKS * len(CARDS)
"""Cards in a new shoe: 416."""

Copies = NewType("Copies", int)
"""The copies seen of the 52 faces, 0 .. 8 each: four bits a face, that of `CARDS[0]` lowest; below 2^208."""

NO_COPIES: Final = Copies(0)
"""Nothing seen yet."""

_BITS = 4
_MASK = (1 << _BITS) - 1
_END = 1 << (_BITS * len(CARDS))
_MOST_BURNED = 10
_BURNED = {rank: min(place, _MOST_BURNED) for place, rank in enumerate(Rank, start=1)}


class CopiesError(ValueError):
    """A count that no shoe can have: a ninth copy, fewer than none, an unknown face, a number that is no count."""


def burned_by(card: Card) -> int:
    """How many cards the first card of a shoe has burned: ace 1, 2-9 as they are, ten, jack, queen and king 10.

    Source: docs/rules.md, PD-2.

    >>> [burned_by(Card.parse(text)) for text in ("Ah", "2h", "9h", "Th", "Kh")]
    [1, 2, 9, 10, 10]
    """
    return _BURNED[card.rank]


def gone_from_shoe(*, burn_card: Card, rounds_opened: int, standing_cards: int) -> int:
    """How many cards have left the shoe. More than `SHOE_CARDS` is impossible, and the caller's to refuse.

    The burn card, what it burned, one card burned a round opened, and every card that stands in one of the shoe's
    rounds: cancelled rounds too, corrected-away cards not. Source: docs/rules.md, PD-17.

    Raises:
        ValueError: when a number is below 0.

    >>> gone_from_shoe(burn_card=Card.parse("2h"), rounds_opened=1, standing_cards=12)
    16
    """
    if rounds_opened < 0 or standing_cards < 0:
        raise ValueError(f"{rounds_opened} rounds and {standing_cards} standing cards: neither can be below 0")
    return 1 + burned_by(burn_card) + rounds_opened + standing_cards


def copies_of(copies: Copies, face: int) -> int:
    """How many copies of a face (0 .. 51) were seen, 0 .. 8.

    Raises:
        CopiesError: when there is no such face.

    >>> ace = Card.parse("Ac")
    >>> copies_of(with_card(with_card(NO_COPIES, ace), ace), ace.face)
    2
    """
    if not 0 <= face < len(CARDS):
        raise CopiesError(f"no face {face}: faces are 0 .. {len(CARDS) - 1}")
    return (copies >> (_BITS * face)) & _MASK


def with_card(copies: Copies, card: Card) -> Copies:
    """The count after one more copy of `card` was seen.

    Raises:
        CopiesError: when it would be the ninth. Ask `copies_of` first where that can happen.

    >>> eight = parse_copies(8)
    >>> with_card(eight, Card.parse("Ac"))
    Traceback (most recent call last):
    pokdeng.rules.shoe.CopiesError: a ninth copy of Ac: a shoe has 8
    """
    if copies_of(copies, card.face) >= COPIES_PER_FACE:
        raise CopiesError(f"a ninth copy of {card}: a shoe has {COPIES_PER_FACE}")
    return Copies(copies + (1 << (_BITS * card.face)))


def without_card(copies: Copies, card: Card) -> Copies:
    """The count after a copy of `card` was corrected away.

    Raises:
        CopiesError: when none was seen.

    >>> without_card(NO_COPIES, Card.parse("Ac"))
    Traceback (most recent call last):
    pokdeng.rules.shoe.CopiesError: no copy of Ac to take away
    """
    if not copies_of(copies, card.face):
        raise CopiesError(f"no copy of {card} to take away")
    return Copies(copies - (1 << (_BITS * card.face)))


def total_copies(copies: Copies) -> int:
    """How many cards were seen in all, 0 .. 416.

    >>> total_copies(with_card(with_card(NO_COPIES, Card.parse("Ac")), Card.parse("Ks")))
    2
    """
    return sum(copies_of(copies, card.face) for card in CARDS)


def parse_copies(packed: int) -> Copies:
    """The count that a stored number stands for.

    Raises:
        CopiesError: when a face has more than 8 copies or the number is not within 0 .. 2^208 - 1.

    >>> parse_copies(with_card(NO_COPIES, Card.parse("2c")))
    65536
    >>> parse_copies(9)
    Traceback (most recent call last):
    pokdeng.rules.shoe.CopiesError: 9 copies of Ac: a shoe has 8
    """
    if not 0 <= packed < _END:
        raise CopiesError(f"not a count of {len(CARDS)} faces: {packed:#x} is not within 0 .. {_END - 1:#x}")
    copies = Copies(packed)
    for card in CARDS:
        seen = copies_of(copies, card.face)
        if seen > COPIES_PER_FACE:
            raise CopiesError(f"{seen} copies of {card}: a shoe has {COPIES_PER_FACE}")
    return copies
