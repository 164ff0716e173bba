"""Amounts, currencies, limits and fields: field failures O19, O20 and O25, and the deals of the fixtures."""

from __future__ import annotations

import asyncio

import pytest

from pokdeng.settlement.limits import CurrencyLimits, Limits
from pokdeng.wire import TopicKind
from tests.settlement.scene import Scene, scene
from tests.settlement.table_talk import FIVE_ACCOUNTS, S1_R1, bet_value

B1 = "bet b1 A-1 player_1 1000"
END_W = "close R-1\ndeal R-1 W"
DECISIONS = TopicKind.BET_DECISIONS


async def open_table(played: Scene, deposits: str = FIVE_ACCOUNTS) -> None:
    """The accounts have money, and R-1 takes bets."""
    await played.play(deposits)
    await played.play(S1_R1)


@pytest.mark.parametrize(
    ("stake", "reason"),
    [
        *((text, "not_an_event") for text in ("true", '"100"', "100.0", "1e2", '" 100 "', '"1_000"', "100.5")),
        *((text, "not_an_event") for text in ("null", "-100", "0", "-0", "1000000000001", "9223372036854775808")),
        ("NaN", "not_json"),
    ],
)
def test_what_is_no_stake_is_no_bet(stake: str, reason: str) -> None:
    """O19: a stake is digits, 1 .. 10^12; nothing is turned into one."""

    async def play() -> None:
        async with scene() as played:
            await open_table(played)
            await played.play(f"raw bets T-1 {bet_value(stake=stake)}")
            assert played.facts() == [f"dead bets@0 {reason}"]
            assert await played.balance() == "10000/0/1"

    asyncio.run(play())


def test_a_plain_stake_is_a_bet() -> None:
    """O19: `100` is."""

    async def play() -> None:
        async with scene() as played:
            await open_table(played)
            await played.play(f"raw bets T-1 {bet_value(stake='100')}")
            assert await played.balance() == "9800/200/2"

    asyncio.run(play())


def test_a_stake_above_the_configured_range_is_rejected() -> None:
    """O19: the house's limits give a rejection, not a dead letter; tables may differ."""
    vip = CurrencyLimits.model_validate({"stake_max": 500, "tables": {"T-2": {"stake_max": 501}}})

    async def play() -> None:
        async with scene(limits=Limits({"THB": vip}), is_checked=False) as played:  # the checker has no limits
            await open_table(played, "deposit A-1 10000")
            await played.play("shoe S-1 2h at T-2\nopen R-1 at T-2")
            await played.play("bet b1 A-1 player_1 500\nbet b2 A-1 player_1 501\nbet b2 A-1 player_1 501 at T-2")
            assert played.about("b2") == [
                "bet_rejected b2 A-1 stake_out_of_range",
                "bet_accepted b2 A-1 7998/2002/3",
            ]

    asyncio.run(play())


def test_limits_that_change_across_a_restart_change_no_decision() -> None:
    """A bet that was accepted under other limits stays accepted, is settled, and is said in the same bytes."""

    async def play() -> None:
        async with scene() as played:
            await open_table(played)
            await played.play(B1)
            played.line.limits = Limits({"THB": CurrencyLimits(stake_max=10)})
            await played.restart()
            await played.caught_up()
            await played.play(END_W)
            assert await played.balance() == "11000/0/3"
            assert played.about("b1") == [
                "bet_accepted b1 A-1 8000/2000/2",
                "bet_settled b1 A-1 win 3000 11000/0/3",
            ]

    asyncio.run(play())


@pytest.mark.parametrize(
    ("currency", "stake", "end"),
    [("JPY", 500, "10500/0/3"), ("KWD", 1234, "11234/0/3"), ("EUR", 1005, "11005/0/3")],
)
def test_minor_units_are_never_scaled(currency: str, stake: int, end: str) -> None:
    """O20: amounts are what they are, in every currency."""

    async def play() -> None:
        async with scene() as played:
            await open_table(played, f"deposit A-1 10000 in {currency}")
            await played.play(f"bet b1 A-1 player_1 {stake} in {currency}\n{END_W}")
            assert await played.balance() == end

    asyncio.run(play())


def test_an_account_has_one_currency() -> None:
    """O20: a bet in another currency than the account's is `currency_mismatch`, before funds are looked at."""

    async def play() -> None:
        async with scene() as played:
            await open_table(played)
            await played.play("bet b1 A-1 player_1 1000 in EUR\nbet b2 A-9 player_1 1000")
            assert played.facts(DECISIONS) == [
                "bet_rejected b1 A-1 currency_mismatch",
                "bet_rejected b2 A-9 insufficient_funds",
            ]
            assert await played.balance() == "10000/0/1"

    asyncio.run(play())


def test_unknown_fields_are_ignored() -> None:
    """O25: an extra field changes nothing, and is no content."""

    async def play() -> None:
        async with scene() as played:
            await open_table(played)
            with_tip = bet_value(bet_id='"b1"', stake="1000", tip_jar="1")
            await played.play(f"raw bets T-1 {with_tip}\n{B1}")
            assert await played.balance() == "8000/2000/2"
            assert played.facts() == ["bet_accepted b1 A-1 8000/2000/2"]

    asyncio.run(play())


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"stake": "", "stake_minor": "1000"}, "not_an_event"),
        ({"type": '"insurance_bet"'}, "unknown_type"),
        ({"type": '"Bet_Placed"'}, "unknown_type"),
        ({"type": '"funds_deposited"'}, "unknown_type"),
    ],
    ids=["renamed field", "unknown type", "other case", "type of another topic"],
)
def test_renamed_fields_and_unknown_types_are_dead_letters(fields: dict[str, str], reason: str) -> None:
    """O25: nothing is guessed, and the next good bet is accepted."""

    async def play() -> None:
        async with scene() as played:
            await open_table(played)
            await played.play(f"raw bets T-1 {bet_value(**fields)}\n{B1}")
            assert played.about("bets@0") == [f"dead bets@0 {reason}"]
            assert await played.balance() == "8000/2000/2"

    asyncio.run(play())


def test_the_fixtures_are_those_of_the_field_failures() -> None:
    """Every option at 1000 in the three deals takes and returns what the table of the fixtures says."""
    options = [f"player_{number}{kind}" for number in range(1, 6) for kind in ("", "_pair")]
    for deal, returned in (("W", 23000), ("L", 9000), ("T", 20000)):

        async def play(deal: str = deal, returned: int = returned) -> None:
            async with scene() as played:
                await open_table(played, "deposit A-1 15000")
                placed = "\n".join(f"bet b{index} A-1 {option} 1000" for index, option in enumerate(options))
                await played.play(f"{placed}\nclose R-1\ndeal R-1 {deal}")
                assert await played.balance() == f"{returned}/0/21"

        asyncio.run(play())
