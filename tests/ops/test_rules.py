"""Recording rules and alerts: they parse, name what there is, and each alert is shown firing and silent."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from pokdeng.metrics import CATALOGUE
from tests.ops.promtool import promtool
from tests.ops.rules import ALERTS, RECORDING, ROOT, known_names, names_in, rules_of

CASES = sorted((Path(__file__).parent / "alerts").glob("*.yaml"))
RUNBOOKS = ROOT / "docs" / "runbooks"
HEADINGS = ["## What it means", "## What to look at", "## What to do", "## What not to do"]
COMMANDS = {
    "topics check", "balances verify", "balances rebuild", "balances checkpoint", "balances show", "audit",
    "rounds show", "rounds explain", "rounds cancel", "rounds resume", "dead-letters list", "dead-letters show",
    "dead-letters replay", "dead-letters discard", "dead-letters fuse", "explain", "odds",
}  # fmt: skip
ALL_ALERTS = rules_of(ALERTS)
by_name = pytest.mark.parametrize("alert", ALL_ALERTS, ids=lambda alert: alert["alert"])


@pytest.mark.parametrize("path", [RECORDING, ALERTS], ids=lambda path: path.name)
def test_the_rules_are_rules(path: Path) -> None:
    """Prometheus takes them, duplicates and bad templates included in what it looks for."""
    promtool("check", "rules", path)


@pytest.mark.parametrize("path", [RECORDING, ALERTS], ids=lambda path: path.name)
def test_the_rules_name_metrics_that_there_are(path: Path) -> None:
    """A metric that was renamed would make a rule silent for ever."""
    for rule in rules_of(path):
        unknown = names_in(rule["expr"]) - known_names()
        assert not unknown, (rule.get("alert") or rule["record"], unknown)


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_the_alert_fires_when_it_must_and_is_silent_when_it_must_not(path: Path) -> None:
    """As its cases say, by promtool: labels and texts included."""
    promtool("test", "rules", path)


@by_name
def test_an_alert_has_cases_of_both_kinds(alert: dict[str, Any]) -> None:
    """One that fires and one that does not; no alert without."""
    path = Path(__file__).parent / "alerts" / f"{alert['alert']}.yaml"
    assert path in CASES, f"{path} is missing"
    expected = [
        bool(test["exp_alerts"])
        for case in yaml.safe_load(path.read_text())["tests"]
        for test in case["alert_rule_test"]
        if test["alertname"] == alert["alert"]
    ]
    assert set(expected) == {True, False}


@by_name
def test_an_alert_says_how_bad_it_is_and_where_to_read(alert: dict[str, Any]) -> None:
    """A severity, a summary, and a runbook that says what it means, what to look at, what to do and what not."""
    assert alert["labels"]["severity"] in {"critical", "warning"}
    assert set(alert["annotations"]) == {"summary", "description", "runbook_url"}
    assert alert["annotations"]["runbook_url"] == f"docs/runbooks/{alert['alert']}.md"
    text = (RUNBOOKS / f"{alert['alert']}.md").read_text()
    assert text.startswith(f"# {alert['alert']}\n\nSeverity: {alert['labels']['severity']}.\n")
    assert [line for line in text.splitlines() if line.startswith("## ")] == HEADINGS
    parts = text.split("\n## ")[1:]
    assert all(len(part.splitlines()) > 2 for part in parts), "an empty part"


def test_every_runbook_belongs_to_an_alert_and_is_listed() -> None:
    """No page about an alert that is gone, and a list of all."""
    pages = {page.stem for page in RUNBOOKS.glob("*.md")} - {"README"}
    assert pages == {alert["alert"] for alert in ALL_ALERTS}
    listed = (RUNBOOKS / "README.md").read_text()
    assert all(f"[{page}]({page}.md)" in listed for page in pages)


def test_the_runbooks_name_commands_and_metrics_that_there_are() -> None:
    """Whoever follows them at night types what they say."""
    for page in RUNBOOKS.glob("*.md"):
        for code in page.read_text().split("`")[1::2]:
            unknown = names_in(code) - known_names() - {metric.shown_as for metric in CATALOGUE}
            words = code.split()
            if words[0] == "pokdeng":
                assert words[1] in COMMANDS or " ".join(words[1:3]) in COMMANDS, (page.name, code)
            elif not code.startswith(("kcat", "kafka", "helm/")):
                assert not unknown, (page.name, unknown)
