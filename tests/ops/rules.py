"""The rule files as they are, for tests: rules, the names they record, the names that queries use."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, Final

import yaml

from pokdeng.metrics import CATALOGUE

ROOT: Final = Path(__file__).parents[2]
FILES: Final = ROOT / "helm" / "pokdeng-settlement" / "files"
RECORDING: Final = FILES / "recording.yaml"
ALERTS: Final = FILES / "alerts.yaml"

_OUR_NAMES: Final = re.compile(r"\b(?:pokdeng|process)[a-z0-9_:]*\b")
_TEXTS: Final = re.compile(r'"[^"]*"')
_PROCESS: Final = {"process_cpu_seconds_total", "process_resident_memory_bytes", "process_start_time_seconds"}


def rules_of(path: Path) -> list[dict[str, Any]]:
    """All rules of a file, in order."""
    return [rule for group in yaml.safe_load(path.read_text())["groups"] for rule in group["rules"]]


def names_in(expr: str) -> set[str]:
    """The metrics that an expression names.

    >>> sorted(names_in('sum by (job) (pokdeng_rounds_open{job="pokdeng_x"}) / pokdeng:bets:rate5m'))
    ['pokdeng:bets:rate5m', 'pokdeng_rounds_open']
    """
    return set(_OUR_NAMES.findall(_TEXTS.sub('""', expr)))


def known_names() -> set[str]:
    """Every metric that a worker shows, and every one that is recorded."""
    shown = {name for metric in CATALOGUE for name in metric.series}
    return shown | _PROCESS | {rule["record"] for rule in rules_of(RECORDING)}
