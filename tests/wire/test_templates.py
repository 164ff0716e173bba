"""Templates write the very bytes of `encode`."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from pokdeng.events.outputs import BetAccepted, BetRefunded, BetRejected, BetSettled
from pokdeng.wire import AcceptedTemplate, RefundedTemplate, RejectedTemplate, SettledRound, encode
from tests.wire.examples import TEXTS, events

TEXTS_LIKE_FORMATS = st.sampled_from(["100 %", "%d %s %%", "{0} {event_id}", "\0 \\"]) | TEXTS


def with_flag(event: Any) -> Any:
    """The fact with `overdrawn` as it follows from the balance."""
    return replace(event, balance=replace(event.balance, overdrawn=True if event.balance.available < 0 else None))


@settings(max_examples=60, deadline=None)
@given(event=events(BetAccepted).map(with_flag), topic=TEXTS)
def test_an_accepted_bet(event: BetAccepted, topic: str) -> None:
    """Whatever the topic is called, over and under zero."""
    event = replace(event, cause=replace(event.cause, topic=topic))
    template = AcceptedTemplate(
        table_id=event.table_id, round_id=event.round_id, topic=topic, partition=event.cause.partition
    )
    assert encode(event) == template.render(
        event_id=event.event_id,
        occurred_at=event.occurred_at,
        offset=event.cause.offset,
        bet_id=event.bet_id,
        account_id=event.account_id,
        bet=event.bet,
        stake=event.stake,
        currency=event.currency,
        taken=event.taken,
        available=event.balance.available,
        held=event.balance.held,
        sequence=event.balance.sequence,
    )


@settings(max_examples=60, deadline=None)
@given(event=events(BetRejected))
def test_a_rejected_bet(event: BetRejected) -> None:
    """With each reason."""
    template = RejectedTemplate(
        table_id=event.table_id, round_id=event.round_id, topic=event.cause.topic, partition=event.cause.partition
    )
    assert encode(event) == template.render(
        event_id=event.event_id,
        occurred_at=event.occurred_at,
        offset=event.cause.offset,
        bet_id=event.bet_id,
        account_id=event.account_id,
        bet=event.bet,
        stake=event.stake,
        currency=event.currency,
        reason=event.reason,
    )


@settings(max_examples=60, deadline=None)
@given(
    event=events(BetSettled).map(with_flag),
    rule=st.sampled_from(["100 %", "%d %s %%", "{0} {event_id}", "\0 \\"]) | TEXTS,
)
def test_a_settled_bet(event: BetSettled, rule: str) -> None:
    """With odds and without; what is constant may hold signs that mean something to formats."""
    event = replace(event, net=event.returned - event.taken, rule=rule)
    of_round = SettledRound(
        table_id=event.table_id,
        round_id=event.round_id,
        banker=event.banker,
        ruleset=event.ruleset,
        cause=event.cause,
        occurred_at=event.occurred_at,
        revision=event.revision,
    )
    for _ in range(2):
        template = of_round.of(
            bet=event.bet, outcome=event.outcome, odds=event.odds, player=event.player, rule=event.rule
        )
        assert encode(event) == template.render(
            event_id=event.event_id,
            bet_id=event.bet_id,
            account_id=event.account_id,
            stake=event.stake,
            currency=event.currency,
            taken=event.taken,
            returned=event.returned,
            available=event.balance.available,
            held=event.balance.held,
            sequence=event.balance.sequence,
        )


@settings(max_examples=60, deadline=None)
@given(event=events(BetRefunded).map(with_flag))
def test_a_refunded_bet(event: BetRefunded) -> None:
    """With any text of the supervisor."""
    template = RefundedTemplate(
        table_id=event.table_id,
        round_id=event.round_id,
        bet=event.bet,
        reason=event.reason,
        cause=event.cause,
        occurred_at=event.occurred_at,
        revision=event.revision,
    )
    raw = template.render(
        event_id=event.event_id,
        bet_id=event.bet_id,
        account_id=event.account_id,
        stake=event.stake,
        currency=event.currency,
        taken=event.taken,
        returned=event.returned,
        available=event.balance.available,
        held=event.balance.held,
        sequence=event.balance.sequence,
    )
    assert raw == encode(event)
    assert json.loads(raw)["reason"] == event.reason
