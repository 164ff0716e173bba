"""The list of metrics is that of the contract, and no more than is said beside it."""

from __future__ import annotations

import pytest

from pokdeng.metrics import CATALOGUE, Kind, Metrics

CONTRACT = """
pokdeng_bets_total counter decision reason
pokdeng_settled_bets_total counter bet outcome
pokdeng_taken_minor_units_total counter bet currency
pokdeng_returned_minor_units_total counter bet currency
pokdeng_reversed_taken_minor_units_total counter bet currency
pokdeng_reversed_returned_minor_units_total counter bet currency
pokdeng_expected_return_minor_units_total counter bet currency
pokdeng_return_variance_minor_units_squared_total counter option currency
pokdeng_reversed_expected_return_minor_units_total counter bet currency
pokdeng_reversed_return_variance_minor_units_squared_total counter option currency
pokdeng_bets_behind_seal_total counter
pokdeng_books_difference_minor_units gauge currency
pokdeng_rounds_total counter result
pokdeng_rounds_open gauge
pokdeng_rounds_held gauge
pokdeng_corrections_stopped gauge
pokdeng_funds_total counter decision reason
pokdeng_dead_letters_total counter topic reason
pokdeng_duplicates_total counter topic
pokdeng_input_lag_records gauge topic partition
pokdeng_watermark_age_seconds gauge topic partition
pokdeng_decision_latency_seconds histogram
pokdeng_settlement_latency_seconds histogram
pokdeng_ledger_call_seconds histogram
pokdeng_ledger_recoveries_total counter cause
pokdeng_build_info gauge version ruleset
"""
BESIDE_IT = """
pokdeng_checkpoint_timestamp_seconds gauge
pokdeng_oldest_open_round_seconds gauge
pokdeng_oldest_held_round_seconds gauge
pokdeng_input_partitions gauge topic
pokdeng_input_retention_seconds gauge topic
pokdeng_dead_letters_truncated_total counter
pokdeng_dead_letter_fuses_open gauge
"""
WRITTEN_DOWN = [line for line in (CONTRACT + BESIDE_IT).splitlines() if line]


def test_every_metric_of_the_contract_is_in_the_list_and_nothing_unsaid() -> None:
    """Names, kinds and labels, in the order of the labels."""
    listed = [" ".join((metric.shown_as, metric.kind, *metric.labels)) for metric in CATALOGUE]
    assert sorted(listed) == sorted(WRITTEN_DOWN)


def test_keys_are_given_once() -> None:
    """A metric's short name names one."""
    assert len({metric.key for metric in CATALOGUE}) == len(CATALOGUE)


@pytest.mark.parametrize("metric", CATALOGUE, ids=lambda metric: metric.key)
def test_the_page_shows_each_metric_under_its_name(metric: object) -> None:
    """As Prometheus reads it: the type, and the names of the series once something is counted."""
    one = next(listed for listed in CATALOGUE if listed is metric)
    metrics = Metrics()
    values = [f"a-{label}" for label in one.labels]
    if one.kind is Kind.COUNTER:
        metrics.count({(one.key, *values): 3})
    elif one.kind is Kind.GAUGE:
        metrics.set(one.key, 3, *values)
    else:
        metrics.observe(one.key, {0.5: 1})
    page = metrics.page().decode()
    shown = one.name if one.kind is Kind.HISTOGRAM else one.shown_as
    assert f"# TYPE {shown} {one.kind}" in page
    for name in one.series:
        assert any(line.startswith((f"{name} ", f"{name}{{")) for line in page.splitlines())
