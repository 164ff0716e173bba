"""Draws the dashboard as a page, from what its queries gave: lines, bands and numbers, no more than to see them."""

from __future__ import annotations

import html
import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from ops.grafana import WIDTH

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ops.grafana import Dashboard, Panel, Query

CELL_PX: Final = 60
LINE_PX: Final = 30
COLOURS: Final = (
    "#2f6fb5",
    "#d1732a",
    "#3b8f4a",
    "#a83a3a",
    "#7a5aa8",
    "#8a6d3b",
    "#c76a9f",
    "#5b8f8f",
    "#999933",
    "#444",
)
_STYLE: Final = """
body{margin:12px;background:#f4f5f7;font:12px/1.3 sans-serif;color:#222;width:1440px}
h1{font-size:20px;margin:4px 0 10px}
h2{font-size:14px;margin:10px 4px 4px;font-weight:600}
.row{display:flex;flex-wrap:wrap}
.panel{box-sizing:border-box;padding:4px}
.in{background:#fff;border:1px solid #dfe2e6;border-radius:3px;padding:6px;height:100%}
.in{box-sizing:border-box;overflow:hidden}
.t{font-weight:600;margin-bottom:2px}
.n{font-size:30px;text-align:center;padding-top:10px;height:56px;border-radius:3px;color:#fff}
.l{color:#555;font-size:10px;line-height:13px;max-height:39px;overflow:hidden}
.l i{display:inline-block;width:9px;height:3px;margin:2px 3px}
"""

_LABEL: Final = re.compile(r"\{\{(\w+)\}\}")
_LARGE: Final = 100

Points = list[tuple[float, float]]


@dataclass(frozen=True, slots=True)
class Drawn:
    """A panel, and the series that each of its queries gave."""

    panel: Panel
    found: list[tuple[Query, list[dict[str, Any]]]]


def board_page(dashboard: Dashboard, drawn: Iterable[Drawn]) -> str:
    """The page."""
    by_panel = {id(one.panel): one for one in drawn}
    parts = [f"<!doctype html><meta charset=utf-8><style>{_STYLE}</style><h1>{html.escape(dashboard.title)}</h1>"]
    for row in dashboard.rows:
        parts.append(f"<h2>{html.escape(row.title)}</h2><div class=row>")
        parts.extend(_panel(by_panel[id(panel)]) for panel in row.panels)
        parts.append("</div>")
    return "".join(parts)


def _panel(one: Drawn) -> str:
    panel = one.panel
    width, height = panel.width * 1440 // WIDTH, panel.height * LINE_PX
    inner = _number(one) if panel.is_number else _chart(one, width - 24, height - 76)
    size = f"width:{width}px;height:{height}px"
    title = f"<div class=t>{html.escape(panel.title)}</div>"
    return f"<div class=panel style='{size}'><div class=in>{title}{inner}</div></div>"


def _number(one: Drawn) -> str:
    values = [points[-1][1] for _, points in _lines(one) if points]
    if not values:
        return (
            f"<div class=n style='background:#888;font-size:20px'>{html.escape(one.panel.no_value or 'no data')}</div>"
        )
    is_wrong = one.panel.wrong_from is not None and values[0] >= one.panel.wrong_from
    return f"<div class=n style='background:{'#c4373a' if is_wrong else '#3b8f4a'}'>{values[0]:,.0f}</div>"


def _lines(one: Drawn) -> Iterator[tuple[str, Points]]:
    for query, found in one.found:
        for series in found:
            labels = series["metric"]
            name = query.legend
            for label in _LABEL.findall(query.legend):
                name = name.replace(f"{{{{{label}}}}}", labels.get(label, ""))
            points = [(float(at), float(value)) for at, value in series["values"]]
            yield name, [point for point in points if math.isfinite(point[1])]


def _chart(one: Drawn, width: int, height: int) -> str:
    lines = [(name, points) for name, points in _lines(one) if points]
    if not lines:
        return "<div class=l>no data</div>"
    values = [value for _, points in lines for _, value in points]
    low, high = min(values), max(values)
    if one.panel.minimum is not None:
        low = min(low, one.panel.minimum)
    high = high if high > low else low + 1
    begin = min(points[0][0] for _, points in lines)
    end = max(begin + 1, *(points[-1][0] for _, points in lines))

    def at(point: tuple[float, float]) -> str:
        x = 46 + (point[0] - begin) / (end - begin) * (width - 52)
        return f"{x:.1f},{height - 6 - (point[1] - low) / (high - low) * (height - 14):.1f}"

    by_name = dict(lines)
    parts = [f"<svg width={width} height={height}>"]
    for part in (0, 0.5, 1):
        value = low + (high - low) * part
        y = height - 6 - part * (height - 14)
        parts.append(f"<path d='M46 {y:.0f}H{width}' stroke='#e4e6ea'/>")
        parts.append(
            f"<text x=42 y={y + 3:.0f} text-anchor=end font-size=10 fill=#666>{_said(value, one.panel.unit)}</text>"
        )
    in_bands = {name for upper, lower, _ in one.panel.bands for name in (upper, lower)}
    for upper, lower, opacity in one.panel.bands:
        outline = by_name.get(upper, []) + by_name.get(lower, [])[::-1]
        shape = " ".join(map(at, outline))
        parts.append(f"<polygon points='{shape}' fill='#3b8f4a' fill-opacity='{opacity / 100}'/>")
    legend = []
    for index, (name, points) in enumerate(line for line in lines if line[0] not in in_bands):
        colour = COLOURS[index % len(COLOURS)]
        parts.append(f"<polyline points='{' '.join(map(at, points))}' fill=none stroke='{colour}' stroke-width=1.4 />")
        legend.append(f"<span><i style='background:{colour}'></i>{html.escape(name)}</span> ")
    return "".join([*parts, "</svg><div class=l>", *legend, "</div>"])


def _said(value: float, unit: str) -> str:
    if unit == "percentunit":
        return f"{value:.1%}"
    if unit == "bytes":
        return f"{value / 1e6:.0f} MB"
    if unit == "s":
        return f"{value * 1000:.0f} ms" if value < 1 else f"{value:,.0f} s"
    return f"{value:,.0f}" if abs(value) >= _LARGE or value == int(value) else f"{value:.2g}"
