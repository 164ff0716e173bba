"""Misdeals and scan faults before the settlement: field failure O16, and rounds that are held or paused."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from tests.settlement.lives import LIVES
from tests.settlement.scene import Scene, scene
from tests.settlement.table_talk import FIVE_ACCOUNTS, S1_R1

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

B1 = "bet b1 A-1 player_1 1000"
BUT_ONE = "deal R-1 W but banker 2"


async def bet_and_close(played: Scene) -> None:
    """b1 stands, and betting on R-1 is closed."""
    await played.play(FIVE_ACCOUNTS)
    await played.play(f"{S1_R1}\n{B1}\nclose R-1")


def dead(played: Scene) -> list[str]:
    """The dead letters' reasons, in order."""
    return [fact.split()[-1] for fact in played.facts() if fact.startswith("dead")]


@pytest.mark.parametrize(
    "again",
    ["again c", "card R-1 banker 2 3d", "card R-1 banker 2 3d #c"],
    ids=["same bytes", "other id", "other time"],
)
def test_a_card_dealt_again_is_a_duplicate(again: str) -> None:
    """O16: a repeat of what lies there changes nothing, before the settlement or after it."""

    async def play() -> None:
        async with scene() as played:
            await bet_and_close(played)
            await played.play(f"card R-1 banker 2 3d #c\n{again}\n{BUT_ONE}\n{again}")
            assert await played.balance() == "11000/0/3"
            assert not dead(played)

    asyncio.run(play())


def test_a_disputed_card_is_replaced_by_its_correction() -> None:
    """O16: 5h, then 3d: held; corrected to 3d the round settles, revision 1."""

    async def play() -> None:
        async with scene() as played:
            await bet_and_close(played)
            await played.play("card R-1 banker 2 5h\ncard R-1 banker 2 3d")
            await played.play(BUT_ONE)
            assert dead(played) == ["seat_conflict"]
            assert played.about("round_held") == ["round_held R-1 seat_conflict"]
            assert await played.balance() == "8000/2000/2"
            await played.play("resume R-1")
            assert await played.balance() == "8000/2000/2"
            await played.play("correct R-1 banker 2 3d")
            assert await played.balance() == "11000/0/3"

    asyncio.run(play())


def test_a_disputed_card_is_confirmed_by_its_correction() -> None:
    """O16: corrected to 5h, the first card stands: 9 flush, a tie."""

    async def play() -> None:
        async with scene() as played:
            await bet_and_close(played)
            await played.play(f"card R-1 banker 2 5h\ncard R-1 banker 2 3d\n{BUT_ONE}\ncorrect R-1 banker 2 5h")
            assert await played.balance() == "10000/0/3"
            assert played.about("bet_settled") == ["bet_settled b1 A-1 tie 2000 10000/0/3"]

    asyncio.run(play())


def test_a_correction_before_the_twelfth_card_is_no_reversal() -> None:
    """O16: 5h corrected to 3d, then the rest: one settlement, revision 1."""

    async def play() -> None:
        async with scene() as played:
            await bet_and_close(played)
            await played.play(f"card R-1 banker 2 5h\ncorrect R-1 banker 2 3d\n{BUT_ONE}")
            assert await played.balance() == "11000/0/3"

    asyncio.run(play())


def test_eleven_cards_settle_nothing() -> None:
    """O16: the twelfth does."""

    async def play() -> None:
        async with scene() as played:
            await bet_and_close(played)
            await played.play(BUT_ONE)
            assert await played.balance() == "8000/2000/2"
            await played.play("card R-1 banker 2 3d")
            assert await played.balance() == "11000/0/3"

    asyncio.run(play())


def test_places_that_do_not_exist_are_no_events() -> None:
    """O16: position 3 and player_6 are dead letters, the round settles."""

    async def play() -> None:
        async with scene() as played:
            await bet_and_close(played)
            await played.play("card R-1 banker 3 3d\ncard R-1 player_6 1 3d\ndeal R-1 W")
            assert dead(played) == ["not_an_event", "not_an_event"]
            assert await played.balance() == "11000/0/3"

    asyncio.run(play())


def test_a_cancelled_round_refunds_every_bet() -> None:
    """O16: 2000 and 500 go back, nothing is settled."""

    async def play() -> None:
        async with scene() as played:
            await bet_and_close(played)
            await played.play("open R-2\nbet b2 A-2 player_5_pair 500 of R-2\nvoid R-1\nvoid R-2")
            assert await played.balance("A-1") == "10000/0/3"
            assert await played.balance("A-2") == "10000/0/3"
            assert not played.about("bet_settled")

    asyncio.run(play())


def test_a_round_left_behind_is_held_until_it_is_complete() -> None:
    """The next round opens first: held as `incomplete`, it takes no bets, and ends with its last card."""

    async def play() -> None:
        async with scene() as played:
            await bet_and_close(played)
            await played.play(f"{BUT_ONE}\nopen R-2\nbet b2 A-2 player_1 1000 of R-2\nclose R-2\ndeal R-2 W")
            assert played.about("round_held") == ["round_held R-1 incomplete"]
            assert await played.balance("A-1") == "8000/2000/2"
            assert await played.balance("A-2") == "11000/0/3"
            await played.restart()
            await played.play("card R-1 banker 2 3d")
            assert await played.balance("A-1") == "11000/0/3"

    asyncio.run(play())


def test_a_held_or_paused_round_takes_no_bets_but_cancels() -> None:
    """Bets are `round_paused` or `round_held`; a cancel is taken all the same."""

    async def play() -> None:
        async with scene() as played:
            await played.play(FIVE_ACCOUNTS)
            await played.play(f"{S1_R1}\n{B1}\npause R-1\nbet b2 A-2 player_1 1000\ncancel b1 A-1")
            assert played.about("b2") == ["bet_rejected b2 A-2 round_paused"]
            assert await played.balance() == "10000/0/3"
            await played.play("resume R-1\nbet b3 A-2 player_1 1000\nopen R-2\nbet b4 A-3 player_1 1000\ncancel b3 A-2")
            assert played.about("b4") == ["bet_rejected b4 A-3 round_held"]
            assert await played.balance("A-2") == "10000/0/3"

    asyncio.run(play())


def test_a_paused_round_settles_when_it_is_resumed() -> None:
    """The cause of its facts is the `round_resumed` that it waited for."""

    async def play() -> None:
        async with scene() as played:
            await bet_and_close(played)
            await played.play("pause R-1\ndeal R-1 W")
            assert await played.balance() == "8000/2000/2"
            await played.play("resume R-1")
            assert await played.balance() == "11000/0/3"

    asyncio.run(play())


def test_a_ninth_copy_holds_its_round_after_a_restart_in_the_middle_of_the_shoe() -> None:
    """The copies of eight rounds are still counted though the worker has forgotten their cards."""

    async def play() -> None:
        async with scene() as played:
            await played.play(FIVE_ACCOUNTS)
            await played.play("shoe S-1 2h")
            for number in range(1, 9):
                await played.play(f"open R-{number}\nclose R-{number}\ndeal R-{number} W")
                if number in {3, 6}:
                    await played.stop()
                    await played.start()
                if number in {4, 7}:
                    await played.restart()
            await played.play(f"open R-9\n{B1} of R-9\nclose R-9\ncard R-9 player_1 1 9c")
            assert dead(played) == ["ninth_copy"]
            assert played.about("round_held") == ["round_held R-9 ninth_copy"]
            await played.restart()
            await played.play("card R-9 player_1 1 9c\nvoid R-9")
            assert await played.balance() == "10000/0/3"

    asyncio.run(play())


def test_the_shoe_counts_on_while_an_old_round_is_held() -> None:
    """No point of the table was quiet since: after a restart the finished rounds are folded again for their cards."""

    async def play() -> None:
        async with scene() as played:
            await played.play(FIVE_ACCOUNTS)
            await played.play("shoe S-1 2h\nopen R-1")
            for number in range(2, 10):
                await played.play(f"open R-{number}\nclose R-{number}\ndeal R-{number} W")
            await played.restart()
            await played.play("open R-10\nclose R-10\ncard R-10 player_1 1 9c")
            assert dead(played) == ["ninth_copy"]
            assert [fact.split()[1] for fact in played.about("incomplete")] == ["R-1"]

    asyncio.run(play())


def test_no_round_opens_after_the_last_of_its_shoe() -> None:
    """The cut card was drawn: the next round is `round_out_of_order`, also after a restart."""

    async def play() -> None:
        async with scene() as played:
            await bet_and_close(played)
            await played.play("cut R-1\ndeal R-1 W")
            await played.stop()
            await played.start()
            await played.play("open R-2\nopen R-3 in S-9\nclose R-4")
            assert dead(played) == ["round_out_of_order", "unknown_shoe", "unknown_round"]

    asyncio.run(play())


SEVEN = "\n".join(f"open R-{n}\nclose R-{n}\ndeal R-{n} W" for n in range(2, 9))
NINTH = """
    open R-1
    bet b1 A-1 player_1 1000
    card R-1 banker 1 4c
    correct R-1 banker 1 4h                         ;; a filled place
    correct R-1 player_1 1 9c #ninth                ;; of the shoe
    again ninth
    card R-1 player_1 1 9c #card                    ;; a place in dispute
    correct R-1 player_1 1 Ad
    close R-1
    deal R-1 W but player_1 1
"""


@pytest.mark.parametrize("life", LIVES)
@pytest.mark.parametrize("end", ["", "void R-1 #void"], ids=["settled", "cancelled"])
def test_what_was_impossible_is_judged_anew_when_the_round_is_over(
    life: Callable[[Scene], Awaitable[None]], end: str
) -> None:
    """It was a dead letter, so it is not remembered: put back once it is possible it is a correction like any other."""

    async def play() -> None:
        async with scene() as played:
            await played.play(f"{FIVE_ACCOUNTS}\nshoe S-1 2h\n{SEVEN}\ncorrect R-2 player_1 2 9c")
            await played.play(f"{NINTH}\n{end}")
            assert dead(played)[:3] == ["ninth_copy", "ninth_copy", "seat_conflict"]
            settled = len(dead(played))
            await life(played)
            await played.play("correct R-2 player_1 2 Td")
            await life(played)
            await played.play("again ninth\nagain card\nagain ninth")
            if end:
                assert dead(played)[settled:] == ["round_out_of_order"] * 3
                assert await played.balance() == "10000/0/5"
            else:
                assert dead(played)[settled:] == []
                assert played.about("b1")[-1] == "bet_settled b1 A-1 win 3000 11000/0/5 r2"

    asyncio.run(play())
