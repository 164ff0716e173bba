"""Killed while a held round is put aside or put back: it is there all the same, and ends as ever."""

from __future__ import annotations

import asyncio

import pytest

from pokdeng.stream.memory import Point
from pokdeng.wire import TopicKind
from tests.settlement.breakage import Frozen, heal, kill_in_ledger, kill_in_log
from tests.settlement.test_held_rounds import CONFLICT, GOES_ON, at_the_tables, ends_as_ever, hold, later, let_go


@pytest.mark.parametrize("is_answer_lost", [False, True])
@pytest.mark.parametrize("skip", range(6))
def test_killed_while_it_is_noted_that_a_round_is_put_aside(skip: int, *, is_answer_lost: bool) -> None:
    """Whichever note was the last: the round is there, and ends as ever."""

    async def play() -> None:
        async with at_the_tables() as played:
            await played.play(CONFLICT)
            text = GOES_ON.format(at=later(played)) + "bet x A-5 player_1 100 of R-0"
            await kill_in_ledger(played, text, is_answer_lost=is_answer_lost, call="remember", skip=skip)
            await ends_as_ever(played)

    asyncio.run(play())


@pytest.mark.parametrize(
    ("point", "topic"),
    [
        (Point.APPEND, TopicKind.CHECKPOINTS),
        (Point.APPEND, TopicKind.ROUNDS),
        (Point.ACKNOWLEDGE, None),
        (Point.COMMIT, None),
        (Point.COMMITTED, None),
    ],
)
def test_killed_while_it_is_said_that_a_round_is_put_aside(point: Point, topic: TopicKind | None) -> None:
    """Before and after the snapshot is said, and the commit that passes the round."""

    async def play() -> None:
        async with at_the_tables() as played:
            await played.play(CONFLICT)
            named = None if topic is None else played.line.topics.name(topic)
            text = GOES_ON.format(at=later(played)) + "bet x A-5 player_1 100 of R-0"
            await kill_in_log(played, text, point, named)
            await ends_as_ever(played)

    asyncio.run(play())


@pytest.mark.parametrize(
    ("call", "skip", "is_answer_lost"),
    [("recall", skip, is_lost) for skip in range(3) for is_lost in (False, True)] + [("round_bets", 0, False)],
)
def test_killed_while_a_round_is_put_back(call: str, skip: int, *, is_answer_lost: bool) -> None:
    """Nothing is changed by it, and the next worker does it again."""

    async def play() -> None:
        async with at_the_tables() as played:
            await hold(played)
            await let_go(played)
            await played.kill()
            frozen = Frozen(call, skip=skip)
            if is_answer_lost:
                played.line.store.after = frozen
            else:
                played.line.store.before = frozen
            worker = await played.line.start_worker("settlement", "w2")
            async with asyncio.timeout(20):
                await frozen.reached.wait()
            await worker.kill()
            heal(played)
            await ends_as_ever(played)

    asyncio.run(play())
