"""The reference settles what the simulator plays, and the checker agrees with it."""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING

import pytest

from pokdeng.events.reasons import DeadLetterReason
from pokdeng.simulator import Mischief, Play
from tests.checker import handmade
from tests.checker.checker import check
from tests.checker.plays import log_of
from tests.checker.reference import settle

if TYPE_CHECKING:
    from tests.checker.reference import Settled
    from tests.checker.report import Report

PARTITIONS = 3


def played(play: Play) -> tuple[Settled, Report]:
    """A play, settled by the reference and checked."""
    inputs = log_of(play, partitions=PARTITIONS)
    done = settle(inputs, partitions=PARTITIONS)
    return done, check(inputs, done.outputs, partitions=PARTITIONS, final_balances=done.balances())


def test_the_reference_says_what_was_written_by_hand() -> None:
    """On the hand-made inputs the reference says the hand-made outputs, all of them and nothing else."""
    done = settle(handmade.inputs(), partitions=handmade.PARTITIONS)
    said, expected = (
        sorted(
            (record.topic, record.partition, record.key, json.dumps(json.loads(record.value or b""), sort_keys=True))
            for record in records
            if "dead" not in record.topic
        )
        for records in (done.outputs, [out.record(0) for out in handmade.outputs()])
    )
    assert said == expected
    assert done.balances() == handmade.BALANCES


def test_a_quiet_play_settles_every_bet() -> None:
    """Without mischief every bet is accepted and settled, and nothing is refused, dead or twice."""
    done, report = played(Play(tables=3, rounds=30, accounts=40, bets_per_round=10))
    assert report.findings == []
    assert report.counts["bets"] == report.counts["bet_accepted"] == report.counts["bet_settled"] > 800
    assert report.counts["rounds complete"] == 90
    assert not report.counts["dead letters"]
    assert not done.duplicates.total()


@pytest.mark.parametrize("seed", range(1, 5))
@pytest.mark.parametrize("scale", [0.1, 1.0])
def test_the_checker_agrees_with_the_reference(scale: float, seed: int) -> None:
    """Whatever is played, the checker finds nothing in what the reference says, and no round is left behind."""
    mischief = Mischief.at(scale)
    done, report = played(Play(tables=4, rounds=30, accounts=25, bets_per_round=10, seed=seed, mischief=mischief))
    assert report.findings == []
    assert report.counts["rounds held"] == report.counts["rounds open"] == 0
    assert report.duplicates == done.duplicates


def test_every_reason_of_a_dead_letter_is_played() -> None:
    """At full mischief each reason comes up, but that for which a day must pass."""
    wild = Play(tables=6, rounds=50, accounts=25, bets_per_round=6, seed=3, mischief=Mischief.at(1.0))
    to_the_end = Play(tables=2, rounds=40, accounts=5, bets_per_round=0, mischief=Mischief(forgotten_cut_cards=1.0))
    reports = [played(play)[1] for play in (wild, to_the_end)]
    reasons = {name.removeprefix("dead letter ") for report in reports for name in report.counts if "dead" in name}
    assert not any(report.findings for report in reports)
    assert reasons >= {reason.value for reason in DeadLetterReason if reason != "correction_too_late"}


def test_every_reason_of_a_refusal_is_played() -> None:
    """At full mischief each reason of bets and cancels comes up, but that of limits which are not set."""
    wild = Mischief.at(1.0)
    done, _ = played(Play(tables=4, rounds=40, accounts=25, bets_per_round=12, mischief=wild))
    reasons: Counter[str] = Counter()
    for record in done.outputs:
        if record.topic == "pokdeng.bet-decisions.v1":
            body = json.loads(record.value or b"")
            reasons[f"{body['type']} {body.get('reason', '')}".strip()] += 1
    assert reasons.keys() == {
        "bet_accepted",
        "bet_withdrawn",
        *(
            f"bet_rejected {reason}"
            for reason in (
                "cancelled_before",
                "round_unknown",
                "round_cancelled",
                "betting_closed",
                "round_held",
                "round_paused",
                "currency_mismatch",
                "insufficient_funds",
            )
        ),
        *(
            f"cancel_rejected {reason}"
            for reason in ("round_unknown", "round_cancelled", "betting_closed", "bet_unknown")
            if reason != "round_unknown"
        ),
    }


def test_settled_rounds_are_corrected_and_cancelled() -> None:
    """What comes after a settlement reverses it and settles or refunds anew, and the books still balance."""
    after = Mischief(corrections_after_settlement=0.4, cancels_after_settlement=0.3, duplicates=0.1, transfers=0.2)
    _, report = played(Play(tables=4, rounds=30, accounts=15, bets_per_round=10, mischief=after))
    assert report.findings == []
    reversed_bets = report.counts["bet_reversed"]
    assert reversed_bets > 500
    assert report.counts["bet_settled"] + report.counts["bet_refunded"] == report.counts["bet_accepted"] + reversed_bets


def test_a_reversal_of_money_that_was_spent_overdraws() -> None:
    """An account may fall below zero by a reversal only: then it says so, and bets are refused until it is back."""
    inputs = handmade.inputs()
    correction = {
        "type": "card_corrected",
        "event_id": "e-c",
        "occurred_at": handmade.NOON,
        **handmade.ROUND_1,
        "seat": "player_5",
        "position": 1,
        "card": "4c",
        "reason": "misread",
    }
    withdrawal = {
        "type": "funds_withdrawn",
        "event_id": "e-w",
        "occurred_at": handmade.NOON,
        "transfer_id": "w9",
        "account_id": "A-2",
        "amount": 10_000,
        "currency": "THB",
    }
    table = [record for record in inputs if record.topic == "pokdeng.table-events.v1"][-1]
    funds = [record for record in inputs if record.key == b"A-2"][-1]
    last = max(record.offset for record in inputs if (record.topic, record.partition) == (funds.topic, funds.partition))
    inputs.append(funds._replace(offset=last + 1, timestamp=6000, value=json.dumps(withdrawal).encode()))
    inputs.append(table._replace(offset=table.offset + 1, timestamp=6001, value=json.dumps(correction).encode()))
    done = settle(inputs, partitions=handmade.PARTITIONS)
    report = check(inputs, done.outputs, partitions=handmade.PARTITIONS, final_balances=done.balances())
    assert report.findings == []
    assert done.balances()["A-2"] == (-5_500, 0, 8, "THB")
    overdrawn = [record for record in done.outputs if b'"overdrawn":true' in (record.value or b"")]
    assert len(overdrawn) == 2
