"""The three deals that the field failures are told with, and what a bet of 1000 on each option gets back in them."""

from __future__ import annotations

from itertools import product
from typing import Literal

from pokdeng.rounds import Places, place_of
from pokdeng.rules import Bet, Card, Seat

_POSITIONS: tuple[Literal[1, 2], ...] = (1, 2)

IN_ORDER: tuple[tuple[Seat, Literal[1, 2]], ...] = tuple(
    (seat, position) for position, seat in product(_POSITIONS, Seat)
)
"""The places in the order of the deal: first cards of all seats, then second cards."""

DEALS: dict[str, Places] = {
    name: tuple(Card.parse(code) for code in cards.split())
    for name, cards in {
        "W": "9c Td  5s 3s  2c 5h  Jc 2d  3c 3h  4h 3d",
        "L": "5s 9h  Qh Kh  As Ks  4c 5d  Tc Jh  Jc Kd",
        "T": "9c Td  6h 3h  4c 4d  Kc 7d  Qs 9s  8s Ah",
    }.items()
}
"""By place: players 1 .. 5, then the banker, two cards each."""

RETURNED: dict[str, dict[Bet, int]] = {
    "W": dict(zip(Bet, (3000, 4000, 2000, 1000, 1000, 0, 0, 0, 0, 12000), strict=True)),
    "L": dict(zip(Bet, (0, 2000, 4000, 3000, 0, 0, 0, 0, 0, 0), strict=True)),
    "T": dict(zip(Bet, (2000, 2000, 1000, 1000, 2000, 0, 0, 12000, 0, 0), strict=True)),
}


def card_of(deal: str, seat: Seat, position: int) -> Card:
    """The card of a named deal at a place."""
    card = DEALS[deal][place_of(seat, position)]
    if card is None:
        raise ValueError(f"deal {deal} has no card at {seat} {position}")
    return card
