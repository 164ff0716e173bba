"""Two batches on their way: said while the rounds of the other are, folded while the ledger has the other."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest

from pokdeng.settlement.observer import SilentObserver
from pokdeng.stream.port import LogUnavailableError
from pokdeng.wire import TopicKind
from tests.restore.filled import filled, latest_ms
from tests.settlement.lives import forgotten
from tests.settlement.scene import Scene, a_while, scene
from tests.settlement.table_talk import FIVE_ACCOUNTS
from tests.settlement.test_revision_edges import B1
from tests.settlement.test_together import BETS, DEPOSITS, TABLES, at_every_table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pokdeng.ledger.values import Answer
    from pokdeng.settlement.batch import Batch
    from pokdeng.settlement.engine import Engine
    from tests.support.line import RunningWorker

ONE_ROUND = """
shoe S-2 2h at T-2
open R-2 in S-2 at T-2
shoe S-1 2h
open R-1
bet b1 A-1 player_1 1000
close R-1
deal R-1 W but banker 2
"""
THE_LAST_CARD = "card R-1 banker 2 3d"


class Held:
    """Holds what a worker says on a topic: each is let go by itself, and all from `end` on."""

    def __init__(self, played: Scene, kind: TopicKind) -> None:
        """From now on."""
        assert played.worker is not None
        self.begun = 0
        """How many were held so far."""
        self._worker = played.worker
        self._go = asyncio.Semaphore(0)
        self._is_over = False
        self._error: Exception | None = None
        topic = played.line.topics.name(kind)
        publish = played.worker.log.publish

        async def held(batches: Any, *, compressed: bool = False) -> None:
            if not self._is_over and any(partition.topic == topic for partition in batches):
                self.begun += 1
                await self._go.acquire()
                if self._error is not None:
                    raise self._error
            await publish(batches, compressed=compressed)

        played.worker.log.publish = held  # type: ignore[method-assign]

    async def until(self, begun: int) -> None:
        """Wait until so many were held."""
        await self._worker.until(lambda: self.begun == begun)

    def let_go(self) -> None:
        """Let one go, the next if none is held."""
        self._go.release()

    def end(self, error: Exception | None = None) -> None:
        """Let it go, or fail; none is held any more."""
        self._error, self._is_over = error, True
        self._go.release()


async def say_at_once(played: Scene, text: str, records: int) -> None:
    """Have these bets and table events taken in one turn."""
    worker = played.worker
    assert worker is not None
    worker.engine.pause(is_paused=True)
    played.say(text)
    await worker.until(lambda: waiting(worker.engine) == records)
    await asyncio.sleep(0.01)  # then the ends of all partitions may be asked for at once
    worker.engine.pause(is_paused=False)


def progress(worker: RunningWorker) -> list[int]:
    """The next bets to be acknowledged."""
    return [desk.next_bet for desk in worker.engine.owned.desks]


def waiting(engine: Engine) -> int:
    """How many bets and table events are not taken yet."""
    return sum(desk.waiting for desk in engine.owned.desks)


async def with_held_rounds(played: Scene) -> Held:
    """A round has ended, and its record is on its way."""
    await played.play(FIVE_ACCOUNTS)
    await played.play(ONE_ROUND)
    rounds = Held(played, TopicKind.ROUNDS)
    played.say(THE_LAST_CARD)
    await rounds.until(1)
    return rounds


def test_facts_do_not_wait_for_the_rounds_of_the_batch_before() -> None:
    """But the batch counts only after them; and the one behind it waits for both."""

    async def play() -> None:
        async with scene() as played:
            rounds = await with_held_rounds(played)
            assert played.worker is not None
            before = progress(played.worker)
            played.say("bet b2 A-2 player_1 1000 at T-2 of R-2")
            await played.worker.until(lambda: "b2" in "".join(played.facts()))
            played.say("bet b3 A-3 player_1 1000 at T-2 of R-2")
            await a_while()
            assert not played.about("b3")
            assert not played.facts(TopicKind.ROUNDS)
            assert progress(played.worker) == before
            rounds.end()
            await played.caught_up()
            assert played.about("b3")
            assert len(played.facts(TopicKind.ROUNDS)) == 1
            await played.play("void R-2 at T-2")

    asyncio.run(play())


@pytest.mark.parametrize("is_killed", [True, False])
def test_rounds_that_are_not_said_are_said_after_what_was_said_behind_them(*, is_killed: bool) -> None:
    """The process ends with nothing of either batch committed; the next one says what is missing, in the same words."""

    async def play() -> None:
        async with scene() as played:
            rounds = await with_held_rounds(played)
            worker = played.worker
            assert worker is not None
            committed = played.committed(TopicKind.BETS)
            played.say("bet b2 A-2 player_1 1000 at T-2 of R-2")
            await worker.until(lambda: "b2" in "".join(played.facts()))
            if is_killed:
                await played.kill()
            else:
                rounds.end(LogUnavailableError("no answer"))
                assert isinstance(await worker.failure(), LogUnavailableError)
                played.worker = None
            assert played.committed(TopicKind.BETS) == committed
            assert not played.facts(TopicKind.ROUNDS)
            await played.start()
            await played.caught_up()
            assert len(played.facts(TopicKind.ROUNDS)) == 1
            await played.play("void R-2 at T-2")

    asyncio.run(play())


def test_one_half_is_folded_while_the_ledger_has_the_other() -> None:
    """And the ledger has one call at a time."""
    held, reached, asked = asyncio.Event(), asyncio.Event(), [0, 0]
    halves: list[set[str]] = []

    async def begins(name: str, _bucket: int) -> None:
        if name == "apply":
            asked[0] += 1
            asked[1] = max(asked)
            reached.set()
            await held.wait()

    async def ends(name: str, _bucket: int) -> None:
        if name == "apply":
            asked[0] -= 1

    async def play() -> None:
        async with scene(partitions=4) as played:
            await played.play(DEPOSITS)
            await played.play(f"{at_every_table('shoe S-1 2h')}\n{at_every_table('open R-1')}")
            assert played.worker is not None
            engine, apply = played.worker.engine, played.worker.ledger.apply

            async def heard(operations: Sequence[Any]) -> list[Answer]:
                halves.append({operation.source for operation in operations})
                return await apply(operations)

            played.worker.ledger.apply = heard  # type: ignore[method-assign]
            played.line.store.before, played.line.store.after = begins, ends
            await say_at_once(played, BETS, len(TABLES))
            async with asyncio.timeout(10):
                await reached.wait()
            await a_while()
            assert not waiting(engine)
            assert not played.facts(TopicKind.BET_DECISIONS)
            held.set()
            await played.caught_up()
            assert len(played.facts(TopicKind.BET_DECISIONS)) == len(TABLES)
            assert asked == [0, 1]
            assert halves == [{"p0", "p2"}, {"p1", "p3"}]
            await played.play(at_every_table("void R-1"))

    asyncio.run(play())


def test_what_waited_too_long_behind_others_is_not_said_any_more() -> None:
    """Each publish is slow, but in time; the half that waits for both of them is older than half a minute by then."""

    async def play() -> None:
        async with scene(partitions=4) as played:
            await played.play(f"{DEPOSITS}\ndeposit A-65 10000")
            await played.play(f"{at_every_table('shoe S-1 2h')}\n{at_every_table('open R-1')}")
            worker = played.worker
            assert worker is not None
            decisions = Held(played, TopicKind.BET_DECISIONS)
            played.say("bet b0 A-65 player_1 1000")
            await decisions.until(1)
            played.say(BETS)
            async with asyncio.timeout(10):
                while sum(text == "8000/2000/2" for text in (await played.balances()).values()) < 65:
                    await asyncio.sleep(0.01)
            played.line.elapse(29)
            decisions.let_go()
            await decisions.until(2)
            played.line.elapse(29)
            decisions.let_go()
            error = await worker.failure()
            assert isinstance(error, LogUnavailableError)
            assert "58 s ago is not said any more" in str(error)
            assert 1 < len(played.facts(TopicKind.BET_DECISIONS)) < 1 + len(TABLES)
            played.worker = None
            await played.start()
            await played.play(at_every_table("void R-1"))
            assert len(played.facts(TopicKind.BET_DECISIONS)) == 1 + len(TABLES)

    asyncio.run(play())


def test_what_is_revoked_while_a_turn_asks_for_ends_is_not_taken() -> None:
    """A revocation that gave up waiting for the turn: nothing is applied or said after it."""

    async def play() -> None:
        async with scene(partitions=2) as played:
            await played.play(FIVE_ACCOUNTS)
            await played.play("shoe S-1 2h\nopen R-1")
            worker = played.worker
            assert worker is not None
            asked, answer, ends = asyncio.Event(), asyncio.Event(), worker.log.end_offsets

            async def slow(partitions: Any) -> Any:
                found = await ends(partitions)
                asked.set()
                await answer.wait()
                return found

            worker.log.end_offsets = slow  # type: ignore[method-assign]
            played.say("bet b1 A-1 player_1 1000")
            async with asyncio.timeout(10):
                await asked.wait()
                await worker.engine.revoked()
            answer.set()
            await a_while()
            assert await played.balance() == "10000/0/1"
            assert not played.about("b1")
            await played.restart()
            await played.play("void R-1")

    asyncio.run(play())


@pytest.mark.parametrize("held", [TopicKind.BET_DECISIONS, TopicKind.SETTLEMENTS, TopicKind.ROUNDS])
def test_a_ledger_that_is_lost_while_a_batch_is_said_in_part_is_restored(held: TopicKind) -> None:
    """No settlement is said without its bet's decision, no round without its settlements: what is there is enough."""

    async def play() -> None:
        async with scene() as played:
            await played.play(FIVE_ACCOUNTS)
            await played.play("shoe S-1 2h\nopen R-1")
            saying = Held(played, held)
            bets = "bet b1 A-1 player_1 1000\nbet b2 A-2 player_1 500"
            await say_at_once(played, f"{bets}\nclose R-1\ndeal R-1 W", 15)  # decided and settled in one batch
            await saying.until(1)
            await a_while()
            said = [len(played.facts(kind)) for kind in (TopicKind.BET_DECISIONS, TopicKind.SETTLEMENTS)]
            assert said == {"bet-decisions": [0, 0], "settlements": [2, 0], "rounds": [2, 2]}[held.value]
            await played.kill()
            played.line.store, _ = await filled(played.line, now_ms=latest_ms(played.line))
            await played.start()
            await played.caught_up()
            assert [len(played.facts(kind)) for kind in (TopicKind.BET_DECISIONS, TopicKind.SETTLEMENTS)] == [2, 2]
            assert await played.balance() == "11000/0/3"

    asyncio.run(play())


def test_what_repeats_a_card_is_known_while_a_correction_is_under_way() -> None:
    """Of a round that left memory, and was said once more since: its page comes before it is looked at.

    The simulation found it, without a single fault.
    """

    async def play() -> None:
        async with scene() as played:
            await played.play(FIVE_ACCOUNTS)
            await played.play(B1)
            await forgotten(played)
            held = Held(played, TopicKind.ROUNDS)
            played.say("correct R-1 player_1 1 2c\ncorrect R-1 player_1 1 9c\ncorrect R-1 player_1 1 2c")
            for number, line in enumerate(("card R-1 banker 2 3d #own", "card R-1 banker 2 4d #own"), start=1):
                await held.until(number)
                played.say(line)
                await a_while()
                held.let_go()
            await held.until(3)
            held.end()
            await played.caught_up()
            assert [fact.split()[-1] for fact in played.facts() if fact.startswith("dead")] == ["id_conflict"]

    asyncio.run(play())


class Told(SilentObserver):
    """What the metrics are told, in order."""

    def __init__(self) -> None:
        """Nothing yet."""
        self.what: list[str] = []

    def decisions_said(self, batch: Batch) -> None:
        """Latencies of decisions."""
        self.what.append(f"{len(batch.decided_at_ms)} decided")

    def settlements_said(self, batch: Batch) -> None:
        """Latencies of settlements."""
        self.what.append(f"{len(batch.caused_at_ms)} settled")


def test_a_decision_is_measured_when_it_is_acknowledged() -> None:
    """Not when the settlements beside it are."""

    async def play() -> None:
        told = Told()
        async with scene() as played:
            await played.play(FIVE_ACCOUNTS)
            await played.play(ONE_ROUND)
            assert played.worker is not None
            played.worker.engine._speaker._observer = told
            settlements = Held(played, TopicKind.SETTLEMENTS)
            played.say(THE_LAST_CARD)
            await settlements.until(1)
            assert told.what[-1].endswith("decided")
            settlements.end()
            await played.caught_up()
            assert "1 settled" in told.what

    asyncio.run(play())
