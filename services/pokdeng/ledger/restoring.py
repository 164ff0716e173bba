"""Filling a ledger anew from what was said: the port, and what is put into it.

A restore has one *leader* at a time, by a lease in the store itself. While it goes on every bucket refuses every
writer, whoever it is. Each take-over of the lead is a new *term*; what an earlier leader still writes is refused. A
store that is emptied or restarted meanwhile forgets the restore, and it begins again.

Who decided before the loss may still be saying facts. So each owner of a source says that it is quiet (its outbox is
acknowledged or dropped), and only when all have may the ends of the log be asked for.
"""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Final, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Collection, Mapping, Sequence

    from pokdeng.events.ids import AccountId, Currency, RoundId, TableId, TransferId
    from pokdeng.events.reasons import TransferKind
    from pokdeng.ledger.values import Account, BetRecord, BetState, Source

LEAD_MS: Final = 15_000
"""How long a leader that went silent keeps the lead."""


class Standing(StrEnum):
    """How a store is found."""

    EMPTY = "empty"
    """Nothing was ever created in one of the buckets, or it was lost."""
    DOUBTFUL = "doubtful"
    """Another incarnation than the one that was verified, or doubted, or being restored."""
    SOUND = "sound"
    """Every bucket takes writers."""


class After(NamedTuple):
    """An account right after a movement."""

    available: int
    held: int
    sequence: int


class AfterState(Protocol):
    """An account right after a movement, however it is kept."""

    @property
    def available(self) -> int:
        """Minor units."""

    @property
    def held(self) -> int:
        """Minor units."""

    @property
    def sequence(self) -> int:
        """The movement's."""


class RestoredBet(NamedTuple):
    """A bet with what is needed to give its first answers again. Ids are plain texts: there are very many.

    `after_hold` is None for a refused bet; `after_end` is there once it was withdrawn (by the cancel at
    `cancel_offset`) or settled. A revision of a bet that is remembered already has `offset` -1: what began it stays.
    """

    account: str
    table: str
    round: str
    bet_id: str
    bet: str
    stake: int
    currency: str
    offset: int
    state: BetState
    reason: str
    taken: int
    returned: int
    revision: int
    after_hold: AfterState | None
    cancel_offset: int
    after_end: AfterState | None
    after_reversal: AfterState | None
    reversed: int = 0
    """What the revision before returned; 0 in the first."""
    undone: int = 0
    undone_in: int = 0
    """What the latest reversal took back and the revision that follows it, whether or not that was said yet."""


class RestoredTransfer(NamedTuple):
    """A transfer and its answer: `after`, or the `reason` of its refusal. It is remembered `ttl_ms` longer."""

    kind: TransferKind
    account: AccountId
    transfer: TransferId
    offset: int
    amount: int
    currency: Currency
    reason: str
    after: After | None
    ttl_ms: int


class RestoredNote(NamedTuple):
    """A field of a page. `ttl_ms` None: the page lives for ever."""

    page: str
    field: str
    value: bytes
    keep_first: bool
    ttl_ms: int | None


class RestoredRound(NamedTuple):
    """A finished round: its bets are remembered `ttl_ms` longer."""

    table: TableId
    round: RoundId
    ttl_ms: int


class Restoring(Protocol):
    """The ledger as a restore sees it. Errors as those of `Ledger`.

    All that writes raises FencedError where another leads by now, or the store is not the one it was any more.
    """

    async def standing(self) -> Standing:
        """How the store is found now."""

    async def begin(self) -> str:
        """Have every bucket refuse every writer. The id of the restore, a new one or that under way; "" if sound."""

    async def say_quiet(self, restore: str, waits_ms: Mapping[Source, int]) -> None:
        """Nothing more will be said of these sources by who owned them before; sure of it in so many milliseconds."""

    async def unquiet(self, restore: str, sources: Collection[Source]) -> dict[Source, int | None]:
        """Which of them are not quiet yet: in how many milliseconds they are, None where nobody has said so."""

    async def lead(self, restore: str, leader: str) -> int:
        """Take the lead: the term of it. 0: another one leads."""

    async def keep_lead(self, restore: str, leader: str) -> bool:
        """Keep the lead that this handle took. False: it lapsed, and what is written from here on is refused."""

    def step_back(self) -> None:
        """Give an attempt up: when the lead is taken or kept next, what is written belongs to a new one."""

    async def leader(self) -> str:
        """Who leads, "" where nobody does."""

    async def is_torn(self) -> bool:
        """Whether some leader has begun to forget what was there: then it must be filled anew."""

    async def clear(self) -> None:
        """Forget everything: balances, bets, transfers, notes, owners."""

    async def put_accounts(self, accounts: Sequence[Account]) -> None:
        """Write balances."""

    async def put_bets(self, bets: Sequence[RestoredBet]) -> None:
        """Write bets."""

    async def put_transfers(self, transfers: Sequence[RestoredTransfer]) -> None:
        """Write transfers."""

    async def put_notes(self, notes: Sequence[RestoredNote]) -> None:
        """Write notes."""

    async def put_offsets(self, highest: Mapping[Source, int]) -> None:
        """What lies at or below these offsets of `funds` and has no record never moves money."""

    async def expire(self, rounds: Sequence[RestoredRound]) -> None:
        """Let the bets of finished rounds be forgotten in time; at once where that is over."""

    async def open(self) -> None:
        """Take writers again; every owner must `acquire` anew. The restore is over."""

    def look_in(self) -> None:
        """Let the ledger's reading methods read from here on although the store is doubted."""

    async def leased(self) -> list[Source]:
        """Sources whose owners hold a live lease."""

    def holds(self) -> AsyncIterator[BetRecord]:
        """All bets that stand and are not settled, each once, while nobody writes."""
