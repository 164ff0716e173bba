"""What a complete round comes to, and its marks on the road map (docs/rules.md, PD-11 .. PD-16 and PD-20)."""

from __future__ import annotations

from dataclasses import FrozenInstanceError

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pokdeng.rounds import NOTHING_DEALT, PLACES, IncompleteDealError, RoadMark, result_of, road_of
from pokdeng.rules import CARDS, PLAYER_SEATS, Bet, Card, Outcome, Seat, hand_of, settle
from tests.rounds.deals import DEALS, IN_ORDER, RETURNED, card_of

deals = st.lists(st.sampled_from(CARDS), min_size=PLACES, max_size=PLACES).map(tuple)
SYMBOLS = {Outcome.WIN: "blue", Outcome.LOSE: "grey", Outcome.TIE: "green"}


def marks_of(deal: str) -> list[str]:
    """A deal's marks in words."""
    return [
        " ".join([SYMBOLS[mark.result], *["dot"] * mark.is_pair, *["ring"] * mark.is_flush])
        for mark in road_of(result_of(DEALS[deal]))
    ]


@pytest.mark.parametrize(("deal", "total"), [("W", 23000), ("L", 9000), ("T", 20000)])
def test_a_deal_returns_what_the_pay_table_says(deal: str, total: int) -> None:
    """Each option, and all ten together, at a stake of 1000."""
    verdicts = result_of(DEALS[deal]).verdicts
    got = {bet: 1000 * verdicts[bet].returned_units for bet in Bet}
    assert got == RETURNED[deal]
    assert sum(got.values()) == total


@pytest.mark.parametrize("missing", range(PLACES))
def test_a_round_without_one_of_its_cards_has_no_result(missing: int) -> None:
    """The error names the seat, and no card."""
    places = list(DEALS["W"])
    places[missing] = None
    with pytest.raises(IncompleteDealError, match=f"^{list(Seat)[missing // 2]} has not both cards$"):
        result_of(tuple(places))


def test_a_round_without_cards_has_no_result() -> None:
    """Nor has a deal of another length."""
    with pytest.raises(IncompleteDealError):
        result_of(NOTHING_DEALT)
    with pytest.raises(ValueError, match="shorter"):
        result_of(DEALS["W"][:10])


def test_hands_are_of_the_seats_by_position() -> None:
    """The first card first."""
    result = result_of(DEALS["W"])
    assert list(result.hands) == list(Seat)
    assert all(result.hands[seat].cards[position - 1] is card_of("W", seat, position) for seat, position in IN_ORDER)
    assert result.banker is result.hands[Seat.BANKER]


@given(deals)
def test_each_bet_is_decided_by_its_own_seat_and_the_banker(places: tuple[Card, ...]) -> None:
    """As if it were the only one."""
    result = result_of(places)
    banker = hand_of(places[10], places[11])
    for number, seat in enumerate(PLAYER_SEATS):
        player = hand_of(places[2 * number], places[2 * number + 1])
        for bet in (Bet(seat.value), Bet(f"{seat}_pair")):
            alone = settle(bet, player, banker, 100)
            said = result.verdicts[bet]
            assert (said.outcome, said.odds, said.rule) == (alone.outcome, alone.odds, alone.rule)
            assert 100 * said.returned_units == alone.returned


@pytest.mark.parametrize(
    ("deal", "marks"),
    [
        ("W", ["blue", "blue ring", "green", "grey", "grey dot"]),
        ("L", ["grey", "green ring", "blue ring", "blue", "grey"]),
        ("T", ["green", "green ring", "grey dot", "grey", "green ring"]),
    ],
)
def test_pd_20_a_round_has_five_marks(deal: str, marks: list[str]) -> None:
    """Circle by result, yellow dot for a pair, outer ring for a flush, of the player's own hand."""
    assert marks_of(deal) == marks


def test_pd_20_a_mark_may_be_dot_and_ring_at_once() -> None:
    """Two copies of one card are a pair and a flush; the banker's pattern marks nothing."""
    places = tuple(map(Card.parse, ["5c", "5c", *("2d", "4h") * 4, "Kh", "Kh"]))
    first, *others = road_of(result_of(places))
    assert first == RoadMark(seat=Seat.PLAYER_1, result=Outcome.WIN, is_pair=True, is_flush=True)
    assert not any(mark.is_pair or mark.is_flush for mark in others)


@given(deals)
def test_pd_20_marks_follow_the_bets_on_the_spot(places: tuple[Card, ...]) -> None:
    """Player 1 first: the circle is what a bet on the player came to, the dot whether the pair bet won."""
    result = result_of(places)
    marks = road_of(result)
    assert [mark.seat for mark in marks] == list(PLAYER_SEATS)
    for mark in marks:
        assert mark.result is result.verdicts[Bet(mark.seat.value)].outcome
        assert mark.is_pair == (result.verdicts[Bet(f"{mark.seat}_pair")].outcome is Outcome.WIN)
        assert mark.is_flush == result.hands[mark.seat].is_flush


def test_marks_are_values() -> None:
    """They do not change."""
    mark = road_of(result_of(DEALS["W"]))[0]
    with pytest.raises(FrozenInstanceError):
        mark.is_pair = True  # type: ignore[misc]  # that is the point
