"""What a look at the books found reaches the workers' metrics."""

from __future__ import annotations

import asyncio

from pokdeng.metrics import Metrics
from pokdeng.restore.books_said import BooksReader, BooksSaid, say_books
from pokdeng.settlement.worker import show_books
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


def test_the_page_shows_the_difference_and_when_somebody_looked() -> None:
    """In minor units and seconds since 1970; 0 seconds before anybody did, and no currency."""
    metrics = Metrics()
    before = metrics.page().decode()
    assert "\npokdeng_books_checked_timestamp_seconds 0.0\n" in before
    assert "\npokdeng_books_difference_minor_units{" not in before
    show_books(metrics, BooksSaid(at_ms=1_780_000_000_500, differences={"THB": -12}))
    after = metrics.page().decode()
    assert '\npokdeng_books_difference_minor_units{currency="THB"} -12.0\n' in after
    assert "\npokdeng_books_checked_timestamp_seconds 1.7800000005e+09\n" in after
