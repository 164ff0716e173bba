"""Corrections where it could go wrong: kills, shoes, snapshots, what expires, what is missing, metrics."""

from __future__ import annotations

import asyncio
import json
from time import monotonic
from typing import TYPE_CHECKING

import pytest

from pokdeng.events.ids import BetId, RoundId, TableId
from pokdeng.metrics import Metrics
from pokdeng.settlement.reporting import MetricsObserver
from pokdeng.settlement.revisions import LOOK_AGAIN_S
from pokdeng.stream.memory import Point
from pokdeng.wire import TopicKind
from tests.settlement.breakage import kill_in_ledger, kill_in_log
from tests.settlement.lives import HOURS_MS, LIVES, noted_only
from tests.settlement.scene import scene
from tests.settlement.table_talk import FIVE_ACCOUNTS, S1_R1

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from tests.settlement.scene import Scene

B1 = f"{S1_R1}\nbet b1 A-1 player_1 1000 #b1\nclose R-1\ndeal R-1 W"
W_C = "correct R-1 player_1 1 2c #c1"
R_2 = "open R-2\nbet b2 A-2 player_1 1000 of R-2\nclose R-2\ndeal R-2 W"
REVISED = [
    "bet_reversed b1 A-1 3000 8000/2000/4 r2",
    "bet_settled b1 A-1 lose 1000 9000/0/5 r2",
    "round_settled R-1 1 bets seal 1 r2",
]
KEY = (TableId("T-1"), RoundId("R-1"))

in_every_life = pytest.mark.parametrize("life", LIVES)


def revised(played: Scene) -> list[str]:
    """The facts of revisions after the first."""
    return [fact for fact in played.facts() if fact.split()[-1].startswith("r") and fact.split()[-1][1:].isdigit()]


# Killed


@in_every_life
@pytest.mark.parametrize(
    ("call", "is_answer_lost"),
    [("keep", False), ("keep", True), ("revise", False), ("revise", True), ("remember", False), ("remember", True)],
)
def test_killed_in_the_ledger(life: Callable[[Scene], Awaitable[None]], call: str, *, is_answer_lost: bool) -> None:
    """The next worker reads the correction again: the same bytes, the money moved once. The next round comes too."""

    async def play() -> None:
        async with scene() as played:
            await played.play(FIVE_ACCOUNTS)
            await played.play(B1)
            await life(played)
            await kill_in_ledger(played, f"{W_C}\n{R_2}", is_answer_lost=is_answer_lost, call=call)
            await played.start()
            await played.caught_up()
            assert revised(played) == REVISED
            assert await played.balance() == "9000/0/5"
            assert await played.balance("A-2") == "11000/0/3"
            await life(played)
            await played.play("again c1\ncorrect R-1 player_1 1 9c")
            assert await played.balance() == "11000/0/7"

    asyncio.run(play())


@in_every_life
@pytest.mark.parametrize(
    ("point", "topic"),
    [
        (Point.APPEND, TopicKind.SETTLEMENTS),
        (Point.APPEND, TopicKind.ROUNDS),
        (Point.ACKNOWLEDGE, None),
        (Point.COMMIT, None),
        (Point.COMMITTED, None),
    ],
)
def test_killed_while_it_is_said(
    life: Callable[[Scene], Awaitable[None]], point: Point, topic: TopicKind | None
) -> None:
    """Before or after the facts, before the round's record, around the commit: copies are the same bytes."""

    async def play() -> None:
        async with scene() as played:
            await played.play(FIVE_ACCOUNTS)
            await played.play(B1)
            await life(played)

            def is_revising() -> bool:
                store = played.line.store.buckets
                bets = [bucket.rounds.get(KEY, {}).get(BetId("b1")) for bucket in store]
                return any(bet is not None and bet.record.revision > 1 for bet in bets)

            name = None if topic is None else played.line.topics.name(topic)
            await kill_in_log(played, f"{W_C}\n{R_2}", point, name, when=is_revising)
            await played.start()
            await played.caught_up()
            assert revised(played) == REVISED
            assert await played.balances() == {
                "A-1": "9000/0/5",
                "A-2": "11000/0/3",
                "A-3": "10000/0/1",
                "A-4": "10000/0/1",
                "A-5": "10000/0/1",
            }

    asyncio.run(play())


def test_killed_between_two_buckets() -> None:
    """Some bets are in the next revision, some are not: the next worker finds both, and says all."""

    async def play() -> None:
        async with scene() as played:
            await played.play(FIVE_ACCOUNTS)
            bets = "\n".join(f"bet b{n} A-{n} player_{n} 1000" for n in range(1, 6))
            await played.play(f"{S1_R1}\n{bets}\nclose R-1\ndeal R-1 L")
            await kill_in_ledger(played, "correct R-1 banker 2 6d", is_answer_lost=False, call="revise", skip=1)
            moved = [balance.split("/")[2] for balance in (await played.balances()).values()]
            assert {"3", "5"} == set(moved)
            await played.start()
            await played.caught_up()
            assert await played.balances() == {"A-1": "9000/0/5"} | {f"A-{n}": "11000/0/5" for n in range(2, 6)}
            assert len(revised(played)) == 11

    asyncio.run(play())


# What expires


def test_nothing_expires_while_a_correction_is_not_said() -> None:
    """A worker that dies in the middle and comes back after weeks finds bets and pages, and says it."""

    async def play() -> None:
        async with scene() as played:
            await played.play(FIVE_ACCOUNTS)
            await played.play(B1)
            await noted_only(played)
            await kill_in_ledger(played, W_C, is_answer_lost=True, call="revise")
            later_ms = 40 * 24 * HOURS_MS
            played.line.store.clock = lambda: int(monotonic() * 1000) + later_ms
            await played.start()
            await played.caught_up()
            assert revised(played) == REVISED

    asyncio.run(play())


def test_what_is_remembered_is_remembered_anew_with_each_revision() -> None:
    """27 hours after the settlement, 22 after its correction, a copy of the bet is known; 5 hours later none is."""

    async def play() -> None:
        now_ms = [0]
        async with scene() as played:
            played.line.store.clock = lambda: int(monotonic() * 1000) + now_ms[0]
            await played.play(FIVE_ACCOUNTS)
            await played.play(B1)
            await noted_only(played)
            now_ms[0] += 5 * HOURS_MS
            await played.play(W_C)
            await noted_only(played)
            now_ms[0] += 22 * HOURS_MS
            await played.play("again b1\nagain c1")
            assert played.about("b1")[-1] == REVISED[1]
            now_ms[0] += 5 * HOURS_MS
            bets = [bucket.rounds for number in range(16) if (bucket := played.line.store.bucket(number)) is not None]
            assert not any(KEY in rounds for rounds in bets)

    asyncio.run(play())


# What is missing


@in_every_life
def test_a_missing_record_stops_the_correction_and_nothing_else(life: Callable[[Scene], Awaitable[None]]) -> None:
    """No money moves, nothing is committed past it, others go on; when the record is back the correction is done."""

    async def play() -> None:
        async with scene() as played:
            await played.play(FIVE_ACCOUNTS)
            await played.play(f"{S1_R1}\nbet b1 A-1 player_1 1000\nbet b4 A-4 player_4 1000\nclose R-1\ndeal R-1 W")
            await life(played)
            taken = [bucket.rounds.pop(KEY, None) for bucket in played.line.store.buckets]
            gone = next(number for number, bets in enumerate(taken) if bets and BetId("b4") in bets)
            for number, bets in enumerate(taken):
                if bets and number != gone:
                    played.line.store.buckets[number].rounds[KEY] = bets
            end = len(played.line.records(TopicKind.TABLE_EVENTS))
            before = played.facts()
            await played.play(f"{W_C}\nvoid R-1\nshoe S-8 4h at T-3\nopen R-8 in S-8 at T-3\nclose R-8 at T-3")
            await played.play("deal R-8 W at T-3")
            assert [fact for fact in played.facts() if fact not in before] == ["round_settled R-8 0 bets seal 2"]
            assert await played.balance() == "11000/0/3"
            worker = played.worker
            assert worker is not None
            assert worker.engine.owned.stopped_corrections == 1
            await played.restart()
            await played.caught_up()
            assert not revised(played)
            assert (played.committed(TopicKind.TABLE_EVENTS) or 0) <= end
            played.line.store.buckets[gone].rounds[KEY] = taken[gone] or {}
            played.line.elapse(LOOK_AGAIN_S + 1)
            await played.worker.until(lambda: len(revised(played)) == 10)  # type: ignore[union-attr]  # it runs
            assert await played.balance() == "10000/0/7"
            assert await played.balance("A-4") == "10000/0/7"

    asyncio.run(play())


# Shoes and snapshots

EIGHT = "\n".join(f"open R-{n}\nclose R-{n}\ndeal R-{n} W" for n in range(1, 9))
NEXT_SHOE = "shoe S-2 3h\nopen R-9 in S-2\nclose R-9\ndeal R-9 W"
LATER_SHOES = f"{NEXT_SHOE}\nshoe S-3 4d\nopen R-10 in S-3\nclose R-10\ndeal R-10 W"


@in_every_life
@pytest.mark.parametrize("next_shoes", ["", NEXT_SHOE, LATER_SHOES], ids=["same shoe", "next shoe", "later shoes"])
@pytest.mark.parametrize("piecemeal", [False, True], ids=["in one batch", "one by one"])
def test_the_copies_of_a_shoe_are_counted_for_ever(
    life: Callable[[Scene], Awaitable[None]], next_shoes: str, *, piecemeal: bool
) -> None:
    """All eight copies of each card lie; one that is corrected away may come once more, and no second time."""
    text = """
        correct R-1 player_1 1 2c                       ;; a ninth
        correct R-1 player_1 1 As
        correct R-2 player_1 2 9c                       ;; the eighth again
        correct R-3 player_1 2 9c                       ;; a ninth
        correct R-4 player_2 1 As
        correct R-4 player_2 1 5s                       ;; back
        correct R-5 player_2 2 5s                       ;; a ninth
    """

    async def play() -> None:
        async with scene() as played:
            await played.play(f"{FIVE_ACCOUNTS}\nshoe S-1 2h\n{EIGHT}")
            await played.play(next_shoes)
            await life(played)
            for line in text.splitlines() if piecemeal else [text]:
                await played.play(line)
                if piecemeal and "As" in line:
                    await life(played)
            assert len(played.about("ninth_copy")) == 3
            assert [fact.split()[1] for fact in revised(played)] == ["R-1", "R-2", "R-4", "R-4"]

    asyncio.run(play())


@in_every_life
def test_a_round_opens_with_the_shoe_as_corrected(life: Callable[[Scene], Awaitable[None]]) -> None:
    """A card that was corrected away is dealt again in the next round; of another face there would be a ninth."""

    async def play() -> None:
        async with scene() as played:
            await played.play(f"{FIVE_ACCOUNTS}\nshoe S-1 2h\n{EIGHT}")
            await life(played)
            await played.play("correct R-1 player_1 1 As")
            await life(played)
            await played.play("open R-9\ncard R-9 player_1 1 9c\ncard R-9 player_1 2 Td")
            assert set(played.about("ninth_copy")) == {
                "round_held R-9 ninth_copy",
                f"dead table-events@{played.last_event} ninth_copy",
            }

    asyncio.run(play())


def test_a_correction_tells_nothing_of_the_cards_of_the_next_round() -> None:
    """While another round is open the header of the revision's record tells the shoe as it began."""

    async def play() -> None:
        async with scene() as played:
            await played.play(FIVE_ACCOUNTS)
            await played.play(f"{B1}\nopen R-2\ncard R-2 player_1 1 7s\n{W_C}")
            record = played.line.records(TopicKind.ROUNDS)[-1]
            told = json.loads(dict(record.headers)["pokdeng-resume"])
            assert (told["revision"], told["shoe"][3], told["table"]) == (2, 3, None)

    asyncio.run(play())


def test_the_next_rounds_snapshot_waits_for_the_correction() -> None:
    """The next round is said before the correction that came before it: its record absorbs nothing of the table."""

    async def play() -> None:
        async with scene() as played:
            await played.play(FIVE_ACCOUNTS)
            await played.play(B1)
            await played.play(f"{W_C}\n{R_2}\nbet b3 A-3 player_1 1 of R-2        ;; late: the seal is known at once")
            told = [
                json.loads(dict(record.headers)["pokdeng-resume"]) for record in played.line.records(TopicKind.ROUNDS)
            ]
            assert [fact.split()[1] for fact in played.facts(TopicKind.ROUNDS)] == ["R-1", "R-2", "R-1"]
            first, second, third = (one["table"] for one in told)
            assert first["newest_round"] == third["newest_round"] == "R-1"
            assert second is None
            await played.stop()
            assert played.committed(TopicKind.TABLE_EVENTS) == played.last_event + 1
            await played.start()

    asyncio.run(play())


# Nothing is kept


def test_a_settled_round_leaves_nothing_behind_in_the_worker() -> None:
    """Nor does a corrected one: after many rounds the desk holds what it held after a few."""

    async def play() -> None:
        async with scene(is_checked=False) as played:
            await played.play(FIVE_ACCOUNTS)
            sizes = []
            for part in range(3):
                for number in range(20):
                    name = f"R-{part}-{number}"
                    await played.play(
                        f"shoe S-{name} 2h\nopen {name} in S-{name}\nbet b-{number} A-1 player_2 1 of {name}"
                    )
                    await played.play(f"close {name}\ndeal {name} W")
                    if number % 4 == 0:
                        await played.play(f"correct {name} player_1 1 2c\ncorrect {name} player_1 1 9c")
                await played.stop()
                await played.start()
                worker = played.worker
                assert worker is not None
                desk = worker.engine.owned._desks[0]
                await worker.until(lambda desk=desk: len(desk.finished) <= 1)  # type: ignore[misc]  # mypy infers no type of a default in a lambda
                tables = desk.floor._tables.values()
                held = sum(len(table.rounds) + len(table.shoes) for table in tables)
                sizes.append((held, len(desk.books), len(desk.revisions._queues)))
            assert sizes[0] == sizes[1] == sizes[2]

    asyncio.run(play())


# Metrics


def counted(metrics: Metrics) -> dict[str, float]:
    """What the page says, but zeros."""
    lines = [line for line in metrics.page().decode().splitlines() if not line.startswith("#")]
    values = {line.rpartition(" ")[0]: float(line.rpartition(" ")[2]) for line in lines}
    return {name: value for name, value in values.items() if value}


def test_o21_the_counters_of_a_settlement_a_correction_and_a_void() -> None:
    """Settled 3000, reversed, settled 1000, reversed, refunded; the expectation counts once, and is taken back."""

    async def play() -> None:
        async with scene() as played:
            await played.stop()
            metrics = Metrics()
            played.line.observer = MetricsObserver(metrics)
            await played.start()
            await played.play(FIVE_ACCOUNTS)
            await played.play(B1)
            settled = counted(metrics)
            await played.play(W_C)
            corrected = counted(metrics)
            await played.play("void R-1")
            voided = counted(metrics)
            labels = '{bet="player_1",currency="THB"}'
            assert settled[f"pokdeng_returned_minor_units_total{labels}"] == 3000
            expected = settled[f"pokdeng_expected_return_minor_units_total{labels}"]
            for after in (corrected, voided):
                assert after[f"pokdeng_expected_return_minor_units_total{labels}"] == expected
                assert after[f"pokdeng_returned_minor_units_total{labels}"] == 4000
                assert after[f"pokdeng_taken_minor_units_total{labels}"] == 4000
            assert f"pokdeng_reversed_expected_return_minor_units_total{labels}" not in corrected
            assert corrected[f"pokdeng_reversed_returned_minor_units_total{labels}"] == 3000
            assert corrected[f"pokdeng_reversed_taken_minor_units_total{labels}"] == 2000
            assert voided[f"pokdeng_reversed_returned_minor_units_total{labels}"] == 4000
            assert voided[f"pokdeng_reversed_taken_minor_units_total{labels}"] == 4000
            assert voided[f"pokdeng_reversed_expected_return_minor_units_total{labels}"] == expected
            for option in ("player", "all"):
                of = f'{{currency="THB",option="{option}"}}'
                variance = voided[f"pokdeng_return_variance_minor_units_squared_total{of}"]
                assert voided[f"pokdeng_reversed_return_variance_minor_units_squared_total{of}"] == variance
            for outcome, times in (("win", 1), ("lose", 1), ("reversed", 2), ("refunded", 1)):
                assert voided[f'pokdeng_settled_bets_total{{bet="player_1",outcome="{outcome}"}}'] == times
            for result, times in (("settled", 1), ("revised", 2)):
                assert voided[f'pokdeng_rounds_total{{result="{result}"}}'] == times
            assert await played.balance() == "10000/0/7"

    asyncio.run(play())
