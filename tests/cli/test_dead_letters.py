"""`pokdeng dead-letters`: listed, shown, put back once, discarded."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING

import pytest

from pokdeng.events.reasons import DeadLetterReason
from pokdeng.stream.memory.broker import Point
from pokdeng.stream.port import LogUnavailableError, TopicPartition
from pokdeng.wire import TopicKind, truncated_dead_letter
from tests.cli.stage import pokdeng
from tests.settlement.scene import Scene, scene
from tests.settlement.table_talk import FIVE_ACCOUNTS, S1_R1, bet_value

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from click.testing import Result

BROKEN_BET = bet_value(stake="0")
PLAYED = f"""
{S1_R1}
bet b1 A-1 player_1 1000
card R-1 banker 1 5h
card R-1 banker 1 6h
raw bets T-1 {BROKEN_BET}
raw bets T-1 "5h"
close R-7
"""
"""Letters 0:0 seat_conflict, 0:1 not_an_event, 0:2 not_an_event (JSON, but no object), 0:3 unknown_round."""


def play(what: Callable[[Scene], Awaitable[None]], *, is_checked: bool = True, text: str = PLAYED) -> None:
    """Act on a scene with one partition, in which the worker has said these dead letters."""

    async def act() -> None:
        async with scene(is_checked=is_checked) as played:
            await played.play(FIVE_ACCOUNTS)
            await played.play(text)
            await what(played)

    asyncio.run(act())


async def letters(played: Scene, *arguments: str, answers: str | None = None, status: int = 0) -> Result:
    """`dead-letters` with these arguments; it must exit with this status."""
    result = await pokdeng(played, "dead-letters", *arguments, answers=answers)
    assert result.exit_code == status, (result.output, result.exception)
    return result


async def listed(played: Scene, *arguments: str) -> list[str]:
    """The places and reasons that are listed."""
    said = json.loads((await letters(played, "list", *arguments, "--json")).output)
    return [f"{letter['place']} {letter['reason']}" for letter in said["letters"]]


def test_letters_are_listed_by_reason_topic_and_time() -> None:
    """All of them, the newest last; or those that are asked for."""

    async def act(played: Scene) -> None:
        everything = ["0:0 seat_conflict", "0:1 not_an_event", "0:2 not_an_event", "0:3 unknown_round"]
        assert await listed(played) == everything
        assert await listed(played, "--reason", "not_an_event") == everything[1:3]
        assert await listed(played, "--topic", "table-events") == [everything[0], everything[3]]
        assert await listed(played, "--limit", "1") == everything[3:]
        assert await listed(played, "--since", "2026-01-01T13:00:00Z") == []
        assert await listed(played, "--until", "2026-01-01T13:00:00Z") == everything
        page = (await letters(played, "list")).output
        assert "seat_conflict" in page
        assert "4 letters" in page

    play(act)


def test_a_list_shows_nothing_of_what_letters_say() -> None:
    """Neither values nor types that could be anything."""

    async def act(played: Scene) -> None:
        for way in ([], ["--json"]):
            text = (await letters(played, "list", *way)).output
            assert not [card for card in ("5h", "6h") if card in text]

    play(act, text=PLAYED + 'raw table-events T-1 {"type": "5h"}')


@pytest.mark.parametrize("place", ["0:0", "0:2"])
def test_a_value_that_may_hold_a_card_is_hidden_while_bets_are_taken(place: str) -> None:
    """A card of an open round, and a value of which nothing is known."""

    async def act(played: Scene) -> None:
        for way in ([], ["--json"]):
            text = (await letters(played, "show", place, *way)).output
            assert not [card for card in ("5h", "6h") if card in text]
        assert json.loads(text)["hidden"] is True

    play(act)


def test_a_card_is_shown_once_betting_on_its_round_is_closed() -> None:
    """Hidden before, shown after; hidden for ever where the round was cancelled before its close."""

    async def act(played: Scene) -> None:
        await played.play("close R-1")
        assert "6h" in (await letters(played, "show", "0:0")).output
        assert "5h" not in (await letters(played, "show", "0:2")).output

    play(act)

    async def cancelled(played: Scene) -> None:
        await played.play("void R-1\nclose R-1")
        assert "6h" not in (await letters(played, "show", "0:0")).output

    play(cancelled)


def test_a_bet_is_shown_at_once_unless_something_else_is_in_it() -> None:
    """Members that a bet has show no card; another member might."""

    async def act(played: Scene) -> None:
        assert '"stake": 0' in (await letters(played, "show", "0:1")).output
        assert "Th" not in (await letters(played, "show", "0:4")).output

    play(act, text=PLAYED + f'raw bets T-1 {BROKEN_BET[:-1]}, "card": "Th"}}')


def test_the_original_bytes_are_put_back_once() -> None:
    """Key and value as they came, without what was added; recorded beside the letter; a second time passed over."""

    async def act(played: Scene) -> None:
        bets = TopicPartition(played.line.topics.bets, 0)
        before = played.line.broker.records(bets)
        await letters(played, "replay", "0:1", "--by", "ana", "--note", "mended", answers="y\n")
        await played.caught_up()
        (back,) = played.line.broker.records(bets)[len(before) :]
        assert (back.key, back.value, back.headers) == (b"T-1", BROKEN_BET.encode(), ())
        assert "replayed 0:1 by ana" in played.facts(TopicKind.DEAD_LETTERS)
        again = await letters(played, "replay", "0:1", "--yes")
        assert "0:1 was replayed by ana: mended; passed over" in again.output
        assert len(played.line.broker.records(bets)) == len(before) + 1
        assert "0:1 not_an_event" not in await listed(played)
        assert "0:1 not_an_event" in await listed(played, "--all")

    play(act)


def test_a_record_in_the_wrong_partition_goes_where_its_key_belongs() -> None:
    """What was sent by a wrong partitioner is decided at last."""

    async def act() -> None:
        async with scene(partitions=3) as played:
            await played.play(FIVE_ACCOUNTS)
            await played.play(S1_R1)
            line = played.line
            right = next(record.partition for record in line.records(TopicKind.TABLE_EVENTS))
            wrong = (right + 1) % 3
            (spoken,) = played.talk.tell("bet b1 A-1 player_1 1000")
            line.broker.append(line.topics.bets, spoken.key, spoken.value, [("trace", b"7")], wrong, spoken.at_ms)
            await played.caught_up()
            assert await listed(played) == [f"{right}:0 wrong_partition"]
            await letters(played, "replay", "--reason", "wrong_partition", "--yes")
            await played.caught_up()
            assert await played.balance() == "8000/2000/2"
            assert line.records(TopicKind.BETS)[-1].headers == (("trace", b"7"),)
            await played.play("void R-1")

    asyncio.run(act())


def test_a_close_is_not_put_back() -> None:
    """Its new time would be the end of betting."""

    async def act(played: Scene) -> None:
        result = await letters(played, "replay", "0:3", "--yes", status=1)
        assert "cancel the round instead" in result.output
        assert len(played.line.records(TopicKind.TABLE_EVENTS)) == 5

    play(act)


def test_a_letter_that_was_truncated_is_not_put_back() -> None:
    """Its value is gone."""

    async def act(played: Scene) -> None:
        record = played.line.records(TopicKind.BETS)[0]
        letter = truncated_dead_letter(record, DeadLetterReason.TOO_LARGE, "too large")
        where = played.line.broker.append(played.line.topics.dead_letters, *letter)
        result = await letters(played, "replay", f"0:{where.offset}", "--yes", status=1)
        assert "its producer must send it anew" in result.output

    play(act, is_checked=False)


def test_a_crash_between_the_two_writes_is_harmless() -> None:
    """The record is back, and not recorded as such: replayed again it is a duplicate, and no money moves twice."""

    async def act() -> None:
        async with scene(partitions=3) as played:
            await played.play(FIVE_ACCOUNTS)
            await played.play(S1_R1)
            line = played.line
            right = next(record.partition for record in line.records(TopicKind.TABLE_EVENTS))
            (spoken,) = played.talk.tell("bet b1 A-1 player_1 1000")
            line.broker.append(line.topics.bets, spoken.key, spoken.value, (), (right + 1) % 3, spoken.at_ms)
            await played.caught_up()

            def die(point: Point, member: str, partition: TopicPartition | None) -> None:
                if point is Point.APPEND and partition is not None and partition.topic == line.topics.dead_letters:
                    raise LogUnavailableError(f"{member} lost its power")

            line.broker.intercept = die
            await letters(played, "replay", f"{right}:0", "--yes", status=1)
            line.broker.intercept = None
            await played.caught_up()
            assert await played.balance() == "8000/2000/2"
            await letters(played, "replay", f"{right}:0", "--yes")
            await played.caught_up()
            assert await played.balance() == "8000/2000/2"
            assert await listed(played) == []
            await played.play("void R-1")

    asyncio.run(act())


def test_letters_of_a_reason_are_put_back_and_the_rest_is_left() -> None:
    """By filter, oldest first, at most so many; what was dealt with is passed over."""

    async def act(played: Scene) -> None:
        said = await letters(played, "replay", "--reason", "not_an_event", "--limit", "1", "--yes", "--json")
        assert json.loads(said.stdout)["replayed"] == ["0:1"]
        await played.caught_up()
        said = await letters(played, "replay", "--reason", "not_an_event", "--limit", "1", "--yes", "--json")
        assert json.loads(said.stdout)["replayed"] == ["0:2"]
        await played.caught_up()

    play(act)


def test_a_discarded_letter_is_listed_no_more_and_not_put_back() -> None:
    """With why, and by whom."""

    async def act(played: Scene) -> None:
        await letters(played, "discard", "0:1", "0:2", "--note", "a test rig", "--by", "ana", answers="y\n")
        assert await listed(played) == ["0:0 seat_conflict", "0:3 unknown_round"]
        page = (await letters(played, "show", "0:1")).output
        assert "by ana: a test rig" in page
        result = await letters(played, "replay", "0:1", "--yes")
        assert "was discarded by ana" in result.output

    play(act)


def test_nothing_is_written_without_a_yes() -> None:
    """Neither put back nor discarded."""

    async def act(played: Scene) -> None:
        before = len(played.line.records(*TopicKind))
        await letters(played, "replay", "0:1", answers="n\n", status=1)
        await letters(played, "discard", "0:1", "--note", "x", answers="n\n", status=1)
        await letters(played, "discard", "0:1", "--note", "x", "--json", status=2)
        assert len(played.line.records(*TopicKind)) == before

    play(act)


def test_the_user_of_the_machine_is_recorded_unless_another_is_named() -> None:
    """`dlq.by`."""

    async def act(played: Scene) -> None:
        result = await pokdeng(
            played, "dead-letters", "discard", "0:1", "--note", "x", "--yes", env={"LOGNAME": "somchai"}
        )
        assert result.exit_code == 0
        assert "discarded 0:1 by somchai" in played.facts(TopicKind.DEAD_LETTERS)

    play(act)


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        (["show", "0-1"], "PARTITION:OFFSET"),
        (["list", "--reason", "bad"], "'tombstone'"),
        (["list", "--since", "2026-01-02T00:00:00Z", "--until", "2026-01-01T00:00:00Z"], "nothing lies between"),
        (["replay"], "say which letters"),
        (["replay", "0:1", "--reason", "not_json"], "not both"),
        (["discard", "0:1"], "--note"),
        (["discard", "--note", "x"], "Missing argument"),
        (["fuse", "reset", "--worker", "here"], "write http://127.0.0.1:6066"),
    ],
)
def test_wrong_usage_says_what_to_type(arguments: list[str], part: str) -> None:
    """Exit 2, and a sentence that names it."""

    async def act(played: Scene) -> None:
        assert part in (await letters(played, *arguments, status=2)).output

    play(act, text="")


def test_a_letter_that_is_not_there_is_said_and_exits_with_1() -> None:
    """Nothing is invented, and a place of an action is no letter."""

    async def act(played: Scene) -> None:
        await letters(played, "discard", "0:1", "--note", "x", "--yes")
        for place in ("0:99", "7:0", "0:4"):
            assert "there is no dead letter at" in (await letters(played, "show", place, status=1)).output

    play(act)


def test_no_letters_are_a_sentence() -> None:
    """An empty topic is a sentence, not an empty page."""

    async def act(played: Scene) -> None:
        assert "No dead letters." in (await letters(played, "list")).output

    play(act, text="")
