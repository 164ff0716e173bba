"""A ledger that forgot its newest notes: nothing is said by what it does not know now, and it is not taken back."""

from __future__ import annotations

import asyncio

import pytest

from pokdeng.ledger.port import LedgerLostError
from pokdeng.settlement.incarnation import check_nothing_is_lost
from pokdeng.stream.memory import MemoryLog
from tests.settlement.scene import GROUP, Scene, scene
from tests.settlement.table_talk import FIVE_ACCOUNTS, S1_R1

ONE_ROUND = f"{S1_R1}\nbet b1 A-1 player_1 1000\nclose R-1\ndeal R-1 W"


def forget_notes(played: Scene) -> None:
    """The server is another one, which has all balances and records, and none of the notes."""
    for bucket in played.line.store.buckets:
        bucket.notes.clear()
    played.line.store.new_incarnation()


def test_a_copy_that_is_read_again_when_it_is_forgotten_says_nothing() -> None:
    """A late copy was a duplicate; a new group reads it when bets, notes and all are forgotten."""

    async def play() -> None:
        async with scene() as played:
            await played.play(FIVE_ACCOUNTS)
            await played.play(f"{ONE_ROUND}\nbet b1 A-1 player_1 1000\ncancel b1 A-1 #c\nagain c")
            await played.stop()
            said = played.facts()
            for bucket in played.line.store.buckets:
                bucket.rounds.clear()
                for page in [page for page in bucket.notes if page.startswith("round|")]:
                    del bucket.notes[page]
            await played.start(group="second")
            await played.caught_up()
            assert sorted(set(played.facts())) == sorted(set(said))

    asyncio.run(play())


def test_nothing_is_said_by_what_a_forgetful_ledger_does_not_know() -> None:
    """An event about a round whose note is lost stops the worker at the next look, and is no dead letter."""

    async def play() -> None:
        async with scene(is_checked=False) as played:  # the last record is not dealt with
            await played.play(FIVE_ACCOUNTS)
            await played.play(ONE_ROUND)
            worker = played.worker
            assert worker is not None
            await worker.until(lambda: not any(desk.finished for desk in worker.engine.owned.desks))
            forget_notes(played)
            played.say("card R-1 banker 2 5h")
            await worker.until(lambda: worker.engine._loss.is_lost)
            assert played.about("dead") == []
            await played.kill()

    asyncio.run(play())


def test_a_ledger_that_lost_notes_of_what_is_committed_is_behind() -> None:
    """All that was said is there, but not the notes that a commit relies on: it must be restored first."""

    async def play() -> None:
        async with scene() as played:
            await played.play(FIVE_ACCOUNTS)
            await played.play(ONE_ROUND)
            await played.stop()
            forget_notes(played)
            line = played.line
            log = MemoryLog(line.broker, GROUP, copartitioned=(), name="looks")
            ledger = line.new_ledger()
            ledger.restoring().look_in()
            with pytest.raises(LedgerLostError, match=r"behind: .* is committed up to"):
                await check_nothing_is_lost(log, ledger, line.topics, remembered_since_ms=0)

    asyncio.run(play())
