"""A log that is checked in parts is judged as one that is checked as a whole."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from pokdeng.simulator import MemorySender, Mischief, Play, perform, script
from tests.checker.checker import check
from tests.checker.records import Plain, Topics
from tests.checker.spool import Spool, check_spooled
from tests.support.line import INPUTS, OUTPUTS, Line

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.checker.report import Report

PLAY = Play(tables=6, rounds=4, accounts=20, bets_per_round=10, seed=5, mischief=Mischief.at(0.5), beat_ms=1000)
Balances = dict[str, tuple[int, int, int, str]]


async def played() -> tuple[list[Plain], list[Plain], Balances]:
    """Inputs, outputs and balances of an evening on the twins."""
    line = Line(partitions=3)
    async with line.worker() as worker:
        await worker.owns()
        await perform(script(PLAY), MemorySender(line.broker, line.topics), opened=worker.caught_up)
        await worker.caught_up()
        ledger = line.new_ledger()
        await ledger.open()
        balances = {
            str(one.account): (one.available, one.held, one.sequence, str(one.currency))
            async for one in ledger.accounts()
        }

    def plain(record: Any) -> Plain:
        return Plain(
            record.topic, record.partition, record.offset, record.timestamp, record.key, record.value, record.headers
        )

    return [plain(one) for one in line.records(*INPUTS)], [plain(one) for one in line.records(*OUTPUTS)], balances


def nothing(_: list[Plain], __: list[Plain], ___: Balances) -> None:
    """All is well."""


def a_fact_is_lost(_: list[Plain], outputs: list[Plain], __: Balances) -> None:
    """One settlement was never said."""
    del outputs[next(at for at, one in enumerate(outputs) if "settlements" in one.topic)]


def a_letter_is_lost(_: list[Plain], outputs: list[Plain], __: Balances) -> None:
    """One dead letter was never written."""
    del outputs[next(at for at, one in enumerate(outputs) if "dead-letters" in one.topic)]


def a_balance_is_wrong(_: list[Plain], __: list[Plain], balances: Balances) -> None:
    """An account has one unit too much."""
    name, (available, held, sequence, currency) = next(iter(balances.items()))
    balances[name] = (available + 1, held, sequence, currency)


def a_fact_has_no_table(_: list[Plain], outputs: list[Plain], __: Balances) -> None:
    """Somebody said something of no table at all."""
    first = next(one for one in outputs if "rounds" in one.topic)
    outputs.append(first._replace(offset=10**6, value=b'{"event_id":"x","type":"y"}'))


@pytest.mark.parametrize("harm", [nothing, a_fact_is_lost, a_letter_is_lost, a_balance_is_wrong, a_fact_has_no_table])
def test_parts_find_what_the_whole_finds(harm: Callable[..., None], tmp_path: Path) -> None:
    """The same counts, books and findings, whether all is well or something was done to it."""
    inputs, outputs, balances = asyncio.run(played())
    harm(inputs, outputs, balances)
    whole = check(inputs, outputs, partitions=3, final_balances=balances)
    topics = Topics("pokdeng", 3)
    spool = Spool(tmp_path, topics, 3)
    spool.write(inputs)
    spool.write(outputs)
    spool.close()
    parts = check_spooled(tmp_path, topics, partitions=3, final_balances=balances, jobs=1)
    assert bool(whole.findings) == (harm is not nothing)
    assert of(parts) == of(whole)


def of(report: Report) -> Report:
    """A report without the order of what was found."""
    return replace(report, findings=sorted(report.findings))
