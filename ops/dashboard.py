"""What the Grafana dashboard shows: money at risk first, then money, payout ratios, latency, the stream, the ledger."""

from __future__ import annotations

import json
from typing import Final

from ops.grafana import Choice, Dashboard, Panel, Query, Row

_OURS: Final = 'namespace=~"$namespace", job=~"$job"'
_OF_WORKERS: Final = "and on (namespace, job, instance) pokdeng_build_info{%}"


def _of(expression: str) -> str:
    """A query with the choices of installation in it: `%` stands for them, between the braces of a selector."""
    return expression.replace("%", _OURS)


def _number(title: str, expr: str, help_: str, *, wrong_from: float | None = 1, no_value: str = "") -> Panel:
    return Panel(
        title=title, help=help_, queries=(Query(_of(expr), ""),), is_number=True, width=4, height=4,
        wrong_from=wrong_from, no_value=no_value,
    )  # fmt: skip


def _lines(title: str, unit: str, help_: str, *queries: tuple[str, str], wrong_from: float | None = None) -> Panel:
    made = tuple(Query(_of(expr), legend) for expr, legend in queries)
    return Panel(title=title, help=help_, queries=made, unit=unit, wrong_from=wrong_from, minimum=0)


def _ratio(option: str) -> Panel:
    """An option's payout ratio between the bands of chance."""
    chosen = f'{{{_OURS}, option="{option}", currency="$currency", window="$window"}}'
    expected, deviation = f"pokdeng:payout_ratio:expected{chosen}", f"pokdeng:payout_ratio:deviation{chosen}"
    bounds = tuple(
        Query(f"{expected} {sign} {count} * {deviation}", f"{sign}{count} deviations")
        for count in (4, 2)
        for sign in ("+", "-")
    )
    return Panel(
        title=f"Payout ratio: {option}",
        help="What was returned of what was taken, its exact expectation for these very stakes, and the bands of two "
        "and of four standard deviations. Outside of the wide one it is not chance.",
        queries=(*bounds, Query(f"pokdeng:payout_ratio{chosen}", "ratio"), Query(expected, "expected")),
        unit="percentunit",
        bands=(("+4 deviations", "-4 deviations", 12), ("+2 deviations", "-2 deviations", 20)),
    )


AT_RISK: Final = (
    _number(
        "Books out of balance",
        "max(abs(pokdeng_books_difference_minor_units{%}))",
        "Minor units, of the worst currency, at the last checkpoint, or audit that said so.",
        no_value="not checked",
    ),
    _number(
        "Ledger found lost, 1 h",
        "sum(increase(pokdeng_ledger_recoveries_total{%}[1h]))",
        "Times that Redis was found empty, started anew, or with writes missing.",
    ),
    _number(
        "Bets behind the seal, 1 h",
        "sum(increase(pokdeng_bets_behind_seal_total{%}[1h]))",
        "In time by their stamp, refused as too late.",
    ),
    _number("Rounds held", "sum(pokdeng_rounds_held{%})", "They wait for the supervisor."),
    _number("Dead letters, 1 h", "sum(increase(pokdeng_dead_letters_total{%}[1h]))", "Records that did nothing."),
    _number(
        "Partitions without a worker",
        "sum(pokdeng:partitions_without_worker{%})",
        "What their tables play is not settled.",
    ),
)

MONEY: Final = (
    _lines(
        "Taken and returned",
        "short",
        "Minor units a second, net of what later revisions took back.",
        ('pokdeng:taken_minor_units:increase5m{%, option="all", currency="$currency"} / 300', "taken"),
        ('pokdeng:returned_minor_units:increase5m{%, option="all", currency="$currency"} / 300', "returned"),
    ),
    _lines(
        "Bets",
        "ops",
        "Decided, a second.",
        ("sum by (decision) (rate(pokdeng_bets_total{%}[$__rate_interval]))", "{{decision}}"),
        ("sum by (outcome) (rate(pokdeng_settled_bets_total{%}[$__rate_interval]))", "settled: {{outcome}}"),
    ),
    _lines(
        "Bets rejected",
        "ops",
        "A second, by reason.",
        ('sum by (reason) (rate(pokdeng_bets_total{%, decision="rejected"}[$__rate_interval]))', "{{reason}}"),
    ),
    _lines(
        "Funds",
        "ops",
        "Transfers decided, a second.",
        ("sum by (decision, reason) (rate(pokdeng_funds_total{%}[$__rate_interval]))", "{{decision}} {{reason}}"),
    ),
    _lines(
        "Rounds ended",
        "ops",
        "A second.",
        ("sum by (result) (rate(pokdeng_rounds_total{%}[$__rate_interval]))", "{{result}}"),
    ),
    _lines(
        "Reversed",
        "short",
        "Minor units a second that later revisions took back.",
        (
            'sum(rate(pokdeng_reversed_taken_minor_units_total{%, currency="$currency"}[$__rate_interval]))',
            "had been taken",
        ),
        (
            'sum(rate(pokdeng_reversed_returned_minor_units_total{%, currency="$currency"}[$__rate_interval]))',
            "had been returned",
        ),
    ),
)

RATIOS: Final = (
    *(_ratio(option) for option in ("player", "pair", "all")),
    Panel(
        title="Standard deviations from the expectation",
        help="The z-score of what was returned. Beyond 4, up or down, it can hardly be chance.",
        queries=(
            Query(f'pokdeng:payout_ratio:zscore{{{_OURS}, currency="$currency", window="$window"}}', "{{option}}"),
        ),
        width=16,
        wrong_from=4,
    ),
    Panel(
        title="Payout ratio by bet",
        help="Of the last hour. The five spots of a kind should look alike.",
        queries=(
            Query(
                _of(
                    'sum by (bet) (increase(pokdeng_returned_minor_units_total{%, currency="$currency"}[1h]))'
                    " / "
                    '(sum by (bet) (increase(pokdeng_taken_minor_units_total{%, currency="$currency"}[1h])) > 0)'
                ),
                "{{bet}}",
            ),
        ),
        unit="percentunit",
    ),
)


def _latency(title: str, metric: str, help_: str, wrong_from: float) -> Panel:
    rate = f"sum by (le) (rate({metric}_bucket{{%}}[$__rate_interval]))"
    quantiles = tuple((f"histogram_quantile({part}, {rate})", f"{name}") for part, name in (
        ("0.5", "half"), ("0.95", "95 of 100"), ("0.99", "99 of 100"),
    ))  # fmt: skip
    return _lines(title, "s", help_, *quantiles, wrong_from=wrong_from)


LATENCY: Final = (
    _latency(
        "Bet or transfer to decision",
        "pokdeng_decision_latency_seconds",
        "From the broker's stamp to the acknowledged decision.",
        1,
    ),
    _latency(
        "Last card to settlement",
        "pokdeng_settlement_latency_seconds",
        "From the record that completed the round to each bet's acknowledged settlement.",
        1,
    ),
    _latency("Ledger call", "pokdeng_ledger_call_seconds", "One batch applied to Redis.", 0.2),
)

STREAM: Final = (
    _lines(
        "Lag",
        "short",
        "Records not processed yet, of all partitions.",
        ("sum by (topic) (pokdeng_input_lag_records{%})", "{{topic}}"),
        wrong_from=10_000,
    ),
    _lines(
        "Age of the watermark",
        "s",
        "The oldest record still needed, of the worst partition. An open round keeps it; a held one for long.",
        ("max by (topic) (pokdeng_watermark_age_seconds{%})", "{{topic}}"),
        wrong_from=2_700,
    ),
    _lines(
        "Rounds open and held",
        "short",
        "Open rounds should be about as many as tables play.",
        ("sum(pokdeng_rounds_open{%})", "open"),
        ("sum(pokdeng_rounds_held{%})", "held"),
    ),
    _lines(
        "Oldest round",
        "s",
        "How long ago the oldest unfinished round opened, by the log's time.",
        ("max(pokdeng_oldest_open_round_seconds{%})", "open"),
        ("max(pokdeng_oldest_held_round_seconds{%})", "held"),
        wrong_from=1_800,
    ),
    _lines(
        "Dead letters",
        "short",
        "New in 15 minutes, by topic and reason.",
        ("pokdeng:dead_letters:new15m{%} > 0", "{{topic}} {{reason}}"),
        ("sum(pokdeng:dead_letters_truncated:new15m{%})", "truncated"),
    ),
    _lines(
        "Duplicates",
        "ops",
        "Records that said what was known, a second.",
        ("sum by (topic) (rate(pokdeng_duplicates_total{%}[$__rate_interval]))", "{{topic}}"),
    ),
)

LEDGER: Final = (
    _lines(
        "Ledger calls",
        "ops",
        "Batches applied, a second.",
        ("sum(rate(pokdeng_ledger_call_seconds_count{%}[$__rate_interval]))", "calls"),
    ),
    _lines(
        "Ledger found otherwise than left",
        "short",
        "In 15 minutes: empty, started anew, or with writes missing.",
        ("pokdeng:ledger_recoveries:new15m{%}", "{{cause}}"),
        wrong_from=1,
    ),
    _lines(
        "Partitions by worker",
        "short",
        "Of all inputs.",
        ("count by (instance) (pokdeng_input_lag_records{%})", "{{instance}}"),
    ),
    _lines(
        "CPU",
        "percentunit",
        "Of one core, by worker.",
        (
            f"rate(process_cpu_seconds_total{{%}}[$__rate_interval]) {_OF_WORKERS}",
            "{{instance}}",
        ),
    ),
    _lines(
        "Memory",
        "bytes",
        "Resident, by worker.",
        (
            f"process_resident_memory_bytes{{%}} {_OF_WORKERS}",
            "{{instance}}",
        ),
    ),
    _lines(
        "Versions",
        "short",
        "Workers by version and rule set; during an upgrade there are two.",
        ("count by (version, ruleset) (pokdeng_build_info{%})", "{{version}} {{ruleset}}"),
    ),
)

DASHBOARD: Final = Dashboard(
    uid="pokdeng-settlement",
    title="Pok Deng settlement",
    help="Written from ops/dashboard.py by `make ops`. What to do when something is red: docs/runbooks/.",
    choices=(
        Choice("namespace", "Namespace", query="label_values(pokdeng_build_info, namespace)", has_all=True),
        Choice("job", "Job", query="label_values(pokdeng_build_info, job)", has_all=True),
        Choice("currency", "Currency", query="label_values(pokdeng_taken_minor_units_total, currency)"),
        Choice("window", "Window of the ratios", values=("24h", "1h", "30d")),
    ),
    rows=(
        Row("Money at risk", AT_RISK),
        Row("Money", MONEY),
        Row("Payout ratios", RATIOS),
        Row("Latency", LATENCY),
        Row("The stream", STREAM),
        Row("Ledger and workers", LEDGER),
    ),
)


def dashboard_text() -> str:
    """The dashboard's file."""
    return json.dumps(DASHBOARD.as_json(), indent=2, ensure_ascii=False) + "\n"
