"""The count of the shoe, and which shoe a round may open in. Source: the contract, "Rounds" ("The shoe")."""

from __future__ import annotations

from functools import cache

import pytest

from pokdeng.events.reasons import HoldReason
from pokdeng.rounds import PLACES, SEATS, Table, place_of
from pokdeng.rules import CARDS, SHOE_CARDS, Card, copies_of
from tests.rounds.deals import IN_ORDER
from tests.rounds.playthrough import Play, opened, play

EIGHT_OF_5H = "\n".join(f"dealt R-1 {seat} {position} 5h -> applied" for seat, position in IN_ORDER[:8])


def copies(game: Play, code: str) -> int:
    """How many copies of a card shoe S-1 knows of."""
    return copies_of(game.shoe("S-1").copies, Card.parse(code).face)


@cache
def nearly_empty() -> Table:
    """S-1 after 31 whole rounds and the burned card of R-32: 1 + 10 + 32 + 372 = 415 cards are gone, one is left."""
    game = play("started S-1 Kh -> applied")
    cards = [card for card in CARDS for _ in range(8)]
    cards.remove(Card.parse("Kh"))
    for number in range(1, 32):
        game.play(f"opened R-{number} in S-1 -> applied\nclosed R-{number} -> applied")
        for place, (seat, position) in enumerate(IN_ORDER):
            last = f"ends R-{number}" if place == PLACES - 1 else "applied"
            game.play(f"dealt R-{number} {seat} {position} {cards.pop()} -> {last}")
    game.play("opened R-32 in S-1 -> applied")
    assert game.shoe("S-1").gone == SHOE_CARDS - 1
    return game.table


@pytest.mark.parametrize(("burn_card", "gone"), [("Ah", 2), ("2h", 3), ("9h", 10), ("Th", 11), ("Kh", 11)])
def test_the_burn_card_and_what_it_burns_are_gone(burn_card: str, gone: int) -> None:
    """The burn card is a copy of its face; what it burns was not seen."""
    game = play(f"started S-1 {burn_card} -> applied")
    assert game.shoe("S-1").gone == gone
    assert copies(game, burn_card) == 1


def test_a_round_burns_one_card_and_each_standing_card_is_gone() -> None:
    """Those of cancelled rounds too."""
    game = play("started S-1 2h -> applied\nopened R-1 in S-1 -> applied")
    assert game.shoe("S-1").gone == 4
    game.play("dealt R-1 banker 1 4h -> applied\ncancelled R-1 -> ends R-1\nopened R-2 in S-1 -> applied")
    game.play("deal R-2 W -> applied")
    assert game.shoe("S-1").gone == 3 + 2 + 1 + 12
    assert copies(game, "4h") == 2


def test_a_corrected_away_card_is_no_copy() -> None:
    """It never was there; the one in its place was."""
    game = opened("dealt R-1 banker 1 4h -> applied\ncorrected R-1 banker 1 4s -> applied")
    assert (copies(game, "4h"), copies(game, "4s")) == (0, 1)


def test_an_opened_round_that_repeats_burns_nothing() -> None:
    """One card a round."""
    game = opened("opened R-1 in S-1 -> duplicate")
    assert game.shoe("S-1").gone == 4


def test_a_ninth_copy_is_refused_and_holds_the_round() -> None:
    """Its place stays empty and in dispute, and takes no card; a correction fills it."""
    game = opened(EIGHT_OF_5H)
    game.play("""
        dealt R-1 banker 2 5h       -> refused ninth_copy, holds R-1 ninth_copy
        dealt R-1 banker 2 5h       -> refused seat_conflict
        dealt R-1 banker 2 3d       -> refused seat_conflict
        """)
    assert game.card("R-1", "banker", 2) is None
    assert game.round("R-1").disputes == {11: HoldReason.NINTH_COPY}
    assert (copies(game, "5h"), game.shoe("S-1").gone) == (8, 12)
    game.play("corrected R-1 banker 2 3d -> applied")
    assert not game.round("R-1").is_held
    assert game.details[0] == "the card for banker position 2 would be a ninth copy in shoe S-1"


def test_the_burn_card_counts_as_a_copy() -> None:
    """Seven more of it can be dealt, not eight."""
    seven = "\n".join(f"dealt R-1 {seat} {position} 2h -> applied" for seat, position in IN_ORDER[:7])
    opened(seven).play("dealt R-1 banker 2 2h -> refused ninth_copy, holds R-1 ninth_copy")


def test_copies_are_counted_over_all_rounds_of_the_shoe() -> None:
    """Cancelled ones too; a fresh shoe begins anew."""
    opened(EIGHT_OF_5H).play("""
        cancelled R-1               -> ends R-1
        opened R-2 in S-1           -> applied
        dealt R-2 banker 1 5h       -> refused ninth_copy, holds R-2 ninth_copy
        started S-2 2h              -> applied
        opened R-3 in S-2           -> applied
        dealt R-3 banker 1 5h       -> applied
        """)


def test_a_deal_of_twelve_faces_repeats_eight_times_in_a_shoe() -> None:
    """The ninth time every card of it is a ninth copy."""
    game = play("started S-1 2h -> applied")
    for number in range(1, 9):
        game.play(f"""
            opened R-{number} in S-1    -> applied
            closed R-{number}           -> applied
            deal R-{number} W           -> applied; last ends R-{number}
            """)
    game.play("""
        opened R-9 in S-1               -> applied
        dealt R-9 player_1 1 9c         -> refused ninth_copy, holds R-9 ninth_copy
        dealt R-9 player_2 1 5s         -> refused ninth_copy
        """)


def test_a_correction_that_would_be_a_ninth_copy_puts_the_place_in_dispute() -> None:
    """What lay there stays, and the round is held until that place is corrected to a card that can be."""
    game = opened(EIGHT_OF_5H)
    game.play("""
        dealt R-1 banker 2 3d       -> applied
        corrected R-1 banker 2 5h   -> refused ninth_copy, holds R-1 ninth_copy
        """)
    assert game.card("R-1", "banker", 2) == "3d"
    assert (copies(game, "5h"), copies(game, "3d"), game.shoe("S-1").gone) == (8, 1, 13)
    game.play("corrected R-1 banker 2 3d -> applied")
    assert not game.round("R-1").is_held


def test_a_correction_of_an_empty_place_can_be_a_ninth_copy_too() -> None:
    """The place stays empty and in dispute."""
    game = opened(EIGHT_OF_5H).play("corrected R-1 banker 2 5h -> refused ninth_copy, holds R-1 ninth_copy")
    assert game.card("R-1", "banker", 2) is None


def test_a_correction_frees_a_copy() -> None:
    """The ninth is the eighth when one of them was misread."""
    opened(EIGHT_OF_5H).play("""
        dealt R-1 banker 2 5h       -> refused ninth_copy, holds R-1 ninth_copy
        corrected R-1 player_1 1 6h -> applied
        corrected R-1 banker 2 5h   -> applied
        """)


def test_the_416th_card_is_the_last() -> None:
    """Card 417 is refused and holds the round; a correction to it is refused too."""
    game = Play(nearly_empty()).play("""
        dealt R-32 player_1 1 Ac        -> applied
        dealt R-32 player_2 1 Ac        -> refused shoe_exhausted, holds R-32 shoe_exhausted
        corrected R-32 player_2 1 Ac    -> refused shoe_exhausted
        dealt R-32 player_3 1 Ac        -> refused shoe_exhausted
        """)
    assert game.shoe("S-1").gone == SHOE_CARDS
    assert set(game.round("R-32").disputes.values()) == {HoldReason.SHOE_EXHAUSTED}
    assert game.details[0] == "the card for player_2 position 1 would be one more than the 416 of shoe S-1"


def test_a_full_shoe_lets_a_filled_place_be_corrected() -> None:
    """No card more is gone by that."""
    Play(nearly_empty()).play("""
        dealt R-32 player_1 1 Ac        -> applied
        corrected R-32 player_1 1 Ad    -> applied
        """)


def test_a_ninth_copy_comes_before_an_exhausted_shoe() -> None:
    """The first reason that fits."""
    table = nearly_empty()
    cards = [table.rounds[name].places for name in table.rounds]
    face = next(card for card in CARDS if sum(places.count(card) for places in cards) == 8)
    Play(table).play(f"""
        dealt R-32 player_1 1 Ac        -> applied
        dealt R-32 player_2 1 {face}    -> refused ninth_copy, holds R-32 ninth_copy
        """)


def test_no_round_opens_when_there_is_no_card_to_burn() -> None:
    """That card would be the 417th; nothing changes by it, nor is the last round held."""
    game = Play(nearly_empty()).play("""
        dealt R-32 player_1 1 Ac        -> applied
        opened R-33 in S-1              -> refused shoe_exhausted
        """)
    assert game.table.newest_round == "R-32"
    assert not game.round("R-32").is_held


def test_the_last_card_may_be_burned() -> None:
    """A round may open with it; no card of it can come."""
    Play(nearly_empty()).play("""
        opened R-33 in S-1              -> applied, holds R-32 incomplete
        dealt R-33 player_1 1 Ac        -> refused shoe_exhausted, holds R-33 shoe_exhausted
        """)


def test_a_round_in_a_shoe_never_started_is_refused() -> None:
    """`unknown_shoe`, and its events are `unknown_round`."""
    play("""
        opened R-1 in S-1               -> refused unknown_shoe
        dealt R-1 banker 1 5h           -> refused unknown_round
        started S-1 2h                  -> applied
        opened R-1 in S-2               -> refused unknown_shoe
        opened R-1 in S-1               -> applied
        """)


def test_a_round_opens_in_the_newest_shoe_only() -> None:
    """In an older one it is out of order, whether a round was played there or not."""
    play("""
        started S-1 2h                  -> applied
        started S-2 2h                  -> applied
        opened R-1 in S-1               -> refused round_out_of_order
        opened R-1 in S-2               -> applied
        started S-3 2h                  -> applied
        opened R-2 in S-2               -> refused round_out_of_order
        opened R-2 in S-3               -> applied, holds R-1 incomplete
        """)


def test_no_round_opens_after_the_shoes_last() -> None:
    """The round of the cut card goes on and is completed; the next needs a new shoe."""
    opened("""
        cut R-1 in S-1                  -> applied
        opened R-2 in S-1               -> refused round_out_of_order
        closed R-1                      -> applied
        deal R-1 W                      -> applied; last ends R-1
        opened R-2 in S-1               -> refused round_out_of_order
        started S-2 2h                  -> applied
        opened R-2 in S-2               -> applied
        """)


def test_a_refused_round_holds_nothing() -> None:
    """The table did not open it."""
    game = opened("cut R-1 in S-1 -> applied\nopened R-2 in S-1 -> refused round_out_of_order")
    assert not game.round("R-1").is_held


def test_a_cut_card_of_another_shoe_is_refused() -> None:
    """`unknown_shoe`, whether that shoe exists or not, and whatever became of the round."""
    opened("""
        started S-2 2h                  -> applied
        cut R-1 in S-2                  -> refused unknown_shoe
        cut R-1 in S-9                  -> refused unknown_shoe
        cancelled R-1                   -> ends R-1
        cut R-1 in S-2                  -> refused unknown_shoe
        cut R-1 in S-1                  -> refused round_out_of_order
        """)


def test_a_shoe_has_one_cut_card() -> None:
    """In the same round it is a duplicate; in another round of the shoe it cannot be."""
    game = opened("""
        opened R-2 in S-1               -> applied, holds R-1 incomplete
        cut R-1 in S-1                  -> applied
        cut R-1 in S-1                  -> duplicate
        cut R-2 in S-1                  -> refused round_out_of_order
        """)
    assert game.shoe("S-1").last_round == "R-1"


def test_a_cut_card_neither_completes_nor_holds_a_round() -> None:
    """It only says that the shoe ends with it."""
    game = opened("deal R-1 W -> applied\ncut R-1 in S-1 -> applied")
    assert not game.round("R-1").is_over
    game.play("closed R-1 -> ends R-1")


def test_a_shoe_is_kept_while_one_of_its_rounds_is() -> None:
    """Older ones without rounds leave; the one before the newest stays."""
    game = opened("started S-2 2h -> applied\nstarted S-3 2h -> applied\nstarted S-4 2h -> applied")
    assert set(game.table.shoes) == {"S-1", "S-3", "S-4"}
    game.play("dealt R-1 banker 1 4h -> applied")
    assert game.shoe("S-1").gone == 5


def test_places_of_the_seats() -> None:
    """The helper order of these tests is the deal's."""
    assert sorted(place_of(seat, position) for seat, position in IN_ORDER) == list(range(PLACES))
    assert [seat for seat, _ in IN_ORDER] == [*SEATS, *SEATS]
