"""A ledger that forgot its newest notes: nothing is said by what it does not know now, and it is not taken back."""

from __future__ import annotations

import asyncio

from pokdeng.ledger.port import LedgerLostError
from tests.settlement.scene import Scene, scene
from tests.settlement.table_talk import FIVE_ACCOUNTS, S1_R1

ONE_ROUND = f"{S1_R1}\nbet b1 A-1 player_1 1000\nclose R-1\ndeal R-1 W"


def forget_notes(played: Scene) -> None:
    """The server is another one, which has all balances and records, and none of the notes."""
    for bucket in played.line.store.buckets:
        bucket.notes.clear()
    played.line.store.new_incarnation()


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
            error = await worker.failure()
            assert isinstance(error, LedgerLostError)
            assert error.cause == "check"
            assert played.about("dead") == []
            played.worker = None

    asyncio.run(play())


def test_a_ledger_that_lost_notes_of_what_is_committed_is_behind() -> None:
    """All that was said is there, but not the notes that a commit relies on: it must be restored first."""

    async def play() -> None:
        async with scene() as played:
            await played.play(FIVE_ACCOUNTS)
            await played.play(ONE_ROUND)
            await played.stop()
            forget_notes(played)
            worker = await played.line.start_worker(name="w2")
            error = await worker.failure()
            assert isinstance(error, LedgerLostError)
            assert error.cause == "behind"

    asyncio.run(play())
