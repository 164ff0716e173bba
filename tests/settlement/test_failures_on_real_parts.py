"""Field failures that are about real parts: a worker process, Apache Kafka and Redis, and what happens between them."""

from __future__ import annotations

import asyncio
import os
import signal
from functools import wraps
from typing import TYPE_CHECKING

import pytest
from redis.asyncio import Redis

from pokdeng.wire import TopicKind
from tests.settlement.real_parts import until
from tests.settlement.real_scene import SESSION_TIMEOUT_S, RealScene, real_scene
from tests.settlement.table_talk import FIVE_ACCOUNTS, S1_R1
from tests.settlement.test_late_bets import INSTANT
from tests.support.kafka import is_at_hand

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine
    from pathlib import Path
    from typing import Any

pytestmark = [
    pytest.mark.timeout(300),
    pytest.mark.skipif(
        not is_at_hand() and os.environ.get("POKDENG_REQUIRE_KAFKA") != "1", reason="no Apache Kafka is at hand"
    ),
]

BETS = TopicKind.BETS
MONEY = "deposit A-1 10000"
CREDITED = "funds_credited A-1 10000 10000/0/1"
B1 = "bet b1 A-1 player_1 1000"
ACCEPTED = "bet_accepted b1 A-1 8000/2000/2"
SETTLED = "bet_settled b1 A-1 win 3000 11000/0/3"
WIN = "close R-1\ndeal R-1 W"


def on_real_parts(test: Callable[..., Coroutine[Any, Any, None]]) -> Callable[..., None]:
    """Run a test in a scene of its own."""

    @wraps(test)
    def run(kafka_bootstrap: str, tmp_path: Path, **arguments: Any) -> None:
        async def play() -> None:
            async with real_scene(kafka_bootstrap, tmp_path) as played:
                await test(played, **arguments)

        asyncio.run(play())

    names = [name for name in test.__code__.co_varnames[: test.__code__.co_argcount] if name != "played"]
    run.__signature__ = _signature(["kafka_bootstrap", "tmp_path", *names])  # type: ignore[attr-defined]  # pytest reads the fixtures there
    return run


def _signature(names: list[str]) -> object:
    import inspect  # noqa: PLC0415 - pytest looks for fixtures in the signature

    return inspect.Signature([inspect.Parameter(name, inspect.Parameter.POSITIONAL_OR_KEYWORD) for name in names])


async def seated(played: RealScene) -> None:
    """A-1 has money, and R-1 takes bets."""
    await played.say(MONEY)
    await played.until_said(CREDITED)
    await played.say(S1_R1)


@on_real_parts
async def test_a_bet_in_flight_is_never_committed_past(played: RealScene) -> None:
    """O02: the first bet's call hangs, five more wait; nothing is committed, and after kill -9 all six are accepted."""
    await played.start("hang:hold")
    await seated(played)
    await played.say("\n".join(f"bet b{number} A-1 player_1 100" for number in range(6)))
    await until(_is(played.has_broken), within=30, what=played.tail)
    assert not await played.committed(BETS)
    await played.kill()
    assert not await played.committed(BETS)
    await played.start()
    await played.until_said("bet_accepted b5 A-1 8800/1200/7")
    facts = await played.facts()
    assert [fact.split()[1] for fact in facts if fact.startswith("bet_accepted")] == [f"b{n}" for n in range(6)]
    assert await played.balance() == "8800/1200/7"
    assert await played.stop() == 0


@pytest.mark.parametrize("point", ["held", "paid", "landed", "commit"])
@on_real_parts
async def test_a_worker_killed_between_redis_and_kafka_settles_once(played: RealScene, point: str) -> None:
    """O05: kill -9 after the hold (K3), the payment (K1), the produce (K4) or its acknowledgement (K2): 11000/0/3."""
    await played.start(f"kill:{point}")
    await seated(played)
    await played.say(B1)
    if point != "held":
        await played.until_said(ACCEPTED)
        await played.say(WIN)
    assert await played.ended() == -signal.SIGKILL
    said = await played.facts()
    assert (ACCEPTED in said, SETTLED in said) == (point != "held", point in {"landed", "commit"})
    assert await played.balance() == ("8000/2000/2" if point == "held" else "11000/0/3")
    await played.start()
    if point == "held":
        await played.say(WIN)
    await played.until_said("round_settled R-1 1 bets seal 1")
    assert await played.stop() == 0
    assert await played.facts() == [ACCEPTED, SETTLED, "round_settled R-1 1 bets seal 1"]
    assert await played.balance() == "11000/0/3"


@on_real_parts
async def test_an_emptied_script_cache_and_a_silent_redis_lose_no_deposit(played: RealScene) -> None:
    """O10: SCRIPT FLUSH and a Redis that stands still: 115/0/3, three credits, and the worker says it is not ready."""
    await played.start()
    redis: Redis = Redis.from_url(played.server.url)
    try:
        await redis.script_flush()
        await played.say("deposit A-1 10")
        await played.until_said("funds_credited A-1 10 10/0/1")
        await redis.script_flush()
        await redis.execute_command("CLIENT", "PAUSE", "4000", "ALL")  # type: ignore[no-untyped-call]  # redis-py is typed in places only
        await played.say("deposit A-1 5\ndeposit A-1 100")

        async def is_not_ready() -> bool:
            return await played.health("ready") == 503

        await until(is_not_ready, within=10, what=lambda: "it says it is ready while Redis is silent", every=0.05)
        assert await played.health("live") == 200
        await played.until_said("funds_credited A-1 100 115/0/3")
        await until(played.is_ready, within=10, what=lambda: "it is not ready again")
    finally:
        await redis.aclose()
    assert await played.facts(TopicKind.FUNDS_DECISIONS) == [
        "funds_credited A-1 10 10/0/1",
        "funds_credited A-1 5 15/0/2",
        "funds_credited A-1 100 115/0/3",
    ]
    assert await played.stop() == 0


@pytest.mark.parametrize("first", ["table-events", "bets", "as told"])
@on_real_parts
async def test_the_closing_instant_is_decided_by_broker_time(played: RealScene, first: str) -> None:
    """O15: bets before, at and after the close, whichever topic is written first while nobody reads."""
    await played.start()
    await played.say(FIVE_ACCOUNTS)
    await played.until_said(*(f"funds_credited A-{number} 10000 10000/0/1" for number in range(1, 6)))
    await played.say(S1_R1)
    spoken = played.talk.tell(INSTANT)
    if first == "as told":
        await played.append(spoken)
    else:
        async with played.paused():
            await played.append(spoken, first)
            await played.append(spoken, "bets" if first == "table-events" else "table-events")
    await played.until_said("round_settled R-1 2 bets seal 2")
    assert await played.facts() == [
        "bet_accepted b1 A-1 8000/2000/2",
        "bet_accepted b2 A-2 8000/2000/2",
        "bet_rejected b3 A-3 betting_closed",
        "bet_rejected b4 A-4 betting_closed",
        "bet_settled b1 A-1 win 3000 11000/0/3",
        "bet_settled b2 A-2 win 3000 11000/0/3",
        "round_settled R-1 2 bets seal 2",
    ]
    assert {account: balance[:3] for account, balance in (await played.balances()).items()} == {
        "A-1": (11_000, 0, 3),
        "A-2": (11_000, 0, 3),
        "A-3": (10_000, 0, 1),
        "A-4": (10_000, 0, 1),
        "A-5": (10_000, 0, 1),
    }
    assert await played.stop() == 0


@on_real_parts
async def test_an_orderly_stop_finishes_what_is_under_way(played: RealScene) -> None:
    """O17: SIGTERM two seconds between payment and settlement: exit 0 in 10 s, said once, committed, not done again."""
    await played.start("hang:paid:2")
    await seated(played)
    await played.say(B1)
    await played.until_said(ACCEPTED)
    await played.say(WIN)
    await until(_is(played.has_broken), within=30, what=played.tail, every=0.02)
    assert SETTLED not in await played.facts()
    assert await played.stop() == 0
    assert [fact for fact in await played.facts() if "settled" in fact] == [SETTLED, "round_settled R-1 1 bets seal 1"]
    assert await played.committed(BETS) == 1
    await played.start()
    await played.say("deposit A-1 1 last")
    await played.until_said("funds_credited A-1 1 11001/0/4")
    assert len(await played.records(TopicKind.SETTLEMENTS)) == 1
    assert await played.stop() == 0


@on_real_parts
async def test_a_joining_or_idle_worker_lives_and_a_stuck_one_does_not(played: RealScene) -> None:
    """O24: live but not ready while it starts, both when idle, neither while a record is in flight over its limit."""
    seen: set[tuple[int, int]] = set()
    await played.start("hang:hold", is_awaited=False)

    async def is_ready() -> bool:
        live, ready = await played.health("live"), await played.health("ready")
        seen.add((live, ready))
        return ready == 200

    await until(is_ready, within=60, what=played.tail, every=0.02)
    assert seen >= {(200, 503), (200, 200)}
    assert not {live for live, _ in seen} & {503}
    await seated(played)
    await played.say(B1)
    await until(_is(played.has_broken), within=30, what=played.tail)

    async def is_stuck() -> bool:
        return (await played.health("live"), await played.health("ready")) == (503, 503)

    await until(is_stuck, within=60, what=lambda: "it says that it lives")
    await played.kill()
    await played.start()
    await played.until_said(ACCEPTED)
    assert await played.stop() == 0


@on_real_parts
async def test_a_loop_that_stood_still_past_its_session_goes_on_or_ends(played: RealScene) -> None:
    """O24: longer than the session timeout; the next record is handled within 60 s, or the exit status is not 0."""
    await played.start(f"block:held:{SESSION_TIMEOUT_S * 1.5:.0f}")
    await seated(played)
    await played.say(B1)
    await until(_is(played.has_broken), within=30, what=played.tail)
    await played.say("bet b2 A-1 player_1 1000")
    try:
        await played.until_said("bet_accepted b2 A-1 6000/4000/3", within=60 + SESSION_TIMEOUT_S * 1.5)
    except TimeoutError:
        assert await played.ended(within=1) not in {0, -signal.SIGKILL}
        await played.start()
        await played.until_said("bet_accepted b2 A-1 6000/4000/3")
    assert await played.balance() == "6000/4000/3"
    await played.kill()


def _is(asked: Callable[[], bool]) -> Callable[[], Coroutine[Any, Any, bool]]:
    async def answer() -> bool:
        return asked()

    return answer
