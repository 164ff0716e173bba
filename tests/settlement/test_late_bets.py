"""The closing instant: field failure O15, and the seals of rounds."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING

import pytest

from pokdeng.wire import TopicKind
from tests.settlement.scene import Scene, scene
from tests.settlement.table_talk import FIVE_ACCOUNTS, S1_R1

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

TABLE, BETS = TopicKind.TABLE_EVENTS, TopicKind.BETS
B1 = "bet b1 A-1 player_1 1000"

INSTANT = """
    bet b1 A-1 player_1 1000 @-1 saying 13:00
    close R-1 @0 saying 11:00
    bet b2 A-2 player_1 1000 @0 saying 13:00
    bet b3 A-3 player_1 1000 @1 saying 11:00
    bet b4 A-4 player_4 1000 @1 saying 11:00
    deal R-1 W @10
"""


async def turns(count: int = 60) -> None:
    """Let the worker do what it can."""
    for _ in range(count):
        await asyncio.sleep(0)


async def at_once(played: Scene) -> None:
    """As one backlog."""
    played.say(INSTANT)


async def table_first(played: Scene) -> None:
    """The twelfth card is read before any bet is."""
    played.hide(BETS)
    played.say(INSTANT)
    await turns()
    played.show(BETS)


async def bets_first(played: Scene) -> None:
    """All bets are read before the close is."""
    played.hide(TABLE)
    played.say(INSTANT)
    await turns()
    played.show(TABLE)


async def interleaved(played: Scene) -> None:
    """A record of each by turns."""
    played.hide(TABLE, BETS)
    played.say(INSTANT)
    while played.show_more(BETS, 1) + played.show_more(TABLE, 1):
        await turns(5)


async def bets_lag_with_restart(played: Scene) -> None:
    """The table is read, then the worker is killed, then the bets are read."""
    played.hide(BETS)
    played.say(INSTANT)
    await turns()
    await played.restart()
    played.show(BETS)


DELIVERIES = (at_once, table_first, bets_first, interleaved, bets_lag_with_restart)


async def heard_of(deliver: Callable[[Scene], Awaitable[None]]) -> tuple[dict[str, str], list[str], object]:
    """The closing instant, delivered so: balances, facts, and every byte."""
    async with scene() as played:
        await played.play(FIVE_ACCOUNTS)
        await played.play(S1_R1)
        await deliver(played)
        await played.caught_up()
        return await played.balances(), played.facts(), played.distinct()


@pytest.mark.parametrize("deliver", DELIVERIES)
def test_a_bet_is_in_time_by_its_broker_time_alone(deliver: Callable[[Scene], Awaitable[None]]) -> None:
    """O15: up to the close and in its very millisecond a bet is in time, a millisecond later it is not."""
    balances, facts, _ = asyncio.run(heard_of(deliver))
    assert balances == {
        "A-1": "11000/0/3",
        "A-2": "11000/0/3",
        "A-3": "10000/0/1",
        "A-4": "10000/0/1",
        "A-5": "10000/0/1",
    }
    assert facts == [
        "bet_accepted b1 A-1 8000/2000/2",
        "bet_accepted b2 A-2 8000/2000/2",
        "bet_rejected b3 A-3 betting_closed",
        "bet_rejected b4 A-4 betting_closed",
        "bet_settled b1 A-1 win 3000 11000/0/3",
        "bet_settled b2 A-2 win 3000 11000/0/3",
        "round_settled R-1 2 bets seal 2",
    ]


def test_the_bytes_do_not_depend_on_the_order_of_reading() -> None:
    """O15: whichever topic is read first, and however far one lags, every byte is the same."""
    heard = [asyncio.run(heard_of(deliver))[2] for deliver in DELIVERIES]
    assert all(other == heard[0] for other in heard)


def test_a_cancel_at_the_very_time_of_the_close_is_in_time() -> None:
    """A cancel is judged by broker time like a bet."""

    async def play() -> None:
        async with scene() as played:
            await played.play(FIVE_ACCOUNTS)
            await played.play(f"{S1_R1}\n{B1}\nbet b2 A-2 player_1 1000")
            await played.play("close R-1 @0\ncancel b1 A-1 @0\ncancel b2 A-2 @1\ndeal R-1 W")
            assert await played.balance("A-1") == "10000/0/3"
            assert await played.balance("A-2") == "11000/0/3"

    asyncio.run(play())


def test_the_first_close_counts() -> None:
    """A second close changes nothing, whatever its time."""

    async def play() -> None:
        async with scene() as played:
            await played.play(FIVE_ACCOUNTS)
            await played.play(f"{S1_R1}\nclose R-1 @0\n{B1} @5\nclose R-1 @9\ndeal R-1 W")
            assert played.about("b1") == ["bet_rejected b1 A-1 betting_closed"]
            assert not played.about("dead")

    asyncio.run(play())


def test_the_seal_is_the_first_later_record_whatever_it_is() -> None:
    """A record that is no bet seals like one; a round without later records is sealed at the log's end."""

    async def play() -> None:
        async with scene() as played:
            await played.play(FIVE_ACCOUNTS)
            await played.play(f"{S1_R1}\n{B1}\nclose R-1\nraw bets T-1 -\nraw bets T-1 -\ndeal R-1 W")
            await played.play("open R-2\nbet b2 A-1 player_1 1000 of R-2\nclose R-2\ndeal R-2 W")
            assert [fact for fact in played.facts() if fact.startswith("round")] == [
                "round_settled R-1 1 bets seal 1",
                "round_settled R-2 1 bets seal 4",
            ]

    asyncio.run(play())


def test_a_round_without_bets_keeps_its_seal_across_a_restart() -> None:
    """What sealed it is read again, though nothing else of the round lies in `bets`."""

    async def play() -> None:
        async with scene() as played:
            await played.play(FIVE_ACCOUNTS)
            await played.play(f"{S1_R1}\nclose R-1 @0\nraw bets T-1 -\nraw bets T-1 -\nraw bets T-1 -")
            await played.stop()
            await played.start()
            await played.play("deal R-1 W")
            assert played.about("round_settled") == ["round_settled R-1 0 bets seal 0"]

    asyncio.run(play())


def test_a_round_cancelled_after_its_close_keeps_the_seal_of_the_close() -> None:
    """The cancellation comes later, the seal does not."""

    async def play() -> None:
        async with scene() as played:
            await played.play(FIVE_ACCOUNTS)
            await played.play(f"{S1_R1}\n{B1}\nclose R-1\nbet b2 A-2 player_1 1000\nvoid R-1\nbet b3 A-3 player_1 1000")
            assert played.about("round_refunded") == ["round_refunded R-1 1 bets seal 1"]
            assert played.about("b2") == ["bet_rejected b2 A-2 betting_closed"]
            assert played.about("b3") == ["bet_rejected b3 A-3 round_cancelled"]

    asyncio.run(play())


def test_a_bet_in_time_by_its_stamp_is_too_late_behind_the_seal() -> None:
    """Two leaders' clocks differ: the round is settled and sealed, then a bet comes with an earlier stamp."""

    async def play() -> None:
        async with scene(clocks_agree=False) as played:
            await played.play(FIVE_ACCOUNTS)
            await played.play(f"{S1_R1}\n{B1}\nclose R-1 @0\ndeal R-1 W @5")
            assert played.about("round_settled") == ["round_settled R-1 1 bets seal 1"]
            await played.play("bet b2 A-2 player_1 1000 @-5\ncancel b1 A-1 @-5")
            assert played.about("b2") == ["bet_rejected b2 A-2 betting_closed"]
            assert played.about("cancel_rejected") == ["cancel_rejected b1 A-1 betting_closed"]
            await played.restart()
            await played.play("bet b2 A-2 player_1 1000 @-4\ncancel b1 A-1 @-4")
            assert await played.balance("A-2") == "10000/0/1"
            assert await played.balance("A-1") == "11000/0/3"

    asyncio.run(play())


def test_a_bet_behind_the_seal_of_an_unsettled_round_is_too_late() -> None:
    """The round is sealed by a later record and still waits for a card: its seal stands all the same."""

    async def play() -> None:
        async with scene(clocks_agree=False) as played:
            await played.play(FIVE_ACCOUNTS)
            await played.play(f"{S1_R1}\n{B1}\nclose R-1 @0\nraw bets T-1 -\ndeal R-1 W but banker 2")
            await played.play("bet b2 A-2 player_1 1000 @-5")
            await played.restart()
            await played.play("card R-1 banker 2 3d @500")
            assert played.about("b2") == ["bet_rejected b2 A-2 betting_closed"]
            assert played.about("round_settled") == ["round_settled R-1 1 bets seal 1"]

    asyncio.run(play())


def test_no_output_tells_a_card_before_its_close() -> None:
    """Cards may be dealt face down while bets are open: no fact, dead letter's detail or header names one."""

    async def play() -> None:
        async with scene() as played:
            await played.play(FIVE_ACCOUNTS)
            await played.play(f"""
                {S1_R1}
                {B1}
                close R-1
                deal R-1 W but banker 2
                open R-2
                bet b2 A-2 player_1 1000 of R-2
                card R-2 player_1 1 Ks
                card R-2 player_1 1 Qs
                void R-1
            """)
            resumes = [
                json.loads(value)
                for record in played.line.records(TopicKind.ROUNDS)
                for name, value in record.headers
                if name == "pokdeng-resume"
            ]
            assert len(resumes) == 1
            began = next(value for name, value in resumes[0].items() if name == "shoe")
            assert began[3] == 3, "the shoe's counts would tell of the cards of R-2"
            details = [dict(record.headers).get("dlq.detail", b"") for record in played.outputs()]
            assert not any(card in detail for detail in details for card in (b"Ks", b"Qs"))

    asyncio.run(play())
