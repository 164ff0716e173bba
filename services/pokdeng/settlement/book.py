"""The book of an open round: every bet and cancel that was decided for it, and where its betting was sealed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pokdeng.events.ids import AccountId, BetId, Minor, TableId
    from pokdeng.events.inputs import BetPlaced
    from pokdeng.events.reasons import CancelReason
    from pokdeng.rounds import Cancelled, Completed, Round, Shoe, Table
    from pokdeng.settlement.texts import RoundTexts

PENDING, TAKEN, REFUSED, WITHDRAWN = range(4)
"""What became of an entry: asked of the ledger, standing, refused, taken back."""


class Entry:
    """One bet of a book. Changed in place, for there is one for every bet."""

    __slots__ = ("bet", "offset", "state", "taken")

    def __init__(self, bet: BetPlaced, offset: int) -> None:
        """A bet that is being decided; `offset` is that of its record."""
        self.bet = bet
        self.offset = offset
        self.state = PENDING
        self.taken: Minor = bet.stake * bet.bet.units_taken  # type: ignore[assignment]  # minor units, times a number

    def says_the_same(self, other: BetPlaced) -> bool:
        """Whether another record of this bet id has the same content. Source: the contract, "Duplicates"."""
        bet = self.bet
        return (
            bet.account_id == other.account_id
            and bet.bet is other.bet
            and bet.stake == other.stake
            and bet.currency == other.currency
        )


class Stray:
    """A bet that was refused while its round was not open here: enough of it to know a repeat from a conflict."""

    __slots__ = ("account_id", "bet", "currency", "offset", "stake")

    def __init__(self, offset: int, account_id: str, bet: str, stake: int, currency: str) -> None:
        """As it is kept in a note."""
        self.offset = offset
        self.account_id = account_id
        self.bet = bet
        self.stake = stake
        self.currency = currency

    def says_the_same(self, other: BetPlaced) -> bool:
        """Whether another record of this bet id has the same content."""
        return (self.account_id, self.bet, self.stake, self.currency) == (
            other.account_id,
            other.bet.value,
            other.stake,
            other.currency,
        )


@dataclass(frozen=True, slots=True)
class Ending:
    """A round that was completed or cancelled, and its table's shoe right after that record."""

    round: Round
    shoe: Shoe
    table: Table | None
    """The whole table right after it, if no other round of it was going on but held ones."""

    @property
    def at(self) -> Cancelled | Completed:
        """What ended it."""
        end = self.round.cancelled or self.round.completed
        if end is None:
            raise ValueError(f"round {self.round.round_id} has not ended")
        return end


class Book:
    """What was decided for one open round."""

    __slots__ = (
        "_round",
        "absorbed",
        "absorbed_ms",
        "bets",
        "cancels",
        "ending",
        "events",
        "first",
        "held_ms",
        "impossible",
        "is_closing",
        "pin",
        "round_id",
        "seal",
        "strays",
        "table_id",
        "takes_bets",
        "texts",
        "wait_ms",
    )

    def __init__(self, table_id: TableId, round_: Round) -> None:
        """An empty book of a round that was just opened."""
        self.table_id = table_id
        self.round_id = round_.round_id
        self.held_ms: int | None = None
        """The broker time of what made it held, None while it is not."""
        self.table_round = round_
        self.events = [round_.first]
        """The offsets of the table events that changed it."""
        self.impossible: dict[int, str] = {}
        """Which of them brought a card that its shoe could not have, and why."""
        self.bets: dict[BetId, Entry] = {}
        self.strays: dict[BetId, Stray] = {}
        """Bets refused before the round was opened."""
        self.cancels: dict[tuple[AccountId, BetId], tuple[int, CancelReason | None]] = {}
        """Decided cancels: the offset of the record that was decided, and why it was refused if it was."""
        self.first: int | None = None
        """Its first record of `bets`."""
        self.pin: int | None = None
        """The first that no snapshot of the table has absorbed."""
        self.absorbed = 0
        """Its records of `bets` below are decided and said, and a snapshot of the table says so."""
        self.absorbed_ms: int | None = None
        """When that was, by the log's time."""
        self.wait_ms: int | None = None
        """The broker time up to which bets must be read: the first close, else the cancellation. None while open."""
        self.seal: int | None = None
        self.ending: Ending | None = None
        """How the table's events ended the round, None while they have not."""
        self.texts: RoundTexts | None = None
        """What is the same for all decisions on it, once one was said."""
        self.is_closing = False
        """Whether its results are being said, if not acknowledged yet."""

    @property
    def table_round(self) -> Round:
        """As the table knows it now."""
        return self._round

    @table_round.setter
    def table_round(self, round_: Round) -> None:
        self._round = round_
        if not round_.is_held:
            self.held_ms = None
        self.takes_bets = (
            round_.closed_at_ms is None and round_.cancelled is None and not round_.is_paused and not round_.is_held
        )
        """The usual case, asked for every bet: the round itself has no reason to refuse one."""

    def touch(self, offset: int) -> None:
        """A record of `bets` at `offset` belongs to this round."""
        if self.pin is None:
            self.pin = offset
            if self.first is None:
                self.first = offset

    def changed_by(self, offset: int, impossible: str | None) -> None:
        """The table event at `offset` changed it; `impossible`: why its shoe could not have that card."""
        self.events.append(offset)
        if impossible is not None:
            self.impossible[offset] = impossible

    def absorb(self, below: int, at_ms: int) -> None:
        """A snapshot of the table is said that knows what was decided of `bets` below an offset."""
        self.absorbed = max(self.absorbed, below)
        self.absorbed_ms = at_ms
        touched = [entry.offset for entry in self.bets.values()] + [offset for offset, _ in self.cancels.values()]
        self.pin = min((offset for offset in touched if offset >= self.absorbed), default=None)

    def was_cancelled_before(self, bet: BetPlaced, offset: int) -> bool:
        """Whether a cancel of that bet by its account was refused earlier in the log."""
        cancel = self.cancels.get((bet.account_id, bet.bet_id))
        return cancel is not None and cancel[1] is not None and cancel[0] < offset

    def cap(self, offset: int) -> None:
        """A bet in time at `offset` was answered as too late before: the seal cannot lie behind it."""
        if self.seal is None or offset < self.seal:
            self.seal = offset

    @property
    def oldest_needed(self) -> int | None:
        """The oldest record of `bets` that a replay needs: its first bet, or the one that sealed it."""
        seal = self.seal
        if seal is None or seal < self.absorbed:
            return self.pin
        return seal if self.pin is None else min(self.pin, seal)

    def is_done(self, at_ms: int) -> bool:
        """Whether the round is finished for a bet of that broker time: over, and every bet up to its close read."""
        round_ = self._round
        if round_.completed is None or round_.closed_at_ms is None:
            return round_.cancelled is not None
        return at_ms > round_.closed_at_ms

    @property
    def standing(self) -> list[Entry]:
        """The bets to settle: accepted, or asked of the ledger in this very batch."""
        return [entry for entry in self.bets.values() if entry.state in (PENDING, TAKEN)]
