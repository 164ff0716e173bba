"""The facts that the contract asks for, as plain dicts without `balance`: who moved what, and under which id."""

from __future__ import annotations

import uuid
from functools import cache
from hashlib import sha1
from typing import TYPE_CHECKING, Any, NamedTuple

from pokdeng.rules import RULESET, Bet, Card, Hand, hand_of, verdict
from tests.checker.parsing import SEATS, Event
from tests.checker.records import BET_DECISIONS, FUNDS_DECISIONS, ROUNDS, SETTLEMENTS, Rec

if TYPE_CHECKING:
    from tests.checker.state import BetState, Place, Revision, RoundState

NAMESPACE = uuid.UUID("6f1c3f0e-1d0b-5a9e-9d55-0a0d5e771e00")
BET_FIELDS = ("bet_id", "table_id", "round_id", "account_id", "bet", "stake", "currency")
CANCEL_FIELDS = ("bet_id", "table_id", "round_id", "account_id")
TRANSFER_FIELDS = ("transfer_id", "account_id", "amount", "currency")
TRANSFER_KINDS = {"funds_deposited": "deposit", "funds_withdrawn": "withdrawal"}


class Fact(NamedTuple):
    """One output as it must be. `move` is what it does to available and held, None where nothing moves."""

    kind: str
    key: bytes
    body: dict[str, Any]
    cause: Rec
    move: tuple[int, int] | None = None


def fact_id(*name: object) -> str:
    r"""The id that a fact of this name (its type, then what names it) always has: a UUIDv5, from its definition.

    >>> fact_id("bet_accepted", "T-1", "R-1", "b1") == str(uuid.uuid5(NAMESPACE, "bet_accepted\nT-1\nR-1\nb1"))
    True
    """
    digest = bytearray(sha1(NAMESPACE.bytes + "\n".join(map(str, name)).encode(), usedforsecurity=False).digest()[:16])
    digest[6] = digest[6] & 0x0F | 0x50
    digest[8] = digest[8] & 0x3F | 0x80
    text = digest.hex()
    return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"


def bet_name(event: Event) -> tuple[str, str, str]:
    """What names a bet."""
    return event["table_id"], event["round_id"], event["bet_id"]


def taken_by(event: Event) -> int:
    """What a bet takes from the balance."""
    stake: int = event["stake"]
    return stake if event["bet"].endswith("_pair") else 2 * stake


def accepted(record: Rec, event: Event) -> Fact:
    """A bet stands."""
    taken = taken_by(event)
    body = _body(("bet_accepted", *bet_name(event)), event, record, event, BET_FIELDS) | {"taken": taken}
    return Fact(BET_DECISIONS, event["account_id"].encode(), body, record, (-taken, taken))


def rejected(record: Rec, event: Event, reason: str) -> Fact:
    """A bet does not stand."""
    body = _body(("bet_rejected", *bet_name(event)), event, record, event, BET_FIELDS) | {"reason": reason}
    return Fact(BET_DECISIONS, event["account_id"].encode(), body, record)


def withdrawn(record: Rec, event: Event, bet: BetState) -> Fact:
    """A bet was taken back in time."""
    body = _body(("bet_withdrawn", *bet_name(event)), event, record, bet.event, BET_FIELDS)
    body |= {"taken": bet.taken, "returned": bet.taken}
    return Fact(BET_DECISIONS, event["account_id"].encode(), body, record, (bet.taken, -bet.taken))


def cancel_rejected(record: Rec, event: Event, reason: str) -> Fact:
    """A cancel was refused."""
    table, round_id, bet_id = bet_name(event)
    name = ("cancel_rejected", table, round_id, event["account_id"], bet_id)
    body = _body(name, event, record, event, CANCEL_FIELDS) | {"reason": reason}
    return Fact(BET_DECISIONS, event["account_id"].encode(), body, record)


def transferred(record: Rec, event: Event, reason: str | None) -> Fact:
    """A transfer was made, or refused for a reason."""
    names: tuple[str, ...] = (event["account_id"], event["transfer_id"])
    key = event["account_id"].encode()
    kind = TRANSFER_KINDS[event["type"]]
    if reason is not None:
        body = _body(("funds_rejected", *names, kind), event, record, event, TRANSFER_FIELDS)
        return Fact(FUNDS_DECISIONS, key, body | {"transfer": kind, "reason": reason}, record)
    event_type, sign = ("funds_credited", 1) if kind == "deposit" else ("funds_debited", -1)
    body = _body((event_type, *names), event, record, event, TRANSFER_FIELDS)
    return Fact(FUNDS_DECISIONS, key, body, record, (sign * event["amount"], 0))


def held(record: Rec, event: Event, state: RoundState, reason: str) -> Fact:
    """A round waits for the supervisor."""
    name = ("round_held", state.table, state.round_id, record.partition, record.offset)
    body = _body(name, event, record, _round_fields(state), ("table_id", "shoe_id", "round_id"))
    return Fact(ROUNDS, state.table.encode(), body | {"reason": reason}, record)


def result(state: RoundState, revision: Revision, seal: int) -> list[Fact]:
    """All that is said of one revision of a round: each bet's reversal and result, and the round's own record last."""
    facts: list[Fact] = []
    totals: dict[str, dict[str, int]] = {}
    standing = [bet for bet in state.bets if bet.stands]
    for bet in standing:
        if revision.number > 1:
            facts.append(_reversal(revision, bet))
        facts.append(_settlement(revision, bet))
        total = totals.setdefault(bet.event["currency"], {"taken": 0, "returned": 0, "house_net": 0})
        total["taken"] += bet.taken
        total["returned"] += bet.returned
        total["house_net"] += bet.taken - bet.returned
    facts.append(_round_result(state, revision, {"bets": len(standing), "totals": totals, "seal": seal}))
    return facts


def _reversal(revision: Revision, bet: BetState) -> Fact:
    event = revision.event
    body = _body(("bet_reversed", *bet_name(bet.event), revision.number), event, revision.record, bet.event, BET_FIELDS)
    body |= {"taken": bet.taken, "reversed": bet.returned, "reason": event["reason"], "revision": revision.number}
    return Fact(SETTLEMENTS, bet.event["account_id"].encode(), body, revision.record, (-bet.returned, bet.taken))


def _settlement(revision: Revision, bet: BetState) -> Fact:
    event, names = revision.event, (*bet_name(bet.event), revision.number)
    if revision.cards is None:
        bet.returned = bet.taken
        body = _body(("bet_refunded", *names), event, revision.record, bet.event, BET_FIELDS)
        body |= {"taken": bet.taken, "returned": bet.taken, "reason": event["reason"]}
    else:
        option = Bet(bet.event["bet"])
        player, banker = _hand(revision.cards, option.seat.value), _hand(revision.cards, "banker")
        decided = verdict(option, player, banker)
        bet.returned = bet.event["stake"] * decided.returned_units
        body = _body(("bet_settled", *names), event, revision.record, bet.event, BET_FIELDS)
        body |= {
            "taken": bet.taken,
            "outcome": decided.outcome.value,
            "returned": bet.returned,
            "net": bet.returned - bet.taken,
            "player": _shown(player),
            "banker": _shown(banker),
            "rule": decided.rule.value,
            "ruleset": RULESET,
        }
        if decided.odds is not None:
            body["odds"] = decided.odds.value
    body["revision"] = revision.number
    return Fact(SETTLEMENTS, bet.event["account_id"].encode(), body, revision.record, (bet.returned, -bet.taken))


def _round_result(state: RoundState, revision: Revision, counts: dict[str, Any]) -> Fact:
    event_type = "round_refunded" if revision.cards is None else "round_settled"
    name = (event_type, state.table, state.round_id, revision.number)
    fields = ("table_id", "shoe_id", "round_id")
    body = _body(name, revision.event, revision.record, _round_fields(state), fields)
    body |= counts | {"revision": revision.number}
    if revision.cards is None:
        body["reason"] = revision.event["reason"]
    else:
        banker = _hand(revision.cards, "banker")
        body |= {"banker": _shown(banker), "ruleset": RULESET}
        body["players"] = [_spot(seat, _hand(revision.cards, seat), banker) for seat in SEATS[:5]]
    return Fact(ROUNDS, state.table.encode(), body, revision.record)


def _spot(seat: str, player: Hand, banker: Hand) -> dict[str, Any]:
    return {"seat": seat, "result": verdict(Bet(seat), player, banker).outcome.value} | _shown(player)


def _round_fields(state: RoundState) -> Event:
    return {"table_id": state.table, "shoe_id": state.shoe.shoe_id, "round_id": state.round_id}


def _body(name: tuple[object, ...], event: Event, cause: Rec, source: Event, fields: tuple[str, ...]) -> dict[str, Any]:
    return {
        "type": name[0],
        "event_id": fact_id(*name),
        "occurred_at": event["occurred_at"],
        "cause": {"topic": cause.topic, "partition": cause.partition, "offset": cause.offset},
        **{name: source[name] for name in fields},
    }


def _hand(cards: dict[Place, str], seat: str) -> Hand:
    return hand_of(Card.parse(cards[seat, 1]), Card.parse(cards[seat, 2]))


@cache
def _shown(hand: Hand) -> dict[str, Any]:
    return {
        "cards": [card.code for card in hand.cards],
        "value": hand.value,
        "points": hand.points,
        "combination": None if hand.combination is None else hand.combination.value,
        "pair": hand.is_pair,
        "flush": hand.is_flush,
    }
