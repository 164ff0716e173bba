"""`pokdeng audit`: the books of the whole log, what the options paid, and every broken promise."""

from __future__ import annotations

import gc
import json
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from pokdeng.cli import options
from pokdeng.cli.audit_view import audit_view, json_of_report
from pokdeng.cli.log_access import Surroundings, with_log
from pokdeng.cli.page import print_page
from pokdeng.cli.progress import Bar
from pokdeng.history.audit import Report, audit
from pokdeng.history.audit.auditor import ORDER
from pokdeng.history.reading import open_past
from pokdeng.restore.books_said import BooksReader, say_books
from pokdeng.wire import Topics

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pokdeng.stream.port import Log


@click.command("audit")
@options.kafka
@options.prefix
@options.option(
    "--most", type=click.IntRange(0), default=20, show_default=True, help="How many findings of each kind are listed."
)
@options.option(
    "--say",
    is_flag=True,
    help="Have the workers' metrics show whether the books balance, as a checkpoint does: on the topic `checkpoints`, "
    "with the rights of role settlement.",
)
@options.as_json
@click.pass_obj
def command(around: Surroundings | None, /, *, prefix: str, most: int, say: bool, as_json: bool, **kafka: Any) -> None:
    """Fold the whole log; print the books, what each option paid, and every broken promise. Exit 1 if there is any.

    Reads inputs as far as they are kept, and all outputs; asks Redis nothing, and writes nothing but what --say says.
    May run beside workers: what is on its way at the log's end is then left open.
    """
    topics = Topics(prefix)
    began = time.monotonic()

    async def read(log: Log) -> Report:
        with Bar() as bar:
            report = await audit(await open_past(log, topics, ORDER, bar), most=most)
        if say:
            await _say(log, topics, report, (around or Surroundings()).now_ms())
        return report

    with _rare_collector():
        report = with_log(around, kafka, read)
    seconds = time.monotonic() - began
    if as_json:
        click.echo(json.dumps(json_of_report(report, seconds)))
    else:
        print_page(audit_view(report, seconds))
    if report.findings.total:
        raise SystemExit(1)


async def _say(log: Log, topics: Topics, report: Report, now_ms: int) -> None:
    before = await BooksReader(log, topics).newest()
    differences = {currency: -one.difference for currency, one in report.books.items()}  # of what accounts have
    await say_books(log, topics, now_ms, differences, checkpoint_ms=0 if before is None else before.checkpoint_ms)


@contextmanager
def _rare_collector() -> Iterator[None]:
    """Have the garbage collector look rarely: a hundred thousand records are held at once, and none is in a circle."""
    before = gc.get_threshold()
    gc.set_threshold(150_000, 50, 1_000)
    try:
        yield
    finally:
        gc.set_threshold(*before)
