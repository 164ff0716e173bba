"""A Grafana dashboard as JSON, from a short list of panels. Source of the form: Grafana's JSON model, version 39.

Only what our dashboard uses: panels of numbers and of lines over time, in rows, with Prometheus queries.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Iterable

WIDTH: Final = 24
SCHEMA_VERSION: Final = 39
SOURCE: Final = {"type": "prometheus", "uid": "${datasource}"}
RED, YELLOW, GREEN = "red", "yellow", "green"


@dataclass(frozen=True, slots=True)
class Query:
    """A PromQL expression, and how its series are called (`{{label}}` stands for a label)."""

    expr: str
    legend: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Panel:
    """One picture. `unit` is Grafana's name of it; `wrong_from` turns it red at and above that value."""

    title: str
    help: str
    queries: tuple[Query, ...]
    unit: str = "short"
    is_number: bool = False
    width: int = 8
    height: int = 8
    wrong_from: float | None = None
    bands: tuple[tuple[str, str, int], ...] = ()
    """Pairs of legends, upper and lower, between which it is filled, and how opaque."""
    minimum: float | None = None
    no_value: str = ""
    """What a number says where there is no series."""


@dataclass(frozen=True, slots=True)
class Row:
    """A heading, and the panels below it."""

    title: str
    panels: tuple[Panel, ...]


@dataclass(frozen=True, slots=True)
class Choice:
    """A variable that people choose at the top: the values of a label, or given ones."""

    name: str
    label: str
    query: str = ""
    values: tuple[str, ...] = ()
    has_all: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Dashboard:
    """A whole dashboard. `uid` stays the same for ever: links name it."""

    uid: str
    title: str
    help: str
    choices: tuple[Choice, ...]
    rows: tuple[Row, ...] = field(default_factory=tuple)

    @property
    def panels(self) -> Iterable[Panel]:
        """All panels, in order."""
        return (panel for row in self.rows for panel in row.panels)

    def as_json(self) -> dict[str, Any]:
        """As Grafana reads it."""
        source: dict[str, Any] = {
            "type": "datasource", "name": "datasource", "label": "Prometheus", "query": "prometheus", "hide": 0,
        }  # fmt: skip
        return {
            "uid": self.uid,
            "title": self.title,
            "description": self.help,
            "tags": ["pokdeng"],
            "schemaVersion": SCHEMA_VERSION,
            "editable": False,
            "graphTooltip": 1,
            "refresh": "30s",
            "time": {"from": "now-3h", "to": "now"},
            "timezone": "utc",
            "templating": {"list": [source, *(_choice(choice) for choice in self.choices)]},
            "panels": _laid_out(self.rows),
        }


def _choice(choice: Choice) -> dict[str, Any]:
    if choice.values:
        return {
            "type": "custom",
            "name": choice.name,
            "label": choice.label,
            "query": ",".join(choice.values),
            "current": {"text": choice.values[0], "value": choice.values[0]},
            "options": [
                {"text": value, "value": value, "selected": not index} for index, value in enumerate(choice.values)
            ],
        }
    return {
        "type": "query",
        "name": choice.name,
        "label": choice.label,
        "datasource": SOURCE,
        "definition": choice.query,
        "query": {"query": choice.query, "refId": choice.name},
        "refresh": 2,
        "sort": 1,
        "includeAll": choice.has_all,
        **({"allValue": ".*", "current": {"text": "All", "value": "$__all"}} if choice.has_all else {}),
    }


def _laid_out(rows: Iterable[Row]) -> list[dict[str, Any]]:
    """From left to right, a new line where one is full; each row of panels below its heading."""
    panels: list[dict[str, Any]] = []
    y = 0
    for row in rows:
        place = {"h": 1, "w": WIDTH, "x": 0, "y": y}
        panels.append({"type": "row", "title": row.title, "gridPos": place, "collapsed": False, "panels": []})
        y += 1
        x = height = 0
        for panel in row.panels:
            if x + panel.width > WIDTH:
                x, y, height = 0, y + height, 0
            panels.append(_panel(panel, {"h": panel.height, "w": panel.width, "x": x, "y": y}))
            x, height = x + panel.width, max(height, panel.height)
        y += height
    return [{"id": number, **panel} for number, panel in enumerate(panels, start=1)]


def _panel(panel: Panel, place: dict[str, int]) -> dict[str, Any]:
    steps: list[dict[str, Any]] = [{"color": GREEN, "value": None}]
    if panel.wrong_from is not None:
        steps.append({"color": RED, "value": panel.wrong_from})
    defaults: dict[str, Any] = {"unit": panel.unit, "thresholds": {"mode": "absolute", "steps": steps}}
    if panel.minimum is not None:
        defaults["min"] = panel.minimum
    if panel.no_value:
        defaults["noValue"] = panel.no_value
    if not panel.is_number:
        style = "dashed" if panel.wrong_from is not None else "off"
        defaults["custom"] = {"fillOpacity": 0, "lineWidth": 1, "thresholdsStyle": {"mode": style}}
    return {
        "type": "stat" if panel.is_number else "timeseries",
        "title": panel.title,
        "description": panel.help,
        "datasource": SOURCE,
        "gridPos": place,
        "fieldConfig": {"defaults": defaults, "overrides": [_filled(*band) for band in panel.bands]},
        "options": _number_options() if panel.is_number else _line_options(),
        "targets": [
            {
                "refId": chr(ord("A") + index),
                "datasource": SOURCE,
                "expr": query.expr,
                "legendFormat": query.legend,
                "instant": panel.is_number,
                "range": not panel.is_number,
            }
            for index, query in enumerate(panel.queries)
        ],
    }


def _filled(upper: str, lower: str, opacity: int) -> dict[str, Any]:
    return {
        "matcher": {"id": "byName", "options": upper},
        "properties": [
            {"id": "custom.fillBelowTo", "value": lower},
            {"id": "custom.fillOpacity", "value": opacity},
            {"id": "custom.lineWidth", "value": 0},
        ],
    }


def _number_options() -> dict[str, Any]:
    return {
        "colorMode": "background",
        "graphMode": "none",
        "textMode": "value_and_name",
        "reduceOptions": {"calcs": ["lastNotNull"]},
    }


def _line_options() -> dict[str, Any]:
    return {"legend": {"displayMode": "list", "placement": "bottom"}, "tooltip": {"mode": "multi", "sort": "desc"}}
