"""Snapshots of tables: an older one never replaces a later one, whoever takes the table over."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from pokdeng.wire import TopicKind
from tests.settlement.scene import Scene, scene
from tests.settlement.table_talk import FIVE_ACCOUNTS, S1_R1

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

ELSEWHERE = "shoe S-9 4h at T-2\nopen R-9 in S-9 at T-2\nclose R-9 at T-2\ndeal R-9 W at T-2"


async def committed(played: Scene) -> None:
    """Everything is committed, so all that is to be noted for it was noted."""
    assert played.worker is not None
    end = played.last_event + 1
    await played.worker.until(lambda: played.committed(TopicKind.TABLE_EVENTS) == end)


async def stopped(played: Scene) -> None:
    """In order."""
    await played.stop()
    await played.start()


async def killed(played: Scene) -> None:
    """In the middle of nothing."""
    await played.restart()


@pytest.mark.parametrize("ending", [stopped, killed])
@pytest.mark.parametrize("again", [False, True], ids=["by who noted it", "by the one after"])
def test_a_table_noted_without_a_round_is_not_noted_as_its_last_round_left_it(
    ending: Callable[[Scene], Awaitable[None]], *, again: bool
) -> None:
    """A shoe begins after a round; a worker that reads the round back and has not met the table leaves its note alone.

    The round is passed by a commit for the sake of another table: it is noted then, with the snapshot of its record.
    """

    async def play() -> None:
        async with scene() as played:
            await played.play(FIVE_ACCOUNTS)
            await played.play(f"{S1_R1}\nclose R-1\ndeal R-1 W")
            await played.play("shoe S-2 3h")
            await committed(played)
            await ending(played)
            await played.play(ELSEWHERE)
            await committed(played)
            if again:
                await ending(played)
            await played.play("open R-2 in S-2\nbet b2 A-1 player_1 1000 of R-2\nclose R-2\ndeal R-2 W")
            assert not played.about("unknown_shoe")
            assert played.about("b2") == ["bet_accepted b2 A-1 8000/2000/2", "bet_settled b2 A-1 win 3000 11000/0/3"]

    asyncio.run(play())


def test_in_a_backlog_of_rounds_without_a_pause_the_log_moves_on() -> None:
    """Each is sealed by the bets of the next, which is open then: what the ended ones need is passed all the same."""
    rounds = 40

    async def play() -> None:
        async with scene() as played:
            await played.play(FIVE_ACCOUNTS)
            await played.stop()
            for number in range(1, rounds + 1):
                shoe = f"S-{(number + 3) // 4}"
                started = f"shoe {shoe} 4h\n" if number % 4 == 1 else ""
                played.say(f"{started}open R-{number} in {shoe}\nbet b{number} A-1 player_1 100 of R-{number}")
                if number < rounds:
                    played.say(f"close R-{number}\ndeal R-{number} W")
            worker = await played.start()
            await played.caught_up()
            desk = worker.engine.owned._desks[0]
            assert list(desk.books) == [("T-1", f"R-{rounds}")]
            (last,) = desk.books.values()
            await worker.until(lambda: not desk.finished)
            next_event, next_bet = desk.watermarks
            assert next_event >= last.table_round.first - 1
            assert next_bet == last.first
            await played.restart()
            assert played.worker is not None
            await played.play(f"close R-{rounds}\ndeal R-{rounds} W")
            assert [len(played.about(f"b{number}")) for number in range(1, rounds + 1)] == [2] * rounds

    asyncio.run(play())
