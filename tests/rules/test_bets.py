"""Seats and the ten bets (docs/rules.md, PD-3 and PD-5)."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from pokdeng.rules import PLAYER_SEATS, STAKE_MAX, Bet, Seat, taken_for

EXPECTED = [
    ("player_1", Seat.PLAYER_1, False, 2),
    ("player_2", Seat.PLAYER_2, False, 2),
    ("player_3", Seat.PLAYER_3, False, 2),
    ("player_4", Seat.PLAYER_4, False, 2),
    ("player_5", Seat.PLAYER_5, False, 2),
    ("player_1_pair", Seat.PLAYER_1, True, 1),
    ("player_2_pair", Seat.PLAYER_2, True, 1),
    ("player_3_pair", Seat.PLAYER_3, True, 1),
    ("player_4_pair", Seat.PLAYER_4, True, 1),
    ("player_5_pair", Seat.PLAYER_5, True, 1),
]


def test_pd_3_seats_are_in_the_order_of_dealing() -> None:
    """Players 1 to 5, then the banker."""
    assert [*Seat] == ["player_1", "player_2", "player_3", "player_4", "player_5", "banker"]
    assert [*PLAYER_SEATS, Seat.BANKER] == [*Seat]


def test_pd_5_there_are_ten_bets_with_their_seat_and_what_they_take() -> None:
    """Five players at two stakes taken, five pairs at one."""
    assert [(bet.value, bet.seat, bet.is_pair, bet.units_taken) for bet in Bet] == EXPECTED


@given(st.sampled_from(Bet), st.integers(1, STAKE_MAX))
def test_pd_5_a_player_bet_takes_twice_its_stake_and_a_pair_bet_once(bet: Bet, stake: int) -> None:
    """What is taken is exact for every stake there may be."""
    assert taken_for(bet, stake) == (stake if bet.value.endswith("_pair") else stake + stake)
