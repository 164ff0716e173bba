"""The key of a record: the table or the account that it is about, byte for byte."""

from __future__ import annotations

from operator import attrgetter
from typing import get_args

from pokdeng.events.inputs import BetEvent, FundsEvent, InputEvent, TableEvent
from pokdeng.events.outputs import BetDecision, FundsDecision, OutputEvent, RoundFact, SettlementFact

_BY_TABLE = (TableEvent, BetEvent, RoundFact)
_BY_ACCOUNT = (FundsEvent, BetDecision, FundsDecision, SettlementFact)
_KEY_OF = {event_class: attrgetter("table_id") for union in _BY_TABLE for event_class in get_args(union)} | {
    event_class: attrgetter("account_id") for union in _BY_ACCOUNT for event_class in get_args(union)
}


def expected_key(event: InputEvent | OutputEvent) -> bytes:
    """The key that the event's record must have: its `table_id`; of funds, decisions and settlements its `account_id`.

    >>> from pokdeng.events.ids import EventId, RoundId, TableId, Timestamp
    >>> from pokdeng.events.inputs import BettingClosed
    >>> expected_key(BettingClosed(event_id=EventId("e-1"), occurred_at=Timestamp("2026-01-01T00:00:00Z"),
    ...                            table_id=TableId("T-1"), round_id=RoundId("R-1")))
    b'T-1'
    """
    key: str = _KEY_OF[type(event)](event)
    return key.encode()
