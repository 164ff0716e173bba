"""What a look at the books found reaches the workers' metrics."""

from __future__ import annotations

import asyncio

import pytest

from pokdeng.metrics import Metrics
from pokdeng.restore.books_said import BooksReader, BooksSaid, say_books
from pokdeng.settlement.worker import show_books
from pokdeng.stream.port import LogUnavailableError
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
            await say_books(reader(line), line.topics, 1000, {"THB": difference, "EUR": 0}, checkpoint_ms=7)
            said = await books.newest()
            assert said is not None
            assert said.differences == {"THB": difference, "EUR": 0}
        assert await books.newest() is said

    asyncio.run(run())


def test_a_checkpoint_that_comes_to_nothing_leaves_the_time_of_the_last(monkeypatch: pytest.MonkeyPatch) -> None:
    """The books were looked at; what a restore begins with is as old as before."""

    async def dies(*_: object, **__: object) -> None:
        raise LogUnavailableError("gone")

    async def run() -> None:
        line = Line()
        await played(line, PLAY)
        first = await checkpointed(line)
        said = await BooksReader(reader(line), line.topics).newest()
        assert said is not None
        assert said.checkpoint_ms == first.end.written_at_ms
        monkeypatch.setattr("pokdeng.restore.closing_books._write", dies)
        later_ms = first.end.written_at_ms + 1_000
        with pytest.raises(LogUnavailableError):
            await checkpointed(line, now_ms=later_ms)
        said = await BooksReader(reader(line), line.topics).newest()
        assert said is not None
        assert (said.at_ms, said.checkpoint_ms) == (later_ms, first.end.written_at_ms)

    asyncio.run(run())


def test_the_page_shows_the_difference_and_when_the_checkpoint_was_made() -> None:
    """In minor units and seconds since 1970; 0 seconds before there is one, and no currency."""
    metrics = Metrics()
    before = metrics.page().decode()
    assert "\npokdeng_checkpoint_timestamp_seconds 0.0\n" in before
    assert "\npokdeng_books_difference_minor_units{" not in before
    show_books(metrics, BooksSaid(at_ms=1_780_000_000_900, differences={"THB": -12}, checkpoint_ms=1_780_000_000_500))
    after = metrics.page().decode()
    assert '\npokdeng_books_difference_minor_units{currency="THB"} -12.0\n' in after
    assert "\npokdeng_checkpoint_timestamp_seconds 1.7800000005e+09\n" in after
