"""How a page is printed: as wide as the terminal, and never so narrow that an amount would be cut."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from rich.console import Console
from rich.measure import Measurement

if TYPE_CHECKING:
    from rich.console import RenderableType

_WITHOUT_TERMINAL: Final = 160
"""Columns, where a file or another program reads."""
_WIDEST: Final = 10_000


def print_page(page: RenderableType) -> None:
    """Print to the standard output. A terminal that is too narrow wraps lines; nothing is left out."""
    console = Console(highlight=False)
    width = console.width if console.is_terminal else max(console.width, _WITHOUT_TERMINAL)
    least = Measurement.get(console, console.options.update(max_width=_WIDEST), page).minimum
    console.width = max(width, least)
    console.print(page)
