"""How far a long reading has come, and pages that never cut an amount."""

from __future__ import annotations

import io
import time
from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table

from pokdeng.cli.page import print_page
from pokdeng.cli.progress import Bar

if TYPE_CHECKING:
    import pytest


def test_a_short_reading_shows_nothing() -> None:
    """What takes no second needs no bar, and leaves no empty line."""
    said = io.StringIO()
    with Bar(Console(file=said, force_terminal=True)) as bar:
        bar.begin("reading", 10)
        bar.advance(10)
    assert not said.getvalue()


def test_a_long_reading_is_told_in_lines_where_there_is_no_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every five seconds: what for, how many of how many; each thing that is read counts for itself."""
    now = 0.0
    monkeypatch.setattr(time, "monotonic", lambda: now)
    said = io.StringIO()
    with Bar(Console(file=said, force_terminal=False, width=80)) as bar:
        bar.begin("reading bets", 1_000)
        bar.advance(400)
        now = 6.0
        bar.advance(400)
        bar.begin("reading decisions", 50)
        now = 12.0
        bar.advance(7)
    assert said.getvalue().splitlines() == ["reading bets: 800 of 1,000", "reading decisions: 7 of 50"]


def test_a_page_is_wider_than_its_terminal_rather_than_cut(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """An amount that does not fit is not replaced by three points."""
    monkeypatch.setenv("COLUMNS", "20")
    table = Table(box=None)
    table.add_column("available", no_wrap=True)
    table.add_column("held", no_wrap=True)
    table.add_row("19,999,996,595,215.30", "19,999,996,595,215.30")
    print_page(table)
    assert capsys.readouterr().out.count("19,999,996,595,215.30") == 2
