"""Random table events: of few ids, cards and places, so that they meet; whole deals among them, so that rounds end."""

from __future__ import annotations

from functools import cache
from itertools import product
from typing import TYPE_CHECKING, Any

from hypothesis import strategies as st

from pokdeng.events.ids import EventId, Reason, RoundId, ShoeId, Timestamp
from pokdeng.events.inputs import (
    BettingClosed,
    CardCorrected,
    CardDealt,
    CutCardDrawn,
    RoundCancelled,
    RoundOpened,
    RoundPaused,
    RoundResumed,
    ShoeStarted,
    TableEvent,
)
from pokdeng.rules import CARDS, Card
from tests.rounds.deals import IN_ORDER
from tests.rounds.playthrough import TABLE

if TYPE_CHECKING:
    from collections.abc import Sequence

SHOES = [ShoeId("S-1"), ShoeId("S-2")]
ROUNDS = tuple(RoundId(f"R-{number}") for number in range(1, 5))
FEW_CARDS = tuple(Card.parse(code) for code in ("Ac", "Kd", "9h", "Ts"))


def common(number: object) -> dict[str, Any]:
    """What every event has."""
    return {"event_id": EventId(f"e-{number}"), "occurred_at": Timestamp("noon"), "table_id": TABLE}


def a_deal(round_id: RoundId, cards: Sequence[Card], name: str = "deal") -> list[TableEvent]:
    """The twelve cards of a round in the order of the deal."""
    return [
        CardDealt(**common(f"{name}-{round_id}-{place}"), round_id=round_id, seat=seat, position=at, card=card)
        for place, ((seat, at), card) in enumerate(zip(IN_ORDER, cards, strict=True))
    ]


def a_close(round_id: RoundId, name: str = "close") -> TableEvent:
    """The end of a round's betting."""
    return BettingClosed(**common(f"{name}-{round_id}"), round_id=round_id)


@cache
def card_events(rounds: tuple[RoundId, ...], cards: tuple[Card, ...]) -> list[TableEvent]:
    """Every card dealt at and corrected to every place, under an id of its own and under one of six that many share."""
    events: list[TableEvent] = []
    for number, (round_id, (seat, position), card) in enumerate(product(rounds, IN_ORDER, cards)):
        at: dict[str, Any] = {"round_id": round_id, "seat": seat, "position": position, "card": card}
        for name in (f"own-{number}", number % 6):
            events.append(CardDealt(**common(name), **at))
            events.append(CardCorrected(**common(name), **at, reason=Reason("misread")))
    return events


@cache
def other_events(rounds: tuple[RoundId, ...]) -> list[TableEvent]:
    """Everything but cards; ids are shared by two each, with other content."""
    events: list[TableEvent] = [
        ShoeStarted(**common("shoe"), shoe_id=shoe_id, decks=8, burn_card=card)
        for shoe_id, card in product(SHOES, FEW_CARDS[:2])
    ]
    for round_id, (number, reason) in product(rounds, enumerate(("fire", "flood", "fire"))):
        base = common(number // 2) | {"round_id": round_id}
        why = base | {"reason": Reason(reason)}
        events += [BettingClosed(**base), RoundPaused(**why), RoundCancelled(**why)]
        events += [RoundResumed(**why)] * 2
        events += [RoundOpened(**base, shoe_id=shoe_id) for shoe_id in SHOES]
        events += [CutCardDrawn(**base, shoe_id=shoe_id) for shoe_id in SHOES]
    return events


def any_event(
    rounds: tuple[RoundId, ...] = ROUNDS, cards: tuple[Card, ...] = FEW_CARDS
) -> st.SearchStrategy[TableEvent]:
    """One event, more often a card."""
    dealt = st.sampled_from(card_events(rounds, cards))
    return dealt | dealt | st.sampled_from(other_events(rounds))


def _opened_and_dealt(drawn: tuple[int, RoundId, list[Card]]) -> list[TableEvent]:
    """A round that is opened, dealt and closed, if nothing is against it."""
    number, round_id, cards = drawn
    opened = RoundOpened(**common(f"open-{number}"), round_id=round_id, shoe_id=SHOES[number % 2])
    return [opened, *a_deal(round_id, cards, f"deal-{number}"), a_close(round_id, f"close-{number}")]


_CARDS_OF_A_DEAL = st.lists(st.sampled_from(FEW_CARDS) | st.sampled_from(CARDS), min_size=12, max_size=12)
_WHOLE_ROUND = st.tuples(st.integers(0, 99), st.sampled_from(ROUNDS), _CARDS_OF_A_DEAL).map(_opened_and_dealt)
_CHUNKS = st.lists(st.lists(any_event(), min_size=1, max_size=8) | _WHOLE_ROUND, max_size=8)


@st.composite
def sequences(draw: st.DrawFn, *, is_started: bool = True) -> list[TableEvent]:
    """Up to about a hundred events of one table; some of them come again."""
    start: list[TableEvent] = []
    if is_started:
        start = [
            ShoeStarted(**common("shoe"), shoe_id=SHOES[0], decks=8, burn_card=FEW_CARDS[0]),
            *(RoundOpened(**common(f"open-{name}"), round_id=name, shoe_id=SHOES[0]) for name in ROUNDS[:3]),
        ]
    events = start + [event for chunk in draw(_CHUNKS) for event in chunk]
    again = draw(st.lists(st.tuples(st.integers(0, 10**6), st.integers(0, 10**6)), max_size=6))
    for which, where in again:
        if events:
            events.insert(where % (len(events) + 1), events[which % len(events)])
    return events
