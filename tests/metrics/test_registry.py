"""Counting itself: field failures O21 and O22, as far as they concern the registry."""

from __future__ import annotations

import math

import pytest
from structlog.testing import capture_logs

from pokdeng.metrics import CATALOGUE, Metrics
from pokdeng.metrics.registry import CURRENCIES_MAX, OTHER


def value_of(metrics: Metrics, series: str) -> float:
    """What a series shows."""
    lines = metrics.page().decode().splitlines()
    return next(float(line.rpartition(" ")[2]) for line in lines if line.startswith(f"{series} "))


@pytest.mark.parametrize("amount", [math.nan, -5, -math.inf])
def test_o21_what_is_no_growth_is_not_added(amount: float) -> None:
    """O21: a counter that was told NaN would stay NaN; one told -5 would raise. It is said once instead."""
    metrics = Metrics()
    with capture_logs() as said:
        metrics.count({("behind_seal",): 2})
        for _ in range(3):
            metrics.count({("behind_seal",): amount})
    assert value_of(metrics, "pokdeng_bets_behind_seal_total") == 2
    assert [one["event"] for one in said] == ["metrics_failed"]


def test_o22_currencies_beyond_a_bound_share_a_label() -> None:
    """O22: deposits in every thinkable currency make no more series than some."""
    metrics = Metrics()
    for number in range(500):
        metrics.count({("taken", "player_1", f"C{number}"): 10})
    shown = [
        line for line in metrics.page().decode().splitlines() if line.startswith("pokdeng_taken_minor_units_total{")
    ]
    assert len(shown) == CURRENCIES_MAX + 1
    others = value_of(metrics, f'pokdeng_taken_minor_units_total{{bet="player_1",currency="{OTHER}"}}')
    assert others == 10 * (500 - CURRENCIES_MAX)


def test_a_gauge_forgets_what_is_not_owned_any_more() -> None:
    """A partition that went to another worker is not shown with its last value for ever."""
    metrics = Metrics()
    metrics.set("lag", 7, "pokdeng.bets.v1", "3")
    metrics.clear("lag")
    assert b"pokdeng_input_lag_records{" not in metrics.page()


def test_no_metric_has_a_label_for_ids() -> None:
    """The labels there are: closed sets, currencies, and places of the log."""
    labels = {label for metric in CATALOGUE for label in metric.labels}
    assert labels == {
        *("bet", "outcome", "option", "currency", "decision", "reason", "result"),
        *("topic", "partition", "cause", "version", "ruleset"),
    }
