"""Rounds that end together: sixty-four tables, one moment."""

from __future__ import annotations

import asyncio

import pytest

from pokdeng.stream.memory import Point
from pokdeng.wire import TopicKind
from tests.settlement.breakage import kill_in_log
from tests.settlement.scene import a_while, scene

TABLES = tuple(f"T-{number}" for number in range(1, 65))


def at_every_table(text: str) -> str:
    """A text, once for each table."""
    return "\n".join(f"{line.strip()} at {table}" for table in TABLES for line in text.splitlines() if line.strip())


DEPOSITS = "\n".join(f"deposit A-{number} 10000" for number in range(1, 65))
BETS = "\n".join(f"bet b1 A-{number} player_1 1000 at {table}" for number, table in enumerate(TABLES, 1))
LAST_BETS = "\n".join(f"bet b2 A-{number} player_1 1000 at {table} @0" for number, table in enumerate(TABLES, 1))


@pytest.mark.parametrize("partitions", [1, 4])
@pytest.mark.parametrize("close_comes", ["last", "first"])
def test_rounds_that_close_in_one_millisecond_are_all_settled(partitions: int, close_comes: str) -> None:
    """Also with the close as the completing record, and nothing behind it in the log."""

    async def play() -> None:
        async with scene(partitions=partitions) as played:
            await played.play(DEPOSITS)
            await played.play(f"{at_every_table('shoe S-1 2h')}\n{at_every_table('open R-1')}\n{BETS}")
            deals, closes = at_every_table("deal R-1 W"), at_every_table("close R-1 @0")
            await played.play(f"{deals}\n{closes}" if close_comes == "last" else f"{closes}\n{deals}")
            assert set((await played.balances()).values()) == {"11000/0/3"}
            assert len(played.line.records(TopicKind.ROUNDS)) == len(TABLES)

    asyncio.run(play())


@pytest.mark.parametrize("is_bet_read_last", [True, False])
def test_bets_of_the_very_millisecond_of_all_closes_are_in_time(*, is_bet_read_last: bool) -> None:
    """The closes complete their rounds; the bets of that millisecond stand behind them in time, and are settled."""

    async def play() -> None:
        async with scene(partitions=4) as played:
            await played.play(DEPOSITS)
            await played.play(f"{at_every_table('shoe S-1 2h')}\n{at_every_table('open R-1')}\n{BETS}")
            await played.play(at_every_table("deal R-1 W"))
            if is_bet_read_last:
                played.hide(TopicKind.BETS)
            played.say(f"{at_every_table('close R-1 @0')}\n{LAST_BETS}")
            await a_while()
            played.show(TopicKind.BETS)
            await played.caught_up()
            assert set((await played.balances()).values()) == {"12000/0/5"}

    asyncio.run(play())


def test_rounds_of_one_table_that_end_together_are_all_said_after_a_kill_between_them() -> None:
    """One round waits for the supervisor while the next is played: both end in one batch, and the worker dies there.

    Whichever was said first must not make the other forgotten.
    """

    async def play(said_before: int) -> None:
        async with scene() as played:
            await played.play("deposit A-1 10000\ndeposit A-2 10000")
            await played.play("shoe S-1 2h\nopen R-1\nbet b1 A-1 player_1 1000\nopen R-2")
            await played.play("bet b2 A-2 player_1 1000 of R-2")
            text = """
                close R-1 @0
                close R-2 @10
                deal R-2 W
                deal R-1 W
            """
            await kill_in_log(
                played,
                text,
                Point.APPEND,
                "pokdeng.rounds.v1",
                when=lambda: played.copies("round_settled") == said_before,
            )
            await played.start()
            await played.caught_up()
            assert await played.balance("A-1") == "11000/0/3"
            assert await played.balance("A-2") == "11000/0/3"

    asyncio.run(play(0))
    asyncio.run(play(1))
