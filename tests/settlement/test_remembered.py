"""What comes for a round that is settled and gone: the contract's answer, exactly once, wherever the round is known."""

from __future__ import annotations

import asyncio
from time import monotonic
from typing import TYPE_CHECKING

import pytest

from pokdeng.ledger.memory import MemoryLedger
from pokdeng.ledger.memory_store import Bucket
from pokdeng.settlement.engine import BATCH_RECORDS
from pokdeng.stream.memory import Point
from tests.settlement.breakage import kill_in_log
from tests.settlement.lives import HOURS_MS, LIVES
from tests.settlement.scene import Scene, scene
from tests.settlement.table_talk import FIVE_ACCOUNTS, S1_R1

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

ROUND = f"""
    {S1_R1}
    bet b0 A-5 player_1 9000 #b0                        ;; too much
    bet b1 A-1 player_1 1000 #b1
    bet b3 A-3 player_1 1000 #b3
    cancel b3 A-3 #c3
    cancel b4 A-4 #c4                                   ;; of no bet
    card R-1 banker 2 3d #card
    close R-1 #close
    bet b2 A-2 player_1 1000 #b2                        ;; too late
    deal R-1 W but banker 2
"""
LATE = """
    again b0
    again b1
    again b2
    again b3
    again c3
    again c4
    bet b1 A-2 player_2 5                               ;; other content of a remembered bet
    bet b5 A-1 player_1 1000 #b5
    again b5
    bet b5 A-1 player_1 1001
    cancel b1 A-1 #late
    again late
    bet b4 A-4 player_1 1000                            ;; its cancel was refused before
    again close
    close R-1
    again card
    card R-1 banker 2 3d
    correct R-1 banker 2 3d
    card R-1 banker 2 4d
    pause R-1
    open R-1
    open R-1 in S-7
    shoe S-1 2h
    shoe S-1 3h
    cut R-1 in S-7
"""
ANSWERS = [
    "bet_rejected b5 A-1 betting_closed",
    "cancel_rejected b1 A-1 betting_closed",
    "bet_rejected b4 A-4 cancelled_before",
    "dead seat_conflict",
    "dead round_out_of_order",
    "dead id_conflict",
    "dead id_conflict",
    "dead unknown_shoe",
]
BALANCES = {"A-1": "11000/0/3", "A-2": "10000/0/1", "A-3": "10000/0/3", "A-4": "10000/0/1", "A-5": "10000/0/1"}


def news(before: list[str], after: list[str]) -> list[str]:
    """The facts that came, dead letters without their places, in a fixed order."""
    came = [fact for fact in after if fact not in before]
    return sorted(f"dead {fact.split()[-1]}" if fact.startswith("dead") else fact for fact in came)


@pytest.mark.parametrize("piecemeal", [False, True], ids=["in one batch", "one by one"])
@pytest.mark.parametrize("life", LIVES)
def test_late_records_get_the_contracts_answer_once(
    life: Callable[[Scene], Awaitable[None]], *, piecemeal: bool
) -> None:
    """Late bets, cancels, cards, rounds and shoes: whoever remembers the round, the answers are the same."""

    async def play() -> None:
        async with scene() as played:
            await played.play(FIVE_ACCOUNTS)
            await played.play(ROUND)
            assert await played.balances() == BALANCES
            await life(played)
            before = played.facts()
            for text in LATE.splitlines() if piecemeal else [LATE]:
                await played.play(text)
            assert news(before, played.facts()) == sorted(ANSWERS)
            assert await played.balances() == BALANCES
            await played.restart()
            await played.caught_up()
            assert news(before, played.facts()) == sorted(ANSWERS)
            assert not played.about("round_held")
            await played.play("open R-2\nbet b1 A-1 player_1 1000 of R-2\nclose R-2\ndeal R-2 W")
            assert await played.balance() == "12000/0/5"

    asyncio.run(play())


def test_an_old_shoe_is_known_within_the_batch_that_starts_the_next() -> None:
    """Shoes start and come again in one batch: duplicates, not newer shoes, and no round opens in an old one."""

    async def play() -> None:
        async with scene() as played:
            await played.play("shoe S-1 2h #s1")
            await played.play("""
                shoe S-2 3h #s2
                shoe S-3 4h
                open R-1 in S-1
                shoe S-4 5h
                again s2
                open R-1 in S-2
                open R-1 in S-4
            """)
            await played.play("again s1\nopen R-2 in S-4")
            assert played.facts() == [
                "round_held R-1 incomplete",
                *(f"dead table-events@{offset} round_out_of_order" for offset in (3, 6)),
            ]

    asyncio.run(play())


@pytest.mark.parametrize("point", [Point.COMMIT, Point.COMMITTED])
def test_a_round_is_noted_before_the_commit_that_passes_it(point: Point) -> None:
    """Another table's round held the log for hours; its end lets go of all, and the worker dies around the commit."""

    async def play() -> None:
        async with scene() as played:
            await played.play(FIVE_ACCOUNTS)
            await played.play("shoe S-9 4h at T-2\nopen R-9 in S-9 at T-2\nbet b9 A-2 player_1 1000 of R-9 at T-2")
            await played.play(ROUND)
            played.talk.now_ms += 3 * HOURS_MS
            end = "close R-9 at T-2\ndeal R-9 W at T-2"
            await kill_in_log(played, end, point, when=lambda: played.copies("round_settled R-9") > 0)
            await played.start()
            await played.play("again b1\nbet b5 A-1 player_1 1000\nopen R-1")
            assert played.about("b5") == ["bet_rejected b5 A-1 betting_closed"]
            assert await played.balance() == "11000/0/3"
            assert not played.about("dead")

    asyncio.run(play())


class SlowNotes(MemoryLedger):
    """A ledger whose notes take their time to come."""

    async def recall(self, pages: Sequence[str]) -> list[dict[str, bytes]]:
        """As ever, but others have many turns meanwhile."""
        for _ in range(60):
            await asyncio.sleep(0)
        return await super().recall(pages)


def test_a_round_said_while_notes_are_fetched_is_remembered() -> None:
    """A batch waits for notes; meanwhile a round of which it holds late copies is said, and leaves the books."""

    async def play() -> None:
        async with scene() as played:
            played.line.new_ledger = lambda: SlowNotes(played.line.store)
            await played.stop()
            await played.start()
            await played.play("deposit A-1 10000")
            stray = "bet b9 A-1 player_1 1 of R-9"
            copies = "\n".join(("again b1\n" * 49 + stray) for _ in range(0, 2 * BATCH_RECORDS, 50))
            await played.play(f"{S1_R1}\nbet b1 A-1 player_1 1000 #b1\nclose R-1\ndeal R-1 W\n{copies}")
            assert played.about("b1") == ["bet_accepted b1 A-1 8000/2000/2", "bet_settled b1 A-1 win 3000 11000/0/3"]

    asyncio.run(play())


def test_a_bet_on_a_round_that_never_opens_is_refused_once() -> None:
    """`round_unknown`, remembered: its copy says nothing, other content is a conflict, across a restart, too."""

    async def play() -> None:
        async with scene() as played:
            await played.play(FIVE_ACCOUNTS)
            await played.play("shoe S-1 2h\nbet b1 A-1 player_1 1000 #b1")
            await played.restart()
            await played.play(
                "again b1\nbet b1 A-1 player_1 2000\nopen R-1\nagain b1\nbet b1 A-2 player_1 1000\nclose R-1"
            )
            assert played.facts() == [
                "bet_rejected b1 A-1 round_unknown",
                "dead bets@2 id_conflict",
                "dead bets@4 id_conflict",
            ]

    asyncio.run(play())


def test_bets_are_remembered_while_their_round_is_unfinished_however_long() -> None:
    """A worker that was away longer than `--remember` takes and pays nothing twice."""

    async def play() -> None:
        async with scene() as played:
            await played.play(FIVE_ACCOUNTS)
            await played.play(f"{S1_R1}\nbet b1 A-1 player_1 1000 #b1")
            await played.kill()
            later = 40 * 24 * HOURS_MS
            played.line.store.clock = lambda: int(monotonic() * 1000) + later
            await played.start()
            await played.play("again b1\nclose R-1\ndeal R-1 W")
            assert await played.balance() == "11000/0/3"
            assert played.copies("bet_accepted") == 2  # its own record, read again

    asyncio.run(play())


def test_a_finished_round_is_forgotten_in_time() -> None:
    """After `--remember` its bets and notes are gone; those of an open round are not."""

    async def play() -> None:
        async with scene() as played:
            await played.play(FIVE_ACCOUNTS)
            await played.play(ROUND)
            await played.play("open R-2\nbet b1 A-1 player_1 1000 of R-2")
            await forgotten_first(played)
            played.line.store.clock = lambda: int(monotonic() * 1000) + 27 * HOURS_MS
            kept = {name[1] for number in range(16) for name in (played.line.store.bucket(number) or _nothing()).rounds}
            assert kept == {"R-2"}

    asyncio.run(play())


async def forgotten_first(played: Scene) -> None:
    """R-1 has left memory; R-2 is open."""
    assert played.worker is not None
    desk = played.worker.engine.owned._desks[0]
    await played.worker.until(lambda: not desk.finished)


def _nothing() -> Bucket:
    return Bucket(0)
