"""Ids and cancels: field failures O07, O12 (before any card), O13 and O18."""

from __future__ import annotations

import asyncio

import pytest

from pokdeng.wire import TopicKind
from tests.settlement.scene import Scene, scene
from tests.settlement.table_talk import FIVE_ACCOUNTS, S1_R1

B1 = "bet b1 A-1 player_1 1000"
END_W = "close R-1\ndeal R-1 W"
DECISIONS = TopicKind.BET_DECISIONS


async def open_table(played: Scene, deposits: str = FIVE_ACCOUNTS) -> None:
    """The accounts have money, and R-1 takes bets."""
    await played.play(deposits)
    await played.play(S1_R1)


def test_one_bet_id_with_other_content_is_a_conflict() -> None:
    """O07: the first content counts, other content is a dead letter, the same content again is a duplicate."""

    async def play() -> None:
        async with scene() as played:
            await open_table(played)
            await played.play(f"{B1} #x1\nbet b1 A-1 player_1 2500 #x2\n{B1} #x3")
            assert await played.balance() == "8000/2000/2"
            assert played.facts() == ["bet_accepted b1 A-1 8000/2000/2", "dead bets@1 id_conflict"]
            await played.play(END_W)
            assert await played.balance() == "11000/0/3"

    asyncio.run(play())


@pytest.mark.parametrize(
    "other",
    ["bet b1 A-2 player_1 1000", "bet b1 A-1 player_2 1000", "bet b1 A-1 player_1 1000 in EUR"],
    ids=["account", "option", "currency"],
)
def test_every_field_of_a_bet_is_its_content(other: str) -> None:
    """O07: another account, option or currency under a known bet id is a conflict while the round is unfinished."""

    async def play() -> None:
        async with scene() as played:
            await open_table(played)
            await played.play(f"{B1}\n{other}")
            assert played.about("bets@1") == ["dead bets@1 id_conflict"]
            assert await played.balance() == "8000/2000/2"
            assert await played.balance("A-2") == "10000/0/1"

    asyncio.run(play())


def test_the_same_bet_id_in_another_round_is_another_bet() -> None:
    """O07: a bet is named by table, round and bet id."""

    async def play() -> None:
        async with scene() as played:
            await open_table(played)
            await played.play(f"{B1}\n{END_W}\nopen R-2\n{B1} of R-2")
            assert await played.balance() == "9000/2000/4"

    asyncio.run(play())


def test_one_transfer_id_with_another_amount_is_a_conflict() -> None:
    """O07: a transfer is named by account and transfer id, a deposit and a withdrawal each."""

    async def play() -> None:
        async with scene() as played:
            await played.play("deposit A-1 10000 t1\ndeposit A-1 20000 t1\ndeposit A-1 10000 t1\nwithdraw A-1 500 t1")
            assert await played.balance() == "9500/0/2"
            assert played.about("funds@1") == ["dead funds@1 id_conflict"]

    asyncio.run(play())


def test_a_card_with_the_event_id_of_another_is_a_conflict() -> None:
    """O07: cards are known by their event id within the round."""

    async def play() -> None:
        async with scene() as played:
            await open_table(played)
            await played.play(f"{B1}\nclose R-1\ncard R-1 player_1 1 9c #c1\ncard R-1 player_1 2 Td #c1")
            assert played.about("table-events@4") == ["dead table-events@4 id_conflict"]

    asyncio.run(play())


def test_a_round_cancelled_before_any_card_is_refunded_once() -> None:
    """O12: one refund, revision 1; further cancellations are duplicates."""

    async def play() -> None:
        async with scene() as played:
            await open_table(played)
            await played.play(f"{B1}\nvoid R-1\nvoid R-1\nvoid R-1")
            assert await played.balance() == "10000/0/3"
            assert played.facts() == [
                "bet_accepted b1 A-1 8000/2000/2",
                "bet_refunded b1 A-1 2000 10000/0/3",
                "round_refunded R-1 1 bets seal 1",
            ]

    asyncio.run(play())


def test_a_cancelled_round_takes_no_other_event() -> None:
    """O12: a cancellation is final, whatever comes after it is `round_out_of_order`."""

    async def play() -> None:
        async with scene() as played:
            await open_table(played)
            await played.play("void R-1\nclose R-1\ncard R-1 banker 1 4h\nresume R-1")
            assert [fact for fact in played.facts() if fact.startswith("dead")] == [
                f"dead table-events@{offset} round_out_of_order" for offset in (3, 4, 5)
            ]

    asyncio.run(play())


def test_a_cancel_before_its_bet_refuses_the_bet() -> None:
    """O13: the cancel is remembered, the bet that comes after it is `cancelled_before`."""

    async def play() -> None:
        async with scene() as played:
            await open_table(played)
            await played.play(f"cancel b1 A-1\n{B1}\n{END_W}")
            assert await played.balance() == "10000/0/1"
            assert played.facts(DECISIONS) == [
                "cancel_rejected b1 A-1 bet_unknown",
                "bet_rejected b1 A-1 cancelled_before",
            ]
            assert not played.about("bet_settled")

    asyncio.run(play())


def test_a_cancel_before_its_round_refuses_the_bet_once_the_round_is_open() -> None:
    """O13: a cancel of a round that is not open yet is `round_unknown`, and remembered all the same."""

    async def play() -> None:
        async with scene() as played:
            await played.play(FIVE_ACCOUNTS)
            await played.play("cancel b1 A-1")
            await played.restart()
            await played.play(f"{S1_R1}\n{B1}")
            assert played.facts(DECISIONS) == [
                "cancel_rejected b1 A-1 round_unknown",
                "bet_rejected b1 A-1 cancelled_before",
            ]

    asyncio.run(play())


def test_a_bet_taken_back_is_withdrawn_once() -> None:
    """O13: the repeat of the cancel is a duplicate, and the bet delivered again takes nothing."""

    async def play() -> None:
        async with scene() as played:
            await open_table(played)
            await played.play(f"{B1} #b\ncancel b1 A-1\ncancel b1 A-1\nagain b\n{END_W}")
            assert await played.balance() == "10000/0/3"
            assert played.facts(DECISIONS) == [
                "bet_accepted b1 A-1 8000/2000/2",
                "bet_withdrawn b1 A-1 2000 10000/0/3",
            ]
            assert played.about("round_settled") == ["round_settled R-1 0 bets seal 4"]

    asyncio.run(play())


def test_a_cancel_after_the_close_is_refused() -> None:
    """O13: the bet stands and is settled."""

    async def play() -> None:
        async with scene() as played:
            await open_table(played)
            await played.play(f"{B1}\nclose R-1\ncancel b1 A-1\ndeal R-1 W")
            assert await played.balance() == "11000/0/3"
            assert played.about("cancel_rejected") == ["cancel_rejected b1 A-1 betting_closed"]

    asyncio.run(play())


def test_a_cancel_by_another_account_is_remembered_for_that_account_only() -> None:
    """O13: the bet stands, and its own account may still take it back."""

    async def play() -> None:
        async with scene() as played:
            await open_table(played)
            await played.play(f"{B1}\ncancel b1 A-2")
            assert played.about("cancel_rejected") == ["cancel_rejected b1 A-2 bet_unknown"]
            assert await played.balance() == "8000/2000/2"
            await played.play("cancel b1 A-1")
            assert await played.balance() == "10000/0/3"

    asyncio.run(play())


@pytest.mark.parametrize("is_forgotten", [False, True], ids=["in memory", "noted and forgotten"])
def test_a_round_id_used_again_joins_no_old_round(is_forgotten: bool) -> None:  # noqa: FBT001 - two cases
    """O18: opened in another shoe it is a conflict, its bets come too late, the old result stands."""

    async def play() -> None:
        async with scene() as played:
            await open_table(played)
            await played.play(f"{B1}\n{END_W}")
            before = played.about("round_settled")
            if is_forgotten:
                await played.stop()
                await played.start()
            await played.play("shoe S-2 3h\nopen R-1 in S-2\nbet b9 A-1 player_1 1000")
            await played.play("card R-1 player_1 1 9c\ncard R-1 player_1 2 2c")
            assert await played.balance() == "11000/0/3"
            assert [fact for fact in played.facts() if fact.startswith("dead")] == [
                "dead table-events@16 id_conflict",
                "dead table-events@18 seat_conflict",
            ]
            assert played.about("b9") == ["bet_rejected b9 A-1 betting_closed"]
            assert played.about("round_settled") == before
            assert not played.about("round_held")

    asyncio.run(play())


def test_the_next_round_with_the_same_cards_and_bet_is_another() -> None:
    """O18: two rounds, two settlements."""

    async def play() -> None:
        async with scene() as played:
            await open_table(played)
            await played.play(f"{B1}\n{END_W}\nshoe S-2 3h\nopen R-2 in S-2\nbet b1 A-1 player_1 1000 of R-2")
            assert await played.balance() == "9000/2000/4"
            await played.play("close R-2\ndeal R-2 W")
            assert await played.balance() == "12000/0/5"
            assert len(played.about("bet_settled")) == 2

    asyncio.run(play())


def test_the_same_round_id_at_another_table_is_another_round() -> None:
    """O18: a round is named by its table, too."""

    async def play() -> None:
        async with scene() as played:
            await open_table(played)
            await played.play("shoe S-1 2h at T-2\nopen R-1 at T-2")
            await played.play(f"{B1}\n{B1} at T-2\n{END_W}")
            assert await played.balance() == "9000/2000/4"
            assert len(played.about("round_settled")) == 1

    asyncio.run(play())
