"""`pokdeng audit --say`: the workers' metrics show what it found."""

from __future__ import annotations

import asyncio

from pokdeng.restore.books_said import BooksReader
from tests.cli.stage import pokdeng
from tests.restore.filled import reader
from tests.restore.losses import checkpointed
from tests.settlement.scene import scene
from tests.settlement.table_talk import FIVE_ACCOUNTS, S1_R1


def test_an_audit_says_what_the_books_come_to_where_it_is_told_to() -> None:
    """Without `--say` it writes nothing; with it the time of the newest checkpoint stays as it is."""

    async def run() -> None:
        async with scene() as played:
            await played.play(FIVE_ACCOUNTS)
            await played.play(f"{S1_R1}\nbet b1 A-1 player_1 1000 #b1\nclose R-1\ndeal R-1 W")
            books = BooksReader(reader(played.line), played.line.topics)
            assert (await pokdeng(played, "audit")).exit_code == 0
            assert await books.newest() is None
            written = await checkpointed(played.line)
            assert (await pokdeng(played, "audit", "--say")).exit_code == 0
            said = await books.newest()
            assert said is not None
            assert said.at_ms == played.talk.now_ms
            assert said.checkpoint_ms == written.end.written_at_ms
            assert said.differences == {"THB": 0}

    asyncio.run(run())
