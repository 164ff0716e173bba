"""The dashboard: queries parse and name what there is, panels do not overlap, the file is what the source says."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
import yaml

from ops.__main__ import generated_files
from ops.dashboard import DASHBOARD
from pokdeng.metrics import CATALOGUE
from tests.ops.promtool import promtool
from tests.ops.rules import ALERTS, FILES, RECORDING, ROOT, known_names, names_in, rules_of

if TYPE_CHECKING:
    from pathlib import Path

QUERIES = [(panel.title, query.expr) for panel in DASHBOARD.panels for query in panel.queries]
CHOSEN = {"$namespace": ".*", "$job": ".*", "$currency": "THB", "$window": "24h", "$__rate_interval": "5m"}


def with_choices(expr: str) -> str:
    """A query as Grafana sends it."""
    for name, value in CHOSEN.items():
        expr = expr.replace(name, value)
    assert "$" not in expr, expr
    return expr


def test_every_query_parses(tmp_path: Path) -> None:
    """As Prometheus reads it."""
    rules = [{"record": f"q:{number}", "expr": with_choices(expr)} for number, (_, expr) in enumerate(QUERIES)]
    path = tmp_path / "queries.yaml"
    path.write_text(yaml.safe_dump({"groups": [{"name": "dashboard", "rules": rules}]}))
    promtool("check", "rules", path)


@pytest.mark.parametrize(("title", "expr"), QUERIES)
def test_every_query_names_metrics_that_there_are(title: str, expr: str) -> None:
    """And keeps to the installation that was chosen: each selector asks for namespace and job."""
    assert names_in(expr), title
    assert names_in(expr) <= known_names()
    assert expr.count("{") == expr.count('{namespace=~"$namespace", job=~"$job"'), title


def test_every_metric_is_looked_at() -> None:
    """By the dashboard, a recording rule or an alert: what nobody looks at need not be counted."""
    used = {name for _, expr in QUERIES for name in names_in(expr)}
    used |= {name for path in (RECORDING, ALERTS) for rule in rules_of(path) for name in names_in(rule["expr"])}
    assert not [metric.shown_as for metric in CATALOGUE if not used & set(metric.series)]


def test_every_recording_is_looked_at() -> None:
    """By the dashboard, an alert or another recording."""
    used = {name for _, expr in QUERIES for name in names_in(expr)}
    used |= {name for path in (RECORDING, ALERTS) for rule in rules_of(path) for name in names_in(rule["expr"])}
    assert {rule["record"] for rule in rules_of(RECORDING)} <= used


def test_panels_do_not_overlap() -> None:
    """Each cell of the grid belongs to one panel, within its width; ids are given once."""
    taken: set[tuple[int, int]] = set()
    panels = DASHBOARD.as_json()["panels"]
    for panel in panels:
        place = panel["gridPos"]
        cells = {
            (x, y)
            for x in range(place["x"], place["x"] + place["w"])
            for y in range(place["y"], place["y"] + place["h"])
        }
        assert not taken & cells, panel["title"]
        assert max(x for x, _ in cells) < 24
        taken |= cells
    assert len({panel["id"] for panel in panels}) == len(panels)


def test_the_bands_are_between_lines_that_are_drawn() -> None:
    """A band whose line was renamed would not be filled."""
    for panel in DASHBOARD.panels:
        legends = {query.legend for query in panel.queries}
        assert {name for upper, lower, _ in panel.bands for name in (upper, lower)} <= legends


def test_the_files_are_what_the_source_says() -> None:
    """The page of the metrics and the dashboard, as `make check` compares them."""
    for path, text in generated_files().items():
        assert (ROOT / path).read_text() == text, f"write {path} anew with: make ops"
    assert json.loads((FILES / "dashboard.json").read_text())["uid"] == "pokdeng-settlement"
