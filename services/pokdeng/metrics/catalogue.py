"""Every metric that the worker shows: name, kind, labels and meaning. `docs/metrics.md` is written from this list.

Amounts are minor units. `bet` is one of the ten options, `option` is `player`, `pair` or `all`. No label ever holds an
id of an account, round, bet, shoe or transfer: the number of series does not grow with play.
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


class Part(StrEnum):
    """What a metric tells of: the sections of its documentation."""

    BETS = "Bets and funds"
    MONEY = "Money"
    ROUNDS = "Rounds"
    STREAM = "The stream"
    LEDGER = "The ledger"
    WORKER = "The worker"


@dataclass(frozen=True, slots=True)
class Metric:
    """One metric. `key` is its short name within the worker; of a counter, `name` ends without `_total`."""

    key: str
    name: str
    kind: Kind
    labels: tuple[str, ...]
    part: Part
    help: str

    @property
    def shown_as(self) -> str:
        """Its name on the page; of a histogram, what its series' names begin with.

        >>> Metric("rounds", "pokdeng_rounds", Kind.COUNTER, ("result",), Part.ROUNDS, "").shown_as
        'pokdeng_rounds_total'
        """
        return f"{self.name}_total" if self.kind is Kind.COUNTER else self.name

    @property
    def series(self) -> tuple[str, ...]:
        """The names that a query may use.

        >>> Metric("call", "pokdeng_call_seconds", Kind.HISTOGRAM, (), Part.LEDGER, "").series
        ('pokdeng_call_seconds_bucket', 'pokdeng_call_seconds_sum', 'pokdeng_call_seconds_count')
        """
        if self.kind is Kind.HISTOGRAM:
            return (f"{self.name}_bucket", f"{self.name}_sum", f"{self.name}_count")
        return (self.shown_as,)


SECONDS: Final = (0.002, 0.005, 0.01, 0.02, 0.03, 0.05, 0.075, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 60.0, 600.0)
"""The upper ends of the histograms' buckets."""

OF_BET: Final = ("bet", "currency")
OF_OPTION: Final = ("option", "currency")
OF_PARTITION: Final = ("topic", "partition")

CATALOGUE: Final = (
    Metric(
        "bets",
        "pokdeng_bets",
        Kind.COUNTER,
        ("decision", "reason"),
        Part.BETS,
        "Bets decided: `accepted`, `rejected` for a reason, `withdrawn` by a cancel.",
    ),
    Metric(
        "settled",
        "pokdeng_settled_bets",
        Kind.COUNTER,
        ("bet", "outcome"),
        Part.BETS,
        "Bets by what they came to: `win`, `lose`, `tie`, `refunded`; `reversed`: what a later revision took back.",
    ),
    Metric(
        "funds",
        "pokdeng_funds",
        Kind.COUNTER,
        ("decision", "reason"),
        Part.BETS,
        "Transfers decided: `credited`, `debited`, or `rejected` for a reason.",
    ),
    Metric(
        "decision_latency",
        "pokdeng_decision_latency_seconds",
        Kind.HISTOGRAM,
        (),
        Part.BETS,
        "From the broker time of a bet or transfer to its acknowledged decision.",
    ),
    Metric(
        "settlement_latency",
        "pokdeng_settlement_latency_seconds",
        Kind.HISTOGRAM,
        (),
        Part.BETS,
        "From the broker time of what completed or cancelled a round to each bet's acknowledged settlement.",
    ),
    Metric(
        "taken",
        "pokdeng_taken_minor_units",
        Kind.COUNTER,
        OF_BET,
        Part.MONEY,
        "Minor units taken for settled bets; refunds are not among them.",
    ),
    Metric(
        "returned",
        "pokdeng_returned_minor_units",
        Kind.COUNTER,
        OF_BET,
        Part.MONEY,
        "Minor units returned for settled bets; refunds are not among them.",
    ),
    Metric(
        "reversed_taken",
        "pokdeng_reversed_taken_minor_units",
        Kind.COUNTER,
        OF_BET,
        Part.MONEY,
        "Minor units taken for settlements that a later revision reversed.",
    ),
    Metric(
        "reversed_returned",
        "pokdeng_reversed_returned_minor_units",
        Kind.COUNTER,
        OF_BET,
        Part.MONEY,
        "Minor units returned by settlements that a later revision reversed.",
    ),
    Metric(
        "expected",
        "pokdeng_expected_return_minor_units",
        Kind.COUNTER,
        OF_BET,
        Part.MONEY,
        "Minor units that the settled bets return on average, exactly; once a bet, with revision 1.",
    ),
    Metric(
        "reversed_expected",
        "pokdeng_reversed_expected_return_minor_units",
        Kind.COUNTER,
        OF_BET,
        Part.MONEY,
        "The same of bets whose round was cancelled after its settlement.",
    ),
    Metric(
        "variance",
        "pokdeng_return_variance_minor_units_squared",
        Kind.COUNTER,
        OF_OPTION,
        Part.MONEY,
        "Variance of what settled rounds return, summed over rounds; spots share a banker, so it is counted per round.",
    ),
    Metric(
        "reversed_variance",
        "pokdeng_reversed_return_variance_minor_units_squared",
        Kind.COUNTER,
        OF_OPTION,
        Part.MONEY,
        "The same of rounds that were cancelled after their settlement.",
    ),
    Metric(
        "behind_seal",
        "pokdeng_bets_behind_seal",
        Kind.COUNTER,
        (),
        Part.MONEY,
        "Bets in time by their stamp, but behind their round's seal: two leaders' clocks differ.",
    ),
    Metric(
        "books_difference",
        "pokdeng_books_difference_minor_units",
        Kind.GAUGE,
        ("currency",),
        Part.MONEY,
        "By how much the books were out of balance at the last checkpoint, or audit that said so; 0 is right.",
    ),
    Metric(
        "checkpoint",
        "pokdeng_checkpoint_timestamp_seconds",
        Kind.GAUGE,
        (),
        Part.MONEY,
        "When the newest complete checkpoint was made, as seconds since 1970; 0 where there is none.",
    ),
    Metric(
        "rounds",
        "pokdeng_rounds",
        Kind.COUNTER,
        ("result",),
        Part.ROUNDS,
        "Rounds `settled` or `refunded` for the first time, or `revised`.",
    ),
    Metric(
        "rounds_open",
        "pokdeng_rounds_open",
        Kind.GAUGE,
        (),
        Part.ROUNDS,
        "Rounds that are not settled or refunded yet.",
    ),
    Metric("rounds_held", "pokdeng_rounds_held", Kind.GAUGE, (), Part.ROUNDS, "Rounds that wait for the supervisor."),
    Metric(
        "corrections_stopped",
        "pokdeng_corrections_stopped",
        Kind.GAUGE,
        (),
        Part.ROUNDS,
        "Settled rounds with a correction that is stopped: the ledger has not the bets that their record speaks of.",
    ),
    Metric(
        "oldest_open",
        "pokdeng_oldest_open_round_seconds",
        Kind.GAUGE,
        (),
        Part.ROUNDS,
        "How long ago, by the log's time, the oldest unfinished round opened that is not held; 0 where there is none.",
    ),
    Metric(
        "oldest_held",
        "pokdeng_oldest_held_round_seconds",
        Kind.GAUGE,
        (),
        Part.ROUNDS,
        "The same of the oldest round that is held. Its records must still be kept when it ends.",
    ),
    Metric(
        "lag",
        "pokdeng_input_lag_records",
        Kind.GAUGE,
        OF_PARTITION,
        Part.STREAM,
        "Records of an owned input partition that are not processed yet, those still on the broker included.",
    ),
    Metric(
        "watermark_age",
        "pokdeng_watermark_age_seconds",
        Kind.GAUGE,
        OF_PARTITION,
        Part.STREAM,
        "How long ago, by broker time, the oldest record was appended that is not done with or that an unfinished "
        "round still needs; 0 where there is none.",
    ),
    Metric(
        "partitions",
        "pokdeng_input_partitions",
        Kind.GAUGE,
        ("topic",),
        Part.STREAM,
        "How many partitions an input topic has.",
    ),
    Metric(
        "retention",
        "pokdeng_input_retention_seconds",
        Kind.GAUGE,
        ("topic",),
        Part.STREAM,
        "How long an input topic keeps records; +Inf for ever.",
    ),
    Metric(
        "dead_letters",
        "pokdeng_dead_letters",
        Kind.COUNTER,
        ("topic", "reason"),
        Part.STREAM,
        "Records that could not be used.",
    ),
    Metric(
        "fuses_open",
        "pokdeng_dead_letter_fuses_open",
        Kind.GAUGE,
        (),
        Part.STREAM,
        "Input partitions that are not taken, for too much of them was dead letters.",
    ),
    Metric(
        "truncated",
        "pokdeng_dead_letters_truncated",
        Kind.COUNTER,
        (),
        Part.STREAM,
        "Dead letters that the broker refused as they were: hashes stand in place of their value and headers.",
    ),
    Metric(
        "duplicates", "pokdeng_duplicates", Kind.COUNTER, ("topic",), Part.STREAM, "Records that said what was known."
    ),
    Metric(
        "ledger_call",
        "pokdeng_ledger_call_seconds",
        Kind.HISTOGRAM,
        (),
        Part.LEDGER,
        "One batch applied to the ledger; where much is waiting, with the folding meanwhile.",
    ),
    Metric(
        "recoveries",
        "pokdeng_ledger_recoveries",
        Kind.COUNTER,
        ("cause",),
        Part.LEDGER,
        "Times that the ledger was found empty (`cold`), started anew (`check`), or with writes missing (`behind`).",
    ),
    Metric("build", "pokdeng_build_info", Kind.GAUGE, ("version", "ruleset"), Part.WORKER, "Always 1."),
)
