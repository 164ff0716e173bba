"""Tries every recording rule and every query of the dashboard on a running Prometheus, and draws what it gives.

Run: `python -m ops.live http://127.0.0.1:9090 [--currency THB] [--window 1h] [--minutes 30] [--page board.html]`.
Prints a line for each, with how many series it has; exit status 1 where one has none. The page is the dashboard as
Grafana would lay it out, for looking at where no Grafana is at hand.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlencode
from urllib.request import urlopen

from ops.board import Drawn, board_page
from ops.dashboard import DASHBOARD

STEP_S: Final = 15


class Prometheus:
    """Its HTTP interface."""

    def __init__(self, address: str, choices: dict[str, str]) -> None:
        """`choices` are the dashboard's variables, with their `$`."""
        self._address = address.rstrip("/")
        self._choices = choices

    def query(self, expr: str) -> list[dict[str, Any]]:
        """The series of an expression now."""
        return self._ask("query", query=self._chosen(expr))["result"]  # type: ignore[no-any-return]  # JSON of Prometheus

    def lines(self, expr: str, seconds: int) -> list[dict[str, Any]]:
        """The series of an expression over the last seconds."""
        end = time.time()
        found = self._ask("query_range", query=self._chosen(expr), start=end - seconds, end=end, step=STEP_S)
        return found["result"]  # type: ignore[no-any-return]  # JSON of Prometheus

    def recordings(self) -> list[str]:
        """The names that its rules record."""
        groups = self._ask("rules", type="record")["groups"]
        return sorted({rule["name"] for group in groups for rule in group["rules"]})

    def _ask(self, what: str, **arguments: object) -> dict[str, Any]:
        address = f"{self._address}/api/v1/{what}?{urlencode(arguments)}"
        with urlopen(address, timeout=30) as answer:  # noqa: S310 - the address that was given
            return json.load(answer)["data"]  # type: ignore[no-any-return]  # JSON of Prometheus

    def _chosen(self, expr: str) -> str:
        for name, value in self._choices.items():
            expr = expr.replace(name, value)
        return expr


def main() -> int:
    """See the module."""
    parser = argparse.ArgumentParser(prog="python -m ops.live", description=__doc__)
    parser.add_argument("address")
    parser.add_argument("--currency", default="THB")
    parser.add_argument("--window", default="1h")
    parser.add_argument("--minutes", type=int, default=30)
    parser.add_argument("--page", type=Path)
    chosen = parser.parse_args()
    choices = {
        "$namespace": ".*",
        "$job": ".*",
        "$currency": chosen.currency,
        "$window": chosen.window,
        "$__rate_interval": "1m",
    }
    prometheus = Prometheus(chosen.address, choices)
    empty = 0
    for name in prometheus.recordings():
        empty += _told("recording", name, len(prometheus.query(name)))
    drawn: list[Drawn] = []
    for panel in DASHBOARD.panels:
        for query in panel.queries:
            empty += _told("dashboard", f"{panel.title}: {query.legend or 'value'}", len(prometheus.query(query.expr)))
        drawn.append(
            Drawn(panel, [(query, prometheus.lines(query.expr, chosen.minutes * 60)) for query in panel.queries])
        )
    if chosen.page is not None:
        chosen.page.write_text(board_page(DASHBOARD, drawn), encoding="utf-8")
    sys.stdout.write(f"{empty} without a series\n")
    return int(empty > 0)


def _told(kind: str, name: str, series: int) -> bool:
    sys.stdout.write(f"{kind:10} {series:4}  {name}\n")
    return not series


if __name__ == "__main__":
    sys.exit(main())
