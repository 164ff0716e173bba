"""The dead-letter fuse: a partition that is mostly dead letters is not taken any further; the others go on."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import aiohttp
import pytest

from pokdeng.cli import fuse as cli_fuse
from pokdeng.metrics import Metrics
from pokdeng.settlement.fuse import LEAST_RECORDS, WINDOW_S, Fuse
from pokdeng.settlement.pages import RESET_HEADER, Pages, _is_local
from pokdeng.stream.port import TopicPartition
from tests.cli.stage import pokdeng
from tests.settlement.scene import Scene
from tests.settlement.table_talk import FIVE_ACCOUNTS, S1_R1

if TYPE_CHECKING:
    from pokdeng.settlement.engine import Engine

BETS = TopicPartition("pokdeng.bets.v1", 0)
FUNDS = TopicPartition("pokdeng.funds.v1", 0)


def counted(share: float | None, *batches: tuple[float, int, int]) -> Fuse:
    """A fuse that has counted batches of `bets` at some times: records, dead letters."""
    fuse = Fuse(share)
    for now, records, dead in batches:
        fuse.count({BETS: records}, {BETS: dead}, now)
    return fuse


@pytest.mark.parametrize(
    ("batches", "is_open"),
    [
        ([(0.0, 1000, 201)], True),
        ([(0.0, 1000, 200)], False),
        ([(0.0, 999, 999)], False),
        ([(0.0, 500, 500), (200.0, 500, 0), (299.0, 1, 1)], True),
        ([(0.0, 500, 500), (301.0, 600, 100)], False),
        ([(0.0, 900, 0), (WINDOW_S + 1, 900, 300), (WINDOW_S + 12, 100, 1)], True),
    ],
    ids=["above the share", "at the share", "too few", "over the window", "before the window", "only the window"],
)
def test_the_fuse_opens_above_its_share_of_enough_records(
    batches: list[tuple[float, int, int]], *, is_open: bool
) -> None:
    """More than 20 % of at least 1,000 records within five minutes."""
    assert (BETS in counted(0.2, *batches).open) is is_open


def test_without_a_share_nothing_ever_opens() -> None:
    """The fuse is off by default."""
    fuse = counted(None, (0.0, 100_000, 100_000))
    assert not fuse.open
    assert not fuse.is_there


def test_each_partition_is_counted_for_itself() -> None:
    """What is dead elsewhere does not count here."""
    fuse = Fuse(0.2)
    fuse.count({BETS: 1000, FUNDS: 1000}, {BETS: 500}, 0.0)
    assert set(fuse.open) == {BETS}


def test_a_reset_counts_anew() -> None:
    """What was counted before is forgotten; the reasons are said."""
    fuse = counted(0.2, (0.0, 1000, 500))
    (reason,) = fuse.reset()
    assert "500 of 1,000 records within 5 min were dead letters" in reason
    fuse.count({BETS: 999}, {BETS: 999}, 1.0)
    assert not fuse.open


async def a_storm(played: Scene, topic: str, key: str, records: int) -> None:
    """Records that are none."""
    played.say("\n".join(f"raw {topic} {key} nonsense" for _ in range(records)))


def engine_of(played: Scene) -> Engine:
    """The running worker's engine, with a fuse."""
    assert played.worker is not None
    return played.worker.engine


async def stormed(topic: str, key: str) -> Scene:
    """A scene with a fuse of 20 %, after a storm in partition 0 of a topic that opened it."""
    played = Scene()
    played.line.fuse_share = 0.2
    await played.start()
    played.line.fuse_share = None  # those who come after it have none
    await played.play(FIVE_ACCOUNTS)
    await played.play(S1_R1)
    await a_storm(played, topic, key, LEAST_RECORDS + 100)
    assert played.worker is not None
    await played.worker.until(lambda: bool(engine_of(played).fuse.open))
    return played


def test_a_stopped_partition_commits_nothing_further_and_the_others_go_on() -> None:
    """Bets are not taken any more, deposits are; readiness says why; a reset takes what has waited."""

    async def play() -> None:
        played = await stormed("bets", "T-1")
        engine = engine_of(played)
        assert played.worker is not None
        await played.worker.until(lambda: engine._speaker.is_silent)
        done = engine.owned.done_up_to(BETS)
        assert done >= LEAST_RECORDS
        played.say("bet b1 A-1 player_1 1000\ndeposit A-1 5 t-5")
        await played.worker.until(lambda: engine.owned.done_up_to(FUNDS) == 6)
        assert engine.owned.done_up_to(BETS) == done
        assert not played.about("bet_accepted")
        (reason,) = engine.why_not_ready
        assert "the dead-letter fuse of pokdeng.bets.v1[0] is open" in reason
        assert engine.reset_fuse() == [reason]
        await played.caught_up()
        assert await played.balance() == "8005/2000/3"
        assert not engine.why_not_ready
        await played.play("void R-1")
        await played.stop()
        assert not (await played.report()).findings

    asyncio.run(play())


def test_a_stopped_cashier_leaves_the_tables_alone() -> None:
    """Funds are not taken, bets are."""

    async def play() -> None:
        played = await stormed("funds", "A-1")
        played.say("deposit A-1 5 t-5\nbet b1 A-1 player_1 1000")
        assert played.worker is not None
        await played.worker.until(lambda: engine_of(played).owned.done_up_to(BETS) == 1)
        assert await played.balance() == "8000/2000/2"
        await played.kill()

    asyncio.run(play())


def test_a_restart_closes_the_fuse() -> None:
    """What was not taken is read again by the next owner, and nothing was lost."""

    async def play() -> None:
        played = await stormed("bets", "T-1")
        played.say("bet b1 A-1 player_1 1000")
        await played.restart()
        await played.caught_up()
        assert await played.balance() == "8000/2000/2"
        await played.play("void R-1")
        await played.stop()
        assert not (await played.report()).findings

    asyncio.run(play())


class _Health:
    """A worker of which one fuse is open, to be asked over HTTP."""

    def __init__(self) -> None:
        self.reasons = ["the dead-letter fuse of bets[0] is open"]

    def why_not_live(self) -> list[str]:
        """It lives."""
        return []

    async def why_not_ready(self) -> list[str]:
        """It says so."""
        return self.reasons

    def refresh_metrics(self) -> None:
        """Nothing to refresh."""

    def open_fuses(self) -> list[str]:
        """Which are open."""
        return self.reasons

    def reset_fuses(self) -> list[str]:
        """Close them."""
        reasons, self.reasons = self.reasons, []
        return reasons


def test_the_command_shows_and_resets_it_over_http() -> None:
    """From the worker's own machine, with the command's header; without it nothing is reset."""

    async def play() -> None:
        pages = Pages(_Health(), Metrics(), host="127.0.0.1", port=0)
        port = await pages.start()
        url = f"http://127.0.0.1:{port}"
        try:
            async with aiohttp.ClientSession() as session, session.post(f"{url}/fuse") as answer:
                assert answer.status == 403
            played = Scene()
            shown = await pokdeng(played, "dead-letters", "fuse", "show", "--worker", url)
            assert (shown.exit_code, "bets[0] is open" in shown.output) == (1, True)
            reset = await pokdeng(played, "dead-letters", "fuse", "reset", "--worker", url)
            assert (reset.exit_code, "closed again" in reset.output) == (0, True)
            shown = await pokdeng(played, "dead-letters", "fuse", "show", "--worker", url)
            assert (shown.exit_code, shown.output) == (0, "no fuse is open\n")
        finally:
            await pages.stop()

    asyncio.run(play())


def test_nobody_else_resets_it() -> None:
    """A request from another machine is refused, whatever headers it has."""
    assert [_is_local(address) for address in ("127.0.0.1", "::1", "10.0.0.7", "192.0.2.1", None, "x")] == [
        True,
        True,
        False,
        False,
        False,
        False,
    ]
    assert cli_fuse.RESET_HEADER == RESET_HEADER


def test_no_worker_at_that_address_is_said() -> None:
    """Exit 1 with the address."""

    async def play() -> None:
        result = await pokdeng(Scene(), "dead-letters", "fuse", "show", "--worker", "http://127.0.0.1:1")
        assert (
            result.exit_code,
            "no worker answers at http://127.0.0.1:1 (connection refused), tried once" in result.output,
        ) == (1, True)

    asyncio.run(play())
