"""A newer worker reads what an older one wrote, and goes on where it was."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any

import pytest

from pokdeng.ledger.embedded import embedded_server
from pokdeng.version import VERSION
from pokdeng.wire import TopicKind
from tests.checker.checker import check
from tests.golden.kept import PREFIX, keep, lay_out, new_scene, play, read, versions
from tests.settlement.plays import OWN_HEADER, name_of
from tests.support.line import INPUTS, OUTPUTS

if TYPE_CHECKING:
    from tests.settlement.scene import Scene

AFTERWARDS = """
correct R-3 player_1 1 9c
card R-3 banker 2 Ah
bet e3 A-2 player_1 200 of Q-1 at T-2
cancel e2 A-1 of Q-1 at T-2
close Q-1 at T-2
deal Q-1 W at T-2
withdraw A-2 1000
open R-4
bet f1 A-1 player_1 100 of R-4
"""
"""The held round is mended, the open one goes on and is settled, and a new one begins in the shoe that was known."""

NEW_FORM = "what is stored has another form than what is kept of this version: see README.md"


def said(scene: Scene) -> dict[str, tuple[Any, ...]]:
    """Every fact and dead letter with its bytes and the headers that others may read; copies must be alike."""
    found: dict[str, tuple[Any, ...]] = {}
    for record in scene.line.records(*OUTPUTS):
        headers = tuple((name, value) for name, value in record.headers if name != OWN_HEADER)
        copy = (record.topic, record.key, record.value, headers)
        assert found.setdefault(name_of(record), copy) == copy
    return found


@pytest.mark.parametrize("version", versions())
def test_a_worker_goes_on_where_a_version_stopped(version: str) -> None:
    """Balances, bets, notes, transfers and the rounds' own headers are understood; the checker finds nothing."""

    async def whole() -> None:
        async with embedded_server() as server:
            scene = await lay_out(read(version), server.url)
            before, balances = said(scene), {}
            await scene.start()
            await scene.caught_up()
            assert said(scene) == before, "what was said is said again in the same bytes, or not at all"
            again = [
                record
                for record in scene.line.records(TopicKind.FUNDS, TopicKind.BETS)
                if record.key is not None and record.value is not None
            ]
            for record in again:
                scene.line.broker.append(record.topic, record.key, record.value, timestamp=scene.talk.now_ms + 1)
            await scene.caught_up()
            facts = {name for name, (topic, *_) in said(scene).items() if "dead-letters" not in topic}
            assert facts <= before.keys(), "every copy of an old bet or transfer is known"
            await scene.play(AFTERWARDS)
            kinds = [json.loads(value)["type"] for name, (topic, _, value, _) in said(scene).items()
                     if name not in before and "dead-letters" not in topic]  # fmt: skip
            assert sorted(kinds) == sorted(
                [*["bet_settled"] * 3, *["round_settled"] * 2, *["bet_accepted"] * 2, "bet_withdrawn", "funds_debited"]
            )
            ledger = scene.line.new_ledger()
            await ledger.open()
            async for one in ledger.accounts():
                balances[str(one.account)] = (one.available, one.held, one.sequence, str(one.currency))
            await ledger.close()
            await scene.stop()
            report = check(
                scene.line.records(*INPUTS), scene.line.records(*OUTPUTS),
                partitions=1, prefix=PREFIX, final_balances=balances,
            )  # fmt: skip
            assert not report.findings, report

    asyncio.run(whole())


@pytest.mark.parametrize("version", versions())
def test_the_same_inputs_still_give_the_same_bytes(version: str) -> None:
    """Every fact that the version said, this one says too, byte for byte: consumers know facts by their ids."""

    async def whole() -> None:
        async with embedded_server() as server:
            of_then = said(await lay_out(read(version), server.url))
        async with embedded_server() as server:
            scene = new_scene(server.url)
            await play(scene)
            assert said(scene) == of_then

    asyncio.run(whole())


def test_what_is_kept_holds_every_kind_of_record_and_value() -> None:
    """Else the two tests above would show little."""
    kept = read(versions()[0])
    topics = {topic for topic, *_ in kept["records"]}
    types = {json.loads(value)["type"] for topic, _, _, _, value, _ in kept["records"] if "decisions" in topic}
    rounds = [value for topic, _, _, _, value, _ in kept["records"] if "rounds" in topic]
    headers = {name for topic, *_, pairs in kept["records"] if "rounds" in topic for name, _ in pairs}
    assert len(topics) == len(TopicKind) - 1, "nothing is written to the checkpoints"
    assert types == {
        *("bet_accepted", "bet_rejected", "bet_withdrawn", "cancel_rejected"),
        *("funds_credited", "funds_debited", "funds_rejected"),
    }
    assert {json.loads(value)["type"] for value in rounds} == {"round_settled", "round_refunded", "round_held"}
    assert OWN_HEADER in headers
    assert {key.partition("}")[2][0] for key in kept["redis"]} == {"m", "a", "r", "t", "n"}


def test_this_version_keeps_what_is_kept_of_it() -> None:
    """What a worker writes today has the form that is kept under its version: a change of it is seen here."""
    if VERSION not in versions():
        pytest.fail(f"nothing is kept of {VERSION}: see README.md")

    async def whole() -> dict[str, Any]:
        async with embedded_server() as server:
            scene = new_scene(server.url)
            await play(scene)
            return await keep(scene, server.url)

    then, now = read(VERSION), asyncio.run(whole())
    assert now["committed"] == then["committed"], NEW_FORM
    changing = {f"pokdeng:{{{bucket}}}m" for bucket in range(4)}  # the run id, and counted calls
    assert now["redis"].keys() == then["redis"].keys(), NEW_FORM
    for key in then["redis"].keys() - changing:
        assert now["redis"][key] == then["redis"][key], f"{key}: {NEW_FORM}"
