"""What people and programs see of an audit. Rendering only."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.console import Group
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from pokdeng.cli.rounds_words import LABEL, WARNING, amount, counted, signed
from pokdeng.history.audit.findings import SHOULD_BE
from pokdeng.history.story import option_name

if TYPE_CHECKING:
    from rich.console import RenderableType

    from pokdeng.history.audit import Report

_FAR = 3.0
"""Standard deviations from which on it is worth a look."""


def audit_view(report: Report, seconds: float) -> RenderableType:
    """Books, options, findings, and a sentence at the end."""
    parts: list[RenderableType] = [Text("books", style="bold"), _books(report), Text()]
    for currency, options in report.options.items():
        if any(option.bets for option in options.values()):
            parts += [Text(f"options, {currency}", style="bold"), _options(report, currency), Text()]
    if report.findings.total:
        parts += [Text("broken promises", style="bold"), _findings(report), Text()]
    parts += [_counts(report, seconds), _verdict(report)]
    return Padding(Group(*parts), (0, 1))


def json_of_report(report: Report, seconds: float) -> dict[str, Any]:
    """All of it, amounts in minor units."""
    return {
        "ok": not report.findings.total,
        "books": {
            currency: {
                "deposits": one.deposits,
                "withdrawals": one.withdrawals,
                "taken": one.taken,
                "returned": one.returned,
                "house_net": one.house_net,
                "available": one.available,
                "held": one.held,
                "difference": one.difference,
                "balanced": not one.difference,
            }
            for currency, one in report.books.items()
        },
        "options": {
            currency: {
                bet.value: {
                    "bets": one.bets,
                    "taken": one.taken,
                    "returned": one.returned,
                    "ratio": one.ratio,
                    "expected": one.expected_ratio,
                    "standard_deviation": one.deviation,
                    "deviations": one.sigma,
                }
                for bet, one in options.items()
            }
            for currency, options in report.options.items()
        },
        "findings": {
            "total": report.findings.total,
            "counts": {promise.value: count for promise, count in sorted(report.findings.counts.items())},
            "listed": [
                {"promise": one.promise, "should_be": SHOULD_BE[one.promise], "where": one.where, "what": one.what}
                for one in report.findings.kept
            ],
        },
        "facts": report.facts,
        "repeats": report.repeats,
        "inputs": report.inputs,
        "duplicates": report.duplicates,
        "dead_letters": report.dead_letters,
        "accounts": report.accounts,
        "overdrawn_accounts": report.overdrawn,
        "rounds": report.rounds,
        "unfinished_rounds": report.unfinished_rounds,
        "undecided": report.undecided,
        "at_rest": report.is_at_rest,
        "seconds": round(seconds, 3),
    }


def _table(*columns: str) -> Table:
    table = Table(box=None, padding=(0, 2, 0, 0), header_style=LABEL, show_edge=False, pad_edge=False)
    for place, name in enumerate(columns):
        table.add_column(name, justify="right" if place else "left", no_wrap=True)
    return table


def _books(report: Report) -> RenderableType:
    if not report.books:
        return Text("nothing was said yet", style=LABEL)
    table = _table("", "deposits", "withdrawals", "taken", "returned", "house net", "available", "held", "")
    for currency, one in report.books.items():
        figures = (one.deposits, one.withdrawals, one.taken, one.returned)
        says = (
            Text("balanced", style="green3")
            if not one.difference
            else Text(f"off by {signed(one.difference, currency)}", style="bold red")
        )
        table.add_row(
            currency,
            *(amount(figure, currency) for figure in figures),
            signed(one.house_net, currency),
            amount(one.available, currency),
            amount(one.held, currency),
            says,
        )
    return table


def _options(report: Report, currency: str) -> RenderableType:
    table = _table("", "bets", "taken", "returned", "paid out", "expected", "+- 1 sd", "sigma")
    for bet, one in report.options[currency].items():
        if one.ratio is None or one.expected_ratio is None:
            continue
        sigma = one.sigma
        table.add_row(
            option_name(bet),
            f"{one.bets:,}",
            amount(one.taken, currency),
            amount(one.returned, currency),
            f"{one.ratio:.2%}",
            Text(f"{one.expected_ratio:.2%}", style=LABEL),
            Text(f"{one.deviation / one.taken:.2%}", style=LABEL),
            Text("-" if sigma is None else f"{sigma:+.2f}", style="bold red" if abs(sigma or 0) >= _FAR else ""),
        )
    return table


def _findings(report: Report) -> RenderableType:
    parts: list[RenderableType] = []
    for promise, count in report.findings.counts.most_common():
        title = Text.assemble(
            (f"{count:,} x {promise.value.replace('_', ' ')}", WARNING), (f"   {SHOULD_BE[promise]}", LABEL)
        )
        parts.append(title)
        table = Table.grid(padding=(0, 2))
        table.add_column(no_wrap=True)
        table.add_column(overflow="fold")
        kept = [one for one in report.findings.kept if one.promise is promise]
        for one in kept:
            table.add_row(Text(f"  {one.where}", style=LABEL), one.what)
        if len(kept) < count:
            table.add_row("", Text(f"and {count - len(kept):,} more: --most {count}", style=LABEL))
        parts.append(table)
    return Group(*parts)


def _counts(report: Report, seconds: float) -> Text:
    said = [
        counted(report.facts, "fact", "facts"),
        f"{report.repeats:,} said again",
        counted(report.inputs, "input", "inputs"),
        counted(report.duplicates, "duplicate", "duplicates"),
        counted(report.dead_letters, "dead letter", "dead letters"),
        counted(report.accounts, "account", "accounts"),
        counted(report.rounds, "round", "rounds"),
    ]
    rest = [
        counted(report.unfinished_rounds, "round is", "rounds are") + " unfinished" if report.unfinished_rounds else "",
        counted(report.undecided, "input is", "inputs are") + " not decided yet" if report.undecided else "",
        counted(report.overdrawn, "account is", "accounts are") + " overdrawn" if report.overdrawn else "",
        "" if report.is_at_rest else "the log went on meanwhile",
    ]
    lines = [", ".join(said) + f"; {seconds:,.1f} s"]
    if any(rest):
        lines.append(", ".join(filter(None, rest)))
    return Text("\n".join(lines), style=LABEL)


def _verdict(report: Report) -> Text:
    total = report.findings.total
    if total:
        return Text(f"{counted(total, 'broken promise', 'broken promises')}.", style="bold red")
    return Text("Every promise holds, and the books balance to the last minor unit.", style="bold green3")
