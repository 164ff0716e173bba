"""Holds a ledger against the log: every account, every open hold. Changes nothing; workers may go on beside it."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from pokdeng.events.ids import BetId, RoundId, TableId
from pokdeng.ledger.values import BetName, BetState
from pokdeng.restore.folding import Folding, Times, fold_log, stretch_of
from pokdeng.restore.reading import ends_of, fact_partitions

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable

    from pokdeng.ledger.port import Ledger
    from pokdeng.ledger.restoring import RestoredBet
    from pokdeng.ledger.values import Account, BetRecord
    from pokdeng.restore.accounts import Hole
    from pokdeng.restore.checkpoint import Checkpoint
    from pokdeng.restore.fold import Fold
    from pokdeng.stream.port import Log
    from pokdeng.wire import Topics

LOOK_AGAIN_S: Final = 0.2
HOLDS_A_LOOK: Final = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """One thing that the log and the ledger say otherwise; None: nothing is said of it."""

    what: str
    """`account` or `hold`."""
    name: str
    log: str | None
    ledger: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Verified:
    """What was compared, and what differs."""

    facts: int
    accounts: int
    holds: int
    differences: tuple[Difference, ...]
    holes: tuple[Hole, ...]


class Verifying:
    """One verification. What differs is looked at again for a while: a worker may be about to say it."""

    def __init__(
        self,
        log: Log,
        ledger: Ledger,
        topics: Topics,
        *,
        checkpoint: Checkpoint | None = None,
        settle_s: float = 5.0,
        begin: Callable[[int], Awaitable[None]] | None = None,
        progress: Callable[[int], Awaitable[None]] | None = None,
    ) -> None:
        """`settle_s`: how long what differs is looked at again; 0 where no worker runs."""
        self._log = log
        self._ledger = ledger
        self._topics = topics
        self._checkpoint = checkpoint
        self._settle_s = settle_s
        self._begin = begin
        self._progress = progress

    async def run(self) -> Verified:
        """Compare."""
        partitions = await fact_partitions(self._log, self._topics)
        ends = await ends_of(self._log, partitions)
        times = Times(now_ms=0, remember_ms=0, transfer_ttl_ms=0)
        stretch = await stretch_of(
            self._log, self._topics, ends, times=times, checkpoint=self._checkpoint, has_sink=False
        )
        if self._begin is not None:
            await self._begin(stretch.records)
        fold = await fold_log(
            self._log, self._topics, stretch, times=times, checkpoint=self._checkpoint, progress=self._progress
        )
        accounts = await self._wrong_accounts(fold)
        holds = await self._wrong_holds(fold)
        deadline = time.monotonic() + self._settle_s
        while (accounts or holds) and time.monotonic() < deadline:
            await asyncio.sleep(LOOK_AGAIN_S)
            there = {name: await self._ledger.account(name) for name in accounts}  # type: ignore[arg-type]  # an id
            bets = await self._records(holds)
            before, ends = ends, await ends_of(self._log, partitions)
            await Folding(self._log, self._topics, fold).read(before, ends, {}, moves=True)
            fold.end()
            accounts = {name: account for name, account in there.items() if _of_log(fold, name) != _of_ledger(account)}
            expected = _expected(fold)
            holds = {
                name: record
                for name, record in bets.items()
                if _hold_of_log(expected.get(name)) != _hold_of_ledger(record)
            }
        expected = _expected(fold)
        differences = [
            Difference(what="account", name=name, log=_of_log(fold, name), ledger=_of_ledger(account))
            for name, account in sorted(accounts.items())
        ] + [
            Difference(
                what="hold", name=" ".join(name), log=_hold_of_log(expected.get(name)), ledger=_hold_of_ledger(record)
            )
            for name, record in sorted(holds.items())
        ]
        return Verified(
            facts=fold.facts,
            accounts=len(fold.book.states),
            holds=len(expected),
            differences=tuple(differences),
            holes=tuple(fold.book.holes),
        )

    async def _wrong_accounts(self, fold: Fold) -> dict[str, Account | None]:
        wrong: dict[str, Account | None] = {}
        left = dict.fromkeys(fold.book.states)
        async for account in self._ledger.accounts():
            left.pop(account.account, None)
            if _of_log(fold, account.account) != _of_ledger(account):
                wrong[account.account] = account
        return wrong | dict.fromkeys(left)

    async def _wrong_holds(self, fold: Fold) -> dict[BetName, BetRecord | None]:
        expected = _expected(fold)
        found = await self._records(expected)
        async for record in self._ledger.restoring().holds():
            name = BetName(record.table, record.round, record.bet_id)
            if name not in expected:
                found[name] = record
        return {
            name: record
            for name, record in found.items()
            if _hold_of_log(expected.get(name)) != _hold_of_ledger(record)
        }

    async def _records(self, names: Iterable[BetName]) -> dict[BetName, BetRecord | None]:
        asked = list(names)
        found: dict[BetName, BetRecord | None] = {}
        for start in range(0, len(asked), HOLDS_A_LOOK):
            some = asked[start : start + HOLDS_A_LOOK]
            for name, records in zip(some, await self._ledger.find_bets(some), strict=True):
                found[name] = next((one for one in records if one.state is BetState.ACCEPTED), None)
        return found


def _expected(fold: Fold) -> dict[BetName, RestoredBet]:
    return {
        BetName(TableId(bet.table), RoundId(bet.round), BetId(bet.bet_id)): bet
        for bets in fold.holds().values()
        for bet in bets.values()
    }


def _of_log(fold: Fold, name: str) -> str | None:
    state = fold.book.states.get(name)
    if state is None:
        return None
    available, held = state.balance
    return f"{available} available, {held} held after {state.sequence} movements, {state.currency}"


def _of_ledger(account: Account | None) -> str | None:
    if account is None:
        return None
    return f"{account.available} available, {account.held} held after {account.sequence} movements, {account.currency}"


def _hold_of_log(bet: RestoredBet | None) -> str | None:
    return None if bet is None else f"{bet.taken} {bet.currency} of {bet.account}"


def _hold_of_ledger(record: BetRecord | None) -> str | None:
    return None if record is None else f"{record.taken} {record.currency} of {record.account}"
