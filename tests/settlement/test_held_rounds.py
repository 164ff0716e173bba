"""A round that is held for long is put aside: it keeps nothing of the log, and is found again after any restart."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import pytest

from pokdeng.settlement import aside
from pokdeng.stream.port import TopicPartition
from pokdeng.wire import TopicKind
from tests.restore.filled import filled, latest_ms
from tests.settlement.scene import Scene, scene
from tests.settlement.table_talk import FIVE_ACCOUNTS

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

ELEVEN_MINUTES_MS = 660_000
CONFLICT = """
shoe S-1 2h
open R-1                         ;; events 0 and 1
bet b1 A-1 player_1 1000
bet b2 A-2 player_1 1000
bet b3 A-3 player_1 20000        ;; refused
bet b4 A-4 player_2 500
cancel b4 A-4
cancel b9 A-5                    ;; refused
close R-1
deal R-1 W but banker 2
card R-1 player_1 1 2c           ;; another card for a taken place: held
bet b5 A-5 player_1 100          ;; too late; seals
"""
INCOMPLETE = """
shoe S-1 2h
open R-1
bet b1 A-1 player_1 1000
bet b2 A-2 player_1 1000
close R-1
deal R-1 W but banker 2
open R-2                         ;; R-1 is held: incomplete
"""


@asynccontextmanager
async def at_the_tables() -> AsyncIterator[Scene]:
    """A scene where everybody has money."""
    async with scene() as played:
        await played.play(FIVE_ACCOUNTS)
        yield played


def later(played: Scene) -> str:
    """A broker time eleven minutes on."""
    return f"@{played.talk.now_ms - 1_767_268_800_000 + ELEVEN_MINUTES_MS}"


def a_round(name: str, table: str = "T-1", *, opens: bool = True) -> str:
    """A whole round with a bet."""
    opening = f"open {name} at {table}\n" if opens else ""
    return f"""{opening}bet b-{name} A-5 player_1 100 at {table} of {name}
close {name} at {table}
deal {name} W at {table}
bet c-{name} A-5 player_1 100 at {table} of {name}
"""


def tables(played: Scene) -> dict[str, tuple[object, object]]:
    """The rounds that are held, as they are known, and their shoes."""
    assert played.worker is not None
    (desk,) = played.worker.engine.owned.desks
    known: dict[str, tuple[object, object]] = {}
    for table_id, round_id in sorted(desk.books):
        table = desk.floor.table(table_id)
        assert table is not None
        round_ = table.rounds[round_id]
        known[f"{table_id} {round_id}"] = (round_, table.shoes[round_.shoe_id])
    return known


async def restarted(played: Scene) -> None:
    """Kill it and start anew: what is held is known as it was, to the card.

    After `let_go` there is nothing to read again; a kill before that commit has the round read from the log.
    """
    known = tables(played)
    await played.restart()
    await played.caught_up()
    assert tables(played) == known


async def committed(played: Scene) -> tuple[int, int]:
    """What is committed of table events and of bets, once it stands where both end."""
    return played.committed(TopicKind.TABLE_EVENTS) or 0, played.committed(TopicKind.BETS) or 0


def ends(played: Scene) -> tuple[int, int]:
    """Where table events and bets end."""
    broker, topics = played.line.broker, played.line.topics
    events, bets = (broker.partition(TopicPartition(name, 0)).end for name in (topics.table_events, topics.bets))
    return events, bets


async def let_go(played: Scene) -> None:
    """Wait until all that was said is committed: nothing of the log is needed any more."""
    async with asyncio.timeout(20):
        while await committed(played) != ends(played):
            await asyncio.sleep(0.01)


async def hold(played: Scene, text: str = CONFLICT) -> None:
    """A round is held; eleven minutes later other tables have gone on."""
    await played.play(text)
    await played.play(
        f"shoe S-2 2h at T-2 {later(played)}\n" + "open R-9 in S-2 at T-2\n" + a_round("R-9", "T-2", opens=False)
    )


def test_a_round_held_for_less_than_ten_minutes_keeps_the_log() -> None:
    """What the replay needs of it is not committed."""

    async def play() -> None:
        async with at_the_tables() as played:
            await played.play(CONFLICT)
            await played.play("shoe S-2 2h at T-2\n" + "open R-9 in S-2 at T-2\n" + a_round("R-9", "T-2", opens=False))
            await played.stop()
            assert await committed(played) == (0, 0)
            await played.start()
            await played.play("void R-1")

    asyncio.run(play())


@pytest.mark.parametrize("restarts", [False, True])
@pytest.mark.parametrize("end", ["correct R-1 banker 2 3d\ncorrect R-1 player_1 1 2c", "void R-1"])
def test_a_round_held_for_long_lets_the_log_go_and_is_settled_as_ever(end: str, *, restarts: bool) -> None:
    """All is committed, nothing of it is read again, and the end is that of a round that was never put aside."""

    async def play(*, waits: bool) -> tuple[list[str], dict[str, str]]:
        async with at_the_tables() as played:
            if waits:
                await hold(played)
                await let_go(played)
            else:
                await played.play(CONFLICT)
            if restarts and waits:
                await restarted(played)
                assert played.worker is not None
                assert played.worker.engine.owned.held_rounds == 1
            await played.play(end)
            await played.play("cancel b4 A-4\nbet b6 A-2 player_1 100\nbet b2 A-2 player_1 1000")
            about = [fact for fact in played.facts(TopicKind.SETTLEMENTS, TopicKind.ROUNDS) if "R-9" not in fact]
            return [fact for fact in about if "A-5" not in fact], await played.balances()

    async def both() -> None:
        (facts, balances), (usual, balances_then) = await play(waits=True), await play(waits=False)
        assert facts == usual
        assert {name: of for name, of in balances.items() if name != "A-5"} == {
            name: of for name, of in balances_then.items() if name != "A-5"
        }

    asyncio.run(both())


def test_a_round_that_was_changed_too_often_keeps_the_log(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is said of it travels with facts, and must be small."""
    monkeypatch.setattr(aside, "MOST_EVENTS", 3)

    async def play() -> None:
        async with at_the_tables() as played:
            await hold(played)
            await played.stop()
            assert await committed(played) == (0, 0)
            await played.start()
            await played.play("void R-1")

    asyncio.run(play())


def test_a_table_goes_on_while_its_round_is_held() -> None:
    """Its snapshots are taken over the head of the round that is incomplete, and the shoe counts on."""

    async def play() -> None:
        async with at_the_tables() as played:
            await played.play(INCOMPLETE)
            await played.play(a_round("R-2", opens=False))
            await played.play(f"open R-3 {later(played)}\n" + a_round("R-3", opens=False) + a_round("R-4"))
            await let_go(played)
            await restarted(played)
            await played.play(a_round("R-5"))
            await let_go(played)
            await restarted(played)
            await played.play("card R-1 banker 2 3d")
            assert "round_settled R-1 2 bets seal 2" in played.facts(TopicKind.ROUNDS)
            await let_go(played)
            await restarted(played)
            await played.play("correct R-1 banker 2 4d\n" + a_round("R-6"))
            assert "round_settled R-1 2 bets seal 2 r2" in played.facts(TopicKind.ROUNDS)

    asyncio.run(play())


def test_several_rounds_are_put_aside_at_several_tables() -> None:
    """Each is found again, in an old shoe too; each ends in its own way."""

    async def play() -> None:
        async with at_the_tables() as played:
            await played.play(INCOMPLETE)
            await played.play(
                """
                bet b3 A-3 player_1 1000 of R-2
                open R-3                           ;; R-2 is held, never closed, without a card
                shoe S-2 2h
                close R-3
                deal R-3 W
                open R-4 in S-2
                bet b4 A-4 player_1 1000 of R-4
                card R-4 player_1 1 5c
                card R-4 player_1 1 6c             ;; seat conflict
                shoe S-3 2h at T-3
                open R-1 in S-3 at T-3
                bet b1 A-2 player_2 700 at T-3
                card R-1 banker 1 5c at T-3
                card R-1 banker 1 6c at T-3
                """
            )
            await played.play(f"shoe S-4 2h at T-2 {later(played)}")
            await let_go(played)
            for end in ("void R-2", "card R-1 banker 2 3d", "void R-1 at T-3", "void R-4"):
                await restarted(played)
                await played.play(end)
            assert sum(fact.startswith("round_refunded") for fact in played.facts(TopicKind.ROUNDS)) == 3
            await let_go(played)
            await restarted(played)
            assert played.worker is not None
            assert played.worker.engine.owned.open_rounds == 0

    asyncio.run(play())


def test_finished_rounds_leave_memory_while_another_is_held() -> None:
    """The worker keeps nothing of what ended since."""

    async def play() -> None:
        async with at_the_tables() as played:
            await hold(played)
            for number in range(10, 16):
                await played.play(f"open R-{number} in S-2 at T-2\n" + a_round(f"R-{number}", "T-2", opens=False))
            await let_go(played)
            assert played.worker is not None
            async with asyncio.timeout(20):
                while any(desk.finished for desk in played.worker.engine.owned.desks):
                    await asyncio.sleep(0.01)
            await played.play("void R-1")

    asyncio.run(play())


def test_what_comes_for_a_round_put_aside_keeps_the_log_until_it_is_put_aside_again() -> None:
    """Late bets, cards and repeats: kept for ten minutes more, known over a restart, and let go again."""

    async def play() -> None:
        async with at_the_tables() as played:
            await hold(played)
            await let_go(played)
            await played.play("bet b7 A-1 player_1 100\ncancel b7 A-1\nbet b1 A-1 player_1 1000\nagain e9")
            assert (await committed(played))[1] < ends(played)[1]
            await restarted(played)
            await played.play(f"bet x A-5 player_1 100 of R-0 {later(played)}")
            await let_go(played)
            await restarted(played)
            await played.play("bet b7 A-1 player_1 100\ncancel b7 A-1\ncancel b9 A-5")
            assert len(played.about("b7")) == 2
            assert len(played.about("b9")) == 1
            await played.play("void R-1")

    asyncio.run(play())


def test_a_ninth_copy_is_still_disputed_when_its_round_is_put_back() -> None:
    """Another time its shoe is another: which cards were none of it is remembered."""

    async def play() -> None:
        async with at_the_tables() as played:
            rounds = "".join(
                f"open R-{number} at T-1\ncard R-{number} player_1 1 5c\nvoid R-{number}\n" for number in range(10, 18)
            )
            await played.play(f"shoe S-1 2h\n{rounds}")
            await played.play("open R-1\nbet b1 A-1 player_1 1000\ncard R-1 banker 1 5c\ncard R-1 banker 1 6c")
            assert "round_held R-1 ninth_copy" in played.facts(TopicKind.ROUNDS)
            await played.play(f"shoe S-2 2h at T-2 {later(played)}")
            await let_go(played)
            await restarted(played)
            await played.play("card R-1 banker 1 6c\nclose R-1\ndeal R-1 W but banker 1")
            assert not [fact for fact in played.facts(TopicKind.ROUNDS) if fact.startswith("round_settled R-1")]
            await played.play("correct R-1 banker 1 6c")
            assert [fact for fact in played.facts(TopicKind.ROUNDS) if fact.startswith("round_settled R-1")]

    asyncio.run(play())


GOES_ON = "shoe S-2 2h at T-2 {at}\nopen R-9 in S-2 at T-2\n" + a_round("R-9", "T-2", opens=False)


async def ends_as_ever(played: Scene) -> None:
    """The round is there again: bets find it held, and it is settled by its last card."""
    await played.start()
    await played.play("bet b8 A-3 player_1 100")
    await restarted(played)
    await played.play("correct R-1 banker 2 3d\ncorrect R-1 player_1 1 2c")
    assert [fact for fact in played.facts(TopicKind.ROUNDS) if fact.startswith("round_settled R-1 2 bets")]
    assert "bet_rejected b8 A-3 betting_closed" in played.facts()


def test_a_round_put_aside_is_found_in_a_ledger_that_was_restored() -> None:
    """What the ledger is told of it lies in the log, too."""

    async def play() -> None:
        async with at_the_tables() as played:
            await hold(played)
            await let_go(played)
            known = tables(played)
            await played.kill()
            played.line.store, _ = await filled(played.line, now_ms=latest_ms(played.line))
            await played.start()
            assert tables(played) == known
            await played.kill()
            await ends_as_ever(played)

    asyncio.run(play())


def test_a_round_whose_cards_the_log_keeps_no_more_is_there_to_be_cancelled() -> None:
    """Its money is not forgotten with them."""

    async def play() -> None:
        async with at_the_tables() as played:
            await hold(played)
            await let_go(played)
            await played.kill()
            events = TopicPartition(played.line.topics.table_events, 0)
            kept = played.line.broker.partition(events).records[:4]
            played.line.broker.trim(events, 4)
            await played.start()
            assert played.worker is not None
            assert played.worker.engine.owned.held_rounds == 1
            await played.play("void R-1")
            assert "bet_refunded b1 A-1 2000 10000/0/3" in played.facts()
            played.line.broker.partition(events).records[:0] = kept  # for the checker

    asyncio.run(play())
