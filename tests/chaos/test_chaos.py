"""A short storm over real parts: one broker, two workers, each fault that leaves Redis what it acknowledged."""

from __future__ import annotations

import asyncio
import os
import shutil
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from tests.chaos.proxies import server_binary
from tests.chaos.report import ChaosReport
from tests.chaos.run import Plan, run
from tests.chaos.storm import KILLS
from tests.chaos.watch import Stall
from tests.checker.report import Report
from tests.support.kafka import _runs_natively

if TYPE_CHECKING:
    from pathlib import Path

IS_REQUIRED = os.environ.get("POKDENG_REQUIRE_CHAOS") == "1"
HAS_PARTS = _runs_natively() and shutil.which("redis-server") is not None
PLAN = Plan(seed=11, bets=4_000, kills=4, seconds=40, workers=2, brokers=1, is_lossy=False)


@pytest.mark.timeout(900)
@pytest.mark.skipif(not HAS_PARTS and not IS_REQUIRED, reason="needs Java with Maven, and Redis")
def test_a_short_storm_loses_nothing_and_doubles_nothing(tmp_path: Path) -> None:
    """Kills, pauses and broken connections: the checker finds nothing, and the faults did happen."""
    if server_binary() is None and not IS_REQUIRED:
        pytest.skip("needs toxiproxy, or Go to build it")
    report = asyncio.run(run(PLAN, tmp_path, print))
    assert report.is_clean, report
    assert sum(number for kind, number in report.faults.items() if kind in KILLS) >= PLAN.kills
    assert report.checked.counts["bet_settled"] > PLAN.bets // 2


def reported(plan: Plan, *findings: str, holes: int = 0, checkpoint: str = "written") -> ChaosReport:
    """A storm of which the checker found this."""
    checked = Report(counts=Counter(holes=holes))
    for finding in findings:
        checked.find(finding)
    return ChaosReport(
        plan=plan,
        checked=checked,
        faults=Counter(),
        happened=[],
        sent_bets=0,
        longest=Stall(0, 0, ""),
        ends=Counter(),
        errors=Counter(),
        checkpoints=Counter({checkpoint: 1}),
    )


@pytest.mark.parametrize("is_lossy", [True, False])
def test_only_a_lost_redis_excuses_a_hole_in_a_sequence(*, is_lossy: bool) -> None:
    """A movement that was never said can be lost with it, and with nothing else; and nothing besides it is excused."""
    plan, hole = replace(PLAN, is_lossy=is_lossy), "account A-1 has a hole in its sequence: [1, 3]"
    assert reported(plan, hole, holes=1).is_clean is is_lossy
    assert not reported(
        plan, hole, "account A-1 ends at (1, 0, 3, 'THB'), its facts say (0, 0, 3, 'THB')", holes=1
    ).is_clean


def test_books_that_do_not_balance_for_a_checkpoint_are_a_broken_promise() -> None:
    """A writer that was killed or could not reach a broker is none."""
    for harmless in ("killed", "failed: Error: the list of topics: Kafka does not answer in time"):
        assert reported(PLAN, checkpoint=harmless).is_clean
    assert not reported(PLAN, checkpoint="failed: KeyError: 'T-1'").is_clean
    assert not reported(PLAN, checkpoint="refused: the books do not balance: {'THB': {'difference': 1}}").is_clean


def test_a_report_names_what_was_lost_doubled_or_wrong() -> None:
    """Each finding of the checker is counted under one of the three, and any makes the run fail."""
    report = reported(
        PLAN,
        "bet_settled x was never said: {}",
        "pokdeng.bets.v1[0]@7 must be the dead letter not_json, and is none",
        "bet_settled x must not have been said: {}",
        "bet_settled x is wrong: returned is 1, must be 2",
    )
    assert report.harm == {"lost": 2, "double": 1, "wrong": 1, "accounts with a hole": 0}
    assert not report.is_clean
    assert "must not have been said" in str(report)
