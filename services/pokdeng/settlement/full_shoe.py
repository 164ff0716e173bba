"""A shoe as one that cannot have a card: what was impossible once is refused again, whenever it is folded."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pokdeng.events.reasons import DeadLetterReason
from pokdeng.rules import SHOE_CARDS, CopiesError, with_card

if TYPE_CHECKING:
    from pokdeng.rounds import Shoe
    from pokdeng.rules import Card


def without_room(shoe: Shoe, card: Card, why: str) -> Shoe:
    """The shoe as one that cannot have that card, for that reason (`ninth_copy`, `shoe_exhausted`)."""
    if why == DeadLetterReason.SHOE_EXHAUSTED.value:
        return shoe._replace(gone=SHOE_CARDS)
    copies = shoe.copies
    while True:
        try:
            copies = with_card(copies, card)
        except CopiesError:
            return shoe._replace(copies=copies)
