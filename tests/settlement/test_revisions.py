"""Corrections and cancellations of settled rounds, as whole rounds. Source: the contract; O12, O14, O16."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from pokdeng.wire import TopicKind
from tests.settlement.lives import HOURS_MS, LIVES
from tests.settlement.scene import scene
from tests.settlement.table_talk import FIVE_ACCOUNTS, S1_R1

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from tests.settlement.scene import Scene

B1 = f"""
    {S1_R1}
    bet b1 A-1 player_1 1000 #b1
    close R-1 #close
    deal R-1 W
"""
ANOTHER_TABLE = "round_settled R-1767"
"""Rounds that a life plays elsewhere."""
W_C = "correct R-1 player_1 1 2c"
BACK = "correct R-1 player_1 1 9c"

in_every_life = pytest.mark.parametrize("life", LIVES)


def news(before: list[str], after: list[str]) -> list[str]:
    """The facts that came since, of settlements and rounds, then dead letters without their places."""
    came = [fact for fact in after if fact not in before and ANOTHER_TABLE not in fact]
    return [f"dead {fact.split()[-1]}" if fact.startswith("dead") else fact for fact in came]


@in_every_life
def test_o12_a_void_after_the_settlement_refunds_once(life: Callable[[Scene], Awaitable[None]]) -> None:
    """Reversed and refunded in revision 2; further voids are duplicates, anything else is out of order."""

    async def play() -> None:
        async with scene() as played:
            await played.play(FIVE_ACCOUNTS)
            await played.play(B1)
            assert await played.balance() == "11000/0/3"
            await life(played)
            before = played.facts()
            await played.play("void R-1 #x1")
            said = [
                "bet_reversed b1 A-1 3000 8000/2000/4 r2",
                "bet_refunded b1 A-1 2000 10000/0/5 r2",
                "round_refunded R-1 1 bets seal 1 r2",
            ]
            assert [fact.replace("camera fault ", "") for fact in news(before, played.facts())] == said
            await life(played)
            await played.play("void R-1 #x2\nvoid R-1 #x3\nagain x1\nagain x2\nagain close")
            assert await played.balance() == "10000/0/5"
            assert len(news(before, played.facts())) == len(said)
            await played.play(f"{W_C}\npause R-1\nclose R-1")
            assert news(before, played.facts())[len(said) :] == ["dead round_out_of_order"] * 3

    asyncio.run(play())


@in_every_life
def test_o14_winnings_spent_before_the_correction(life: Callable[[Scene], Awaitable[None]]) -> None:
    """The account is overdrawn, nothing more is taken of it, and the way back goes through."""

    async def play() -> None:
        async with scene() as played:
            await played.play(FIVE_ACCOUNTS)
            await played.play(B1)
            await played.play("withdraw A-1 10500")
            assert await played.balance() == "500/0/4"
            await life(played)
            before = played.facts()
            await played.play(f"{W_C} #c1")
            assert news(before, played.facts()) == [
                "bet_reversed b1 A-1 3000 -2500/2000/5 r2",
                "bet_settled b1 A-1 lose 1000 -1500/0/6 r2",
                "round_settled R-1 1 bets seal 1 r2",
            ]
            assert [balance.get("overdrawn") for balance in balances_of(played, "bet_reversed", "r2")] == [True]
            await life(played)
            await played.play("again c1\nagain b1\nopen R-2\nbet b2 A-1 player_1_pair 1 of R-2\nwithdraw A-1 1 W-1")
            assert await played.balance() == "-1500/0/6"
            assert played.about("insufficient_funds") == [
                "bet_rejected b2 A-1 insufficient_funds",
                "funds_rejected A-1 1 insufficient_funds",
            ]
            await life(played)
            before = played.facts()
            await played.play(BACK)
            assert news(before, played.facts()) == [
                "bet_reversed b1 A-1 1000 -2500/2000/7 r3",
                "bet_settled b1 A-1 win 3000 500/0/8 r3",
                "round_settled R-1 1 bets seal 1 r3",
            ]

    asyncio.run(play())


def test_o14_deposits_lead_back() -> None:
    """At 0 nothing is overdrawn any more, and a bet is taken again."""

    async def play() -> None:
        async with scene() as played:
            await played.play(FIVE_ACCOUNTS)
            await played.play(B1)
            await played.play(f"withdraw A-1 10500\n{W_C}")
            await played.play("deposit A-1 1500")
            await played.play("deposit A-1 2\nopen R-2")
            await played.play("bet b2 A-1 player_1 1 of R-2")
            assert await played.balance() == "0/2/9"

    asyncio.run(play())


def test_o14_every_bet_of_the_round_is_reversed_also_where_the_amount_stays() -> None:
    """Deal L corrected to L-c: five seats, one reversal and one settlement each, and the house's net."""

    async def play() -> None:
        async with scene() as played:
            await played.play(FIVE_ACCOUNTS)
            bets = "\n".join(f"bet b{n} A-{n} player_{n} 1000" for n in range(1, 6))
            await played.play(f"{S1_R1}\n{bets}\nclose R-1\ndeal R-1 L")
            assert await played.balances() == {
                "A-1": "8000/0/3",
                "A-2": "10000/0/3",
                "A-3": "12000/0/3",
                "A-4": "11000/0/3",
                "A-5": "8000/0/3",
            }
            await played.play("correct R-1 banker 2 6d")
            assert await played.balances() == {"A-1": "9000/0/5"} | {f"A-{n}": "11000/0/5" for n in range(2, 6)}
            assert [fact.split()[3] for fact in played.about("bet_reversed")] == ["0", "2000", "4000", "3000", "0"]
            assert net_of(played) == [("r1", 1000), ("r2", -3000)]

    asyncio.run(play())


@in_every_life
def test_a_correction_that_changes_no_result_is_a_revision(life: Callable[[Scene], Awaitable[None]]) -> None:
    """Another card of the same value: everything is reversed and paid as before."""

    async def play() -> None:
        async with scene() as played:
            await played.play(FIVE_ACCOUNTS)
            await played.play(B1)
            await life(played)
            before = played.facts()
            await played.play("correct R-1 banker 2 3s")
            assert news(before, played.facts()) == [
                "bet_reversed b1 A-1 3000 8000/2000/4 r2",
                "bet_settled b1 A-1 win 3000 11000/0/5 r2",
                "round_settled R-1 1 bets seal 1 r2",
            ]

    asyncio.run(play())


@in_every_life
@pytest.mark.parametrize("piecemeal", [False, True], ids=["in one batch", "one by one"])
def test_what_a_settled_round_refuses_or_knows(life: Callable[[Scene], Awaitable[None]], *, piecemeal: bool) -> None:
    """Repeats are duplicates whatever has happened since, the impossible is refused; each time it stands."""
    text = f"""
        correct R-1 banker 2 3d #c0                     ;; it lies there
        {W_C} #c1
        correct R-1 player_1 1 2c #c2                   ;; it lies there now
        {BACK} #c3
        again c1
        again c2                                        ;; known, though another card lies there
        again c0
        {BACK}
        correct R-1 player_1 1 2s #c1                   ;; a known id with other content
        correct R-1 player_1 1 2s #c2
        card R-1 player_1 1 2s
        card R-1 player_1 1 9c
        pause R-1
        resume R-1
        cut R-1
        cut R-1 in S-7
        open R-1
        close R-1
    """

    async def play() -> None:
        async with scene() as played:
            await played.play(FIVE_ACCOUNTS)
            await played.play(B1)
            await life(played)
            before = played.facts()
            for line in text.splitlines() if piecemeal else [text]:
                await played.play(line)
            await life(played)
            await played.play(f"{W_C} #c1\ncorrect R-1 player_1 1 2c #c2\nagain c3\nagain c0")
            assert sorted(news(before, played.facts())) == sorted(
                [
                    "bet_reversed b1 A-1 3000 8000/2000/4 r2",
                    "bet_settled b1 A-1 lose 1000 9000/0/5 r2",
                    "round_settled R-1 1 bets seal 1 r2",
                    "bet_reversed b1 A-1 1000 8000/2000/6 r3",
                    "bet_settled b1 A-1 win 3000 11000/0/7 r3",
                    "round_settled R-1 1 bets seal 1 r3",
                    *["dead id_conflict"] * 2,
                    "dead seat_conflict",
                    *["dead round_out_of_order"] * 3,
                    "dead unknown_shoe",
                ]
            )
            assert not played.about("round_held")

    asyncio.run(play())


@in_every_life
@pytest.mark.parametrize("line", [W_C, "void R-1"])
def test_the_window_is_of_broker_time(life: Callable[[Scene], Awaitable[None]], line: str) -> None:
    """24 h after the record that completed the round it is corrected, a millisecond later it is too late."""

    async def play() -> None:
        for late_ms, fact in ((0, "round_"), (1, "dead correction_too_late")):
            async with scene() as played:
                await played.play(FIVE_ACCOUNTS)
                await played.play(B1)
                settled_ms = played.talk.now_ms
                await life(played)
                before = played.facts()
                at = settled_ms + 24 * HOURS_MS + late_ms - 1_767_268_800_000
                await played.play(f"{line} @{at}")
                assert news(before, played.facts())[-1].startswith(fact)

    asyncio.run(play())


def test_the_window_begins_with_revision_1() -> None:
    """A correction does not prolong it; one that comes too late is judged anew each time."""

    async def play() -> None:
        async with scene() as played:
            await played.play(FIVE_ACCOUNTS)
            await played.play(B1)
            at = played.talk.now_ms + 24 * HOURS_MS - 1_767_268_800_000
            await played.play(f"{W_C} @{at - 10}\n{BACK} #c2 @{at + 1}\nagain c2\ncorrect R-1 player_1 1 2c")
            assert [fact.split()[-1] for fact in played.about("correction_too_late")] == ["correction_too_late"] * 2
            assert await played.balance() == "9000/0/5"

    asyncio.run(play())


def test_everything_in_one_batch() -> None:
    """A round, its corrections, its cancellation and the next round at once: the order of revisions is the log's."""

    async def play() -> None:
        async with scene() as played:
            await played.play(FIVE_ACCOUNTS)
            await played.play(f"""
                {B1}
                {W_C}
                open R-2
                bet b2 A-2 player_1 1000 of R-2
                {BACK}
                close R-2
                deal R-2 W
                correct R-2 player_1 1 2c
                correct R-1 player_1 1 2s
                void R-1
                bet b9 A-3 player_1 1 of R-1
                void R-2
            """)
            rounds = [fact for fact in played.facts(TopicKind.ROUNDS) if "R-1" in fact]
            assert [fact.split()[-1] for fact in rounds] == ["1", "r2", "r3", "r4", "r5"]
            assert await played.balances() == {
                "A-1": "10000/0/11",
                "A-2": "10000/0/7",
                "A-3": "10000/0/1",
                "A-4": "10000/0/1",
                "A-5": "10000/0/1",
            }
            assert played.about("b9") == ["bet_rejected b9 A-3 round_cancelled"]

    asyncio.run(play())


def test_a_correction_before_the_seal_is_known_is_a_revision() -> None:
    """The round is complete, its bets are not all read: revision 1 has the first cards, revision 2 the second."""

    async def play() -> None:
        async with scene() as played:
            await played.play(FIVE_ACCOUNTS)
            played.say(S1_R1)
            played.hide(TopicKind.BETS)
            played.say(f"bet b1 A-1 player_1 1000\nclose R-1\ndeal R-1 W\n{W_C}\nvoid R-1")
            played.show(TopicKind.BETS)
            await played.caught_up()
            assert played.about("b1") == [
                "bet_accepted b1 A-1 8000/2000/2",
                "bet_settled b1 A-1 win 3000 11000/0/3",
                "bet_reversed b1 A-1 3000 8000/2000/4 r2",
                "bet_settled b1 A-1 lose 1000 9000/0/5 r2",
                "bet_reversed b1 A-1 1000 8000/2000/6 r3",
                "bet_refunded b1 A-1 2000 10000/0/7 r3",
            ]

    asyncio.run(play())


@in_every_life
def test_only_what_stood_is_revised(life: Callable[[Scene], Awaitable[None]]) -> None:
    """Not bets that were withdrawn, refused or late; in two currencies, several of one account."""

    async def play() -> None:
        async with scene() as played:
            await played.play(f"{FIVE_ACCOUNTS}\ndeposit E-1 10000 in EUR")
            await played.play(f"""
                {S1_R1}
                bet b1 A-1 player_1 1000
                bet b2 A-1 player_4 500
                bet b3 A-2 player_1 1000
                bet b4 A-3 player_1 9000        ;; too much
                bet b5 A-1 player_1_pair 10
                bet b6 E-1 player_1 1000 in EUR
                cancel b3 A-2
                close R-1
                bet b7 A-4 player_1 1000
                deal R-1 W
            """)
            await life(played)
            before = played.facts()
            await played.play(W_C)
            assert news(before, played.facts()) == [
                "bet_reversed b1 A-1 3000 7490/2000/8 r2",
                "bet_settled b1 A-1 lose 1000 8490/0/9 r2",
                "bet_reversed b2 A-1 500 7990/1000/10 r2",
                "bet_settled b2 A-1 lose 500 8490/0/11 r2",
                "bet_reversed b5 A-1 0 8490/10/12 r2",
                "bet_settled b5 A-1 lose 0 8490/0/13 r2",
                "bet_reversed b6 E-1 3000 8000/2000/4 r2",
                "bet_settled b6 E-1 lose 1000 9000/0/5 r2",
                "round_settled R-1 4 bets seal 7 r2",
            ]

    asyncio.run(play())


@in_every_life
def test_a_round_without_bets_is_revised_too(life: Callable[[Scene], Awaitable[None]]) -> None:
    """Its own record says the new result."""

    async def play() -> None:
        async with scene() as played:
            await played.play(f"{S1_R1}\nclose R-1\ndeal R-1 W")
            await life(played)
            await played.play(f"{W_C}\nvoid R-1")
            assert played.facts(TopicKind.ROUNDS)[-2:] == [
                "round_settled R-1 0 bets seal 0 r2",
                "round_refunded R-1 camera fault 0 bets seal 0 r3".replace("camera fault ", ""),
            ]

    asyncio.run(play())


def net_of(played: Scene) -> list[tuple[str, int]]:
    """The house's net of R-1 in THB, by revision."""
    bodies = [body for body in played.bodies(TopicKind.ROUNDS) if "totals" in body]
    return [(f"r{body['revision']}", body["totals"]["THB"]["house_net"]) for body in bodies]


def balances_of(played: Scene, event_type: str, revision: str) -> list[dict[str, object]]:
    """The balances in the settlements of a type and revision."""
    bodies = played.bodies(TopicKind.SETTLEMENTS)
    return [body["balance"] for body in bodies if (body["type"], f"r{body['revision']}") == (event_type, revision)]
