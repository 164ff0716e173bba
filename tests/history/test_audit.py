"""The audit: nothing is found in a sound log; whatever is broken by hand is found, and where."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from pokdeng.history.audit import Promise, audit
from pokdeng.history.audit.auditor import ORDER
from pokdeng.history.reading import open_past
from pokdeng.rules import Bet
from pokdeng.stream.memory import MemoryLog
from pokdeng.stream.port import TopicPartition
from pokdeng.wire import TopicKind, Topics
from pokdeng.wire.topics import INPUTS
from tests.history.doctored import Records, report_of, report_on, sound_records

if TYPE_CHECKING:
    from collections.abc import Callable

R1, R2, R3 = ({"table_id": "T-1", "round_id": name} for name in ("R-1", "R-2", "R-3"))
B1 = R1 | {"bet_id": "b1"}
B2 = R1 | {"bet_id": "b2"}
THB = {"THB": {"taken": 2500, "returned": 3000, "house_net": -500}}


def test_nothing_is_found_in_a_sound_log() -> None:
    """Every kind of decision, a refund, a round still open: no finding, and the books are those of the bets."""
    report = asyncio.run(_report())
    assert not report.findings.kept
    books = report.books["THB"]
    assert (books.deposits, books.withdrawals, books.taken, books.returned) == (50_000, 100, 2700, 3000)
    assert (books.house_net, books.held, books.difference) == (-300, 200, 0)
    assert books.available == 50_000 - 100 + 300 - 200
    assert report.unfinished_rounds == 1
    player_1 = report.options["THB"][Bet.PLAYER_1]
    assert (player_1.bets, player_1.taken, player_1.returned) == (2, 2200, 3000)
    assert report.is_at_rest


async def _report(change: Callable[[Records], None] | None = None) -> Any:
    return await report_of(await sound_records(), change)


def changed(event_type: str, where: dict[str, Any], **fields: Any) -> Callable[[Records], None]:
    """A fact is changed where it lies."""
    return lambda records: records.change(event_type, where, **fields)


def appended(event_type: str, where: dict[str, Any], **fields: Any) -> Callable[[Records], None]:
    """A changed copy of a fact is said later."""
    return lambda records: records.append(event_type, where, **fields)


def dropped(event_type: str, **where: Any) -> Callable[[Records], None]:
    """A fact is missing."""
    return lambda records: records.drop(event_type, **where)


def replayed_far_away(records: Records) -> None:
    """A movement is said again in other bytes after so many others that it is remembered no more."""
    place = records.one("funds_credited", account_id="A-5")
    first = records.all[place]
    for sequence in range(2, 102):
        records.append(
            "funds_credited",
            {"account_id": "A-5", "transfer_id": first.body["transfer_id"]},
            transfer_id=f"t-{sequence}",
            _id="00000000-0000-5000-8000-000000000000",
            balance={"available": 10_000 * sequence, "sequence": sequence},
        )
    copy = first.saying(amount=10_001, _id=first.body["event_id"])
    records.all.append(copy)


def accepted_late(records: Records) -> None:
    """A bet ten milliseconds behind the close is accepted, not rejected."""
    place = records.one("bet_rejected", **R1, bet_id="b5")
    balance = {"available": 9800, "held": 200, "sequence": 2}
    records.all[place] = records.all[place].saying(type="bet_accepted", taken=200, balance=balance)


def elsewhere(records: Records) -> None:
    """A fact is said in another partition, too."""
    record = records.all[records.one("bet_settled", **B1)]
    records.all.append(replace(record, partition=1 - record.partition))


def mislabelled(records: Records) -> None:
    """A fact is said again under another type in its headers."""
    record = records.all[records.one("bet_settled", **B1)]
    headers = tuple((name, b"bet_refunded" if name == "ce_type" else value) for name, value in record.headers)
    records.all.append(replace(record, headers=headers))


BROKEN: dict[str, tuple[Callable[[Records], None], Promise, str]] = {
    "an id that does not follow": (changed("bet_settled", B1, _id="x"), Promise.WRONG_ID, "bet_settled x"),
    "a fact that is none": (changed("bet_settled", B1, balance="none"), Promise.NO_FACT, "balance"),
    "a type of another topic": (changed("bet_settled", B1, type="bet_settle"), Promise.NO_FACT, "bet_settle is no"),
    "a balance that does not follow": (
        changed("bet_settled", B1, balance={"available": 11_001}),
        Promise.WRONG_BALANCE,
        "leaves 11001",
    ),
    "two facts with one sequence": (
        appended("bet_settled", B1, returned=3001),
        Promise.TWO_FACTS_ONE_SEQUENCE,
        "sequence 3 of A-1",
    ),
    "two facts with one sequence, far apart": (
        replayed_far_away,
        Promise.TWO_FACTS_ONE_SEQUENCE,
        "sequence 1 of A-5",
    ),
    "a missing movement": (dropped("bet_settled", **B1), Promise.SEQUENCE_GAP, "A-1: movement 3 is missing"),
    "books that do not balance": (dropped("bet_settled", **B1), Promise.BOOKS, "differs from available + held by"),
    "a standing bet without a result": (dropped("bet_settled", **B1), Promise.NOT_SETTLED, "bet b1 has no result"),
    "held below zero": (changed("bet_settled", B1, balance={"held": -1}), Promise.NEGATIVE_BALANCE, "-1 held"),
    "available below zero without a reversal": (
        changed("bet_accepted", B1, balance={"available": -8000, "overdrawn": True}),
        Promise.NEGATIVE_BALANCE,
        "-8000 available",
    ),
    "overdrawn and not below zero": (
        changed("bet_accepted", B1, balance={"overdrawn": True}),
        Promise.WRONG_BALANCE,
        "`overdrawn` is true",
    ),
    "another currency": (changed("bet_settled", B1, currency="EUR"), Promise.WRONG_CURRENCY, "A-1 has THB"),
    "decided twice": (
        appended("bet_rejected", R1 | {"bet_id": "b4"}, reason="betting_closed"),
        Promise.DECIDED_TWICE,
        "bet b4 was rejected, now bet_rejected betting_closed",
    ),
    "a transfer decided twice": (
        appended("funds_debited", {"account_id": "A-1"}, balance={"available": 10_600, "sequence": 9}),
        Promise.DECIDED_TWICE,
        "withdrawal withdrawn-A-1-100 of A-1 was decided before",
    ),
    "accepted after it was rejected": (
        appended("bet_accepted", B1, bet_id="b5", account_id="A-5"),
        Promise.DECIDED_TWICE,
        "bet b5 was rejected, now bet_accepted",
    ),
    "settled twice in one revision": (
        appended("bet_settled", B1, balance={"available": 14_000, "held": -2000, "sequence": 9}),
        Promise.SETTLED_TWICE,
        "bet b1 has a result in revision 1 already",
    ),
    "settled without being accepted": (dropped("bet_accepted", **B1), Promise.NOT_STANDING, "b1 was never accepted"),
    "settled after it was withdrawn": (
        appended(
            "bet_settled",
            B1,
            bet_id="b3",
            account_id="A-3",
            bet="player_3",
            balance={"available": 13_000, "held": -2000, "sequence": 4},
        ),
        Promise.NOT_STANDING,
        "bet b3 was withdrawn",
    ),
    "totals that differ from the bets": (
        changed("round_settled", R1, totals=THB | {"THB": {"taken": 2500, "returned": 3001, "house_net": -501}}),
        Promise.WRONG_TOTALS,
        "says 2 bets",
    ),
    "a count that differs from the bets": (changed("round_settled", R1, bets=3), Promise.WRONG_TOTALS, "says 3 bets"),
    "money that does not follow from the cards": (
        changed("bet_settled", B1, returned=4000, net=2000, balance={"available": 12_000}),
        Promise.WRONG_PAYOUT,
        "by the rules 2000, 3000, 1000",
    ),
    "a sentence that does not follow": (
        changed("bet_settled", B1, rule="because"),
        Promise.WRONG_PAYOUT,
        "'because'",
    ),
    "a refund of something else": (
        changed("bet_refunded", R2 | {"bet_id": "b1"}, returned=399),
        Promise.WRONG_PAYOUT,
        "399 is refunded",
    ),
    "a hand that is not worth that": (
        changed("round_settled", R1, banker={"value": "8"}),
        Promise.WRONG_PAYOUT,
        "is worth 7, not 8",
    ),
    "other cards than were dealt": (
        changed("round_settled", R3, banker={"cards": ["Jd", "Kd"]}),
        Promise.WRONG_CARDS,
        "not those of the table's events at banker 1",
    ),
    "other cards than its bets": (
        changed("round_settled", R1, banker={"cards": ["4d", "3d"], "flush": True}),
        Promise.WRONG_CARDS,
        "its bets were settled by",
    ),
    "a fact that says another thing than its input": (
        changed("bet_rejected", R1 | {"bet_id": "b4"}, stake=1),
        Promise.NO_CAUSE,
        "bet_rejected says",
    ),
    "an input that nothing came of": (
        dropped("bet_rejected", **R1, bet_id="b4"),
        Promise.NOT_DECIDED,
        "nothing came of bet b4",
    ),
    "a transfer that nothing came of": (
        dropped("funds_credited", account_id="A-1"),
        Promise.SEQUENCE_GAP,
        "A-1: movement 1 is missing",
    ),
    "a late bet that was accepted": (
        accepted_late,
        Promise.DECIDED_WRONGLY,
        "b5: accepted, 10 ms after betting closed",
    ),
    "a bet in time that was rejected": (
        changed("bet_rejected", R1 | {"bet_id": "b4"}, reason="betting_closed"),
        Promise.DECIDED_WRONGLY,
        "bet b4: rejected as betting_closed, but it was in time",
    ),
    "a seal that passes an accepted bet": (
        changed("round_settled", R1, seal=1),
        Promise.DECIDED_WRONGLY,
        "behind the seal 1",
    ),
    "another record of the round": (
        appended("round_settled", R1, bets=9),
        Promise.SAID_DIFFERENTLY,
        "another record of revision 1",
    ),
    "a round's record that is missing": (
        dropped("round_settled", **R1),
        Promise.WRONG_TOTALS,
        "it has no record of that",
    ),
    "a record in the wrong place": (
        elsewhere,
        Promise.WRONG_PLACE,
        "belongs to partition",
    ),
    "a header that says another thing": (
        mislabelled,
        Promise.WRONG_PLACE,
        "wrong header ce_type",
    ),
    "a revision that reverses nothing": (
        appended("round_settled", R1, revision=2),
        Promise.WRONG_REVISION,
        "revision 2 reverses 0 bets, revision 1 had 2",
    ),
}


@pytest.mark.parametrize(("change", "promise", "says"), BROKEN.values(), ids=BROKEN.keys())
def test_what_is_broken_is_found(change: Callable[[Records], None], promise: Promise, says: str) -> None:
    """A log broken by hand in one way: the audit finds that promise broken, and says how."""
    report = asyncio.run(_report(change))
    found = [one for one in report.findings.kept if one.promise is promise]
    assert any(says in one.what for one in found), report.findings.kept


def test_what_is_said_again_is_no_finding() -> None:
    """Every fact said twice, byte for byte, as after a crash: nothing is found and nothing counts twice."""

    def again(records: Records) -> None:
        records.all += [one for one in records.all if "ce_id" in dict(one.headers)]

    once, twice = asyncio.run(_report()), asyncio.run(_report(again))
    assert not twice.findings.kept
    assert (twice.books, twice.options) == (once.books, once.options)
    assert twice.repeats == 19


def test_inputs_that_are_no_longer_kept_are_no_finding() -> None:
    """Without any input the books and the results are still judged; nothing is missed of what retention took."""

    async def play() -> Any:
        records = await sound_records()
        broker = records.broker()
        for kind in INPUTS:
            for number in range(records.partitions):
                place = TopicPartition(Topics().name(kind), number)
                broker.trim(place, broker.partition(place).end)
        return await report_on(broker)

    report = asyncio.run(play())
    assert not report.findings.kept
    assert report.books["THB"].difference == 0


def test_only_so_many_of_a_kind_are_listed_and_all_are_counted() -> None:
    """A log broken everywhere does not fill the memory: the rest is a number."""

    async def play() -> Any:
        records = await sound_records()
        for place, one in enumerate(records.all):
            if one.kind is TopicKind.BET_DECISIONS:
                records.all[place] = one.saying(_id="x")
        past = await open_past(MemoryLog(records.broker(), "audit", copartitioned=()), Topics(), ORDER)
        return await audit(past, most=3)

    report = asyncio.run(play())
    assert report.findings.counts[Promise.WRONG_ID] == 11
    assert sum(one.promise is Promise.WRONG_ID for one in report.findings.kept) == 3
