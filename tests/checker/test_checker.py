"""The checker finds nothing in a right log, and each of many ways in which a log can be wrong."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.checker import handmade
from tests.checker.checker import check
from tests.checker.handmade import BALANCES, PARTITIONS, Out

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.checker.report import Report

Outs = list[Out]


def found(outputs: Outs, balances: dict[str, tuple[int, int, int, str]] | None = None) -> Report:
    """What the checker says of the hand-made inputs and these outputs."""
    records = [out.record(offset) for offset, out in enumerate(outputs)]
    return check(handmade.inputs(), records, partitions=PARTITIONS, final_balances=balances)


def of(outputs: Outs, kind: str, **fields: Any) -> Out:
    """The one fact of a type with these fields."""
    matching = [
        out
        for out in outputs
        if isinstance(out.body, dict)
        and out.body["type"] == kind
        and all(out.body[name] == value for name, value in fields.items())
    ]
    assert len(matching) == 1
    return matching[0]


def body(outputs: Outs, kind: str, **fields: Any) -> dict[str, Any]:
    """The body of the one fact of a type with these fields."""
    made = of(outputs, kind, **fields).body
    assert isinstance(made, dict)
    return made


def dead(outputs: Outs, reason: str) -> Out:
    """The one dead letter of a reason."""
    (letter,) = [out for out in outputs if ("dlq.reason", reason.encode()) in out.headers]
    return letter


def lacking(kind: str, **fields: Any) -> Callable[[Outs], None]:
    """One fact was never said."""
    return lambda outputs: outputs.remove(of(outputs, kind, **fields))


def changed(kind: str, change: dict[str, Any], **fields: Any) -> Callable[[Outs], None]:
    """One fact says something else."""
    return lambda outputs: body(outputs, kind, **fields).update(change)


def without(kind: str, name: str, **fields: Any) -> Callable[[Outs], None]:
    """One fact lacks a field."""

    def spoil(outputs: Outs) -> None:
        del body(outputs, kind, **fields)[name]

    return spoil


def headed(name: str, value: bytes | None, reason: str) -> Callable[[Outs], None]:
    """One dead letter has another header, or lacks it."""

    def spoil(outputs: Outs) -> None:
        letter = dead(outputs, reason)
        at = [known for known, _ in letter.headers].index(name)
        letter.headers[at : at + 1] = [] if value is None else [(name, value)]

    return spoil


def swapped(kind: str, bet_id: str, other: handmade.Out) -> Callable[[Outs], None]:
    """Another decision was said of a bet."""

    def spoil(outputs: Outs) -> None:
        outputs[outputs.index(of(outputs, kind, bet_id=bet_id))] = other

    return spoil


def twice(change: dict[str, Any], kind: str, **fields: Any) -> Callable[[Outs], None]:
    """A fact is said again, not in the same bytes."""

    def spoil(outputs: Outs) -> None:
        first = of(outputs, kind, **fields)
        outputs.append(
            Out(first.topic, first.key, {**body(outputs, kind, **fields), **change}, first.headers, first.partition)
        )

    return spoil


def refused(fields: dict[str, Any], offset: int, reason: str) -> Out:
    """A `bet_rejected`."""
    names = ("T-1", fields["round_id"], fields["bet_id"])
    return handmade.fact("bet-decisions", ("bets", offset), names, type="bet_rejected", **fields, reason=reason)


def taken(fields: dict[str, Any], offset: int, amount: int, after: dict[str, int]) -> Out:
    """A `bet_accepted`."""
    names = ("T-1", fields["round_id"], fields["bet_id"])
    return handmade.fact(
        "bet-decisions", ("bets", offset), names, type="bet_accepted", **fields, taken=amount, balance=after
    )


def elsewhere(outputs: Outs) -> None:
    """A fact lies in another partition."""
    out = of(outputs, "bet_accepted", bet_id="b1")
    out.partition = (out.partition + 1) % PARTITIONS


def under_another_key(outputs: Outs) -> None:
    """A fact has the key of another account, and lies where that one belongs."""
    out, other = of(outputs, "bet_accepted", bet_id="b1"), of(outputs, "bet_accepted", bet_id="b2")
    out.key, out.partition = other.key, other.partition


def in_another_topic(outputs: Outs) -> None:
    """A refund lies among the decisions."""
    of(outputs, "bet_refunded").topic = "bet-decisions"


def without_header(outputs: Outs) -> None:
    """A fact lacks its CloudEvents time."""
    out = of(outputs, "round_settled")
    out.headers = [header for header in out.headers if header[0] != "ce_time"]


def no_json(outputs: Outs) -> None:
    """A fact is no JSON."""
    of(outputs, "round_held").raw = b"{"


def spoiled_letter(outputs: Outs) -> None:
    """A dead letter has lost a byte of its record."""
    letter = dead(outputs, "not_json")
    assert isinstance(letter.body, bytes)
    letter.body = letter.body[:-1]


def unheaded_letter(outputs: Outs) -> None:
    """A dead letter has lost a header of its record."""
    letter = dead(outputs, "id_conflict")
    letter.headers = letter.headers[1:]


def moved_letter(outputs: Outs) -> None:
    """A dead letter lies in another partition."""
    letter = dead(outputs, "id_conflict")
    letter.partition = (letter.partition + 1) % PARTITIONS


def needless_letter(outputs: Outs) -> None:
    """A good record is a dead letter too."""
    outputs.append(handmade.letter(handmade.inputs()[0], "not_an_event"))


def no_letter(outputs: Outs) -> None:
    """An unusable record was dropped in silence."""
    outputs.remove(dead(outputs, "unknown_round"))


def another_id(outputs: Outs) -> None:
    """A fact has an id of its own."""
    out = of(outputs, "bet_settled", bet_id="b2")
    new = "00000000-0000-5000-8000-000000000001"
    body(outputs, "bet_settled", bet_id="b2")["event_id"] = new
    out.headers[0] = ("ce_id", new.encode())


def second_refund(outputs: Outs) -> None:
    """A bet is refunded again as revision 2."""
    names = ("T-1", "R-2", "b6", "2")
    fields = {**body(outputs, "bet_refunded"), "revision": 2, "balance": handmade.balance(13_000, -2_000, 6)}
    for name in ("type", "event_id", "occurred_at", "cause"):
        del fields[name]
    outputs.append(handmade.fact("settlements", ("table-events", 18), names, type="bet_refunded", **fields))


def beyond_its_means(outputs: Outs) -> None:
    """A bet is accepted that the account cannot pay, and everything after it follows."""
    accepted = taken(handmade.B4, 6, 18_000, handmade.balance(-13_500, 18_500, 5))
    outputs[outputs.index(of(outputs, "bet_rejected", bet_id="b4"))] = accepted
    body(outputs, "bet_settled", bet_id="b2")["balance"] = handmade.balance(-7_500, 18_000, 6)


SPOILED: dict[str, tuple[Callable[[Outs], None], str]] = {
    "an accepted bet was never said": (lacking("bet_accepted", bet_id="b1"), "never said"),
    "a late bet was never answered": (lacking("bet_rejected", bet_id="b5"), "never said"),
    "a deposit was never answered": (lacking("funds_credited", account_id="A-2"), "never said"),
    "a cancel was never answered": (lacking("cancel_rejected"), "never said"),
    "a bet was never settled": (lacking("bet_settled", bet_id="b2"), "never said"),
    "a bet was never refunded": (lacking("bet_refunded"), "never said"),
    "a withdrawal was never said": (lacking("bet_withdrawn"), "never said"),
    "a round was never settled": (lacking("round_settled"), "never said"),
    "a hold was never said": (lacking("round_held"), "never said"),
    "a record was dropped": (no_letter, "must be the dead letter unknown_round"),
    "a bet was refunded twice": (second_refund, "must not have been said"),
    "one minor unit too much": (
        changed("bet_settled", {"returned": 3001, "net": 1001}, bet_id="b1"),
        "returned is 3001, must be 3000",
    ),
    "a wrong net": (changed("bet_settled", {"net": 3000}, bet_id="b1"), "net is 3000"),
    "a wrong outcome": (changed("bet_settled", {"outcome": "tie"}, bet_id="b1"), "outcome is 'tie'"),
    "wrong odds": (changed("bet_settled", {"odds": "2:1"}, bet_id="b1"), "odds is '2:1'"),
    "no odds": (without("bet_settled", "odds", bet_id="b1"), "odds is '-'"),
    "a wrong rule": (changed("bet_settled", {"rule": "Because."}, bet_id="b1"), "rule is 'Because.'"),
    "a wrong hand": (changed("bet_settled", {"player": handmade.PLAYER_5}, bet_id="b1"), "player is"),
    "a number that is a boolean": (changed("bet_settled", {"revision": True}, bet_id="b1"), "is wrong"),
    "a number with a fraction": (changed("bet_settled", {"returned": 3000.0}, bet_id="b1"), "returned is '3000.0'"),
    "a field too many": (changed("bet_accepted", {"tip": None}, bet_id="b1"), "tip is None"),
    "another record's cause": (
        changed(
            "bet_accepted",
            {"cause": {"topic": "pokdeng.bets.v1", "partition": handmade.TABLE, "offset": 1}},
            bet_id="b1",
        ),
        "cause is",
    ),
    "another time": (changed("round_held", {"occurred_at": "2026-01-01T13:00:00Z"}), "occurred_at is"),
    "a wrong taken": (changed("bet_accepted", {"taken": 1000}, bet_id="b1"), "taken is 1000"),
    "a balance off by one": (
        changed("bet_settled", {"balance": handmade.balance(11_001, 0, 3)}, bet_id="b1"),
        "balance {'available': 11001",
    ),
    "no balance": (without("bet_settled", "balance", bet_id="b1"), "has balance None"),
    "a balance where nothing moved": (
        changed("bet_rejected", {"balance": handmade.balance(8_000, 2_000, 2)}, bet_id="b5"),
        "moves nothing",
    ),
    "overdrawn at zero and above": (
        changed("bet_settled", {"balance": {**handmade.balance(11_000, 0, 3), "overdrawn": True}}, bet_id="b1"),
        "'overdrawn': True",
    ),
    "a gap in the sequence": (
        changed("bet_refunded", {"balance": handmade.balance(11_000, 0, 6)}),
        "has a hole in its sequence: [1, 2, 3, 4, 6]",
    ),
    "a sequence number twice": (
        changed("bet_refunded", {"balance": handmade.balance(11_000, 0, 4)}),
        "has the sequences [1, 2, 3, 4, 4]",
    ),
    "a late bet was accepted": (
        swapped("bet_rejected", "b5", taken(handmade.B5, 9, 200, handmade.balance(10_800, 200, 4))),
        "must not have been said",
    ),
    "a bet in time was too late": (
        swapped("bet_accepted", "b3", refused(handmade.B3, 4, "betting_closed")),
        "for no reason",
    ),
    "a bet is refused though there was money": (
        swapped("bet_accepted", "b6", refused(handmade.B6, 11, "insufficient_funds")),
        "but at no sequence of 2 .. 3 was it so",
    ),
    "a bet is refused for its currency, which is the account's": (
        changed("bet_rejected", {"reason": "currency_mismatch"}, bet_id="b4"),
        "refused as currency_mismatch",
    ),
    "a bet is refused for funds, not for its currency": (
        swapped("bet_rejected", "b8", refused(handmade.B8, 8, "round_paused")),
        "for no reason",
    ),
    "a bet was accepted without money": (beyond_its_means, "a balance below zero"),
    "another reason of a bet": (
        changed("bet_rejected", {"reason": "round_paused"}, bet_id="b7"),
        "reason is 'round_paused'",
    ),
    "another reason of a cancel": (changed("cancel_rejected", {"reason": "bet_unknown"}), "reason is 'bet_unknown'"),
    "another reason of a transfer": (
        changed("funds_rejected", {"reason": "amount_out_of_range"}),
        "which is no reason for it",
    ),
    "a reason to hold that is none": (changed("round_held", {"reason": "incomplete"}), "reason is 'incomplete'"),
    "wrong totals": (
        changed("round_settled", {"totals": {"THB": {"taken": 2500, "returned": 8999, "house_net": -6499}}}),
        "totals is",
    ),
    "a bet not counted": (changed("round_settled", {"bets": 1}), "bets is 1"),
    "a seal too early": (changed("round_settled", {"seal": 8}), "is sealed at 8"),
    "a seal too late": (changed("round_settled", {"seal": 10}), "is sealed at 10"),
    "a player's result": (
        changed("round_settled", {"players": [*handmade.PLAYERS[:4], {**handmade.PLAYERS[4], "result": "win"}]}),
        "players is",
    ),
    "an id of its own": (another_id, "must not have been said"),
    "copies in other bytes": (twice({"occurred_at": "x"}, "bet_accepted", bet_id="b1"), "again in other bytes"),
    "the wrong partition": (elsewhere, "wrong partition for key"),
    "the wrong key": (under_another_key, "lies in bet-decisions under"),
    "the wrong topic": (in_another_topic, "lies in bet-decisions"),
    "no CloudEvents time": (without_header, "CloudEvents headers"),
    "no JSON": (no_json, "is no fact"),
    "a dead letter for another reason": (headed("dlq.reason", b"not_an_event", "not_json"), "it must be not_json"),
    "a dead letter of another time": (headed("dlq.timestamp", b"2006", "not_json"), "dlq.timestamp 2006"),
    "a dead letter without its place": (headed("dlq.offset", None, "not_json"), "wrong dead-letter headers"),
    "a dead letter that says too much": (headed("dlq.detail", b"x" * 1025, "not_json"), "above 1 KiB"),
    "a dead letter that shows a card": (headed("dlq.detail", b"3d for banker", "seat_conflict"), "shows the card 3d"),
    "a dead letter that lost a byte": (spoiled_letter, "has not its key and value"),
    "a dead letter that lost a header": (unheaded_letter, "has not its headers"),
    "a dead letter elsewhere": (moved_letter, "lies in partition"),
    "a dead letter of a good record": (needless_letter, "must not be a dead letter"),
}


def test_nothing_is_found_in_a_right_log() -> None:
    """All promises hold in the hand-made log, and everything in it was looked at."""
    report = found(handmade.outputs(), BALANCES)
    assert report.findings == []
    assert report.counts["facts"] == 20
    assert report.counts["dead letters"] == 4
    assert report.duplicates == {"pokdeng.bets.v1": 1, "pokdeng.funds.v1": 1}
    assert report.books["THB"] == {
        "deposits": 15_700,
        "withdrawals": 0,
        "available": 22_200,
        "held": 0,
        "house_net": -6_500,
    }


@pytest.mark.parametrize("what", SPOILED)
def test_each_wrong_output_is_found(what: str) -> None:
    """A log with one thing wrong has a finding that names it."""
    spoil, sentence = SPOILED[what]
    outputs = handmade.outputs()
    spoil(outputs)
    report = found(outputs)
    assert any(sentence in finding for finding in report.findings), report


@pytest.mark.parametrize(("has", "more"), [(11_000, 0), (11_001, 1)])
def test_around_a_hole_in_a_sequence_the_money_is_checked(has: int, more: int) -> None:
    """It is a finding, and the account is in the books all the same: what was said must be all that it has."""
    outputs = handmade.outputs()
    changed("bet_refunded", {"balance": handmade.balance(11_000, 0, 6)})(outputs)
    report = found(outputs, {**BALANCES, "A-1": (has, 0, 6, "THB")})
    assert report.counts["holes"] == 1
    assert len(report.findings) == 1 + more, report
    assert report.books["THB"]["available"] == 22_200


def test_copies_in_the_same_bytes_are_no_finding() -> None:
    """What a crash makes the worker say twice in the same bytes breaks no promise."""
    outputs = handmade.outputs()
    report = found([*outputs, *outputs], BALANCES)
    assert report.findings == []
    assert report.counts["copies"] == 24


@pytest.mark.parametrize("wrong", [(11_001, 0, 5, "THB"), (11_000, 1, 5, "THB"), (11_000, 0, 6, "THB"), None])
def test_a_ledger_that_differs_from_the_facts_is_found(wrong: tuple[int, int, int, str] | None) -> None:
    """The final balances of the ledger must be those that the facts add up to."""
    balances = {name: kept for name, kept in {**BALANCES, "A-1": wrong}.items() if kept is not None}
    assert any("A-1 ends at" in finding for finding in found(handmade.outputs(), balances).findings)


def test_an_account_out_of_nowhere_is_found() -> None:
    """A ledger holds no account that no fact named."""
    balances = {**BALANCES, "A-9": (1, 0, 1, "THB")}
    assert any("A-9" in finding for finding in found(handmade.outputs(), balances).findings)


def test_a_lost_input_is_found() -> None:
    """Outputs of inputs that are not in the log are findings: the checker believes the inputs alone."""
    records = [out.record(offset) for offset, out in enumerate(handmade.outputs())]
    inputs = [record for record in handmade.inputs() if record.timestamp != 5001]
    report = check(inputs, records, partitions=PARTITIONS)
    assert any("must not have been said" in finding for finding in report.findings)
