"""The ledger is lost in the middle of corrections: before, while or after they are applied, said, committed."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from pokdeng.settlement.engine import LEASES_EVERY_S
from pokdeng.stream.memory import Point
from pokdeng.wire import TopicKind
from tests.restore.losses import restored_by_the_worker
from tests.settlement.breakage import kill_in_ledger, kill_in_log
from tests.settlement.lives import noted_only
from tests.settlement.scene import scene
from tests.settlement.table_talk import FIVE_ACCOUNTS, S1_R1
from tests.settlement.test_revision_edges import EIGHT, KEY, NEXT_SHOE, R_2, W_C, revised

if TYPE_CHECKING:
    from tests.settlement.scene import Scene

TWO_BETS = f"{S1_R1}\nbet b1 A-1 player_1 1000 #b1\nbet b4 A-4 player_2 500\nclose R-1\ndeal R-1 W"
CORRECTIONS = f"{W_C} #c1\ncorrect R-1 player_1 1 9c #c2\n{R_2}\ncorrect R-1 player_1 1 2s #c3"
BALANCES = {"A-1": "9000/0/9", "A-2": "11000/0/3", "A-3": "10000/0/1", "A-4": "11000/0/9", "A-5": "10000/0/1"}


async def begun(played: Scene) -> None:
    """A settled round with two bets, of which nothing is in memory."""
    await played.play(FIVE_ACCOUNTS)
    await played.play(TWO_BETS)
    await noted_only(played)


async def is_exact(played: Scene) -> None:
    """Each revision was said once, money is exact, and copies of the corrections move nothing."""
    assert await played.balances() == BALANCES
    rounds = [fact for fact in played.facts(TopicKind.ROUNDS) if " R-1 " in fact]
    assert [fact.split()[-1] for fact in rounds] == ["2", "r2", "r3", "r4"]
    assert len([fact for fact in revised(played) if "bet_" in fact]) == 2 * 2 * 3
    before = played.facts()
    await played.play("again c1\nagain c2\nagain c3\nagain b1")
    assert played.facts() == before


@pytest.mark.parametrize("skip", range(3))
@pytest.mark.parametrize("is_answer_lost", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("call", ["keep", "revise", "remember"])
def test_killed_in_the_ledger_that_is_lost_then(call: str, skip: int, *, is_answer_lost: bool) -> None:
    """What was applied and not said is not known any more: it is decided again, and said once."""

    async def play() -> None:
        async with scene() as played:
            await begun(played)
            await kill_in_ledger(played, CORRECTIONS, is_answer_lost=is_answer_lost, call=call, skip=skip)
            played.line.store.flush()
            await played.start()
            await played.caught_up()
            await is_exact(played)

    asyncio.run(play())


@pytest.mark.parametrize("revision", [2, 3, 4])
@pytest.mark.parametrize(
    ("point", "topic"),
    [
        (Point.APPEND, TopicKind.SETTLEMENTS),
        (Point.APPEND, TopicKind.ROUNDS),
        (Point.ACKNOWLEDGE, None),
        (Point.COMMITTED, None),
    ],
)
def test_killed_while_it_is_said_and_the_ledger_is_lost(point: Point, topic: TopicKind | None, revision: int) -> None:
    """Some facts of a revision are said, or all but the round's: the rest is said after the restore, in those bytes."""

    async def play() -> None:
        async with scene() as played:
            await begun(played)

            def is_there() -> bool:
                bets = [bucket.rounds.get(KEY, {}) for bucket in played.line.store.buckets]
                return max([bet.record.revision for of in bets for bet in of.values()], default=0) >= revision

            name = None if topic is None else played.line.topics.name(topic)
            await kill_in_log(played, CORRECTIONS, point, name, when=is_there)
            played.line.store.flush()
            await played.start()
            await played.caught_up()
            await is_exact(played)

    asyncio.run(play())


@pytest.mark.parametrize("next_round", ["", "open R-10 in S-2"], ids=["no round open", "the next open"])
def test_a_correction_of_an_old_shoe_that_is_not_said_yet_is_judged_by_the_shoe_before_it(next_round: str) -> None:
    """A later one of another round is said first, and its record counts both: the other is read again, and counts."""

    async def play() -> None:
        async with scene() as played:
            await played.play(f"{FIVE_ACCOUNTS}\nshoe S-1 2h\n{EIGHT}")
            await played.play(f"{NEXT_SHOE}\n{next_round}")
            three = "correct R-2 player_1 1 As\ncorrect R-2 player_1 1 Ac\ncorrect R-1 player_2 1 9c"
            rounds = played.line.topics.rounds

            def are_both_said() -> bool:
                return all(played.copies(f"round_settled {name}") > 1 for name in ("R-1", "R-2"))

            await kill_in_log(played, three, Point.APPEND, rounds, when=are_both_said)
            assert [fact.split()[1] for fact in revised(played)] == ["R-2", "R-1"]
            played.line.store.flush()
            await played.start()
            await played.caught_up()
            assert [fact.split()[1] for fact in revised(played)] == ["R-2", "R-1", "R-2"]
            assert not played.about("ninth_copy")

    asyncio.run(play())


@pytest.mark.parametrize("is_noticed_by_it", [False, True], ids=["unnoticed", "noticed by it"])
def test_corrections_that_come_while_the_ledger_is_away(*, is_noticed_by_it: bool) -> None:
    """They wait in the log for the end of the restore, or are what finds the loss."""

    async def play() -> None:
        async with scene() as played:
            await begun(played)
            played.line.store.flush()
            if not is_noticed_by_it:
                played.line.elapse(LEASES_EVERY_S)
            await played.play(CORRECTIONS)
            await is_exact(played)

    asyncio.run(play())


def test_a_correction_that_was_stopped_is_done_once_the_ledger_is_restored() -> None:
    """A record was missing; the log has it, so the restore brings it back, and nobody need ask again."""

    async def play() -> None:
        async with scene() as played:
            await begun(played)
            for bucket in played.line.store.buckets:
                bucket.rounds.pop(KEY, None)
            await played.play(CORRECTIONS)
            assert played.worker is not None
            assert played.worker.engine.owned.stopped_corrections == 1
            await restored_by_the_worker(played)
            await is_exact(played)

    asyncio.run(play())


def test_bets_after_a_late_cancellation_are_answered_as_before_the_loss() -> None:
    """`round_cancelled` from the cancellation on; a copy of one answered so says nothing."""

    async def play() -> None:
        async with scene() as played:
            await played.play(FIVE_ACCOUNTS)
            await played.play(f"{TWO_BETS}\nbet b5 A-5 player_1 1 #b5\nvoid R-1\nbet b6 A-5 player_1 1 #b6")
            said = [
                f"bet_rejected {bet} A-5 {why}" for bet, why in (("b5", "betting_closed"), ("b6", "round_cancelled"))
            ]
            assert [*played.about("b5"), *played.about("b6")] == said
            await restored_by_the_worker(played)
            await played.play("again b5\nagain b6\nbet b7 A-5 player_1 1")
            assert [*played.about("b5"), *played.about("b6")] == said
            assert played.about("b7") == ["bet_rejected b7 A-5 round_cancelled"]

    asyncio.run(play())


def test_a_correction_heard_before_the_settlement_is_known_for_ever() -> None:
    """Its id is of the round: delivered again after another correction, and after a loss, it is a copy."""

    async def play() -> None:
        async with scene() as played:
            await played.play(FIVE_ACCOUNTS)
            await played.play(f"{S1_R1}\nbet b1 A-1 player_1 1000\ncorrect R-1 player_1 1 9c #c0\nclose R-1")
            await played.play("deal R-1 W but player_1 1")
            assert await played.balance() == "11000/0/3"
            await played.play(f"{W_C} #c1")
            for _ in range(2):
                await played.play("again c0")
                assert await played.balance() == "9000/0/5"
                await restored_by_the_worker(played)
            await played.play("correct R-1 player_1 1 3c #c0")
            assert played.about("id_conflict")

    asyncio.run(play())


def test_an_overdrawn_account_with_an_open_bet_settles_it_and_plays_on_from_zero() -> None:
    """Its bet was taken before; it is settled below zero, a cancel gives back, and what leads to exactly 0 suffices."""

    async def play() -> None:
        async with scene() as played:
            await played.play(FIVE_ACCOUNTS)
            await played.play(f"{S1_R1}\nbet b1 A-1 player_1 1000\nclose R-1\ndeal R-1 W\nopen R-2")
            await played.play("bet b2 A-1 player_1 1000 of R-2\nbet b3 A-1 player_2 100 of R-2\nwithdraw A-1 8800")
            assert await played.balance() == "0/2200/6"
            await played.play(W_C)
            assert await played.balance() == "-2000/2200/8"
            await restored_by_the_worker(played)
            await played.play("cancel b3 A-1 of R-2\ndeposit A-1 1799 d1\nbet b4 A-1 player_1_pair 1 of R-2")
            assert await played.balance() == "-1/2000/10"
            await played.play("deposit A-1 1 d2\nwithdraw A-1 1 w1\nclose R-2\ndeal R-2 W")
            assert await played.balance() == "3000/0/12"
            assert played.about("insufficient_funds") == [
                "bet_rejected b4 A-1 insufficient_funds",
                "funds_rejected A-1 1 insufficient_funds",
            ]

    asyncio.run(play())
