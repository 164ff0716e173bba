"""`pokdeng rounds`: shown and explained from the log, cancelled and resumed through it."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any

import pytest

from pokdeng.stream.port import TopicPartition
from tests.cli.stage import pokdeng
from tests.settlement.scene import Scene, scene
from tests.settlement.table_talk import FIVE_ACCOUNTS, S1_R1, bet_value

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from click.testing import Result

PLAYED = f"""
bet early A-5 player_1 100 of R-1 #early
{S1_R1}
bet b1 A-1 player_1 1000
bet b2 A-2 player_2_pair 500
bet b3 A-3 player_3 1000
bet b4 A-4 player_4 90000
cancel b3 A-3
card R-1 banker 1 5h
card R-1 banker 1 6h
correct R-1 banker 1 4h
close R-1
bet late A-5 player_1 100
cancel b1 A-1
deal R-1 W but banker 1
"""
CARDS = ("5h", "6h", "4h", "5♥", "6♥", "4♥")


def play(what: Callable[[Scene], Awaitable[None]], *, is_checked: bool = True) -> None:
    """Act on a scene whose accounts hold 10,000 each."""

    async def act() -> None:
        async with scene(partitions=3, is_checked=is_checked) as played:
            await played.play(FIVE_ACCOUNTS)
            await what(played)

    asyncio.run(act())


async def shown(played: Scene, *arguments: str) -> str:
    """What `rounds` prints; it must exit with 0."""
    result = await pokdeng(played, "rounds", *arguments)
    assert result.exit_code == 0, result.output
    return result.output


async def told(played: Scene, *arguments: str) -> dict[str, Any]:
    """The same as JSON."""
    said: dict[str, Any] = json.loads(await shown(played, *arguments, "--json"))
    return said


def test_a_settled_round_is_shown_with_hands_bets_and_money() -> None:
    """Each part of what happened is on the page, in words and amounts that people read."""

    async def act(played: Scene) -> None:
        await played.play(PLAYED)
        text = await shown(played, "show", "T-1", "R-1")
        for part in (
            "round R-1   settled",
            "4♥ 3♦",
            "dead letter: seat_conflict",
            "corrected: 4♥",
            "held   seat conflict",
            "won 1:1",
            "lost 1:1",
            "withdrawn",
            "insufficient funds",
            "betting closed, 10 ms late",
            "round unknown",
            "house net",
        ):
            assert part in text, (part, text)

    play(act)


def test_what_happened_is_told_in_the_order_of_the_log() -> None:
    """Events by offset, with what became of each; bets with decisions and results."""

    async def act(played: Scene) -> None:
        await played.play(PLAYED)
        said = await told(played, "show", "T-1", "R-1")
        assert said["status"] == "settled"
        offsets = [event["offset"] for event in said["events"]]
        assert offsets == sorted(offsets)
        assert [event["became"] for event in said["events"]][:4] == ["counted", "counted", "dead_letter", "counted"]
        bets = {bet["bet_id"]: bet for bet in said["bets"]}
        assert list(bets) == ["early", "b1", "b2", "b3", "b4", "late"]
        assert bets["late"]["late_ms"] == 10
        assert [fact["type"] for fact in bets["b3"]["decisions"]] == ["bet_accepted", "bet_withdrawn"]
        assert [fact["type"] for fact in bets["b1"]["decisions"]] == ["bet_accepted", "cancel_rejected"]
        assert bets["b1"]["results"][0]["returned"] == 3000
        assert [fact["type"] for fact in said["rounds"]] == ["round_held", "round_settled"]
        assert [letter["reason"] for letter in said["dead_letters"]] == ["seat_conflict"]

    play(act)


@pytest.mark.parametrize("way", [["--json"], []], ids=["json", "page"])
def test_no_card_is_shown_before_betting_is_closed(way: list[str]) -> None:
    """Cards dealt face down, a disputed one and a corrected one: nothing of them is printed while bets are taken."""

    async def act(played: Scene) -> None:
        await played.play(PLAYED.split("close", maxsplit=1)[0] + "pause R-1")
        for arguments in (["show", "T-1", "R-1"], ["explain", "T-1", "R-1", "b1"]):
            text = await shown(played, *arguments, *way)
            assert not [card for card in CARDS if card in text]
        assert "misread" not in text

    play(act)


def test_a_round_cancelled_while_open_never_shows_its_cards() -> None:
    """Its betting was never closed; a close that comes after the cancellation does not count."""

    async def act(played: Scene) -> None:
        await played.play(PLAYED.split("close", maxsplit=1)[0] + "void R-1\nclose R-1")
        said = await told(played, "show", "T-1", "R-1")
        assert (said["status"], said["hands"]) == ("refunded", None)
        assert not [card for card in CARDS if card in json.dumps(said)]

    play(act)


@pytest.mark.parametrize(
    ("bet", "parts"),
    [
        (
            "b1",
            ["won 1:1", "2 x 10.00 = 20.00 taken", "3 x 10.00 = 30.00 returned", "80.00 -> 110.00", "higher and plain"],
        ),
        ("b2", ["lost 1:1", "5.00 taken: the stake", "different ranks", "5.00 -> 0.00"]),
        ("b3", ["withdrawn", "80.00 -> 100.00"]),
        ("b4", ["insufficient funds", "1,800.00 THB", "Nothing moved."]),
        ("late", ["Betting closed at 11:58:20.", "the bet was appended at 11:58:20.", ", 10 ms late."]),
        ("early", ["the round opened at 11:58:20.080"]),
    ],
)
def test_a_bet_is_explained(bet: str, parts: list[str]) -> None:
    """Cards, rule, arithmetic and balances of a bet that stood; the times that decided of one that did not."""

    async def act(played: Scene) -> None:
        await played.play(PLAYED)
        text = await shown(played, "explain", "T-1", "R-1", bet)
        for part in parts:
            assert part in text, (part, text)

    play(act)


def test_a_round_that_is_not_there_is_said_and_exits_with_1() -> None:
    """Neither a round nor a bet is invented."""

    async def act(played: Scene) -> None:
        await played.play(PLAYED)
        for arguments, part in (
            (["show", "T-1", "R-9"], "there is no round R-9 of table T-1"),
            (["show", "T-2", "R-1"], "there is no round R-1 of table T-2"),
            (["explain", "T-1", "R-1", "b9"], "has no bet b9"),
        ):
            result = await pokdeng(played, "rounds", *arguments)
            assert (result.exit_code, part in result.output) == (1, True), result.output

    play(act)


def test_a_round_is_still_shown_when_its_inputs_are_gone() -> None:
    """From what was said of it alone: hands, bets and money."""

    async def act(played: Scene) -> None:
        await played.play(PLAYED)
        for name in (played.line.topics.table_events, played.line.topics.bets):
            for number in range(played.line.partitions):
                place = TopicPartition(name, number)
                played.line.broker.trim(place, played.line.broker.partition(place).end)
        said = await told(played, "show", "T-1", "R-1")
        assert said["inputs_kept"] is False
        assert said["hands"]["banker"]["cards"] == ["4h", "3d"]
        assert {bet["bet_id"] for bet in said["bets"]} >= {"b1", "b2"}

    play(act, is_checked=False)


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        (["show", "T 1", "R-1"], "is no id"),
        (["show", "T-1"], "Missing argument"),
        (["show", "T-1", "R-1", "--before", "noon"], "2026-01-31T18:30:00Z"),
        (["show", "T-1", "R-1", "--before", "2026-01-01T10:00:00"], "has no zone"),
        (["show", "T-1", "R-1", "--within", "soon"], "for example 26h"),
        (["cancel", "T-1", "R-1"], "--reason"),
        (["cancel", "T-1", "R-1", "--reason", " "], "write 1 to 200 characters"),
        (["cancel", "T-1", "R-1", "--reason", "x" * 201], "these are 201"),
    ],
)
def test_wrong_usage_says_what_to_type(arguments: list[str], part: str) -> None:
    """Exit 2, and a sentence that names it."""

    async def act(played: Scene) -> None:
        result = await pokdeng(played, "rounds", *arguments)
        assert (result.exit_code, part in result.output) == (2, True), result.output

    play(act)


def test_options_are_environment_variables() -> None:
    """`POKDENG_` and the option's name."""

    async def act(played: Scene) -> None:
        await played.play(PLAYED)
        result = await pokdeng(played, "rounds", "show", "T-1", "R-1", env={"POKDENG_JSON": "1", "POKDENG_BETS": "1"})
        assert json.loads(result.output)["status"] == "settled"

    play(act)


async def order(played: Scene, what: str, *more: str, answers: str | None = None) -> Result:
    """`rounds cancel` or `resume` of R-1."""
    return await pokdeng(played, "rounds", what, "T-1", "R-1", "--reason", "camera fault", *more, answers=answers)


def test_a_cancelled_round_is_refunded_and_what_the_worker_says_is_printed() -> None:
    """Shown before, asked, written with the table's key, answered by the refund."""

    async def act(played: Scene) -> None:
        await played.play(f"{S1_R1}\nbet b1 A-1 player_1 1000")
        result = await order(played, "cancel", answers="y\n")
        assert result.exit_code == 0, result.output
        assert "1 bet stands. All that was taken goes back: 20.00 THB." in result.output
        assert "refunded, revision 1: 1 bet. 20.00 THB returned" in result.output
        assert await played.balance() == "10000/0/3"
        assert played.about("bet_refunded") == ["bet_refunded b1 A-1 2000 10000/0/3"]

    play(act)


def test_nothing_is_written_without_a_yes() -> None:
    """No, and no answer at all, leave the log as it was."""

    async def act(played: Scene) -> None:
        await played.play(f"{S1_R1}\nbet b1 A-1 player_1 1000")
        for answers in ("n\n", ""):
            result = await order(played, "cancel", answers=answers)
            assert (result.exit_code, "nothing was written" in result.output) == (1, True), result.output
        assert (await order(played, "cancel", "--json")).exit_code == 2
        await played.caught_up()
        assert await played.balance() == "8000/2000/2"

    play(act)


def test_a_yes_in_the_environment_is_a_yes_to_its_own_command_only() -> None:
    """What is set for all of a container, or for another command, cancels nothing; its own variable does."""

    async def act(played: Scene) -> None:
        await played.play(f"{S1_R1}\nbet b1 A-1 player_1 1000")
        cancel = ("rounds", "cancel", "T-1", "R-1", "--reason", "camera fault")
        for other in ("POKDENG_YES", "POKDENG_ROUNDS_RESUME_YES", "POKDENG_BALANCES_REBUILD_YES"):
            result = await pokdeng(played, *cancel, env={other: "1"})
            assert (result.exit_code, "nothing was written" in result.output) == (1, True), result.output
        await played.caught_up()
        assert await played.balance() == "8000/2000/2"
        result = await pokdeng(played, *cancel, env={"POKDENG_ROUNDS_CANCEL_YES": "1"})
        assert result.exit_code == 0, result.output
        assert await played.balance() == "10000/0/3"

    play(act)


def test_a_second_cancellation_writes_nothing_and_is_done() -> None:
    """What is asked for is so already."""

    async def act(played: Scene) -> None:
        await played.play(f"{S1_R1}\nvoid R-1")
        result = await order(played, "cancel", "--yes")
        assert (result.exit_code, "cancelled already" in result.output) == (0, True)
        assert [event["became"] for event in (await told(played, "show", "T-1", "R-1"))["events"]] == ["counted"] * 2

    play(act)


def test_a_settled_round_is_not_cancelled_after_its_window() -> None:
    """It would be `correction_too_late`: said without writing anything."""

    async def act(played: Scene) -> None:
        await played.play(PLAYED)
        played.talk.now_ms += 25 * 3_600_000
        result = await order(played, "cancel", "--yes")
        assert (result.exit_code, "its correction window is over" in result.output) == (1, True), result.output
        assert "Nothing was written" in result.output

    play(act)


def test_a_cancellation_after_settlement_says_what_changes_and_until_when() -> None:
    """The window, the bets reversed, what players' balances change by."""

    async def act(played: Scene) -> None:
        await played.play(PLAYED)
        result = await order(played, "cancel", answers="n\n")
        assert "It can be cancelled until 2026-01-02 11:58:20" in result.output
        assert "2 bets are reversed and refunded: 25.00 THB." in result.output
        assert "What players have changes by -5.00 THB." in result.output

    play(act)


def test_a_paused_round_is_resumed() -> None:
    """Nothing is missing but the resumption: it settles, and the answer is the settlement."""

    async def act(played: Scene) -> None:
        await played.play(f"{S1_R1}\nbet b1 A-1 player_1 1000\npause R-1\nclose R-1\ndeal R-1 W")
        result = await order(played, "resume", "--yes", "--json")
        said = json.loads(result.stdout)
        assert (result.exit_code, said["said"]["type"]) == (0, "round_settled")
        assert said["event_id"].startswith("supervisor-")
        assert await played.balance() == "11000/0/3"

    play(act)


@pytest.mark.parametrize(
    ("text", "status", "part"),
    [
        ("", 0, "The round is not paused"),
        ("card R-1 banker 1 5h\ncard R-1 banker 1 6h", 1, "held, not paused"),
        ("void R-1", 1, "nothing is left to resume"),
        ("close R-1\ndeal R-1 W", 1, "nothing is left to resume"),
    ],
    ids=["open", "held", "cancelled", "settled"],
)
def test_only_a_paused_round_is_resumed(text: str, status: int, part: str) -> None:
    """Else it is said why not, and nothing is written."""

    async def act(played: Scene) -> None:
        await played.play(f"{S1_R1}\n{text}")
        result = await order(played, "resume", "--yes")
        assert (result.exit_code, part in result.output) == (status, True), result.output
        assert "Nothing was written" in result.output

    play(act)


def test_two_pauses_of_one_round_are_both_lifted() -> None:
    """Each resumption is an event of its own, though reason and round are the same."""

    async def act(played: Scene) -> None:
        await played.play(f"{S1_R1}\npause R-1 #p1")
        for pause in ("pause R-1 #p2", ""):
            assert (await order(played, "resume", "--yes", "--wait", "1ms")).exit_code == 0
            await played.caught_up()
            await played.play(pause)
        await played.play("bet b1 A-1 player_1 1000")
        assert await played.balance() == "8000/2000/2"

    play(act)


def test_a_dead_letter_of_bets_is_told_with_the_round() -> None:
    """A bet that is none, but names the round."""

    async def act(played: Scene) -> None:
        await played.play(f"{S1_R1}\nraw bets T-1 {bet_value(stake='true')}")
        said = await told(played, "show", "T-1", "R-1")
        assert [(letter["reason"], letter["topic"]) for letter in said["dead_letters"]] == [
            ("not_an_event", "pokdeng.bets.v1")
        ]

    play(act)
