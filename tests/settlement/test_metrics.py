"""What the worker counts: each fact once, when it is applied first; field failures O21 and O22 by name."""

from __future__ import annotations

import asyncio
import re
import time
from typing import TYPE_CHECKING

from prometheus_client import Counter, Gauge
from prometheus_client.parser import text_string_to_metric_families
from structlog.testing import capture_logs

from pokdeng.metrics import Metrics
from pokdeng.metrics.latency import BatchHistogram
from pokdeng.settlement.reporting import MetricsObserver
from pokdeng.settlement.standing import Standing
from pokdeng.settlement.tally import known_keys
from pokdeng.simulator import MemorySender, Mischief, Play, perform, script
from pokdeng.wire import TopicKind
from tests.settlement.scene import Scene
from tests.settlement.table_talk import FIVE_ACCOUNTS, S1_R1
from tests.support.line import Line

if TYPE_CHECKING:
    import pytest

MUCH_OF_EVERYTHING = """
    bet b1 A-1 player_1 1000
    bet b2 A-2 player_5_pair 500
    bet b3 A-3 player_2 100000
    bet b4 A-4 player_2 100
    cancel b4 A-4
    bet b1 A-1 player_1 1000
    raw bets T-1 not json
    close R-1
    bet b5 A-5 player_3 100
    deal R-1 W
    open R-2
    bet c1 A-1 player_1 1000 of R-2
    void R-2
    withdraw A-1 500
    withdraw A-2 999999
"""


def counted(metrics: Metrics) -> dict[str, float]:
    """Everything a page shows that is not 0 and no latency, by series."""
    return {
        sample.name + "{" + ",".join(sample.labels.values()) + "}": sample.value
        for family in text_string_to_metric_families(metrics.page().decode())
        for sample in family.samples
        if sample.value and sample.name.startswith("pokdeng") and "_seconds" not in sample.name
    }


async def play(played: Scene, text: str) -> None:
    """A table with five accounts, and a text."""
    await played.start()
    await played.play(FIVE_ACCOUNTS)
    await played.play(S1_R1)
    await played.play(text)


def test_each_fact_is_counted_once() -> None:
    """A round with a bit of everything: what is counted is what the facts say, amounts and reasons included."""

    async def run() -> dict[str, float]:
        metrics, played = Metrics(), Scene()
        played.line.observer = MetricsObserver(metrics)
        await play(played, MUCH_OF_EVERYTHING)
        await played.stop()
        return counted(metrics)

    found = asyncio.run(run())
    expected = {name: value for name, value in found.items() if "expected" in name or "variance" in name}
    assert {name: value for name, value in found.items() if name not in expected} == {
        "pokdeng_bets_total{accepted,}": 4,
        "pokdeng_bets_total{rejected,betting_closed}": 1,
        "pokdeng_bets_total{rejected,insufficient_funds}": 1,
        "pokdeng_bets_total{withdrawn,}": 1,
        "pokdeng_settled_bets_total{player_1,win}": 1,
        "pokdeng_settled_bets_total{player_1,refunded}": 1,
        "pokdeng_settled_bets_total{player_5_pair,win}": 1,
        "pokdeng_taken_minor_units_total{player_1,THB}": 2000,
        "pokdeng_taken_minor_units_total{player_5_pair,THB}": 500,
        "pokdeng_returned_minor_units_total{player_1,THB}": 3000,
        "pokdeng_returned_minor_units_total{player_5_pair,THB}": 6000,
        "pokdeng_rounds_total{settled}": 1,
        "pokdeng_rounds_total{refunded}": 1,
        "pokdeng_funds_total{credited,}": 5,
        "pokdeng_funds_total{debited,}": 1,
        "pokdeng_funds_total{rejected,insufficient_funds}": 1,
        "pokdeng_dead_letters_total{not_json,pokdeng.bets.v1}": 1,
        "pokdeng_duplicates_total{pokdeng.bets.v1}": 1,
    }
    assert abs(expected["pokdeng_expected_return_minor_units_total{player_1,THB}"] - 1974.998) < 0.001
    assert abs(expected["pokdeng_expected_return_minor_units_total{player_5_pair,THB}"] - 448.193) < 0.001
    assert abs(expected["pokdeng_return_variance_minor_units_squared_total{THB,player}"] - 2025099.88) < 0.01


def test_a_replay_counts_nothing_again() -> None:
    """Another group reads the whole log anew, and says nothing new: not a counter moves."""

    async def run() -> tuple[dict[str, float], dict[str, float], int]:
        metrics, played = Metrics(), Scene()
        played.line.observer = MetricsObserver(metrics)
        await play(played, MUCH_OF_EVERYTHING + "\nopen R-3\nbet d1 A-1 player_1 10 of R-3\nraw bets T-1 again no json")
        first = counted(metrics)
        await played.stop()
        await played.start(group="another")
        await played.caught_up()
        read_again = played.copies("dead bets@")
        await played.stop()
        return first, counted(metrics), read_again

    first, second, read_again = asyncio.run(run())
    assert read_again > 2, "the dead letters were not read again: the test shows nothing"
    assert second == first


def test_o21_a_metric_that_throws_is_said_once_and_stops_no_money(monkeypatch: pytest.MonkeyPatch) -> None:
    """O21: with every metric object raising, W ends 11000/0/3, the offset is committed, one line in the log."""

    def break_down(*_: object) -> None:
        raise RuntimeError("the metric is broken")

    monkeypatch.setattr(Counter, "inc", break_down)
    monkeypatch.setattr(Gauge, "set", break_down)
    monkeypatch.setattr(BatchHistogram, "observe", break_down)

    async def run() -> tuple[str, int | None, int]:
        played = Scene()
        played.line.observer = MetricsObserver(Metrics())
        await play(played, "bet b1 A-1 player_1 1000\nclose R-1\ndeal R-1 W")
        balance = await played.balance()
        await played.stop()
        return balance, played.committed(TopicKind.BETS), len(played.line.records(TopicKind.BETS))

    with capture_logs() as said:
        balance, committed, end = asyncio.run(run())
    assert (balance, committed) == ("11000/0/3", end)
    assert [one["event"] for one in said if "metric" in one["event"]] == ["metrics_failed"]


def test_o22_the_number_of_series_does_not_grow_with_play() -> None:
    """O22: 20 tables, 10,000 accounts, 1,000 rounds: as many series after round 1,000 as after 100, few, and no ids."""

    async def run() -> tuple[list[bytes], list[float]]:
        metrics, line = Metrics(), Line()
        line.observer = MetricsObserver(metrics)
        metrics.count(dict.fromkeys(known_keys(line.topics, ()), 0))
        pages, seconds = [], []
        async with line.worker() as worker:
            await worker.owns()
            standing = Standing(worker.log, line.topics, worker.engine)
            sender = MemorySender(line.broker, line.topics)
            for number, rounds in ((1, 5), (2, 45)):
                played = Play(
                    tables=20,
                    rounds=rounds,
                    accounts=10_000,
                    bets_per_round=8,
                    seed=number,
                    mischief=Mischief.at(0.3),
                    puts_money_in=number == 1,
                )
                await perform(script(played), sender, opened=worker.caught_up)
                await worker.caught_up()
                await standing.ask_ends()
                began = time.perf_counter()
                standing.show(metrics)
                pages.append(metrics.page())
                seconds.append(time.perf_counter() - began)
        return pages, seconds

    pages, seconds = asyncio.run(run())
    series = [[line for line in page.decode().splitlines() if not line.startswith("#")] for page in pages]
    names = [{line.rpartition(" ")[0] for line in one} for one in series]
    assert names[0] == names[1]
    assert len(series[1]) <= 500
    assert len(pages[1]) < 1_000_000
    assert min(seconds) < 0.2
    labels = set(re.findall(r'"([^"]*)"', pages[1].decode()))
    assert not {label for label in labels if re.match(r"(A|T|S|R|B|D|W)-?\d", label)}, labels
