"""Facts, read for their money and names only: a part of each, for there are very many.

Written by this service, so nothing is checked here but the types. Source: the contract, "Outputs".
"""

from __future__ import annotations

from typing import Final

import msgspec


class Balance(msgspec.Struct, gc=False):
    """An account after a movement."""

    available: int
    held: int
    sequence: int


class Cause(msgspec.Struct, gc=False):
    """The input that caused a fact."""

    partition: int
    offset: int


class BetFact(msgspec.Struct, gc=False):
    """Of `bet-decisions` and `settlements`."""

    type: str
    cause: Cause
    bet_id: str
    table_id: str
    round_id: str
    account_id: str
    bet: str = ""
    stake: int = 0
    currency: str = ""
    taken: int = 0
    returned: int = 0
    reversed: int = 0
    revision: int = 0
    reason: str = ""
    balance: Balance | None = None


class FundsFact(msgspec.Struct, gc=False):
    """Of `funds-decisions`."""

    type: str
    cause: Cause
    transfer_id: str
    account_id: str
    amount: int
    currency: str
    transfer: str = ""
    reason: str = ""
    balance: Balance | None = None


class RoundFact(msgspec.Struct, gc=False):
    """Of `rounds`."""

    type: str
    table_id: str
    round_id: str
    revision: int = 0


decode_bet_fact: Final = msgspec.json.Decoder(BetFact).decode
decode_funds_fact: Final = msgspec.json.Decoder(FundsFact).decode
decode_round_fact: Final = msgspec.json.Decoder(RoundFact).decode
