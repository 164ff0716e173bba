"""The demo's view: what is shown at each width, and what a program gets."""

from __future__ import annotations

import io
from dataclasses import replace
from xml.etree import ElementTree as ET

import pytest
from rich.console import Console, RenderableType

from pokdeng.cli.demo_snapshot import BookLine, DemoSnapshot, Latency, OptionLine, RoadLine, to_json
from pokdeng.cli.demo_view import DemoView, export_svg, progress_line, render, summary
from pokdeng.rounds import RoadMark
from pokdeng.rules import PLAYER_SEATS, Bet, Outcome

MARKS = tuple(
    RoadMark(seat=seat, result=result, is_pair=seat == "player_2", is_flush=seat == "player_3")
    for seat, result in zip(
        PLAYER_SEATS, (Outcome.WIN, Outcome.LOSE, Outcome.TIE, Outcome.WIN, Outcome.LOSE), strict=True
    )
)
THB = BookLine(
    currency="THB", deposits=1_000_000_000, withdrawals=50_000, house_net=-123_456, available=1_000_073_000, held=456
)
JPY = BookLine(currency="JPY", deposits=5_000, withdrawals=0, house_net=0, available=5_000, held=0)
KWD = BookLine(currency="KWD", deposits=1_234_567, withdrawals=0, house_net=0, available=1_234_567, held=0)
LIVE = DemoSnapshot(
    seed=7,
    elapsed_seconds=72.34,
    rounds_settled=1_312,
    rounds_refunded=4,
    rounds_open=8,
    rounds_held=1,
    accepted=12_345,
    rejected=678,
    withdrawn=123,
    settled=12_000,
    refunded=99,
    reasons={"betting_closed": 300, "insufficient_funds": 200, "round_paused": 100, "round_unknown": 50, "x": 28},
    bets_per_second=1_234.4,
    decision=Latency(p50_ms=8.2, p99_ms=31.4),
    settlement=Latency(),
    dead_letters=91,
    duplicates=240,
    options=tuple(
        OptionLine(bet=bet, bets=1_000, taken=4_000_000, returned=3_800_000, expected=3_950_000.0, variance=4e10)
        for bet in Bet
    ),
    roads=tuple(RoadLine(table_id=f"T-{number:02}", rounds=(MARKS,) * 20) for number in range(1, 9)),
)
OVER = replace(LIVE, is_over=True, books=(THB, JPY, KWD))


def lines_of(drawn: RenderableType, width: int) -> list[str]:
    """What is drawn, line by line, without colours."""
    console = Console(file=io.StringIO(), width=width, color_system=None, highlight=False)
    with console.capture() as captured:
        console.print(drawn)
    return captured.get().splitlines()


def text_of(drawn: RenderableType, width: int = 100) -> str:
    """What is drawn, without colours."""
    return "\n".join(lines_of(drawn, width))


@pytest.mark.parametrize("width", [40, 52, 60, 72, 80, 96, 100, 160])
def test_nothing_is_cut_off_or_too_wide(width: int) -> None:
    """At each width every figure is whole: columns are left out, not cut."""
    for drawn in (render(LIVE, width), summary(OVER, width)):
        lines = lines_of(drawn, width)
        assert all(len(line) <= width for line in lines)
        assert not any("…" in line for line in lines)


def test_the_live_view_fits_a_terminal_of_100_by_30() -> None:
    """Eight tables, ten options and all figures fit a usual terminal."""
    assert len(lines_of(render(LIVE, 100, 30), 100)) <= 30


def test_more_tables_than_lines_are_left_out() -> None:
    """A low terminal shows fewer tables, never less of the figures."""
    text = text_of(render(LIVE, 100, 25))
    assert "T-03" in text
    assert "T-04" not in text


def test_numbers_are_in_us_format_with_the_decimals_of_their_currency() -> None:
    """Thousands have commas; THB has two decimals, JPY none, KWD three."""
    text = text_of(summary(OVER, 100))
    for shown in ("12,345", "1,312", "10,000,000.00", "-1,234.56", "4.56", "5,000", "1,234.567", "40,000.00"):
        assert shown in text


def test_each_option_shows_its_ratio_its_expectation_and_its_deviation() -> None:
    """Paid out 95 %, expected 98.75 %, which is 0.75 standard deviations below."""
    line = next(line for line in lines_of(render(LIVE, 100), 100) if line.startswith("player 3 pair"))
    assert "95.00%" in line
    assert "98.75%" in line
    assert "-0.75" in line


def test_nothing_settled_yet_is_shown_as_such() -> None:
    """An option without bets has neither ratio nor deviation, and what was not measured is a dash."""
    empty = OptionLine(bet=Bet.PLAYER_1, bets=0, taken=0, returned=0, expected=0.0, variance=0.0)
    text = text_of(render(DemoSnapshot(seed=1, elapsed_seconds=0, options=(empty,)), 100))
    assert empty.ratio is empty.deviations is empty.expected_ratio is None
    assert "nothing yet" in text
    assert "settlement" in text


def test_the_rarer_reasons_are_summed() -> None:
    """Three reasons are named, the others are one number."""
    text = text_of(render(LIVE, 100))
    assert "round paused" in text
    assert "round unknown" not in text
    assert "78" in text


def test_the_road_map_shows_pairs_and_flushes() -> None:
    """A pair has a dot beside its mark, a flush a ring around it."""
    assert "● ●·◉ ● ●" in text_of(render(LIVE, 100))


def test_books_that_balance_are_said_to() -> None:
    """The summary ends with what was played and that the books balance."""
    text = text_of(summary(OVER, 100))
    assert OVER.is_balanced
    assert "13,023 bets in 1,316 rounds, and the books balance" in text


def test_books_that_do_not_balance_are_said_not_to() -> None:
    """One minor unit too many is said aloud, and `--json` says it too."""
    wrong = replace(OVER, books=(replace(THB, held=457), JPY))
    assert not wrong.is_balanced
    assert "NOT BALANCED" in text_of(summary(wrong, 100))
    assert "the books do not balance" in text_of(summary(wrong, 100))
    books = to_json(wrong)["books"]
    assert (books["THB"]["balanced"], books["JPY"]["balanced"]) == (False, True)


def test_the_json_object_is_that_of_the_contract() -> None:
    """A program finds exactly the names of the contract, amounts in minor units."""
    made = to_json(OVER)
    assert list(made) == [
        "rounds",
        "bets",
        "accepted",
        "rejected",
        "withdrawn",
        "settled",
        "refunded",
        "books",
        "options",
        "seed",
        "seconds",
    ]
    assert made["rounds"] == 1_316
    assert made["bets"] == 13_023
    assert made["books"]["THB"] == {
        "deposits": 1_000_000_000,
        "withdrawals": 50_000,
        "house_net": -123_456,
        "available": 1_000_073_000,
        "held": 456,
        "balanced": True,
    }
    assert list(made["options"]) == [bet.value for bet in Bet]
    assert made["options"]["player_1"] == {
        "taken": 4_000_000,
        "returned": 3_800_000,
        "ratio": 0.95,
        "expected": 0.9875,
        "deviations": -0.75,
    }


def test_without_a_terminal_there_are_plain_lines() -> None:
    """A log gets one line a snapshot, at most one in two seconds, and no escape sequences."""
    written = io.StringIO()
    with DemoView(Console(file=written, force_terminal=False, width=80)) as view:
        view.show(LIVE)
        view.show(LIVE)
    assert written.getvalue() == progress_line(LIVE) + "\n"
    assert "1,312 settled" in progress_line(LIVE)


def test_on_a_terminal_the_live_view_makes_room_for_the_summary() -> None:
    """The view is drawn while it runs, and the summary after it."""
    written = io.StringIO()
    console = Console(file=written, force_terminal=True, width=100, height=30)
    view = DemoView(console)
    with view:
        view.show(LIVE)
    assert "T-08" in written.getvalue()
    view.finish(OVER)
    assert "the books balance" in written.getvalue()


@pytest.mark.parametrize("snapshot", [LIVE, OVER], ids=["live", "over"])
def test_the_picture_is_a_drawing_of_its_own(snapshot: DemoSnapshot) -> None:
    """The SVG is well-formed and needs nothing from anywhere else."""
    picture = export_svg(snapshot)
    ET.fromstring(picture)  # noqa: S314 - our own drawing
    assert "url(" not in picture.replace("url(#", "")
    assert "https://" not in picture.replace("https://www.textualize.io", "")
