"""Whether a round takes a bet or a cancel: every combination against the contract's list, "first match"."""

from __future__ import annotations

from itertools import product

import pytest

from pokdeng.events.ids import Reason, RoundId, ShoeId
from pokdeng.events.reasons import BetReason, CancelReason, HoldReason
from pokdeng.rounds import Cancelled, Mark, Round, is_in_time, refusal_of_bet, refusal_of_cancel
from tests.rounds.playthrough import opened, play

OPENED_AT = 10
CLOSES = (None, 20)
CANCELLATIONS = (None, 10, 15, 20, 25)
HOLDS = (False, True)
TIMES = (0, 9, 10, 11, 14, 15, 16, 19, 20, 21, 24, 25, 26)


def a_round(closed: int | None, cancelled: int | None, *, is_held: bool = False, is_paused: bool = False) -> Round:
    """A round opened at 10, in that state. A cancelled round is closed by an earlier record, or never."""
    round_ = Round(RoundId("R-1"), ShoeId("S-1"), Mark(1, OPENED_AT), 1, 1, closed, is_paused)
    return round_._replace(
        disputes={0: HoldReason.SEAT_CONFLICT} if is_held else {},
        cancelled=None if cancelled is None else Cancelled(Mark(9, cancelled), "noon", Reason("fire")),
    )


STATES = [
    (closed, cancelled)
    for closed, cancelled in product(CLOSES, CANCELLATIONS)
    if closed is None or cancelled is None or closed <= cancelled
]


def by_the_list(closed: int | None, cancelled: int | None, at: int, *, is_behind_seal: bool) -> list[tuple[str, bool]]:
    """The reasons that bets and cancels share, in the contract's order, and whether each fits."""
    is_cancelled = cancelled is not None and cancelled <= at
    was_cancelled_open = cancelled is not None and closed is None
    return [
        ("round_unknown", at < OPENED_AT),
        ("round_cancelled", is_cancelled),
        ("betting_closed", closed is not None and at > closed),
        ("round_cancelled", is_behind_seal and was_cancelled_open),
        ("betting_closed", is_behind_seal),
    ]


@pytest.mark.parametrize(("closed", "cancelled"), STATES)
def test_the_first_reason_that_fits_refuses_a_bet(closed: int | None, cancelled: int | None) -> None:
    """Every broker time, held or not, paused or not, behind the seal or not."""
    for at, is_held, is_paused, is_behind_seal in product(TIMES, HOLDS, HOLDS, HOLDS):
        reasons = [
            *by_the_list(closed, cancelled, at, is_behind_seal=is_behind_seal),
            ("round_held", is_held),
            ("round_paused", is_paused),
        ]
        expected = next((reason for reason, fits in reasons if fits), None)
        round_ = a_round(closed, cancelled, is_held=is_held, is_paused=is_paused)
        got = refusal_of_bet(round_, at, is_behind_seal=is_behind_seal)
        assert got == expected, (at, is_held, is_paused, is_behind_seal)
        assert got is None or isinstance(got, BetReason)


@pytest.mark.parametrize(("closed", "cancelled"), STATES)
def test_the_first_reason_that_fits_refuses_a_cancel(closed: int | None, cancelled: int | None) -> None:
    """The same, but pauses and holds do not stop a cancel."""
    for at, is_held, is_paused, is_behind_seal in product(TIMES, HOLDS, HOLDS, HOLDS):
        reasons = by_the_list(closed, cancelled, at, is_behind_seal=is_behind_seal)
        expected = next((reason for reason, fits in reasons if fits), None)
        round_ = a_round(closed, cancelled, is_held=is_held, is_paused=is_paused)
        got = refusal_of_cancel(round_, at, is_behind_seal=is_behind_seal)
        assert got == expected, (at, is_held, is_paused, is_behind_seal)
        assert got is None or isinstance(got, CancelReason)


@pytest.mark.parametrize("is_behind_seal", [False, True])
def test_a_round_that_never_opened_is_unknown(is_behind_seal: bool) -> None:  # noqa: FBT001 - a parameter of the test
    """To bets and to cancels."""
    assert refusal_of_bet(None, 0, is_behind_seal=is_behind_seal) is BetReason.ROUND_UNKNOWN
    assert refusal_of_cancel(None, 0, is_behind_seal=is_behind_seal) is CancelReason.ROUND_UNKNOWN


@pytest.mark.parametrize(
    ("closed", "cancelled", "in_time"),
    [
        (None, None, {10, 20, 21, 25}),
        (20, None, {10, 20}),
        (None, 20, {10}),
        (20, 20, {10}),
        (20, 25, {10, 20}),
    ],
)
def test_a_stamp_is_in_time_up_to_the_close_and_before_a_cancellation(
    closed: int | None, cancelled: int | None, in_time: set[int]
) -> None:
    """Not later than the close; at the very time of a cancellation it is too late."""
    round_ = a_round(closed, cancelled)
    assert {at for at in (10, 20, 21, 25) if is_in_time(round_, at)} == in_time


def test_bets_follow_the_life_of_a_round() -> None:
    """Before it, while it is open, paused, held, closed."""
    opened_at_2000 = play("started S-1 2h -> applied\nbet R-1 -> round_unknown\nopened R-1 in S-1 @2000 -> applied")
    opened_at_2000.play("""
        bet R-1 @1999               -> round_unknown
        cancel R-1 @1999            -> round_unknown
        bet R-1 @2000               -> taken
        paused R-1 @2100            -> applied
        bet R-1 @2100               -> round_paused
        cancel R-1 @2100            -> taken
        resumed R-1 @2200           -> applied
        bet R-1 @2200               -> taken
        dealt R-1 banker 1 4h @2300 -> applied
        dealt R-1 banker 1 4s @2300 -> refused seat_conflict, holds R-1 seat_conflict
        bet R-1 @2300               -> round_held
        cancel R-1 @2300            -> taken
        paused R-1 @2400            -> applied
        bet R-1 @2400               -> round_held        ;; the first that fits
        resumed R-1 @2400           -> applied
        corrected R-1 banker 1 4h   -> applied
        bet R-1 @2500               -> taken
        closed R-1 @2600            -> applied
        bet R-1 @2600               -> taken
        bet R-1 @2601               -> betting_closed
        bet R-1 @2600 behind the seal -> betting_closed
        """)


def test_a_round_held_as_incomplete_takes_no_bet() -> None:
    """The table went on; its bets may be taken back still."""
    opened("""
        opened R-2 in S-1           -> applied, holds R-1 incomplete
        bet R-1                     -> round_held
        cancel R-1                  -> taken
        bet R-2                     -> taken
        """)


def test_bets_of_a_cancelled_round() -> None:
    """By time; behind the seal it was cancelled while open, or it was closed before."""
    opened("""
        cancelled R-1 @3000         -> ends R-1
        bet R-1 @2999               -> taken
        bet R-1 @3000               -> round_cancelled
        cancel R-1 @3000            -> round_cancelled
        bet R-1 @2999 behind the seal -> round_cancelled
        opened R-2 in S-1 @4000     -> applied
        closed R-2 @5000            -> applied
        cancelled R-2 @6000         -> ends R-2
        bet R-2 @5000               -> taken
        bet R-2 @5001               -> betting_closed
        bet R-2 @6000               -> round_cancelled
        bet R-2 @5000 behind the seal -> betting_closed
        cancel R-2 @5000 behind the seal -> betting_closed
        """)
