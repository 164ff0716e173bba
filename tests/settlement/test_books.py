"""The books: what facts come to, each counted once, in whatever order."""

from __future__ import annotations

import asyncio
import random
from fractions import Fraction

import pytest

from pokdeng.events.ids import AccountId, Currency
from pokdeng.ledger.values import Account
from pokdeng.rules import Bet, odds_of
from pokdeng.settlement.books import FACT_TOPICS, Books, CurrencyBooks
from tests.settlement.scene import scene
from tests.settlement.table_talk import S1_R1

STORY = f"""
    {S1_R1}
    bet b1 A-1 player_1 1000
    bet b2 A-2 player_1 500
    bet b3 A-2 player_5_pair 100
    bet b4 A-3 player_2 300 in EUR
    close R-1
    deal R-1 W
    open R-2
    bet b5 A-1 player_1 1000 of R-2
    void R-2
    withdraw A-1 700
    withdraw A-1 999999
"""
DEPOSITS = "deposit A-1 10000\ndeposit A-2 10000\ndeposit A-3 10000 in EUR"


async def told() -> tuple[list[bytes], list[Account]]:
    """The facts of the story, and the accounts at its end."""
    async with scene() as played:
        await played.play(DEPOSITS)
        await played.play(STORY)
        ledger = played.line.new_ledger()
        await ledger.open()
        accounts = [account async for account in ledger.accounts()]
        return [record.value or b"" for record in played.line.records(*FACT_TOPICS)], accounts


def folded(values: list[bytes]) -> Books:
    """The books of these facts."""
    books = Books()
    for value in values:
        books.add(value)
    return books


def test_the_books_balance_per_currency() -> None:
    """Available + held over all accounts is deposits - withdrawals - house net."""
    values, accounts = asyncio.run(told())
    found = folded(values).currencies(accounts)
    assert found == {
        "EUR": CurrencyBooks(deposits=10000, withdrawals=0, house_net=-600, available=10600, held=0),
        "THB": CurrencyBooks(deposits=20000, withdrawals=700, house_net=-2600, available=21900, held=0),
    }
    for one in found.values():
        assert one.available + one.held == one.deposits - one.withdrawals - one.house_net


def test_order_and_copies_of_facts_do_not_matter() -> None:
    """Shuffled, and each said thrice: the same books."""
    values, accounts = asyncio.run(told())
    shuffled = values * 3
    random.Random(1).shuffle(shuffled)
    first, second = folded(values), folded(shuffled)
    assert second.currencies(accounts) == first.currencies(accounts)
    assert second.options("THB") == first.options("THB")
    assert second.counts == first.counts


def test_options_know_what_they_took_returned_and_expected() -> None:
    """Per option: bets, taken, returned, the exact expectation, and the variance of stakes summed per round."""
    values, _ = asyncio.run(told())
    options = folded(values).options("THB")
    odds = odds_of(Bet("player_1"))
    found = options[Bet("player_1")]
    assert (found.bets, found.taken, found.returned) == (2, 3000, 4500)
    assert found.expected == pytest.approx(float(Fraction(odds.expected_returned) * 1500))
    assert found.variance == pytest.approx(float(Fraction(odds.variance) * 1500 * 1500))
    pair = options[Bet("player_5_pair")]
    assert (pair.bets, pair.taken, pair.returned) == (1, 100, 1200)
    assert sum(one.bets for one in options.values()) == 3


def test_refunds_are_no_results() -> None:
    """What a cancelled round returned is neither taken nor returned."""
    values, _ = asyncio.run(told())
    assert folded(values).counts["bet_refunded"] == 1
    assert folded(values).options("THB")[Bet("player_1")].taken == 3000


def test_a_currency_without_facts_has_books_too() -> None:
    """An account's balance is shown though nothing was folded: the difference is seen, not hidden."""
    account = Account(account=AccountId("A-9"), currency=Currency("JPY"), available=5, held=1, sequence=1)
    found = Books().currencies([account])["JPY"]
    assert (found.available, found.held, found.deposits) == (5, 1, 0)


def test_a_reversal_takes_its_result_out_of_the_house_net() -> None:
    """The exact opposite of what it reverses."""
    settled = b'{"type":"bet_settled","event_id":"s","currency":"THB","taken":2000,"returned":3000,"bet":"player_1"}'
    back = b'{"type":"bet_reversed","event_id":"r","currency":"THB","taken":2000,"reversed":3000,"bet":"player_1"}'
    account = Account(account=AccountId("A-1"), currency=Currency("THB"), available=0, held=0, sequence=1)
    assert folded([settled, back]).currencies([account])["THB"].house_net == 0
