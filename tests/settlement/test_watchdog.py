"""A partition that stands still with more to read is noticed, for each source alone."""

from __future__ import annotations

import asyncio

from pokdeng.ledger.values import Source
from pokdeng.settlement.watchdog import Place, Watchdog
from pokdeng.stream.port import TopicPartition
from pokdeng.wire import TopicKind
from tests.settlement.breakage import Frozen, heal
from tests.settlement.scene import scene
from tests.settlement.table_talk import S1_R1

AFTER_S = 30.0
SOURCES = [Source(f"p{number}") for number in range(6)]


def places(at: int, *, still: tuple[int, ...] = (), has_more: bool = True) -> dict[Source, Place]:
    """Six sources; those named stand at 0, the others at `at`."""
    return {source: Place((0 if number in still else at,), has_more=has_more) for number, source in enumerate(SOURCES)}


def test_two_of_six_that_stand_still_are_named_and_no_other() -> None:
    """O24: lag is judged per partition: four go on, two do not, and those two are said."""
    watchdog = Watchdog(AFTER_S)
    for second in range(0, 41, 5):
        watchdog.look(places(second, still=(1, 4)), float(second))
    assert [reason.split()[0] for reason in watchdog.why_stuck(41.0)] == ["p1", "p4"]


def test_nothing_is_said_before_its_time() -> None:
    """As long as it may last, standing still is no fault."""
    watchdog = Watchdog(AFTER_S)
    for second in range(0, 31, 5):
        watchdog.look(places(second, still=(1,)), float(second))
    assert watchdog.why_stuck(30.0) == []


def test_idle_sources_are_not_stuck_however_long() -> None:
    """O24: ten minutes without a record are no fault; what comes then has its time."""
    watchdog = Watchdog(AFTER_S)
    for second in range(0, 600, 5):
        watchdog.look(places(7, has_more=False), float(second))
    assert watchdog.why_stuck(600.0) == []
    watchdog.look(places(7), 600.0)
    assert watchdog.why_stuck(605.0) == []


def test_what_moves_again_is_forgiven_and_what_went_is_forgotten() -> None:
    """The reasons are those of now."""
    watchdog = Watchdog(AFTER_S)
    watchdog.look(places(0), 0.0)
    watchdog.look(places(0), 40.0)
    assert len(watchdog.why_stuck(40.0)) == 6
    watchdog.look(places(1, still=(2,)), 41.0)
    assert [reason.split()[0] for reason in watchdog.why_stuck(41.0)] == ["p2"]
    watchdog.look({}, 42.0)
    assert watchdog.why_stuck(99.0) == []


def test_an_engine_says_where_its_sources_stand() -> None:
    """Idle it has nothing more; while a bet's call hangs, its co-partition has, and stays where it is."""

    async def play() -> None:
        async with scene() as played:
            await played.play("deposit A-1 10000")
            await played.play(S1_R1)
            assert played.worker is not None
            idle = await played.worker.engine.places()
            assert {str(source): place.has_more for source, place in idle.items()} == {"p0": False, "f0": False}
            blocked = Frozen()
            played.line.store.before = blocked
            played.say("bet b0 A-1 player_1 100")
            async with asyncio.timeout(30):
                await blocked.reached.wait()
            played.say("bet b1 A-1 player_1 100")
            place = TopicPartition(played.line.topics.name(TopicKind.BETS), 0)
            await played.worker.until(lambda: played.worker is not None and played.worker.log.position(place) == 2)
            first = await played.worker.engine.places()
            assert first[Source("p0")].has_more
            assert not first[Source("f0")].has_more
            assert first == await played.worker.engine.places()
            await played.kill()
            heal(played)
            await played.start()
            await played.caught_up()

    asyncio.run(play())


def test_a_long_recovery_is_alive() -> None:
    """O24: while partitions are read back the engine does not turn, and is not stuck for that."""

    async def play() -> None:
        async with scene() as played:
            await played.play("deposit A-1 10000")
            await played.kill()
            blocked = Frozen("acquire")
            played.line.store.before = blocked
            worker = await played.line.start_worker(name="w2")
            async with asyncio.timeout(30):
                await blocked.reached.wait()
            engine = worker.engine
            began = engine._clock()
            engine._clock = lambda: began + 300
            assert not engine.is_recovered
            assert engine.quiet_seconds == 0
            await worker.kill()
            heal(played)
            await played.start()

    asyncio.run(play())
