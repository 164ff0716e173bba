"""The demo on a terminal: a live view of what is played, and the summary at its end. Rendering only.

Wide terminals get everything; narrower ones lose columns, never their order; what is no terminal gets plain lines.
"""

from __future__ import annotations

import io
import re
import time
from typing import TYPE_CHECKING, Final, Self

from rich.console import Console, Group
from rich.live import Live
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

from pokdeng.cli.money import shown_money
from pokdeng.rules import Outcome

if TYPE_CHECKING:
    from types import TracebackType

    from rich.console import RenderableType

    from pokdeng.cli.demo_snapshot import BookLine, DemoSnapshot, Latency, OptionLine, RoadLine
    from pokdeng.rounds import RoadMark

WIDE: Final = 96
"""From this width on there is room for the gauge of deviations."""
NARROW: Final = 72
"""Below this width the amounts are left out."""
SLIM: Final = 52
"""Below this width figures stand in one column, and the expectation is left to its deviation."""
PICTURE_WIDTH: Final = 100
PICTURE_HEIGHT: Final = 30
_LINES_WITHOUT_ROADS: Final = 22
_FAR: Final = 3.0
"""Deviations that would be a reason to look."""
_GAUGE_REACH: Final = 6
_LINES_EVERY_SECONDS: Final = 2.0
_SPOTS: Final = 5
_LABEL: Final = "grey58"
_MARKS: Final = {Outcome.WIN: "dodger_blue1", Outcome.LOSE: "grey50", Outcome.TIE: "green3"}
_OTHER_REASONS_SHOWN: Final = 3


class DemoView:
    """Shows snapshots as they come. A context manager; `finish` prints the summary after it has left."""

    def __init__(self, console: Console | None = None) -> None:
        """Draw on this console, by default the standard output."""
        self._console = console or Console(highlight=False)
        self._live = Live(console=self._console, auto_refresh=False, transient=True)
        self._next_line = 0.0

    def __enter__(self) -> Self:
        """Begin to draw."""
        if self._console.is_terminal:
            self._live.start()
        return self

    def __exit__(
        self, error_type: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Take the live view away."""
        if self._console.is_terminal:
            self._live.stop()

    def show(self, snapshot: DemoSnapshot) -> None:
        """Draw a snapshot; where there is no terminal, say a line every two seconds."""
        if self._console.is_terminal:
            self._live.update(render(snapshot, self._console.width, self._console.height), refresh=True)
        elif time.monotonic() >= self._next_line:
            self._next_line = time.monotonic() + _LINES_EVERY_SECONDS
            self._console.print(progress_line(snapshot), soft_wrap=True)

    def finish(self, snapshot: DemoSnapshot) -> None:
        """Print the summary."""
        self._console.print(summary(snapshot, self._console.width))


def render(snapshot: DemoSnapshot, width: int, height: int = PICTURE_HEIGHT) -> RenderableType:
    """The live view, for a terminal of this size."""
    tables = max(1, height - _LINES_WITHOUT_ROADS)
    return Group(
        _title(snapshot, "live Pok Deng, settled as it is played"),
        Rule(style="grey30"),
        _figures(snapshot, width),
        Rule(style="grey30"),
        _options(snapshot, width),
        Rule(style="grey30"),
        _roads(snapshot.roads[:tables], width),
    )


def summary(snapshot: DemoSnapshot, width: int) -> RenderableType:
    """What was played, what it paid, and whether the books balance."""
    parts: list[RenderableType] = [
        _title(snapshot, "what was played"),
        Rule(style="grey30"),
        _figures(snapshot, width),
        Rule(style="grey30"),
        _options(snapshot, width),
    ]
    if snapshot.books:
        parts += [Rule(style="grey30"), _books(snapshot.books, width), Text(), _verdict(snapshot)]
    return Group(*parts)


def progress_line(snapshot: DemoSnapshot) -> str:
    """A snapshot in one line, for logs."""
    return (
        f"{snapshot.elapsed_seconds:6.1f} s  "
        f"rounds {snapshot.rounds_settled:,} settled, {snapshot.rounds_open:,} open, {snapshot.rounds_held:,} held  "
        f"bets {snapshot.accepted:,} accepted, {snapshot.rejected:,} rejected, "
        f"{snapshot.withdrawn:,} withdrawn  {snapshot.bets_per_second:,.0f} bets/s  "
        f"dead letters {snapshot.dead_letters:,}  duplicates {snapshot.duplicates:,}"
    )


def export_svg(snapshot: DemoSnapshot) -> str:
    """A picture of the snapshot, as SVG: the summary where it is over, else the live view."""
    console = Console(record=True, width=PICTURE_WIDTH, file=io.StringIO(), force_terminal=True, highlight=False)
    console.print(summary(snapshot, PICTURE_WIDTH) if snapshot.is_over else render(snapshot, PICTURE_WIDTH))
    drawn = re.sub(r"@font-face \{.*?\}", "", console.export_svg(title="pokdeng demo"), flags=re.DOTALL)
    return _INDENTED.sub(_without_indent, drawn.replace("Fira Code, monospace", "ui-monospace, Menlo, monospace"))


_INDENTED: Final = re.compile(r'x="([\d.]+)" y="([\d.]+)" textLength="([\d.]+)"([^>]*)>((?:&#160;)+)')
_CELL: Final = 12.2
"""The width of a character in rich's pictures."""


def _without_indent(text: re.Match[str]) -> str:
    """A text that begins where it has something to show: some viewers drop spaces at a text's beginning."""
    indent = text[5].count(";") * _CELL
    left, length = float(text[1]) + indent, float(text[3]) - indent
    return f'x="{left:.1f}" y="{text[2]}" textLength="{length:.1f}"{text[4]}>'


def _title(snapshot: DemoSnapshot, subject: str) -> RenderableType:
    line = Table.grid(expand=True)
    line.add_column()
    line.add_column(justify="right")
    minutes, seconds = divmod(snapshot.elapsed_seconds, 60)
    line.add_row(
        Text.assemble(("pokdeng", "bold"), (f"  {subject}", _LABEL)),
        Text(f"seed {snapshot.seed}   {minutes:02.0f}:{seconds:04.1f}", style=_LABEL),
    )
    return line


def _figures(snapshot: DemoSnapshot, width: int) -> RenderableType:
    """Rounds, bets, latencies and what went wrong, side by side; two by two where it is narrow."""
    rounds = _block(
        "rounds",
        ("settled", f"{snapshot.rounds_settled:,}"),
        ("refunded", f"{snapshot.rounds_refunded:,}"),
        ("open", f"{snapshot.rounds_open:,}"),
        ("held", f"{snapshot.rounds_held:,}"),
    )
    bets = _block(
        "bets",
        ("accepted", f"{snapshot.accepted:,}"),
        ("rejected", f"{snapshot.rejected:,}"),
        ("withdrawn", f"{snapshot.withdrawn:,}"),
        ("per second", f"{snapshot.bets_per_second:,.0f}"),
    )
    reasons = sorted(snapshot.reasons.items(), key=lambda reason: -reason[1])
    most = reasons[:_OTHER_REASONS_SHOWN]
    rest = sum(count for _, count in reasons[_OTHER_REASONS_SHOWN:])
    why = [(reason.replace("_", " "), f"{count:,}") for reason, count in most]
    refused = _block("rejected as", *(why or [("nothing yet", "")]), *([("others", f"{rest:,}")] if rest else []))
    time_and_waste = _block(
        "ms, p50 / p99",
        ("decision", _latency(snapshot.decision)),
        ("settlement", _latency(snapshot.settlement)),
        ("dead letters", f"{snapshot.dead_letters:,}"),
        ("duplicates", f"{snapshot.duplicates:,}"),
    )
    columns = Table.grid(expand=True, padding=(0, 3, 0, 0))
    blocks = (rounds, bets, refused, time_and_waste)
    in_a_row = len(blocks) if width >= WIDE else 2 if width >= SLIM else 1
    for _ in range(in_a_row):
        columns.add_column(ratio=1)
    for first in range(0, len(blocks), in_a_row):
        columns.add_row(*blocks[first : first + in_a_row])
    return columns


def _block(title: str, *lines: tuple[str, str | Text]) -> RenderableType:
    block = Table.grid(expand=True)
    block.add_column(style=_LABEL, no_wrap=True)
    block.add_column(justify="right", no_wrap=True)
    block.add_row(Text(title, style="bold"), "")
    for name, figure in lines:
        block.add_row(name, figure)
    return block


def _latency(latency: Latency) -> str:
    if latency.p50_ms is None or latency.p99_ms is None:
        return "-"
    return f"{latency.p50_ms:,.0f} / {latency.p99_ms:,.0f}"


def _options(snapshot: DemoSnapshot, width: int) -> RenderableType:
    """Each option's payout ratio against its expectation."""
    table = Table(box=None, expand=True, padding=(0, 1, 0, 0), header_style="bold", show_edge=False)
    table.add_column("option", no_wrap=True)
    table.add_column("bets", justify="right")
    if width >= NARROW:
        table.add_column(f"taken {snapshot.currency}", justify="right", no_wrap=True)
        table.add_column(f"returned {snapshot.currency}", justify="right", no_wrap=True)
    table.add_column("paid out", justify="right")
    if width >= SLIM:
        table.add_column("expected", justify="right", style=_LABEL)
    table.add_column("sigma", justify="right")
    if width >= WIDE:
        table.add_column(Text(f"-{_FAR:.0f}{'0':^{2 * _GAUGE_REACH - 3}}+{_FAR:.0f}", style=_LABEL), no_wrap=True)
    for option in snapshot.options:
        table.add_row(*_option(option, snapshot.currency, width))
    return table


def _option(option: OptionLine, currency: str, width: int) -> list[RenderableType]:
    amounts = (_amount(option.taken, currency), _amount(option.returned, currency)) if width >= NARROW else ()
    deviations = option.deviations
    style = "" if deviations is None or abs(deviations) < _FAR else "bold red"
    cells: list[RenderableType] = [
        option.bet.value.replace("_", " "),
        f"{option.bets:,}",
        *amounts,
        "-" if option.ratio is None else f"{option.ratio:.2%}",
        *([] if width < SLIM else ["-" if option.expected_ratio is None else f"{option.expected_ratio:.2%}"]),
        Text("-" if deviations is None else f"{deviations:+.2f}", style=style),
    ]
    return [*cells, _gauge(deviations)] if width >= WIDE else cells


def _gauge(deviations: float | None) -> Text:
    """A point between -3 and +3 standard deviations."""
    gauge = Text("·" * (2 * _GAUGE_REACH + 1), style="grey35")
    gauge.stylize("grey58", _GAUGE_REACH, _GAUGE_REACH + 1)
    if deviations is None:
        return gauge
    at = _GAUGE_REACH + round(max(-_FAR, min(_FAR, deviations)) / _FAR * _GAUGE_REACH)
    color = "bold red" if abs(deviations) >= _FAR else "dodger_blue1"
    return Text.assemble(gauge[:at], ("●", color), gauge[at + 1 :])


def _roads(roads: tuple[RoadLine, ...], width: int) -> RenderableType:
    """A line a table, a group of five marks a round."""
    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column(style=_LABEL, no_wrap=True)
    longest = max((len(road.table_id) for road in roads), default=0)
    room = max(1, (width - longest - 2) // (2 * _SPOTS + 2))
    for _ in range(room):
        table.add_column(no_wrap=True)
    for road in roads:
        table.add_row(road.table_id, *(_round(marks) for marks in road.rounds[-room:]))
    legend = Text.assemble(
        ("● won  ", _MARKS[Outcome.WIN]),
        ("● lost  ", _MARKS[Outcome.LOSE]),
        ("● tie  ", _MARKS[Outcome.TIE]),
        ("●", _LABEL),
        ("·", "bold yellow1"),
        (" pair  ◉ flush   players 1 to 5 of each round, the newest last", _LABEL),
    )
    return Group(table, legend)


def _round(marks: tuple[RoadMark, ...]) -> Text:
    line = Text()
    for mark in marks:
        line.append("◉" if mark.is_flush else "●", style=_MARKS[mark.result])
        line.append("·" if mark.is_pair else " ", style="bold yellow1")
    return line


def _books(books: tuple[BookLine, ...], width: int) -> RenderableType:
    names = ("deposits", "withdrawals", "house net", "available", "held")
    if width < NARROW:
        return Group(
            *(_block(book.currency, *zip(names, _book_amounts(book), strict=True), ("", _says(book))) for book in books)
        )
    table = Table(box=None, expand=True, padding=(0, 1, 0, 0), header_style="bold", show_edge=False)
    table.add_column("books", no_wrap=True)
    for name in names:
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("", no_wrap=True)
    for book in books:
        table.add_row(book.currency, *_book_amounts(book), _says(book))
    return table


def _book_amounts(book: BookLine) -> list[str]:
    amounts = (book.deposits, book.withdrawals, book.house_net, book.available, book.held)
    return [_amount(amount, book.currency) for amount in amounts]


def _says(book: BookLine) -> Text:
    return Text("balanced", style="green3") if book.is_balanced else Text("NOT BALANCED", style="bold red")


def _verdict(snapshot: DemoSnapshot) -> Text:
    played = f"{snapshot.bets:,} bets in {snapshot.rounds_settled + snapshot.rounds_refunded:,} rounds"
    if snapshot.is_balanced:
        return Text(f"{played}, and the books balance to the last minor unit.", style="bold green3")
    return Text(f"{played}, and the books do not balance.", style="bold red")


def _amount(minor: int, currency: str) -> str:
    """An amount whose currency is said beside it."""
    return shown_money(minor, currency).removesuffix(f" {currency}")
