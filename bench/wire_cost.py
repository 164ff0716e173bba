"""What the wire costs: microseconds of one core per record decoded, id made, fact encoded. No I/O.

Run: `python bench/wire_cost.py [calls]`. Each line is the fastest of several rounds, since a shared machine only adds.
"""

from __future__ import annotations

import sys
import timeit
from typing import TYPE_CHECKING
from uuid import uuid5

from pokdeng.events.ids import AccountId, BetId, Cause, Currency, EventId, Minor, RoundId, TableId, Timestamp
from pokdeng.events.outputs import Balance, BetAccepted, BetSettled, HandShown
from pokdeng.rules import RULESET, Bet, Outcome, PayLine
from pokdeng.wire import (
    AcceptedTemplate,
    EventIds,
    SettledRound,
    TopicKind,
    Topics,
    decode_bet_event,
    decode_output,
    encode,
    event_id,
    expected_key,
    headers,
)
from pokdeng.wire.naming import NAMESPACE

if TYPE_CHECKING:
    from collections.abc import Callable

ROUNDS = 15
BET_PLACED = (
    b'{"type":"bet_placed","event_id":"3a2e9d5c-94f2-4d55-8f0e-0f6d4a4b6b3e","occurred_at":"2026-01-02T03:04:05.678Z",'
    b'"bet_id":"bet-0000123456","table_id":"table-17","round_id":"round-00042","account_id":"account-12345",'
    b'"bet":"player_3","stake":12300,"currency":"THB"}'
)
BET_PLACED_WITH_AN_EXTRA_FIELD = BET_PLACED[:-1] + b',"tip_jar":1}'
BET_PLACED_WITHOUT_STAKE = BET_PLACED.replace(b'"stake":12300,', b"")

TABLE, ROUND, BET, ACCOUNT = (
    TableId("table-17"),
    RoundId("round-00042"),
    BetId("bet-0000123456"),
    AccountId("account-12345"),
)
EVENT, TIME, BAHT = (
    EventId("3a2e9d5c-94f2-4d55-8f0e-0f6d4a4b6b3e"),
    Timestamp("2026-01-02T03:04:05.678Z"),
    Currency("THB"),
)
STAKE, TAKEN, RETURNED = Minor(12300), Minor(24600), Minor(36900)
BALANCE = Balance(available=Minor(975400), held=Minor(24600), sequence=17)
PLAYER = HandShown(cards=("9c", "Td"), value="9", points=9, combination=None, pair=False, flush=False)
BANKER = HandShown(cards=("4h", "3d"), value="7", points=7, combination=None, pair=False, flush=False)
TOPICS = Topics()
CAUSE = Cause(topic=TOPICS.table_events, partition=3, offset=123456)
ACCEPTED = BetAccepted(
    event_id=EVENT, occurred_at=TIME, cause=Cause(topic=TOPICS.bets, partition=3, offset=7654321), bet_id=BET,
    table_id=TABLE, round_id=ROUND, account_id=ACCOUNT, bet=Bet.PLAYER_3, stake=STAKE, currency=BAHT, taken=TAKEN,
    balance=BALANCE,
)  # fmt: skip
SETTLED = BetSettled(
    event_id=EVENT, occurred_at=TIME, cause=CAUSE, bet_id=BET, table_id=TABLE, round_id=ROUND, account_id=ACCOUNT,
    bet=Bet.PLAYER_3, stake=STAKE, currency=BAHT, taken=TAKEN, outcome=Outcome.WIN, odds="1:1", returned=RETURNED,
    net=12300, player=PLAYER, banker=BANKER, rule=PayLine.PLAYER_WINS_PLAIN.value, ruleset=RULESET, revision=1,
    balance=BALANCE,
)  # fmt: skip
ACCEPTED_TEMPLATE = AcceptedTemplate(table_id=TABLE, round_id=ROUND, topic=TOPICS.bets, partition=3)
SETTLED_TEMPLATE = SettledRound(
    table_id=TABLE, round_id=ROUND, banker=BANKER, ruleset=RULESET, cause=CAUSE, occurred_at=TIME, revision=1
).of(bet=Bet.PLAYER_3, outcome=Outcome.WIN, odds="1:1", player=PLAYER, rule=PayLine.PLAYER_WINS_PLAIN.value)
ACCEPTED_IDS = EventIds("bet_accepted", TABLE, ROUND)
ACCEPTED_BYTES, SETTLED_BYTES = encode(ACCEPTED), encode(SETTLED)
EVENT_PLACED = decode_bet_event(BET_PLACED)


def render_accepted() -> bytes:
    """A bet's decision, as the worker makes it."""
    return ACCEPTED_TEMPLATE.render(
        event_id=EVENT, occurred_at=TIME, offset=7654321, bet_id=BET, account_id=ACCOUNT, bet=Bet.PLAYER_3,
        stake=STAKE, currency=BAHT, taken=TAKEN, available=975400, held=24600, sequence=17,
    )  # fmt: skip


def render_settled() -> bytes:
    """A bet's settlement, as the worker makes it."""
    return SETTLED_TEMPLATE.render(
        event_id=EVENT, bet_id=BET, account_id=ACCOUNT, stake=STAKE, currency=BAHT, taken=TAKEN, returned=RETURNED,
        available=975400, held=24600, sequence=17,
    )  # fmt: skip


def refused() -> str:
    """A record that is no event, on its way to the dead letters."""
    try:
        decode_bet_event(BET_PLACED_WITHOUT_STAKE)
    except ValueError as error:
        return str(error)
    raise AssertionError("a bet without a stake was taken")


LINES: tuple[tuple[str, Callable[[], object]], ...] = (
    ("nothing (the loop itself)", lambda: None),
    (f"decode bet_placed ({len(BET_PLACED)} bytes)", lambda: decode_bet_event(BET_PLACED)),
    ("  with an unknown field", lambda: decode_bet_event(BET_PLACED_WITH_AN_EXTRA_FIELD)),
    ("  refused, no stake", refused),
    ("expected_key", lambda: expected_key(EVENT_PLACED)),
    ("event_id", lambda: event_id("bet_accepted", TABLE, ROUND, BET)),
    ("  EventIds", lambda: ACCEPTED_IDS(BET)),
    ("  uuid.uuid5, to compare", lambda: str(uuid5(NAMESPACE, f"bet_accepted\n{TABLE}\n{ROUND}\n{BET}"))),
    (f"bet_accepted ({len(ACCEPTED_BYTES)} bytes), template", render_accepted),
    ("  encode", lambda: encode(ACCEPTED)),
    ("  decode_output", lambda: decode_output(TopicKind.BET_DECISIONS, ACCEPTED_BYTES)),
    (f"bet_settled ({len(SETTLED_BYTES)} bytes), template", render_settled),
    ("  encode", lambda: encode(SETTLED)),
    ("  decode_output", lambda: decode_output(TopicKind.SETTLEMENTS, SETTLED_BYTES)),
    ("six headers", lambda: headers("bet_accepted", EVENT, TIME, TOPICS.source)),
)


def main() -> None:
    """Print a line each."""
    calls = int(sys.argv[1]) if len(sys.argv) > 1 else 5_000
    if render_accepted() != ACCEPTED_BYTES or render_settled() != SETTLED_BYTES:
        raise AssertionError("a template does not write what encode writes")
    for what, call in LINES:
        best = min(timeit.repeat(call, number=calls, repeat=ROUNDS)) / calls
        print(f"{what:42} {best * 1e6:7.2f} us")


if __name__ == "__main__":
    main()
