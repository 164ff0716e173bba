"""What a look at the books found reaches the workers' metrics."""

from __future__ import annotations

import asyncio

from pokdeng.restore.books_said import BooksReader, say_books
from tests.restore.filled import reader
from tests.restore.test_checkpoint import PLAY, checkpointed, played
from tests.support.line import Line


def test_a_checkpoint_says_that_the_books_balance() -> None:
    """Every currency that was played in, with 0; before the first look nothing is known."""

    async def run() -> None:
        line = Line()
        await played(line, PLAY)
        books = BooksReader(reader(line), line.topics)
        assert await books.newest() is None
        written = await checkpointed(line)
        said = await books.newest()
        assert said is not None
        assert said.at_ms == written.end.written_at_ms
        assert said.differences == dict.fromkeys(written.end.books, 0)
        assert said.differences

    asyncio.run(run())


def test_the_newest_look_counts_and_what_was_read_is_not_read_again() -> None:
    """A difference, and later that it is gone; the reader goes on where it was."""

    async def run() -> None:
        line = Line()
        books = BooksReader(reader(line), line.topics)
        for difference in (-1, 0, 12):
            await say_books(reader(line), line.topics, 1000, {"THB": difference, "EUR": 0})
            said = await books.newest()
            assert said is not None
            assert said.differences == {"THB": difference, "EUR": 0}
        assert await books.newest() is said

    asyncio.run(run())
