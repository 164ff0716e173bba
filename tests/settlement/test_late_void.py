"""Bets and cancels that come around a late cancellation of their round. Source: the contract, "Rounds"."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from pokdeng.wire import TopicKind
from tests.settlement.scene import scene
from tests.settlement.table_talk import FIVE_ACCOUNTS
from tests.settlement.test_revisions import B1, in_every_life

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from tests.settlement.scene import Scene


@in_every_life
@pytest.mark.parametrize("piecemeal", [False, True], ids=["in one batch", "one by one"])
def test_late_bets_around_a_late_void(life: Callable[[Scene], Awaitable[None]], *, piecemeal: bool) -> None:
    """Before it they are `betting_closed`, from its time on `round_cancelled`; the first answer stands."""
    text = """
        bet b2 A-2 player_1 1000 #b2
        cancel b1 A-1 #k1
        void R-1
        bet b3 A-3 player_1 1000 #b3
        cancel b1 A-2 #k2
        again b2
        again b3
        again k1
        again k2
    """

    async def play() -> None:
        async with scene() as played:
            await played.play(FIVE_ACCOUNTS)
            await played.play(B1)
            await life(played)
            for line in text.splitlines() if piecemeal else [text]:
                await played.play(line)
            await life(played)
            await played.play("again b2\nagain b3")
            assert played.facts(TopicKind.BET_DECISIONS)[1:] == [
                "bet_rejected b2 A-2 betting_closed",
                "cancel_rejected b1 A-1 betting_closed",
                "bet_rejected b3 A-3 round_cancelled",
                "cancel_rejected b1 A-2 round_cancelled",
            ]

    asyncio.run(play())
