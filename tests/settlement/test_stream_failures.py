"""Outages, defects, unusable records and kills: field failures O01, O02, O03 and O05, on the twins."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from pokdeng.ledger.port import LedgerUnavailableError
from pokdeng.stream.memory import Point
from pokdeng.stream.port import TopicPartition
from pokdeng.wire import TopicKind
from tests.settlement.breakage import Failing, Frozen, heal, kill_in_ledger, kill_in_log
from tests.settlement.scene import Scene, a_while, scene
from tests.settlement.table_talk import S1_R1, bet_value

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

A1 = "deposit A-1 10000"
B1 = "bet b1 A-1 player_1 1000"
BETS = TopicKind.BETS
SETTLEMENTS = "pokdeng.settlements.v1"


def bets(*numbers: int) -> str:
    """Bets of 100 by A-1."""
    return "\n".join(f"bet b{number} A-1 player_1 100" for number in numbers)


async def open_table(played: Scene) -> None:
    """A-1 has money, and R-1 takes bets."""
    await played.play(A1)
    await played.play(S1_R1)


async def fails_at_the_third_bet(played: Scene, error: Exception) -> BaseException:
    """Two bets go well, then the ledger call of the third raises; three are in the log by then."""
    await open_table(played)
    await played.play(bets(0, 1))
    played.line.store.before = Failing(error)
    played.say(bets(2, 3, 4))
    assert played.worker is not None
    died_of = await played.worker.failure()
    played.worker = None
    return died_of


def test_an_outage_of_the_ledger_loses_no_bet_and_commits_none_too_early() -> None:
    """O01: what an outage interrupted is done after it, once, and is committed only then."""

    async def play() -> None:
        async with scene() as played:
            died_of = await fails_at_the_third_bet(played, LedgerUnavailableError("connection reset"))
            assert isinstance(died_of, LedgerUnavailableError)
            assert (played.committed(BETS) or 0) <= 2
            await played.start()
            await played.caught_up()
            assert await played.balance() == "9000/1000/6"
            assert len(played.about("bet_accepted")) == 5
            assert not played.about("dead")
            await played.play("void R-1")
            await played.stop()
            assert played.committed(BETS) == 5
            await played.start()

    asyncio.run(play())


def test_a_defect_stops_the_worker_with_nothing_committed_past_it() -> None:
    """O01: a defect is neither skipped nor dead-lettered; repaired, everything is done as if it had never been."""

    async def play() -> None:
        async with scene() as played:
            died_of = await fails_at_the_third_bet(played, ZeroDivisionError("a defect"))
            assert isinstance(died_of, ZeroDivisionError)
            assert (played.committed(BETS) or 0) <= 2
            assert await played.balance() == "9600/400/3"
            assert not played.about("dead")
            await played.start()
            await played.caught_up()
            assert await played.balance() == "9000/1000/6"
            await played.play("void R-1")
            await played.stop()
            assert played.committed(BETS) == 5
            await played.start()

    asyncio.run(play())


def test_a_record_in_flight_is_not_committed_past() -> None:
    """O02: while the first bet is blocked nothing is committed; after a kill it is handled like the others."""

    async def play() -> None:
        async with scene() as played:
            await open_table(played)
            blocked = Frozen()
            played.line.store.before = blocked
            played.say(bets(0))
            async with asyncio.timeout(30):
                await blocked.reached.wait()
            played.say(bets(1, 2, 3, 4, 5))
            await a_while()
            assert not played.committed(BETS)
            await played.kill()
            heal(played)
            await played.start()
            await played.caught_up()
            assert await played.balance() == "8800/1200/7"
            assert len(played.about("bet_accepted")) == 6

    asyncio.run(play())


def test_unusable_records_become_dead_letters_between_good_bets() -> None:
    """O03: each bad record has its reason, the good ones are accepted, and all of them are committed."""

    async def play() -> None:
        async with scene() as played:
            await open_table(played)
            await played.play(f"""
                {bets(0)}
                raw bets T-1 -
                {bets(1)}
                raw bets T-1 not json
                {bets(2)}
                raw bets T-1 {bet_value(stake="")}
                raw bets T-1 {bet_value(stake='"x"')}
                {bets(3)}
            """)
            assert [fact for fact in played.facts() if fact.startswith("dead")] == [
                "dead bets@1 tombstone",
                "dead bets@3 not_json",
                "dead bets@5 not_an_event",
                "dead bets@6 not_an_event",
            ]
            assert len(played.about("bet_accepted")) == 4
            assert await played.balance() == "9200/800/5"
            await played.play("void R-1")
            await played.stop()
            assert played.committed(BETS) == 8
            await played.start()

    asyncio.run(play())


def test_bytes_that_are_no_text_become_a_dead_letter() -> None:
    """O03: a value that is not UTF-8 is `not_json`, and the next bet is accepted."""

    async def play() -> None:
        async with scene() as played:
            await open_table(played)
            played.line.broker.append(played.line.topics.bets, b"T-1", b"\xff\xfe{", (), 0, played.talk.now_ms)
            await played.play(B1)
            assert played.about("bets@0") == ["dead bets@0 not_json"]
            assert await played.balance() == "8000/2000/2"

    asyncio.run(play())


@pytest.mark.parametrize("key", [None, b"", b"\xff", b"T-2"], ids=["null", "empty", "no text", "another table's"])
def test_a_good_bet_under_a_wrong_key_is_a_dead_letter(key: bytes | None) -> None:
    """O03: what a record is about must be its key, byte for byte."""

    async def play() -> None:
        async with scene() as played:
            await open_table(played)
            played.line.broker.append(played.line.topics.bets, key, bet_value().encode(), (), 0, played.talk.now_ms)
            await played.play(B1)
            assert played.about("bets@0") == ["dead bets@0 key_mismatch"]
            assert await played.balance() == "8000/2000/2"

    asyncio.run(play())


def test_a_good_bet_in_a_wrong_partition_is_a_dead_letter() -> None:
    """A record lies in the partition of its key, or it is refused as `wrong_partition`."""

    async def play() -> None:
        async with scene(partitions=4) as played:
            await open_table(played)
            bets_topic = played.line.topics.bets
            right = played.line.broker.append(bets_topic, b"T-1", bet_value().encode(), (), None, played.talk.now_ms)
            astray = TopicPartition(bets_topic, (right.partition + 1) % 4)
            played.line.broker.append(*astray[:1], b"T-1", bet_value().encode(), (), astray.partition, right.timestamp)
            await played.caught_up()
            assert [fact for fact in played.facts() if fact.startswith("dead")] == ["dead bets@0 wrong_partition"]
            assert await played.balance() == "9800/200/2"

    asyncio.run(play())


async def after_b1_is_taken(played: Scene) -> None:
    """K3."""
    await kill_in_ledger(played, B1, is_answer_lost=True)
    await played.start()
    await played.play("close R-1\ndeal R-1 W")


async def after_the_settlement_is_paid(played: Scene) -> None:
    """K1."""
    await played.play(B1)
    await kill_in_ledger(played, "close R-1\ndeal R-1 W", is_answer_lost=True)


async def before_the_commit(played: Scene) -> None:
    """K2."""
    await played.play(B1)
    await kill_in_log(played, "close R-1\ndeal R-1 W", Point.COMMIT)


async def before_the_acknowledgement(played: Scene) -> None:
    """K4."""
    await played.play(B1)
    await kill_in_log(played, "close R-1\ndeal R-1 W", Point.ACKNOWLEDGE)


async def before_the_settlement_is_said(played: Scene) -> None:
    """The money moved, nothing is in the log."""
    await played.play(B1)
    await kill_in_log(played, "close R-1\ndeal R-1 W", Point.APPEND, SETTLEMENTS)


async def before_the_round_is_said(played: Scene) -> None:
    """The settlement is in the log, its round is not."""
    await played.play(B1)
    await kill_in_log(played, "close R-1\ndeal R-1 W", Point.APPEND, "pokdeng.rounds.v1")


async def after_the_commit(played: Scene) -> None:
    """The offsets are committed, the worker does not know it."""
    await played.play(B1)
    await kill_in_log(played, "close R-1\ndeal R-1 W", Point.COMMITTED)


async def before_the_rounds_are_noted(played: Scene) -> None:
    """Everything is said, but the finished round is not noted yet."""
    await played.play(B1)
    await kill_in_ledger(played, "close R-1\ndeal R-1 W", is_answer_lost=False, call="remember")


async def before_the_bets_may_be_forgotten(played: Scene) -> None:
    """Everything is committed and noted, but the bets' time to live is not set."""
    await played.play(B1)
    await kill_in_ledger(played, "close R-1\ndeal R-1 W", is_answer_lost=False, call="finish")


@pytest.mark.parametrize(
    "kill",
    [
        after_b1_is_taken,
        after_the_settlement_is_paid,
        before_the_commit,
        before_the_acknowledgement,
        before_the_settlement_is_said,
        before_the_round_is_said,
        after_the_commit,
        before_the_rounds_are_noted,
        before_the_bets_may_be_forgotten,
    ],
)
def test_a_kill_between_the_ledger_and_the_log_changes_nothing(kill: Callable[[Scene], Awaitable[None]]) -> None:
    """O05: at each point of the way the bet is settled once, and all copies of what was said are the same."""

    async def play() -> None:
        async with scene() as played:
            await open_table(played)
            await kill(played)
            if played.worker is None:
                await played.start()
            await played.caught_up()
            assert await played.balance() == "11000/0/3"
            assert played.facts() == [
                "bet_accepted b1 A-1 8000/2000/2",
                "bet_settled b1 A-1 win 3000 11000/0/3",
                "round_settled R-1 1 bets seal 1",
            ]
            played.distinct()
            await played.play("again e3\nagain e4")
            assert await played.balance() == "11000/0/3"
            assert not played.about("dead")

    asyncio.run(play())
