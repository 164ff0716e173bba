"""The audit of corrections: facts of revision 2 written by hand, by the contract; and broken by hand."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest

from pokdeng.history.audit import Promise
from pokdeng.rules import Bet
from pokdeng.rules import Hand as RuledHand
from tests.history.doctored import Rec, Records, records_of, report_of
from tests.settlement.scene import scene
from tests.settlement.table_talk import FIVE_ACCOUNTS

if TYPE_CHECKING:
    from collections.abc import Callable

R1 = {"table_id": "T-1", "round_id": "R-1"}
B1, B2 = R1 | {"bet_id": "b1"}, R1 | {"bet_id": "b2"}
PLAYED = """
shoe S-1 2h
open R-1
bet b1 A-1 player_1 1000
bet b2 A-2 player_2_pair 500
close R-1
deal R-1 W
"""
LATER = "withdraw A-1 10500"
"""A-1 won 1000 and takes out nearly all of it: 500 are left."""


def hand(cards: str) -> dict[str, Any]:
    """A hand as facts say it."""
    ruled = RuledHand.parse(cards)
    combination = None if ruled.combination is None else ruled.combination.value
    return {
        "cards": cards.split(),
        "value": ruled.value,
        "points": ruled.points,
        "combination": combination,
        "pair": ruled.is_pair,
        "flush": ruled.is_flush,
    }


async def corrected(*, spent: bool = False, cancels: bool = False) -> Records:
    """A settled round whose banker's second card is corrected from 3d to 5h (9: a tie with player 1); or cancelled."""
    async with scene(partitions=2, is_checked=False) as played:
        await played.play(FIVE_ACCOUNTS)
        await played.play(PLAYED)
        if spent:
            await played.play(LATER)
        played.say("void R-1" if cancels else "correct R-1 banker 2 5h")
    records = records_of(played)
    (event,) = [
        (place, one)
        for place, one in enumerate(records.all)
        if one.body.get("type") in {"card_corrected", "round_cancelled"} and "dlq.reason" not in dict(one.headers)
    ]
    offset = sum(
        1 for one in records.all[: event[0]] if (one.kind, one.partition) == (event[1].kind, event[1].partition)
    )
    cause = {"topic": "pokdeng.table-events.v1", "partition": event[1].partition, "offset": offset}
    left = 500 if spent else 11_000
    sequence = 4 if spent else 3
    taken_back = {"available": left - 3000, "held": 2000, "sequence": sequence + 1}
    if left < 3000:
        taken_back["overdrawn"] = True
    common: dict[str, Any] = {"cause": cause, "revision": 2}
    records.append(
        "bet_settled", B1, type="bet_reversed", reversed=3000, reason="misread", balance=taken_back, **common
    )
    records.append(
        "bet_settled",
        B2,
        type="bet_reversed",
        reversed=0,
        reason="misread",
        balance={"available": 9500, "held": 500, "sequence": 4},
        **common,
    )
    if cancels:
        _refund(records, common, left, sequence)
    else:
        _settle(records, common, left, sequence)
    return records


def _settle(records: Records, common: dict[str, Any], left: int, sequence: int) -> None:
    banker = hand("4h 5h")
    after = {"available": left - 1000, "held": 0, "sequence": sequence + 2}
    if after["available"] < 0:
        after["overdrawn"] = True
    tie = "Both hands have the same value: the bet is a tie, and all that was taken is returned."
    said = {"banker": banker, "outcome": "tie", "returned": 2000, "net": 0, "rule": tie, "odds": None}
    records.append("bet_settled", B1 | {"revision": 1}, **said, balance=after, **common)
    balance = {"available": 9500, "held": 0, "sequence": 5}
    records.append("bet_settled", B2 | {"revision": 1}, banker=banker, balance=balance, **common)
    players = records.all[records.one("round_settled", **R1)].body["players"]
    results = [
        one | {"result": result} for one, result in zip(players, ("tie", "lose", "lose", "lose", "lose"), strict=True)
    ]
    totals = {"THB": {"taken": 2500, "returned": 2000, "house_net": 500}}
    records.append("round_settled", R1 | {"revision": 1}, banker=banker, players=results, totals=totals, **common)


def _refund(records: Records, common: dict[str, Any], left: int, sequence: int) -> None:
    why = {"type": "bet_refunded", "reason": "camera fault"}
    after = {"available": left - 1000, "held": 0, "sequence": sequence + 2}
    if after["available"] < 0:
        after["overdrawn"] = True
    records.append("bet_settled", B1 | {"revision": 1}, **why, returned=2000, balance=after, **common)
    balance = {"available": 10_000, "held": 0, "sequence": 5}
    records.append("bet_settled", B2 | {"revision": 1}, **why, returned=500, balance=balance, **common)
    totals = {"THB": {"taken": 2500, "returned": 2500, "house_net": 0}}
    records.append(
        "round_settled", R1 | {"revision": 1}, type="round_refunded", reason="camera fault", totals=totals, **common
    )


def without_dead_letters(records: Records) -> None:
    """The correction counts: this version's worker made it a dead letter."""
    records.all = [one for one in records.all if "dlq.reason" not in dict(one.headers)]


def audited(change: Callable[[Records], None] | None = None, **how: bool) -> Any:
    """What the audit says of the corrected round."""

    async def play() -> Any:
        records = await corrected(**how)
        without_dead_letters(records)
        return await report_of(records, change)

    return asyncio.run(play())


def test_a_correction_is_no_finding_and_the_books_are_those_of_the_last_revision() -> None:
    """Reversed and settled anew: what counts in the end is the tie."""
    report = audited()
    assert not report.findings.kept
    books = report.books["THB"]
    assert (books.taken, books.returned, books.house_net, books.difference) == (2500, 2000, 500, 0)
    player_1 = report.options["THB"][Bet.PLAYER_1]
    assert (player_1.bets, player_1.taken, player_1.returned) == (1, 2000, 2000)


def test_a_cancellation_after_settlement_leaves_no_trace_in_the_options() -> None:
    """Reversed and refunded: taken and returned are nothing, for the house and for the option."""
    report = audited(cancels=True)
    assert not report.findings.kept
    assert (report.books["THB"].taken, report.books["THB"].house_net) == (0, 0)
    assert report.options["THB"][Bet.PLAYER_1].bets == 0


def test_winnings_that_were_spent_may_leave_an_account_below_zero() -> None:
    """After a reversal `available` may be negative: no finding, and the account is counted as overdrawn."""
    report = audited(spent=True)
    assert not report.findings.kept
    assert report.overdrawn == 1


def changed(event_type: str, where: dict[str, Any], **fields: Any) -> Callable[[Records], None]:
    """A fact of revision 2 is changed."""
    return lambda records: records.change(event_type, where | {"revision": 2}, **fields)


def dropped(event_type: str, where: dict[str, Any]) -> Callable[[Records], None]:
    """A fact of revision 2 is missing."""
    return lambda records: records.drop(event_type, **where, revision=2)


BROKEN: dict[str, tuple[Callable[[Records], None], Promise, str]] = {
    "not the opposite of what it reverses": (
        changed("bet_reversed", B1, reversed=2999, balance={"available": 8001}),
        Promise.WRONG_REVISION,
        "takes back 2999",
    ),
    "settled anew without a reversal": (
        dropped("bet_reversed", B2),
        Promise.WRONG_REVISION,
        "b2 was not reversed for revision 2",
    ),
    "a bet that was reversed and got nothing": (dropped("bet_settled", B2), Promise.NOT_SETTLED, "b2 has no result"),
    "another seal": (changed("round_settled", R1, seal=9), Promise.WRONG_REVISION, "seal 9 in revision 2"),
    "settled by the old card": (
        changed("round_settled", R1, banker=hand("4h 3d")),
        Promise.WRONG_CARDS,
        "not those of the table's events at banker 2",
    ),
    "a revision too many": (
        changed("bet_reversed", B1, revision=4),
        Promise.WRONG_REVISION,
        "b1 was not reversed for revision 2",
    ),
}


@pytest.mark.parametrize(("change", "promise", "says"), BROKEN.values(), ids=BROKEN.keys())
def test_what_is_broken_in_a_correction_is_found(
    change: Callable[[Records], None], promise: Promise, says: str
) -> None:
    """A correction broken by hand in one way: the audit finds it."""
    report = audited(change)
    found = [one for one in report.findings.kept if one.promise is promise]
    assert any(says in one.what for one in found), report.findings.kept


def test_a_correction_hours_later_is_held_against_the_sums_of_the_round() -> None:
    """When the round's bets are folded away, a reversal of other amounts is still found, and a right one is not."""
    hours_ms = 5 * 3_600_000

    def later(records: Records) -> None:
        for place, one in enumerate(records.all):
            if one.body.get("revision") == 2 or one.body.get("type") == "card_corrected":
                records.all[place] = Rec(one.kind, one.partition, one.at_ms + hours_ms, one.key, one.value, one.headers)

    def later_and_wrong(records: Records) -> None:
        later(records)
        records.change("bet_reversed", B1 | {"revision": 2}, reversed=2999, balance={"available": 8001})

    assert not audited(later).findings.kept
    wrong = audited(later_and_wrong).findings
    assert any("or other amounts" in one.what for one in wrong.kept if one.promise is Promise.WRONG_REVISION)
