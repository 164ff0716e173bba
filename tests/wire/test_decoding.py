"""What sound records become: the very dataclasses, with the values that the rest of the service works with."""

from __future__ import annotations

from typing import Any

import pytest

from pokdeng.events.inputs import BetPlaced, CardDealt, FundsDeposited, ShoeStarted
from pokdeng.rules import Bet, Card, Seat
from pokdeng.wire import TopicKind, decode_bet_event, decode_funds_event, decode_table_event, encode, expected_key
from pokdeng.wire.fields import input_rule
from pokdeng.wire.inputs import DECODERS
from tests.wire.examples import INPUT_CLASSES, plain, record


def test_a_bet_becomes_the_dataclass_with_an_option_and_an_int() -> None:
    """Not a look-alike: the class of the events, a member of `Bet`, an int and texts."""
    event = decode_bet_event(record(BetPlaced))
    assert type(event) is BetPlaced
    assert event.bet is Bet.PLAYER_1
    assert type(event.stake) is int
    assert type(event.event_id) is str
    assert event == plain(BetPlaced)


def test_a_card_becomes_the_one_instance_of_its_face() -> None:
    """`Th` and `10h` are the same card."""
    for text in (b'"Th"', b'"10h"'):
        event = decode_table_event(record(CardDealt, card=text))
        assert isinstance(event, CardDealt)
        assert event.card is Card.parse("Th")
        assert event.seat is Seat.PLAYER_1
        assert type(event.position) is int


def test_a_burn_card_is_a_card_too() -> None:
    """And decks are the number 8."""
    event = decode_table_event(record(ShoeStarted))
    assert isinstance(event, ShoeStarted)
    assert event.burn_card is Card.parse("2h")
    assert event.decks == 8


def test_a_deposit_is_decoded_from_funds() -> None:
    """With its amount in minor units."""
    event = decode_funds_event(record(FundsDeposited))
    assert isinstance(event, FundsDeposited)
    assert event.amount == 10000


@pytest.mark.parametrize("event_class", INPUT_CLASSES)
def test_each_input_is_known_to_just_one_topic(event_class: Any) -> None:
    """And its key there is its table or its account."""
    taking = []
    for kind, decoder in DECODERS.items():
        try:
            event = decoder.decode(record(event_class))
        except ValueError:
            continue
        taking.append(kind)
        assert expected_key(event) == (b"A-1" if kind is TopicKind.FUNDS else b"T-1")
    assert len(taking) == 1


def test_events_cannot_be_changed() -> None:
    """What was decoded is frozen."""
    event = decode_bet_event(record(BetPlaced))
    with pytest.raises(AttributeError):
        event.bet_id = "b2"  # type: ignore[misc,assignment]  # what the types forbid is tried


def test_a_definition_without_a_rule_is_noticed_at_once() -> None:
    """A new type of field must be given a rule before anything decodes it."""
    with pytest.raises(TypeError, match="no rule"):
        input_rule(bytes)


def test_what_is_written_in_another_order_is_the_same_event() -> None:
    """JSON objects have no order."""
    raw = b"{" + b",".join(reversed(encode(plain(BetPlaced))[1:-1].split(b","))) + b"}"
    assert decode_bet_event(raw) == plain(BetPlaced)
