"""What is asked of the ledger, what it answers, and what it remembers: values that all of its sides share.

Source: `port.py`, which says what becomes of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple, NewType, TypeAlias
from zlib import crc32

from pokdeng.events.ids import Minor

if TYPE_CHECKING:
    from pokdeng.events.ids import AccountId, BetId, Currency, RoundId, TableId, TransferId
    from pokdeng.events.reasons import BetReason, TransferKind, TransferReason
    from pokdeng.rules import Bet

Source = NewType("Source", str)
"""`p<partition>` of tables and bets, `f<partition>` of funds."""

LARGEST_MINOR = 2**53 - 1
"""No balance, and no sum of available and held, may pass this: a move beyond is refused, never rounded."""

LARGEST_AFTER_DEPOSIT_MINOR = 10**15
"""A deposit that would take available + held above this is `amount_out_of_range`."""


BUCKETS = 4
"""How many buckets a ledger has unless it is told: few make each call large. A cluster or a fleet may want more."""


def bucket_of(account: AccountId, buckets: int) -> int:
    """The bucket of an account, for ever: 0 .. buckets - 1.

    >>> from pokdeng.events.ids import AccountId
    >>> bucket_of(AccountId("A-1"), 16)
    0
    """
    return crc32(account.encode()) % buckets


class Hold(NamedTuple):
    """Accept a bet if the account can pay: available - taken, held + taken; else refuse it.

    Refused with `currency_mismatch` (the account has another currency), else `insufficient_funds` (no such account,
    no currency yet, or available < taken). Remembered either way.
    """

    source: Source
    offset: int
    account: AccountId
    table: TableId
    round: RoundId
    bet_id: BetId
    bet: Bet
    stake: Minor
    currency: Currency
    taken: Minor


class Refuse(NamedTuple):
    """Remember that a bet was refused by the fold, before it is said. Moves nothing."""

    source: Source
    offset: int
    account: AccountId
    table: TableId
    round: RoundId
    bet_id: BetId
    bet: Bet
    stake: Minor
    currency: Currency
    reason: BetReason


class Withdraw(NamedTuple):
    """Take back an accepted bet (a cancel in time): available + taken, held - taken. `offset` is the cancel's."""

    source: Source
    offset: int
    account: AccountId
    table: TableId
    round: RoundId
    bet_id: BetId


class Settle(NamedTuple):
    """Pay out a standing bet: available + returned, held - taken. Once per revision.

    A refund is a settlement that returns what was taken.
    """

    source: Source
    account: AccountId
    table: TableId
    round: RoundId
    bet_id: BetId
    returned: Minor
    revision: int


class Revise(NamedTuple):
    """Reverse what the revision before returned, and settle the bet anew, in one step with two sequence numbers.

    First available - reversed, held + taken; then available + returned, held - taken. Available may go below zero, and
    is there in between or after it: the account is overdrawn. Only revision n is followed by revision n + 1; asked for
    again, revision n + 1 gives its first answer.
    """

    source: Source
    account: AccountId
    table: TableId
    round: RoundId
    bet_id: BetId
    reversed: Minor
    """What the revision before returned: it must be so."""
    returned: Minor
    revision: int
    """2 or more."""


class Transfer(NamedTuple):
    """A deposit (available + amount; gives the account its currency) or a withdrawal (available - amount).

    Refused, first match: `currency_mismatch` (the account has another currency); a withdrawal: `insufficient_funds`
    (no such account, or available < amount); a deposit: `amount_out_of_range` (available + held + amount above
    10^15). `refused` is a reason that the caller found beforehand: nothing moves, it is remembered as the answer.
    """

    source: Source
    offset: int
    kind: TransferKind
    account: AccountId
    transfer: TransferId
    amount: Minor
    currency: Currency
    refused: TransferReason | None = None


Operation: TypeAlias = Hold | Refuse | Withdraw | Settle | Transfer


class Status(StrEnum):
    """What became of an operation."""

    MOVED = "moved"
    """It moved money: now, or earlier by this very record (`is_fresh` tells); the balance is that right after it."""
    REFUSED = "refused"
    """It was refused, now or earlier, by this very record: `reason` says why."""
    DUPLICATE = "duplicate"
    """The same id with the same content was decided by another record: nothing moves, nothing is to be said."""
    CONFLICT = "conflict"
    """The same id with other content was decided before: a dead letter."""
    ABSENT = "absent"
    """A settlement or withdrawal of a bet that does not stand (refused, withdrawn or unknown): nothing moves."""
    FORGOTTEN = "forgotten"
    """A transfer at or below the highest applied offset of its source whose record has expired: nothing moves."""


class Answer(NamedTuple):
    """What became of one operation.

    `available`, `held`, `sequence` are the account right after the operation's movement (MOVED only, else 0).
    """

    status: Status
    is_fresh: bool
    """True where it was applied by this call, False where an earlier call had applied it."""
    reason: str | None = None
    available: int = 0
    held: int = 0
    sequence: int = 0


_NOTHING = Minor(0)


class BetState(StrEnum):
    """What the ledger remembers of a bet."""

    ACCEPTED = "accepted"
    REFUSED = "refused"
    WITHDRAWN = "withdrawn"
    SETTLED = "settled"


@dataclass(frozen=True, slots=True, kw_only=True)
class BetRecord:
    """A remembered bet. `offset` is that of the `bets` record that was decided."""

    account: AccountId
    table: TableId
    round: RoundId
    bet_id: BetId
    bet: Bet
    stake: Minor
    currency: Currency
    offset: int
    state: BetState
    reason: BetReason | None
    taken: Minor
    returned: Minor
    revision: int
    reversed: Minor = _NOTHING
    """What the revision before returned; 0 in the first."""
    cancel_offset: int = -1
    """That of the `bets` record that took it back; -1 where it was not."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    """An account at this moment. `currency` is that of its first credited deposit."""

    account: AccountId
    currency: Currency
    available: int
    held: int
    sequence: int


class BetName(NamedTuple):
    """What names a bet."""

    table: TableId
    round: RoundId
    bet_id: BetId


class RoundName(NamedTuple):
    """What names a round; `source` is that of its table's partition."""

    source: Source
    table: TableId
    round: RoundId


class Note(NamedTuple):
    """Something remembered that moves no money (finished rounds, shoes, refused strays): a field of a named page.

    A page is one Redis hash, in the bucket of crc32(page). `keep_first`: an existing field stays as it is.
    `ttl_ms` sets the whole page's time to live anew; None leaves it as it is (a new page without one lives for ever),
    `FOR_EVER` takes it away.
    """

    source: Source
    page: str
    field: str
    value: bytes
    keep_first: bool
    ttl_ms: int | None


FOR_EVER = -1
"""As a note's time to live: none."""
