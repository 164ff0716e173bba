"""Every metric that the worker shows: name, kind, labels and meaning. Source: the contract, "Metrics".

Amounts are minor units. `bet` is one of the ten options. No label ever holds an id of an account, round, bet, shoe or
transfer: the number of series does not grow with play.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Final


class Kind(StrEnum):
    """What a metric is to Prometheus."""

    COUNTER = "counter"
    GAUGE = "gauge"
    HISTOGRAM = "histogram"


@dataclass(frozen=True, slots=True)
class Metric:
    """One metric. `key` is its short name within the worker; of a counter, `name` ends without `_total`."""

    key: str
    name: str
    kind: Kind
    labels: tuple[str, ...]
    help: str


SECONDS: Final = (0.002, 0.005, 0.01, 0.02, 0.03, 0.05, 0.075, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 60.0, 600.0)
"""The upper ends of the histograms' buckets."""

CATALOGUE: Final = (
    Metric("bets", "pokdeng_bets", Kind.COUNTER, ("decision", "reason"), "Bets decided."),
    Metric("settled", "pokdeng_settled_bets", Kind.COUNTER, ("bet", "outcome"), "Bets settled, refunded or reversed."),
    Metric(
        "taken",
        "pokdeng_taken_minor_units",
        Kind.COUNTER,
        ("bet", "currency"),
        "Minor units taken for settled bets; refunds are not among them.",
    ),
    Metric(
        "returned",
        "pokdeng_returned_minor_units",
        Kind.COUNTER,
        ("bet", "currency"),
        "Minor units returned for settled bets; refunds are not among them.",
    ),
    Metric(
        "expected",
        "pokdeng_expected_return_minor_units",
        Kind.COUNTER,
        ("bet", "currency"),
        "Minor units that the settled bets return on average, exactly.",
    ),
    Metric(
        "variance",
        "pokdeng_return_variance_minor_units_squared",
        Kind.COUNTER,
        ("option", "currency"),
        "Variance of what settled rounds return, summed over rounds; option is player, pair or all.",
    ),
    Metric(
        "reversed_taken",
        "pokdeng_reversed_taken_minor_units",
        Kind.COUNTER,
        ("bet", "currency"),
        "Minor units taken for bets whose settlement was reversed.",
    ),
    Metric(
        "reversed_returned",
        "pokdeng_reversed_returned_minor_units",
        Kind.COUNTER,
        ("bet", "currency"),
        "Minor units that reversed settlements had returned.",
    ),
    Metric(
        "reversed_expected",
        "pokdeng_reversed_expected_return_minor_units",
        Kind.COUNTER,
        ("bet", "currency"),
        "Minor units that bets return on average, of rounds cancelled after settlement.",
    ),
    Metric(
        "reversed_variance",
        "pokdeng_reversed_return_variance_minor_units_squared",
        Kind.COUNTER,
        ("option", "currency"),
        "Variance of what rounds return that were cancelled after settlement; option is player, pair or all.",
    ),
    Metric(
        "behind_seal",
        "pokdeng_bets_behind_seal",
        Kind.COUNTER,
        (),
        "Bets in time by their stamp, but behind their round's seal: two leaders' clocks differ.",
    ),
    Metric("rounds", "pokdeng_rounds", Kind.COUNTER, ("result",), "Rounds settled, refunded or revised."),
    Metric("rounds_open", "pokdeng_rounds_open", Kind.GAUGE, (), "Rounds that are not settled or refunded yet."),
    Metric("rounds_held", "pokdeng_rounds_held", Kind.GAUGE, (), "Rounds that wait for the supervisor."),
    Metric(
        "corrections_stopped",
        "pokdeng_corrections_stopped",
        Kind.GAUGE,
        (),
        "Settled rounds with a correction that is stopped: the ledger has not the bets that their record speaks of.",
    ),
    Metric("funds", "pokdeng_funds", Kind.COUNTER, ("decision", "reason"), "Deposits and withdrawals decided."),
    Metric(
        "dead_letters", "pokdeng_dead_letters", Kind.COUNTER, ("topic", "reason"), "Records that could not be used."
    ),
    Metric("duplicates", "pokdeng_duplicates", Kind.COUNTER, ("topic",), "Records that said what was known."),
    Metric(
        "lag",
        "pokdeng_input_lag_records",
        Kind.GAUGE,
        ("topic", "partition"),
        "Records of an input partition that are not processed yet.",
    ),
    Metric(
        "decision_latency",
        "pokdeng_decision_latency_seconds",
        Kind.HISTOGRAM,
        (),
        "From the broker time of a bet or transfer to its acknowledged decision.",
    ),
    Metric(
        "settlement_latency",
        "pokdeng_settlement_latency_seconds",
        Kind.HISTOGRAM,
        (),
        "From the broker time of what completed or cancelled a round to each bet's acknowledged settlement.",
    ),
    Metric("ledger_call", "pokdeng_ledger_call_seconds", Kind.HISTOGRAM, (), "One batch applied to the ledger."),
    Metric(
        "recoveries",
        "pokdeng_ledger_recoveries",
        Kind.COUNTER,
        ("cause",),
        "Times that the ledger was found cold, another incarnation, or behind.",
    ),
    Metric("build", "pokdeng_build_info", Kind.GAUGE, ("version", "ruleset"), "Always 1."),
)
