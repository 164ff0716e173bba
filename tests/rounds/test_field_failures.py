"""What happened to others and must not happen here: as far as rounds decide it, case by case."""

from __future__ import annotations

import pytest

from pokdeng.rounds import result_of
from pokdeng.rules import Bet
from tests.rounds.deals import RETURNED
from tests.rounds.playthrough import Play, opened

SETTLED = "closed R-1 -> applied\ndeal R-1 W -> applied; last ends R-1\n"


def returned(play: Play, round_id: str = "R-1", bet: Bet = Bet.PLAYER_1) -> int:
    """What a bet of 1000 gets back in a complete round."""
    assert play.round(round_id).completed is not None
    return 1000 * result_of(play.round(round_id).places).verdicts[bet].returned_units


# O12: repeating a void pays again, or takes the money back


def test_o12_a_void_before_any_card_counts_once() -> None:
    """Its repeats under other event ids are duplicates."""
    opened("""
        cancelled R-1 #x1     -> ends R-1
        cancelled R-1 #x2     -> duplicate
        cancelled R-1 #x3     -> duplicate
        again #x1 #x2 #x3     -> duplicate
        """)


def test_o12_a_void_after_settlement_counts_once() -> None:
    """Its repeats are duplicates; the settlement is revised once."""
    opened(SETTLED).play("""
        cancelled R-1 #x1     -> revises R-1
        cancelled R-1 #x2     -> duplicate
        cancelled R-1 #x3     -> duplicate
        again #x1 #x2 #x3     -> duplicate
        """)


def test_o14_a_correction_and_the_way_back() -> None:
    """Each is a revision; the earlier ones again are duplicates, whatever lies there now."""
    play = opened(SETTLED)
    assert returned(play) == 3000
    play.play("corrected R-1 player_1 1 2c #c1      -> revises R-1")
    assert returned(play) == 1000
    play.play("""
        again #c1                                   -> duplicate
        corrected R-1 player_1 1 2c                 -> duplicate
        corrected R-1 player_1 1 9c #c2             -> revises R-1
        again #c1 #c2                               -> duplicate
        """)
    assert returned(play) == 3000


def test_o12_g7_nothing_follows_a_cancellation() -> None:
    """And no round follows the shoe's last."""
    opened("""
        cut R-1 in S-1        -> applied
        cancelled R-1         -> ends R-1
        closed R-1            -> refused round_out_of_order
        opened R-2 in S-1     -> refused round_out_of_order
        """)


# O13: the cancel arrives before its bet. Whose bet it is, and that it was refused before, the book of the round knows


def test_o13_a_cancel_is_judged_by_broker_time_like_a_bet() -> None:
    """In time while betting is open, refused after the close."""
    opened("""
        cancel R-1 @2000              -> taken
        closed R-1 @3000              -> applied
        cancel R-1 @3000              -> taken
        cancel R-1 @3001              -> betting_closed
        cancel R-2 @3001              -> round_unknown
        """)


def test_o13_a_cancel_after_the_close_leaves_the_bet_in_the_deal() -> None:
    """It is settled by the cards."""
    play = opened("""
        closed R-1 @3000              -> applied
        cancel R-1 @3001              -> betting_closed
        deal R-1 W                    -> applied; last ends R-1
        """)
    assert returned(play) == 3000


# O15: late bets and the closing instant; broker times in milliseconds around 12:00:00.000, which is 43200000


@pytest.mark.parametrize("state", ["closed", "settled"])
def test_o15_the_closing_instant(state: str) -> None:
    """Not later than the close, whether the twelfth card was read before the bet or not."""
    play = opened("deal R-1 W but banker 2 -> applied\nclosed R-1 @43200000 -> applied")
    if state == "settled":
        play.play("dealt R-1 banker 2 3d @43200100 -> ends R-1")
    play.play("""
        bet R-1 @43199999             -> taken
        bet R-1 @43200000             -> taken
        bet R-1 @43200001             -> betting_closed
        """)


def test_o15_g10_a_bet_behind_the_seal_is_too_late_whatever_its_time() -> None:
    """For ever."""
    opened("""
        closed R-1 @43200000                -> applied
        bet R-1 @43199999 behind the seal   -> betting_closed
        bet R-1 @43200000 behind the seal   -> betting_closed
        """)


def test_o15_g11_a_second_close_moves_nothing() -> None:
    """A bet between the two is too late."""
    opened("""
        closed R-1 @43200000          -> applied
        closed R-1 @43205000          -> duplicate
        bet R-1 @43200001             -> betting_closed
        """)


# O16: misdeals and scan faults


def test_o16_a_card_delivered_twice() -> None:
    """A duplicate."""
    play = opened("""
        dealt R-1 banker 2 3d #e1     -> applied
        again #e1                     -> duplicate
        deal R-1 W but banker 2       -> applied
        closed R-1                    -> ends R-1
        """)
    assert returned(play) == 3000


def test_o16_a_card_again_under_another_event_id() -> None:
    """A duplicate, before the round is complete and after."""
    play = opened("""
        deal R-1 W                    -> applied
        dealt R-1 banker 2 3d         -> duplicate
        closed R-1                    -> ends R-1
        dealt R-1 banker 2 3d         -> duplicate
        """)
    assert returned(play) == 3000


MISDEAL = """
    closed R-1                        -> applied
    dealt R-1 banker 2 5h             -> applied
    dealt R-1 banker 2 3d             -> refused seat_conflict, holds R-1 seat_conflict
    deal R-1 W but banker 2           -> applied
    resumed R-1                       -> duplicate
    """


@pytest.mark.parametrize(("card", "pays"), [("3d", 3000), ("5h", 2000)])
def test_o16_a_misdeal_waits_for_its_correction(card: str, pays: int) -> None:
    """Held, and the end of a pause lifts nothing; the correction may confirm either card, and completes the round."""
    play = opened(MISDEAL)
    assert not play.round("R-1").is_over
    play.play(f"corrected R-1 banker 2 {card} -> ends R-1")
    assert returned(play) == pays


def test_o16_a_card_corrected_before_the_twelfth() -> None:
    """The round is complete once, with the corrected card."""
    play = opened("""
        closed R-1                    -> applied
        dealt R-1 banker 2 5h         -> applied
        corrected R-1 banker 2 3d     -> applied
        deal R-1 W but banker 2       -> applied; last ends R-1
        """)
    assert returned(play) == 3000


def test_o16_eleven_cards_settle_nothing() -> None:
    """The twelfth settles."""
    play = opened("deal R-1 W but banker 2 -> applied\nclosed R-1 -> applied")
    assert not play.round("R-1").is_over
    play.play("dealt R-1 banker 2 3d -> ends R-1")
    assert returned(play) == 3000


def test_o16_a_misdeal_may_be_cancelled() -> None:
    """The other end of a hold; no card follows."""
    opened(MISDEAL).play("""
        cancelled R-1                 -> ends R-1
        corrected R-1 banker 2 3d     -> refused round_out_of_order
        """)


def test_o16_g14_a_settled_round_is_not_held() -> None:
    """Another card for a place of it is refused, and the settlement stands."""
    play = opened(SETTLED).play("dealt R-1 banker 2 5h -> refused seat_conflict")
    assert not play.round("R-1").is_held
    assert returned(play) == 3000


def test_o16_g15_cards_without_a_round_and_rounds_without_cards() -> None:
    """`unknown_round`; and a round that the table left is held until it is completed or cancelled."""
    opened("""
        dealt R-2 banker 2 5h         -> refused unknown_round
        deal R-1 W                    -> applied
        opened R-2 in S-1             -> applied, holds R-1 incomplete
        opened R-3 in S-1             -> applied, holds R-2 incomplete
        closed R-1                    -> ends R-1
        cancelled R-2                 -> ends R-2
        """)


def test_o16_g13_no_refusal_shows_a_card() -> None:
    """Of every kind of refusal that a card can have (each line is checked as it is played)."""
    play = opened(MISDEAL).play("dealt R-9 banker 1 2s -> refused unknown_round\ncancelled R-1 -> ends R-1")
    play.play("dealt R-1 banker 1 2s -> refused round_out_of_order")
    assert len(play.details) == 3


# O18: a round id is used again after a table restart


def test_o18_a_round_id_used_again_is_a_conflict() -> None:
    """Its bets find betting closed, its cards are repeats or conflicts, and the old settlement is unchanged."""
    play = opened(SETTLED).play("""
        started S-2 2h                -> applied
        opened R-1 in S-2 @90000000   -> refused id_conflict
        bet R-1 @90000001             -> betting_closed
        dealt R-1 banker 1 4h         -> duplicate
        dealt R-1 banker 1 9h         -> refused seat_conflict
        closed R-1                    -> duplicate
        """)
    assert returned(play) == 3000
    assert play.shoe("S-2").gone == 3


def test_o18_the_same_cards_in_a_new_round_are_another_deal() -> None:
    """R-2 of S-2 is settled for itself, even where event ids are used again."""
    play = opened("closed R-1 #c -> applied\ndeal R-1 W -> applied; last ends R-1").play("""
        started S-2 2h                -> applied
        opened R-2 in S-2             -> applied
        closed R-2 #c                 -> applied
        deal R-2 W                    -> applied; last ends R-2
        """)
    assert returned(play, "R-2") == 3000


@pytest.mark.parametrize("deal", ["W", "L", "T"])
def test_the_three_deals_return_what_the_cases_say(deal: str) -> None:
    """All ten options."""
    play = opened(f"closed R-1 -> applied\ndeal R-1 {deal} -> applied; last ends R-1")
    assert {bet: returned(play, bet=bet) for bet in Bet} == RETURNED[deal]
