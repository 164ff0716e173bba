"""A round that is held for long, on the real parts: a worker process that is killed, Apache Kafka and Redis."""

from __future__ import annotations

import asyncio
import os
from typing import TYPE_CHECKING

import pytest

from pokdeng.stream.port import TopicPartition
from pokdeng.wire import TopicKind
from tests.settlement.real_parts import until
from tests.settlement.real_scene import RealScene, real_scene
from tests.settlement.table_talk import FIVE_ACCOUNTS, NOON_MS
from tests.settlement.test_held_rounds import CONFLICT, ELEVEN_MINUTES_MS, a_round
from tests.support.kafka import is_at_hand

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = [
    pytest.mark.timeout(300),
    pytest.mark.skipif(
        not is_at_hand() and os.environ.get("POKDENG_REQUIRE_KAFKA") != "1", reason="no Apache Kafka is at hand"
    ),
]


async def let_go(played: RealScene) -> None:
    """Wait until all that was appended is committed."""
    kinds = (TopicKind.TABLE_EVENTS, TopicKind.BETS)
    places = [TopicPartition(played.topics.name(kind), 0) for kind in kinds]

    async def is_let_go() -> bool:
        ends = await played._log.end_offsets(places)
        return [await played.committed(kind) for kind in kinds] == [ends[place] for place in places]

    await until(is_let_go, within=60, what=lambda: f"the log is kept: {played.tail()}")


def test_a_round_held_for_long_is_found_again_after_a_kill(kafka_bootstrap: str, tmp_path: Path) -> None:
    """All is committed while it is held; twice kill -9, once with something new of it; then it is settled, exactly."""

    async def play() -> None:
        async with real_scene(kafka_bootstrap, tmp_path) as played:
            await played.start()
            await played.say(FIVE_ACCOUNTS)
            await played.until_said(*(f"funds_credited A-{number} 10000 10000/0/1" for number in range(1, 6)))
            await played.say(CONFLICT)
            await played.until_said("round_held R-1 seat_conflict", "bet_withdrawn b4 A-4 1000 10000/0/3")
            later = played.talk.now_ms - NOON_MS + ELEVEN_MINUTES_MS
            await played.say(
                f"shoe S-2 2h at T-2 @{later}\nopen R-9 in S-2 at T-2\n" + a_round("R-9", "T-2", opens=False)
            )
            await let_go(played)
            await played.kill()
            await played.start()
            await played.say("bet b8 A-3 player_1 100\ncorrect R-1 player_1 1 2c\nbet x A-5 player_1 100 of R-0")
            await played.until_said("bet_rejected b8 A-3 betting_closed", "bet_rejected x A-5 round_unknown")
            await played.kill()
            await played.start()
            await played.say("correct R-1 banker 2 3d\nbet y A-5 player_1 100 of R-0")
            await played.until_said("round_settled R-1 2 bets seal 6")
            await let_go(played)
            assert await played.stop() == 0

    asyncio.run(play())
