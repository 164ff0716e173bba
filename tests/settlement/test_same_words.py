"""A dead letter read again says the same words, whatever of its table is still in memory by then."""

from __future__ import annotations

import asyncio

import pytest

from tests.settlement.scene import scene
from tests.settlement.table_talk import FIVE_ACCOUNTS, S1_R1

LATER = "close R-1\ndeal R-1 W\nshoe S-2 3h\nopen R-2 in S-2\nclose R-2\ndeal R-2 W\nshoe S-3 5h\nopen R-3 in S-3"
STALE = "open R-9 in S-1"


@pytest.mark.parametrize("is_restarted", [False, True])
def test_a_round_in_an_old_shoe_is_refused_in_the_same_words(*, is_restarted: bool) -> None:
    """While that shoe is known for its open round, and when it has left memory: the shoe in use is not named."""

    async def run() -> None:
        async with scene() as played:
            await played.play(FIVE_ACCOUNTS)
            await played.play(S1_R1)
            await played.play("shoe S-2 3h" if not is_restarted else LATER)
            if is_restarted:
                await played.restart()
            await played.play(STALE)
            letters = [dict(one.headers) for one in played.outputs() if "dead-letters" in one.topic]
            said = [(one["dlq.reason"], one["dlq.detail"]) for one in letters]
            assert said == [(b"round_out_of_order", b"shoe S-1 is not the newest")]

    asyncio.run(run())
