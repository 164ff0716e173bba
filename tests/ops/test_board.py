"""The page that shows the dashboard where no Grafana is at hand."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ops.board import Drawn, board_page
from ops.dashboard import DASHBOARD

if TYPE_CHECKING:
    from ops.grafana import Panel


def drawn(panel: Panel, value: str = "0.5") -> Drawn:
    """Each query gave one series with all labels there are."""
    labels = dict.fromkeys(("topic", "reason", "bet", "option", "instance", "cause", "decision", "outcome"), "<x>")
    points = [[1000.0, value], [1015.0, value], [1030.0, "NaN"]]
    return Drawn(panel, [(query, [{"metric": labels, "values": points}]) for query in panel.queries])


def test_every_panel_is_drawn() -> None:
    """Title, lines and bands; labels are escaped, and what is no number is left out."""
    page = board_page(DASHBOARD, [drawn(panel) for panel in DASHBOARD.panels])
    for panel in DASHBOARD.panels:
        assert f"<div class=t>{panel.title}</div>" in page
    lines = sum(len(panel.queries) - 2 * len(panel.bands) for panel in DASHBOARD.panels if not panel.is_number)
    assert page.count("<polyline") == lines
    assert page.count("<polygon") == sum(len(panel.bands) for panel in DASHBOARD.panels)
    assert "<x>" not in page
    assert "&lt;x&gt;" in page
    assert "nan" not in page


def test_no_series_is_said_and_not_drawn_as_0() -> None:
    """Where nothing is known a number is grey."""
    page = board_page(DASHBOARD, [Drawn(panel, [(query, []) for query in panel.queries]) for panel in DASHBOARD.panels])
    assert "not checked" in page
    assert "no data" in page
    assert "<polyline" not in page


def test_what_is_wrong_is_red() -> None:
    """A number at its limit or beyond."""
    page = board_page(DASHBOARD, [drawn(panel, "1") for panel in DASHBOARD.panels])
    assert page.count("#c4373a") == sum(panel.is_number for panel in DASHBOARD.panels)
