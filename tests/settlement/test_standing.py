"""Where a worker stands: lag, the age of what it keeps of the log, and the alarms about rounds that do not end."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from prometheus_client.parser import text_string_to_metric_families
from structlog.testing import capture_logs

from pokdeng.metrics import Metrics
from pokdeng.settlement.standing import Standing
from pokdeng.wire import TopicKind
from tests.settlement.scene import Scene
from tests.settlement.table_talk import FIVE_ACCOUNTS, S1_R1

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

TABLE, BETS = "pokdeng.table-events.v1", "pokdeng.bets.v1"
MINUTE_MS = 60_000
CONFLICT = "card R-1 banker 2 5h\ncard R-1 banker 2 3d"


class Look:
    """A scene with R-1 open at noon and one bet, its worker, and what it shows."""

    def __init__(self, played: Scene) -> None:
        """The clock is that of the scene's talk."""
        self.played = played
        worker = played.worker
        assert worker is not None
        self.metrics = Metrics()
        self.standing = Standing(worker.log, played.line.topics, worker.engine, clock_ms=lambda: played.talk.now_ms)

    async def shown(self, metric: str, topic: str | None = None) -> float | None:
        """A gauge, None where it has no such series."""
        await self.standing.ask_ends()
        return self.known(metric, topic)

    def known(self, metric: str, topic: str | None = None) -> float | None:
        """The same by the ends that are known, without asking for them."""
        self.standing.show(self.metrics)
        for family in text_string_to_metric_families(self.metrics.page().decode()):
            for sample in family.samples:
                if sample.name == metric and sample.labels.get("topic") == topic:
                    return sample.value
        return None

    def later(self, minutes: float) -> None:
        """Time goes by, and nothing happens."""
        self.played.talk.now_ms += int(minutes * MINUTE_MS)


def at_noon(look: Callable[[Look], Awaitable[None]]) -> None:
    """Open R-1 at noon, place one bet, and look."""

    async def run() -> None:
        played = Scene()
        await played.start()
        await played.play(FIVE_ACCOUNTS)
        await played.play(S1_R1.replace("open R-1", "open R-1 @0"))
        await played.play("bet b1 A-1 player_1 1000 @0")
        await look(Look(played))
        await played.stop()

    asyncio.run(run())


def test_lag_counts_what_is_still_on_the_broker() -> None:
    """Records that no reader was given yet are behind, too."""

    async def look(at: Look) -> None:
        assert await at.shown("pokdeng_input_lag_records", BETS) == 0
        at.played.hide(TopicKind.BETS)
        at.played.say("bet b2 A-2 player_1 1000\nbet b3 A-3 player_1 1000")
        assert await at.shown("pokdeng_input_lag_records", BETS) == 2
        at.played.show(TopicKind.BETS)
        await at.played.caught_up()
        assert await at.shown("pokdeng_input_lag_records", BETS) == 0

    at_noon(look)


def test_the_ends_that_were_asked_for_to_see_what_moves_serve_the_lag_too() -> None:
    """One question for both: the lag is the same, and where nothing is told the ends are those known before."""

    async def look(at: Look) -> None:
        worker = at.played.worker
        assert worker is not None
        at.played.hide(TopicKind.BETS)
        at.played.say("bet b2 A-2 player_1 1000\nbet b3 A-3 player_1 1000")
        assert at.known("pokdeng_input_lag_records", BETS) == 0
        at.standing.know_ends(await worker.engine.places())
        assert at.known("pokdeng_input_lag_records", BETS) == 2
        assert at.known("pokdeng_input_lag_records", TABLE) == 0
        at.played.show(TopicKind.BETS)
        await at.played.caught_up()
        assert at.known("pokdeng_input_lag_records", BETS) == 0

    at_noon(look)


def test_an_open_round_keeps_the_watermark_and_its_end_lets_it_go() -> None:
    """The age is that of the round's opening, in both topics; 0 when nothing is left."""

    async def look(at: Look) -> None:
        at.later(5)
        assert await at.shown("pokdeng_watermark_age_seconds", BETS) == 300
        age = await at.shown("pokdeng_watermark_age_seconds", TABLE)
        assert age is not None
        assert age >= 300
        await at.played.play("close R-1\ndeal R-1 W")
        at.later(5)
        assert await at.shown("pokdeng_watermark_age_seconds", TABLE) == 0
        assert await at.shown("pokdeng_watermark_age_seconds", BETS) == 0

    at_noon(look)


def test_records_that_are_not_read_make_the_watermark_old() -> None:
    """A partition that stands still shows how long ago it was done up to."""

    async def look(at: Look) -> None:
        await at.played.play("close R-1\ndeal R-1 W\nbet x9 A-1 player_1 10 of R-9")
        at.played.hide(TopicKind.BETS)
        at.played.say("bet b2 A-2 player_1 1000 of R-9")
        at.later(10)
        age = await at.shown("pokdeng_watermark_age_seconds", BETS)
        assert age is not None
        assert 600 <= age < 601
        at.played.show(TopicKind.BETS)

    at_noon(look)


def test_the_age_of_an_open_round_goes_by_the_log_while_records_are_unread() -> None:
    """A worker that catches up does not call rounds old whose close it has not read yet; at rest, now counts."""

    async def look(at: Look) -> None:
        at.later(45)
        assert await at.shown("pokdeng_oldest_open_round_seconds") == 45 * 60
        at.played.hide(TopicKind.TABLE_EVENTS)
        at.played.say("close R-1 @30\ndeal R-1 W @40")
        at.later(45)
        assert await at.shown("pokdeng_oldest_open_round_seconds") == 0
        at.played.show(TopicKind.TABLE_EVENTS)

    at_noon(look)


def test_a_held_round_is_not_an_open_one() -> None:
    """It waits for the supervisor: another gauge, another alarm."""

    async def look(at: Look) -> None:
        await at.played.play(CONFLICT)
        at.later(45)
        assert await at.shown("pokdeng_oldest_open_round_seconds") == 0
        held = await at.shown("pokdeng_oldest_held_round_seconds")
        assert held is not None
        assert held >= 45 * 60
        assert await at.shown("pokdeng_rounds_held") == 1
        await at.played.play("void R-1")
        assert await at.shown("pokdeng_oldest_held_round_seconds") == 0

    at_noon(look)


def test_a_round_that_never_closes_is_said_once_after_30_minutes() -> None:
    """With its name, for a person must look after it; again only when it ended and another one does not close."""

    async def look(at: Look) -> None:
        with capture_logs() as said:
            at.later(29)
            at.standing.say_alarms()
            assert not said
            at.later(2)
            at.standing.say_alarms()
            at.standing.say_alarms()
        assert [(one["event"], one["table_id"], one["round_id"], one["alarm"]) for one in said] == [
            ("round_does_not_close", "T-1", "R-1", True)
        ]

    at_noon(look)


def test_a_held_round_is_said_at_half_of_what_the_inputs_keep() -> None:
    """After that its records may go before it ends; where the inputs keep everything, they never do."""

    async def look(at: Look) -> None:
        await at.played.play(CONFLICT)
        at.later(8 * 24 * 60)
        with capture_logs() as said:
            at.standing.say_alarms()
            assert not said
            at.standing.kept_ms = 14 * 24 * 60 * MINUTE_MS
            at.standing.say_alarms()
        assert [(one["event"], one["round_id"]) for one in said] == [("round_held_for_long", "R-1")]

    at_noon(look)


def test_partitions_that_went_to_another_worker_are_not_shown() -> None:
    """Only one worker shows a partition: a query that counts them finds those that nobody has."""

    async def run() -> None:
        played = Scene(partitions=2)
        first = await played.start(name="w1")
        standing, metrics = Standing(first.log, played.line.topics, first.engine), Metrics()
        standing.show(metrics)
        assert metrics.page().count(b"pokdeng_input_lag_records{") == 6
        second = await played.start(name="w2")
        await first.until(lambda: len(first.engine.owned.desks) == 1 and len(second.engine.owned.desks) == 1)
        standing.show(metrics)
        assert metrics.page().count(b"pokdeng_input_lag_records{") == 3
        await second.stop()
        await first.stop()

    asyncio.run(run())
