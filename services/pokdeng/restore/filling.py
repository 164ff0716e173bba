"""A sink that fills a ledger: what is only to be remembered is written in batches, as it comes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Protocol

from pokdeng.ledger.restoring import RestoredNote, RestoredRound

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable

    from pokdeng.events.ids import RoundId, TableId
    from pokdeng.ledger.restoring import RestoredBet, RestoredTransfer, Restoring
    from pokdeng.restore.facts import BetFact

ENOUGH: Final = 4_000
"""So many are gathered before they are written."""


class Notes(Protocol):
    """Makes notes of facts, as the worker keeps them."""

    def of_refusal(self, fact: BetFact, ttl_ms: int) -> RestoredNote:
        """Of a bet or cancel that was refused."""

    def of_round(self, table_id: str, round_id: str, resume: bytes, now_ms: int) -> tuple[list[RestoredNote], int]:
        """Of a finished round, with how long its bets are remembered from now on (not positive: no longer)."""

    def know_noted_table(self, table_id: str, raw: bytes) -> None:
        """A snapshot of a table, from elsewhere; the newest counts."""

    def tables(self) -> dict[str, bytes]:
        """The newest snapshot of each table."""

    def of_tables(self) -> list[RestoredNote]:
        """Of the tables: the newest snapshot of each."""


class Filling:
    """`Sink` of a fold."""

    def __init__(self, ledger: Restoring, notes: Notes, *, now_ms: int, remember_ms: int) -> None:
        """`now_ms` is the wall clock's, `remember_ms` how long bets are remembered."""
        self._ledger = ledger
        self._notes = notes
        self._now_ms = now_ms
        self._remember_ms = remember_ms
        self._bets: list[RestoredBet] = []
        self._transfers: list[RestoredTransfer] = []
        self._noted: list[RestoredNote] = []
        self._rounds: dict[tuple[str, str], int] = {}
        """How long the bets of finished rounds are remembered: told to the ledger when all are written."""
        self.written = 0

    def bet(self, bet: RestoredBet, *, is_early: bool) -> None:  # noqa: ARG002 - a checkpoint's business
        """Remember a bet."""
        self._bets.append(bet)

    def transfer(self, transfer: RestoredTransfer) -> None:
        """Remember a transfer."""
        self._transfers.append(transfer)

    def refusal(self, fact: BetFact, at_ms: int) -> None:
        """Note a refusal."""
        ttl_ms = at_ms + self._remember_ms - self._now_ms
        if ttl_ms > 0:
            self._noted.append(self._notes.of_refusal(fact, ttl_ms))

    def table(self, table_id: str, note: bytes) -> None:
        """Know a table's snapshot."""
        self._notes.know_noted_table(table_id, note)

    def finished(self, table_id: str, round_id: str, resume: bytes) -> bool:
        """Note how a round ended, if that is still remembered."""
        notes, ttl_ms = self._notes.of_round(table_id, round_id, resume, self._now_ms)
        if ttl_ms <= 0:
            return False
        self._noted += notes
        self._rounds[table_id, round_id] = ttl_ms
        return True

    @property
    def is_full(self) -> bool:
        """Whether enough is gathered to be written."""
        return len(self._bets) + len(self._transfers) + len(self._noted) >= ENOUGH

    async def write(self) -> None:
        """Write what is gathered."""
        bets, self._bets = self._bets, []
        transfers, self._transfers = self._transfers, []
        noted, self._noted = self._noted, []
        self.written += len(bets) + len(transfers) + len(noted)
        if bets:
            await self._ledger.put_bets(bets)
        if transfers:
            await self._ledger.put_transfers(transfers)
        if noted:
            await self._ledger.put_notes(noted)

    async def finish(self, standing: Iterable[RestoredBet], progress: Callable[[int], Awaitable[None]]) -> None:
        """Write the rest: the bets that stand, and when what is remembered may be forgotten."""
        for bet in standing:
            self._bets.append(bet)
            if self.is_full:
                await self.write()
                await progress(0)
        self._noted += self._notes.of_tables()
        await self.write()
        rounds = [
            RestoredRound(_table(table_id), _round(round_id), ttl_ms)
            for (table_id, round_id), ttl_ms in self._rounds.items()
        ]
        for start in range(0, len(rounds), ENOUGH):
            await self._ledger.expire(rounds[start : start + ENOUGH])
            await progress(0)


def _table(text: str) -> TableId:
    return text  # type: ignore[return-value]  # a NewType of str, from a fact


def _round(text: str) -> RoundId:
    return text  # type: ignore[return-value]  # as above
