"""Whatever pieces a log is read in, and wherever a checkpoint cuts it: a restore comes to what the ledger had."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from pokdeng.restore import closing_books
from pokdeng.restore.fold import Fold
from pokdeng.restore.reading import ends_of
from tests.restore.filled import check_same_contents, filled, latest_ms
from tests.restore.losses import checkpointed, restored_without_a_checkpoint
from tests.settlement.lives import HOURS_MS
from tests.settlement.scene import scene
from tests.settlement.table_talk import FIVE_ACCOUNTS, S1_R1
from tests.settlement.test_revision_edges import W_C

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pokdeng.ledger.restoring import RestoredBet
    from pokdeng.stream.port import Log, TopicPartition
    from pokdeng.wire import TopicKind

BETS = f"{S1_R1}\nbet b1 A-1 player_1 1000 #b1\nbet b4 A-4 player_2 500"
SETTLED = f"{BETS}\nclose R-1\ndeal R-1 W"


def test_a_revision_is_restored_wherever_a_sweep_falls(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also between a bet's reversal and its new settlement: it is not complete there."""
    monkeypatch.setattr("pokdeng.restore.reading.CHUNK_RECORDS", 1)

    async def run() -> None:
        async with scene() as played:
            for talk in (FIVE_ACCOUNTS, SETTLED, W_C):
                await played.play(talk)
            for every in range(1, 30):
                monkeypatch.setattr("pokdeng.restore.folding.SWEEP_EVERY_RECORDS", every)
                store, _ = await filled(played.line, now_ms=latest_ms(played.line))
                check_same_contents(store, played.line.store)

    asyncio.run(run())


@pytest.mark.parametrize("every", [1, 7])
def test_a_round_restored_in_pieces_can_be_cancelled(every: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The ledger's bets are in the revision of which the round's record speaks: nothing stops the next one."""
    monkeypatch.setattr("pokdeng.restore.reading.CHUNK_RECORDS", 1)
    monkeypatch.setattr("pokdeng.restore.folding.SWEEP_EVERY_RECORDS", every)

    async def run() -> None:
        async with scene() as played:
            for talk in (FIVE_ACCOUNTS, SETTLED, W_C):
                await played.play(talk)
            await restored_without_a_checkpoint(played)
            await played.play("void R-1")
            assert played.worker is not None
            assert played.worker.engine.owned.stopped_corrections == 0
            refunds = [fact for fact in played.facts() if "refunded" in str(fact)]
            assert refunds

    asyncio.run(run())


def test_a_checkpoint_between_a_reversal_and_the_new_settlement_keeps_both_ends(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Its ends are where the log was asked for them, not where a revision was said."""

    async def run() -> None:
        async with scene() as played:
            for talk in (FIVE_ACCOUNTS, SETTLED, W_C):
                await played.play(talk)
            topics = played.line.topics

            async def before_the_last(
                log: Log, partitions: Mapping[TopicKind, list[TopicPartition]]
            ) -> dict[TopicPartition, int]:
                ends = await ends_of(log, partitions)
                cut = {topics.settlements, topics.rounds}
                return {place: end - (place.topic in cut and end > 0) for place, end in ends.items()}

            monkeypatch.setattr(closing_books, "ends_of", before_the_last)
            await checkpointed(played.line)
            store, _ = await filled(played.line, now_ms=latest_ms(played.line))
            check_same_contents(store, played.line.store)

    asyncio.run(run())


@pytest.mark.parametrize("hours", [2, 30])
@pytest.mark.parametrize("is_told_open", [False, True])
def test_a_bet_that_lay_open_over_a_checkpoint_is_restored_from_the_next(*, hours: int, is_told_open: bool) -> None:
    """Settled longer after its decision than decisions are read again: the checkpoint must tell it itself."""

    async def run() -> None:
        async with scene() as played:
            await played.play(FIVE_ACCOUNTS)
            await played.play(BETS)
            if is_told_open:
                await checkpointed(played.line)
            played.talk.now_ms += hours * HOURS_MS
            await played.play("close R-1\ndeal R-1 W")
            await checkpointed(played.line)
            for from_checkpoint in (False, True):
                store, _ = await filled(played.line, now_ms=latest_ms(played.line), from_checkpoint=from_checkpoint)
                check_same_contents(store, played.line.store)

    asyncio.run(run())


class _Forgetting:
    """A sink for which every round is over for too long."""

    def finished(self, table_id: str, round_id: str, resume: bytes) -> bool:  # noqa: ARG002 - none is remembered
        """Not remembered."""
        return False

    def bet(self, bet: RestoredBet, *, is_early: bool) -> None:
        """Nothing may come."""
        raise AssertionError(bet, is_early)


def test_settlements_of_rounds_that_are_forgotten_are_not_kept() -> None:
    """From a checkpoint on settlements are read from long before the decisions that they settle: hours of them."""

    async def run() -> None:
        async with scene() as played:
            await played.play(FIVE_ACCOUNTS)
            await played.play(SETTLED)
            topics = played.line.topics
            fold = Fold(_Forgetting())  # type: ignore[arg-type]  # what is asked of it
            said = played.outputs()
            fold.rounds_said([one for one in said if one.topic == topics.rounds])
            fold.bets([one for one in said if one.topic == topics.settlements], moves=False)
            assert fold.rounds
            fold.sweep()
            assert fold.rounds, "their decisions may be read behind them"
            fold.sweep(drops_ends=True)
            assert fold.rounds == {}
            fold.bets([one for one in said if one.topic == topics.bet_decisions], moves=False)
            fold.sweep(drops_ends=True)
            assert len(fold.rounds) == 1, "a bet that was taken waits for its end"

    asyncio.run(run())
