"""Every way a full shoe can deal a banker's and players' hands, counted instead of listed.

For `odds` and `covariances`. The order of a hand's two cards changes nothing, and neither does renaming the suits
throughout; so it is enough to look at one banker's hand of each kind and to weigh it by how many there are.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from math import comb
from typing import TYPE_CHECKING, Final

from pokdeng.rules.cards import CARDS
from pokdeng.rules.hands import Hand, hand_of
from pokdeng.rules.shoe import COPIES_PER_FACE, SHOE_CARDS

if TYPE_CHECKING:
    from collections.abc import Iterator

BANKER_HANDS: Final = comb(SHOE_CARDS, 2)
"""Pairs of cards in a full shoe: 86,320."""

PLAYER_HANDS: Final = comb(SHOE_CARDS - 2, 2)
"""Pairs of cards left when the banker's are gone: 85,491."""

SECOND_PLAYER_HANDS: Final = comb(SHOE_CARDS - 4, 2)
"""Pairs of cards left when two hands are gone: 84,666."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BankerKind:
    """One banker's hand in place of the `ways` that differ from it by the names of suits only."""

    hand: Hand
    ways: int


@cache
def banker_kinds() -> tuple[BankerKind, ...]:
    """The kinds of banker's hands in a full shoe; their ways add to `BANKER_HANDS`.

    Two ranks and whether the suits are one: 91 kinds of flushes (13 of them pairs), 91 of other hands.

    >>> len(banker_kinds())
    182
    """
    first_of_kind: dict[tuple[str, str, bool], Hand] = {}
    ways_of_kind: dict[tuple[str, str, bool], int] = {}
    for hand, ways in _hands_from([COPIES_PER_FACE] * len(CARDS)):
        first, second = hand.cards
        kind = (first.rank, second.rank, hand.is_flush)
        first_of_kind.setdefault(kind, hand)
        ways_of_kind[kind] = ways_of_kind.get(kind, 0) + ways
    return tuple(BankerKind(hand=hand, ways=ways_of_kind[kind]) for kind, hand in first_of_kind.items())


def copies_left(banker: Hand) -> list[int]:
    """The copies of each face, by `Card.face`, that a full shoe has left when the banker's hand is gone."""
    copies = [COPIES_PER_FACE] * len(CARDS)
    for card in banker.cards:
        copies[card.face] -= 1
    return copies


def hands_left(banker: Hand) -> Iterator[tuple[Hand, int]]:
    """Each hand a player can have against this banker's hand, and in how many ways; these add to `PLAYER_HANDS`.

    >>> sum(ways for _, ways in hands_left(Hand.parse("5c 5c"))) == PLAYER_HANDS
    True
    """
    return _hands_from(copies_left(banker))


def _hands_from(copies: list[int]) -> Iterator[tuple[Hand, int]]:
    for low, first in enumerate(CARDS):
        yield hand_of(first, first), comb(copies[low], 2)
        for second in CARDS[low + 1 :]:
            yield hand_of(first, second), copies[low] * copies[second.face]
