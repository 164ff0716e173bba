"""`docs/metrics.md`, from the list of metrics."""

from __future__ import annotations

from typing import Final

from pokdeng.events.reasons import BetReason, DeadLetterReason, TransferReason
from pokdeng.metrics import CATALOGUE, Metric, Part
from pokdeng.metrics.catalogue import SECONDS
from pokdeng.metrics.registry import CURRENCIES_MAX, OTHER
from pokdeng.rules import Bet, Outcome

_HEAD: Final = """\
# Metrics

What a worker shows at `/metrics`. Written from the list in `services/pokdeng/metrics/catalogue.py` by `make ops`; do
not edit it here. What to ask of them, and which alarms there are: [monitoring.md](monitoring.md).

- Counters count a fact when it is applied for the first time, never on a replay: a worker that reads the log again
  counts nothing of it again. They begin at 0 with each process; what was counted is lost with it, the facts in the
  topics are not.
- Amounts are whole minor units (satang, cents). The expected return and the variance are floats: exact fractions,
  rounded.
- Counters whose labels are known beforehand show 0 from the start.
- No label holds an id of an account, round, bet, shoe or transfer, so the number of series does not grow with play:
  some 250, 6 for each number of a partition that is owned, and 66 for each currency.
"""

_TAIL: Final = """\
Besides, the process shows its own `process_cpu_seconds_total`, `process_resident_memory_bytes`,
`process_start_time_seconds` and so on, as other Python processes do.

## Labels

| label | values |
|---|---|
"""

_RATIO: Final = """
## Payout ratio and its z-score

The payout ratio of some bets is what they returned of what was taken for them:

    (returned - reversed returned) / (taken - reversed taken)

On average a `player` bet loses 2.5 % of its stake; twice the stake is taken, so its ratio is 98.75 %. A pair bet's is
89.64 %. `pokdeng odds` says them exactly.

Whether a ratio can be chance is said by the z-score, the number of standard deviations that what was returned lies
above its expectation:

    (returned - reversed returned - expected + reversed expected) / sqrt(variance - reversed variance)

The five spots of a round share the banker's hand, so their results are not independent: the variance is counted per
round, from the stakes of all accounts on each option and the exact covariances ([rules.md](rules.md), PD-23). It can be
summed over rounds, for these are (as good as) independent. Beyond 4 in either direction, chance is no explanation any
more.
"""


def metrics_page() -> str:
    """The text of the page."""
    parts = [_HEAD, *(_section(part) for part in Part), _TAIL + _labels(), _RATIO]
    return "\n".join(parts)


def _section(part: Part) -> str:
    rows = [_row(metric) for metric in CATALOGUE if metric.part is part]
    return "\n".join([f"## {part}", "", "| metric | type | labels | |", "|---|---|---|---|", *rows, ""])


def _row(metric: Metric) -> str:
    labels = ", ".join(f"`{label}`" for label in metric.labels)
    return f"| `{metric.shown_as}` | {metric.kind} | {labels} | {metric.help} |"


def _labels() -> str:
    def said(*names: str) -> str:
        return ", ".join(f"`{name}`" for name in names)

    values = {
        "bet": said(*Bet),
        "option": f"{said('player', 'pair')}: all spots of a kind together; `all`: both kinds",
        "currency": f"as in the events; the first {CURRENCIES_MAX} of a process, the others together as `{OTHER}`",
        "outcome": said(*Outcome, "refunded", "reversed"),
        "decision": f"of bets {said('accepted', 'rejected', 'withdrawn')}; of funds "
        f"{said('credited', 'debited', 'rejected')}",
        "reason": f"of bets {said(*BetReason)}; of funds {said(*TransferReason)}; of dead letters "
        f"{said(*DeadLetterReason)}; empty where nothing was rejected",
        "result": said("settled", "refunded", "revised"),
        "topic": "an input topic's full name, prefix included",
        "partition": "its number",
        "cause": said("cold", "check", "behind"),
        "version": "of the worker",
        "ruleset": "the rules it settles by",
    }
    buckets = ", ".join(f"{seconds:g}" for seconds in SECONDS)
    used = [label for label in values if any(label in metric.labels for metric in CATALOGUE)]
    rows = [f"| `{label}` | {values[label]} |" for label in used]
    return "\n".join([*rows, f"| `le` | of histograms: {buckets}, +Inf; seconds |", ""])
