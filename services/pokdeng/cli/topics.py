"""`pokdeng topics`: create the topics as they must be, and say what differs."""

from __future__ import annotations

import asyncio
import json
from typing import Any, Final

import click
from aiokafka.errors import KafkaError

from pokdeng.cli import options
from pokdeng.cli.connect import create_topics, find_differences, kafka_settings, topic_specs
from pokdeng.stream.port import LogError
from pokdeng.wire import Topics
from pokdeng.wire.rights import Right, Role, rights
from pokdeng.wire.topic_check import Severity
from pokdeng.wire.topics import PARTITIONS

_PARTITIONS: Final = click.IntRange(1, 10_000)


@click.group("topics")
def command() -> None:
    """Create the topics as they must be, say what differs, or who may do what with them."""


@command.command("create")
@options.kafka
@options.prefix
@options.option(
    "--partitions",
    type=_PARTITIONS,
    default=PARTITIONS,
    show_default=True,
    help="Of every topic, for ever.",
)
@options.option(
    "--replication", type=click.IntRange(1, 100), default=3, show_default=True, help="Brokers that keep each record."
)
@options.option(
    "--min-insync",
    type=click.IntRange(1, 100),
    default=None,
    help="In-sync replicas that each write waits for. [default: 2, or 1 with --replication 1]",
)
@options.option("--allow-create-time", is_flag=True, help="For brokers that cannot stamp records.")
def create(
    *, prefix: str, partitions: int, replication: int, min_insync: int | None, allow_create_time: bool, **kafka: Any
) -> None:
    """Create what does not exist; what exists is left as it is."""
    topics = Topics(prefix)
    in_sync = min(2, replication) if min_insync is None else min_insync
    if in_sync > replication:
        raise click.UsageError(f"--min-insync is {in_sync}; it cannot be above --replication, {replication}")
    specs = topic_specs(
        topics,
        partitions=partitions,
        replication=replication,
        in_sync=in_sync,
        with_log_append_time=not allow_create_time,
    )
    try:
        created = asyncio.run(create_topics(kafka_settings(**kafka), specs))
    except (LogError, KafkaError) as error:
        raise click.ClickException(str(error)) from error
    for spec in specs:
        click.echo(f"{'created' if spec.name in created else 'exists '}  {spec.name}")


@command.command("check")
@options.kafka
@options.prefix
@options.option(
    "--correction-window",
    "correction_window_ms",
    type=options.Duration(),
    default="24h",
    show_default=True,
    help="As the worker has it: inputs must be kept 7 days longer.",
)
@options.option(
    "--partitions",
    type=_PARTITIONS,
    default=None,
    help="How many each topic was created with; another number is found. [default: not asked, but that table-events, "
    "bets and rounds have the same]",
)
@options.option("--allow-create-time", is_flag=True, help="Take topics whose broker cannot stamp records.")
@options.as_json
def check(
    *,
    prefix: str,
    correction_window_ms: int,
    partitions: int | None,
    allow_create_time: bool,
    as_json: bool,
    **kafka: Any,
) -> None:
    """Say what of the topics is not as it must be (exit 1) or should be (a warning)."""
    try:
        findings = asyncio.run(
            find_differences(
                kafka_settings(**kafka),
                Topics(prefix),
                correction_window_ms=correction_window_ms,
                allow_create_time=allow_create_time,
                partitions=partitions,
            )
        )
    except LogError as error:
        raise click.ClickException(str(error)) from error
    errors = sum(finding.severity is Severity.ERROR for finding in findings)
    if as_json:
        rows = [{"severity": one.severity, "topic": one.topic, "message": one.message} for one in findings]
        click.echo(json.dumps({"ok": not errors, "findings": rows}))
    else:
        for finding in findings:
            click.echo(f"{finding.severity:7}  {finding.topic}: {finding.message}")
        click.echo("the topics are as they must be" if not errors else f"{errors} must be mended")
    if errors:
        raise SystemExit(1)


class Principal(click.ParamType):
    """A role and who has it, such as `floor=User:dealing-floor`."""

    name = "principal"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[Role, str]:
        """Both; exit 2 with a sentence where it is none."""
        role, _, name = value.partition("=")
        if role not in list(Role) or not name.startswith("User:") or not name.isprintable() or "'" in name:
            self.fail(f"{value!r} is none; write ROLE=User:NAME, ROLE one of {', '.join(Role)}", param, ctx)
        return Role(role), name


@command.command("acls")
@options.prefix
@options.group("The workers' group.")
@options.option(
    "--principal",
    "principals",
    type=Principal(),
    metavar="ROLE=User:NAME",
    multiple=True,
    help="Who has a role; several may have the same. [default: User:PREFIX-ROLE]",
)
@options.as_json
def acls(*, prefix: str, group: str, principals: tuple[tuple[Role, str], ...], as_json: bool) -> None:
    """Print a script for Kafka's kafka-acls.sh that lets everybody do their work and no more; connects to nothing.

    Roles are settlement, floor, gateway, cashier, supervisor, reader and admin.
    """
    granted = [(name, right) for right in rights(Topics(prefix), group) for name in _who(right, prefix, principals)]
    if as_json:
        rows = [
            {
                "principal": name,
                "role": right.role,
                "operation": right.operation,
                "resource": right.resource,
                "name": right.name,
                "pattern": "prefixed" if right.is_prefix else "literal",
            }
            for name, right in granted
        ]
        click.echo(json.dumps(rows))
        return
    click.echo("#!/bin/sh\n# Arguments of this script: --bootstrap-server HOST:PORT --command-config FILE\nset -eu")
    for line in _lines(granted):
        click.echo(line)


def _lines(granted: list[tuple[str, Right]]) -> list[str]:
    """One call of Kafka's tool for all names that a principal may do the same with."""
    calls: dict[str, list[str]] = {}
    for name, right in granted:
        pattern = " --resource-pattern-type prefixed" if right.is_prefix else ""
        call = f"kafka-acls.sh \"$@\" --add --allow-principal '{name}' --operation {right.operation}{pattern}"
        calls.setdefault(call, []).append(f"--{right.resource} {right.name}")
    return [" ".join((call, *names)) for call, names in calls.items()]


def _who(right: Right, prefix: str, principals: tuple[tuple[Role, str], ...]) -> list[str]:
    return [name for role, name in principals if role is right.role] or [f"User:{prefix}-{right.role}"]
