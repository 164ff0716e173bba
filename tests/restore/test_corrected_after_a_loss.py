"""What is corrected, or comes again, after the ledger was lost: the same answers, from a checkpoint or without one."""

from __future__ import annotations

import asyncio
import uuid
from functools import partial
from typing import TYPE_CHECKING

import pytest
from redis.asyncio import Redis

from pokdeng.ledger.redis_ledger import RedisLedger
from pokdeng.settlement.engine import LEASES_EVERY_S
from pokdeng.wire import TopicKind
from tests.restore.losses import LOSSES, checkpointed, rebuilt
from tests.settlement import test_remembered, test_revision_edges, test_revisions
from tests.settlement.lives import HOURS_MS, noted_only
from tests.settlement.scene import Scene, scene
from tests.settlement.table_talk import FIVE_ACCOUNTS, S1_R1
from tests.settlement.test_revision_edges import B1, EIGHT, LATER_SHOES, NEXT_SHOE, W_C, revised

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

after_every_loss = pytest.mark.parametrize("loss", LOSSES)

DEPOSIT = "deposit A-3 7 d3 #d3"
OLD = f"{S1_R1}\nbet b1 A-1 player_1 1000 #b1\nbet b2 A-2 player_2 500 #b2\nclose R-1\ndeal R-1 W"
SINCE = "withdraw A-3 407 w3 #w3\nshoe S-8 4h at T-3\nopen R-8 in S-8 at T-3\nbet b8 A-4 player_1 100 of R-8 at T-3"
MONEY = (TopicKind.BET_DECISIONS, TopicKind.FUNDS_DECISIONS, TopicKind.SETTLEMENTS)
DEAD = ["dead id_conflict", "dead seat_conflict", "dead seat_conflict"]
BALANCES = {"A-1": "11000/0/3", "A-2": "11000/0/3", "A-3": "9600/0/3", "A-4": "9800/200/2", "A-5": "10000/0/1"}


async def a_round_from_before(played: Scene, loss: Callable[[Scene], Awaitable[None]]) -> None:
    """Settled, checkpointed, lost, restored: older records move nothing, and it is corrected, then cancelled."""
    await played.play(FIVE_ACCOUNTS)
    await played.play(DEPOSIT)
    await played.play(OLD)
    await checkpointed(played.line)
    played.talk.now_ms += 2 * HOURS_MS
    await played.play(SINCE)
    assert await played.balances() == BALANCES
    await loss(played)
    assert await played.balances() == BALANCES
    said = len(played.line.records(*MONEY))
    await played.play("again b1\nagain b2\nagain d3\nagain w3")
    assert await played.balances() == BALANCES
    assert len(played.line.records(*MONEY)) == said
    await played.play(f"{W_C} #c1")
    assert revised(played) == [
        "bet_reversed b1 A-1 3000 8000/2000/4 r2",
        "bet_settled b1 A-1 lose 1000 9000/0/5 r2",
        "bet_reversed b2 A-2 2000 9000/1000/4 r2",
        "bet_settled b2 A-2 win 2000 11000/0/5 r2",
        "round_settled R-1 2 bets seal 2 r2",
    ]
    await played.play("again c1\nagain b1\nvoid R-1")
    assert await played.balances() == BALANCES | {"A-1": "10000/0/7", "A-2": "10000/0/7"}


@after_every_loss
def test_a_round_settled_before_a_checkpoint_is_corrected_after_a_loss(
    loss: Callable[[Scene], Awaitable[None]],
) -> None:
    """To the unit, in revision 2 and 3; by the checker, too."""

    async def play() -> None:
        async with scene() as played:
            await a_round_from_before(played, loss)

    asyncio.run(play())


@pytest.mark.parametrize("by", ["worker", "command"])
def test_the_same_on_redis(redis_url: str, by: str) -> None:
    """The keys are gone while a worker runs, or while none does and the command fills it."""
    prefix = f"corrected-{uuid.uuid4().hex[:8]}"

    async def lost(played: Scene) -> None:
        if by == "command":
            await played.stop()
        redis: Redis = Redis.from_url(redis_url)
        await redis.delete(*[key async for key in redis.scan_iter(match=f"{prefix}:*")])
        if by == "command":
            restored = await rebuilt(played.line, RedisLedger(redis_url, prefix=prefix))
            assert restored is not None
            assert not restored.holes
            await played.start()
            await played.caught_up()
        else:
            worker = played.worker
            assert worker is not None
            played.line.elapse(LEASES_EVERY_S)
            await worker.until(lambda: not worker.engine.is_recovered)
            await worker.caught_up()
        await redis.aclose()

    async def play() -> None:
        played = Scene()
        played.line.new_ledger = lambda: RedisLedger(redis_url, prefix=prefix)
        await played.start()
        try:
            await a_round_from_before(played, lost)
        finally:
            await played.stop()
        report = await played.report()
        assert not report.findings, report

    asyncio.run(play())


STORIES = {
    "refused or known": partial(test_revisions.test_what_a_settled_round_refuses_or_knows, piecemeal=False),
    "refused or known, one by one": partial(test_revisions.test_what_a_settled_round_refuses_or_knows, piecemeal=True),
    "cancelled": test_revisions.test_o12_a_void_after_the_settlement_refunds_once,
    "overdrawn": test_revisions.test_o14_winnings_spent_before_the_correction,
    "only what stood": test_revisions.test_only_what_stood_is_revised,
    "at the window's end": partial(test_revisions.test_the_window_is_of_broker_time, line=W_C),
    "late records": partial(test_remembered.test_late_records_get_the_contracts_answer_once, piecemeal=False),
    "the next round's shoe": test_revision_edges.test_a_round_opens_with_the_shoe_as_corrected,
    "copies, same shoe": partial(
        test_revision_edges.test_the_copies_of_a_shoe_are_counted_for_ever, next_shoes="", piecemeal=True
    ),
    "copies, next shoe": partial(
        test_revision_edges.test_the_copies_of_a_shoe_are_counted_for_ever, next_shoes=NEXT_SHOE, piecemeal=True
    ),
    "copies, later shoes": partial(
        test_revision_edges.test_the_copies_of_a_shoe_are_counted_for_ever, next_shoes=LATER_SHOES, piecemeal=False
    ),
}
"""Stories of settled rounds that hold whatever has happened to the worker's memory."""


@after_every_loss
@pytest.mark.parametrize("story", STORIES)
def test_what_holds_in_every_life_holds_after_a_loss(loss: Callable[[Scene], Awaitable[None]], story: str) -> None:
    """Copies of corrections, cards that would be a ninth, overdrawn accounts, late bets: as if none was lost."""
    STORIES[story](loss)  # type: ignore[operator]  # a test, told what happens between


@after_every_loss
def test_a_correction_undone_since_is_known_when_it_comes_again(loss: Callable[[Scene], Awaitable[None]]) -> None:
    """So is one that named the card that lay there then, under an id of its own; what was refused is judged anew."""

    async def play() -> None:
        async with scene() as played:
            await played.play(FIVE_ACCOUNTS)
            await played.play(B1)
            await played.play(f"{W_C} #there\n{W_C} #idle\ncorrect R-1 player_1 1 9c #back")
            assert await played.balance() == "11000/0/7"
            before = played.facts()
            await loss(played)
            await played.play("again there\nagain idle\nagain back\ncorrect R-1 player_1 1 3c #idle")
            assert await played.balance() == "11000/0/7"
            assert [fact.split()[-1] for fact in played.facts() if fact not in before] == ["id_conflict"]
            await played.play("void R-1 #x1\nvoid R-1 #x2")
            before = played.facts()
            await loss(played)
            await played.play("again x1\nagain x2\nagain there\nvoid R-1")
            assert played.facts() == before

    asyncio.run(play())


@after_every_loss
def test_a_card_repeated_after_the_end_is_known_after_a_loss(loss: Callable[[Scene], Awaitable[None]]) -> None:
    """Under an id of its own: its copy is passed over though the place was corrected since; other content is refused.

    A storm found it: what was refused as `id_conflict` before the loss was refused once more as `seat_conflict`.
    """

    async def play() -> None:
        async with scene() as played:
            await played.play(FIVE_ACCOUNTS)
            await played.play(B1)
            await played.play("card R-1 player_1 1 9c #own\ncard R-1 player_1 1 4c #own\ncard R-1 player_1 1 4c #no")
            await played.play(f"{W_C}\ncard R-1 player_1 1 2c #since\ncard R-1 player_1 1 9c #no")
            before = played.facts()
            assert test_revisions.news([], before)[-3:] == DEAD
            await loss(played)
            await played.play("card R-1 player_1 1 9c #own\nagain since\nclose R-1 #close")
            assert played.facts() == before
            await played.play("card R-1 player_1 1 4c #own\ncard R-1 player_1 1 4c #since\ncard R-1 player_1 1 4c #no")
            assert test_revisions.news(before, played.facts()) == ["dead id_conflict", *DEAD[:2]]
            await played.play("void R-1\ncard R-1 player_1 1 2c #more")
            before = played.facts()
            await loss(played)
            await played.play(
                "card R-1 player_1 1 9c #own\ncard R-1 player_1 1 2c #since\ncard R-1 player_1 1 4c #more"
            )
            assert test_revisions.news(before, played.facts()) == ["dead round_out_of_order"]

    asyncio.run(play())


@after_every_loss
@pytest.mark.parametrize("eighth", ["9c", "2c"])
def test_a_correction_beside_an_open_round_counts_in_its_shoe(
    loss: Callable[[Scene], Awaitable[None]], eighth: str
) -> None:
    """It is read again with the open round after the loss: the card that it took away is there once more, no other."""

    async def play() -> None:
        async with scene() as played:
            await played.play(f"{FIVE_ACCOUNTS}\nshoe S-1 2h\n{EIGHT}")
            assert played.worker is not None
            desk = played.worker.engine.owned._desks[0]
            await played.worker.until(lambda: not desk.finished)
            await played.play("open R-9\ncorrect R-1 player_1 1 As")
            await loss(played)
            await played.play(f"card R-9 player_1 1 {eighth}")
            held = [fact for fact in played.facts(TopicKind.ROUNDS) if fact.startswith("round_held")]
            assert held == ([] if eighth == "9c" else ["round_held R-9 ninth_copy"])
            await played.play("card R-9 player_2 1 9c")
            assert "round_held R-9 ninth_copy" in played.facts()

    asyncio.run(play())


@after_every_loss
def test_an_old_shoe_corrected_beside_the_next_one_is_counted_on(loss: Callable[[Scene], Awaitable[None]]) -> None:
    """While a round is open a revision tells its shoe as it began: the counts are those told last, and the changes."""

    async def play() -> None:
        async with scene() as played:
            await played.play(f"{FIVE_ACCOUNTS}\nshoe S-1 2h\n{EIGHT}")
            await played.play("shoe S-2 3h\nopen R-9 in S-2")
            await played.play("correct R-1 player_1 1 As\ncorrect R-2 player_1 1 Ac")
            await loss(played)
            await played.play("correct R-3 player_2 1 9c\ncorrect R-4 player_2 1 9c")
            assert not played.about("ninth_copy")
            await loss(played)
            await played.play("correct R-5 player_2 1 9c")
            assert played.about("ninth_copy") == [f"dead table-events@{played.last_event} ninth_copy"]
            await played.play("close R-9\ndeal R-9 W\nshoe S-3 4h\nopen R-10 in S-3")
            await loss(played)
            await played.play("correct R-5 player_2 1 9c #again")
            assert len(played.about("ninth_copy")) == 2

    asyncio.run(play())


@after_every_loss
def test_the_cards_of_a_round_held_at_the_end_of_its_shoe_are_counted(loss: Callable[[Scene], Awaitable[None]]) -> None:
    """It is cancelled while the next shoe is dealt: nobody says its cards, but they lie, and what they fill is full."""

    async def play() -> None:
        async with scene() as played:
            await played.play(f"{FIVE_ACCOUNTS}\nshoe S-1 2h")
            await played.play("\n".join(f"open R-{n}\nclose R-{n}\ndeal R-{n} W" for n in range(1, 8)))
            await played.play("open R-8\ncorrect R-5 player_1 1 Td\nclose R-8\ndeal R-8 W")
            assert "round_held R-8 ninth_copy" in played.facts()
            await played.play("shoe S-2 2h\nopen R-9 in S-2\nvoid R-8\nclose R-9\ndeal R-9 W")
            await loss(played)
            await played.play("correct R-1 banker 2 5s")
            assert played.about("ninth_copy")[-1] == f"dead table-events@{played.last_event} ninth_copy"
            await played.play("correct R-1 banker 2 9c")
            assert played.facts(TopicKind.ROUNDS)[-1] == "round_settled R-1 0 bets seal 0 r2"

    asyncio.run(play())


async def start_with_short_holds(played: Scene) -> None:
    """A worker that puts held rounds aside at once, five accounts, and a shoe."""
    await played.stop()
    played.line.held_ms = 30
    await played.start()
    await played.play(f"{FIVE_ACCOUNTS}\nshoe S-1 2h")


async def until_one_is_put_aside(played: Scene) -> None:
    """Wait until the ledger is told of a round put aside."""
    assert played.worker is not None
    desk = played.worker.engine.owned._desks[0]
    await played.worker.until(lambda: bool(desk.aside.noted))


@after_every_loss
@pytest.mark.parametrize("card", ["5s", "9c"])
def test_the_cards_of_a_round_put_aside_are_counted_when_it_is_over(
    loss: Callable[[Scene], Awaitable[None]], card: str
) -> None:
    """Its shoe was in use when the ledger was lost, and is not any more when another round of it is corrected."""

    async def play() -> None:
        async with scene() as played:
            await start_with_short_holds(played)
            await played.play("\n".join(f"open R-{n}\nclose R-{n}\ndeal R-{n} W" for n in range(1, 8)))
            await played.play("open R-8\ncorrect R-5 player_1 1 Td\nclose R-8\ndeal R-8 W")
            await played.play("shoe S-2 2h\nopen R-9 in S-2\nclose R-9\ndeal R-9 W\nopen R-10 in S-2\nvoid R-10")
            await until_one_is_put_aside(played)
            await loss(played)
            await played.play("void R-8\nclose R-9\nshoe S-3 2h\nopen R-11 in S-3\nclose R-11\ndeal R-11 W")
            await noted_only(played)
            await played.play(f"correct R-1 banker 2 {card}")
            assert bool(revised(played)[1:]) == (card == "9c")
            assert bool(played.about("ninth_copy")[2:]) == (card == "5s")

    asyncio.run(play())


@after_every_loss
def test_what_was_impossible_in_a_round_put_aside_is_judged_anew(loss: Callable[[Scene], Awaitable[None]]) -> None:
    """The table's snapshot tells it: put back when the round is settled, the same record is a correction."""

    async def play() -> None:
        async with scene() as played:
            await start_with_short_holds(played)
            await played.play("\n".join(f"open R-{n}\nclose R-{n}\ndeal R-{n} W" for n in range(2, 9)))
            await played.play("correct R-2 player_1 2 9c\nopen R-1\nbet b1 A-1 player_1 1000")
            await played.play("correct R-1 player_1 1 9c #ninth\nclose R-1\ndeal R-1 W but player_1 1")
            await played.play("shoe S-2 3h\nopen R-9 in S-2\nvoid R-9\nopen R-10 in S-2\nvoid R-10")
            await until_one_is_put_aside(played)
            await loss(played)
            await played.play("correct R-1 player_1 1 Ad\ncorrect R-2 player_1 2 Td")
            assert played.about("b1")[-1] == "bet_settled b1 A-1 lose 1000 9000/0/3"
            await noted_only(played)
            await played.play("again ninth")
            assert played.about("b1")[-1] == "bet_settled b1 A-1 win 3000 11000/0/5 r2"

    asyncio.run(play())
