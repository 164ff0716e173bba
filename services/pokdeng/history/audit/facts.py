"""Facts and inputs as the audit reads them: one wide, fast struct for each, of whatever type a record is.

Only the form is checked here (types of members); what they mean is the folds' to judge.
"""

from __future__ import annotations

from typing import TypeAlias

import msgspec


class Cause(msgspec.Struct, frozen=True):
    """Which input caused a fact."""

    topic: str
    partition: int
    offset: int


class Balance(msgspec.Struct):
    """An account after a movement."""

    available: int
    held: int
    sequence: int
    overdrawn: bool = False


class HandSaid(msgspec.Struct):
    """A hand, as a fact says it."""

    cards: tuple[str, str]
    value: str
    points: int
    combination: str | None
    pair: bool
    flush: bool


class SeatSaid(HandSaid, kw_only=True):
    """A player spot of a round's record."""

    seat: str
    result: str


class TotalsSaid(msgspec.Struct):
    """A round's totals in one currency."""

    taken: int
    returned: int
    house_net: int


class Fact(msgspec.Struct, gc=False):
    """Any output but a dead letter. What a type does not have keeps its default."""

    type: str
    event_id: str
    occurred_at: str
    cause: Cause
    table_id: str = ""
    round_id: str = ""
    bet_id: str = ""
    account_id: str = ""
    transfer_id: str = ""
    shoe_id: str = ""
    bet: str = ""
    stake: int = 0
    amount: int = 0
    currency: str = ""
    taken: int = 0
    returned: int = 0
    reversed: int = 0
    net: int = 0
    outcome: str = ""
    odds: str | None = None
    rule: str = ""
    ruleset: str = ""
    reason: str = ""
    transfer: str = ""
    revision: int = 0
    seal: int = 0
    bets: int = 0
    player: HandSaid | None = None
    banker: HandSaid | None = None
    players: tuple[SeatSaid, ...] = ()
    totals: dict[str, TotalsSaid] = {}
    balance: Balance | None = None


RoundKey: TypeAlias = tuple[str, str]
"""Table and round."""

Content: TypeAlias = tuple[str, str, int, str]
"""Account, option, stake, currency: what must be the same in all facts about a bet."""


class Said(msgspec.Struct, gc=False):
    """Any input, as far as it can be read: whether it is sound was the worker's to judge; dead letters say so."""

    type: str
    event_id: str = ""
    table_id: str = ""
    round_id: str = ""
    bet_id: str = ""
    account_id: str = ""
    transfer_id: str = ""
    bet: str = ""
    stake: int = 0
    amount: int = 0
    currency: str = ""
    seat: str = ""
    position: int = 0
    card: str = ""


decode_fact = msgspec.json.Decoder(Fact).decode
decode_said = msgspec.json.Decoder(Said).decode
