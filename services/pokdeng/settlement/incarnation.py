"""A ledger that is another incarnation than the one that was verified: has it lost anything that was said?

A store that restarted, failed over or was set back has lost a tail of its writes, or nothing. So if the newest facts
that were said are in it, all are: it is enough to hold the ends of the output topics against it, movements and refusals
alike. What was applied but never said is decided again from the log, as after any crash. Where something that was said
is missing, nothing may be written before the ledger is restored.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from pokdeng.events.ids import AccountId, BetId, RoundId, TableId
from pokdeng.ledger.port import LedgerLostError
from pokdeng.ledger.values import BetName, Source
from pokdeng.settlement.anchors import check_commits
from pokdeng.settlement.memory import BET, CANCEL, round_page
from pokdeng.stream.port import TopicPartition

if TYPE_CHECKING:
    from pokdeng.ledger.port import Ledger
    from pokdeng.stream.port import Log
    from pokdeng.wire import Topics

TAIL_RECORDS = 4_000
"""So many of the newest facts of each partition are looked at.

More than what a few workers may say of one partition side by side: each has two batches of some 2,000 on their way, of
accounts of all partitions.
"""
REFUSALS = 200
"""So many of the newest refused bets and cancels are looked up."""
_HOUR_MS = 3_600_000


class _Balance(msgspec.Struct):
    sequence: int


class _Cause(msgspec.Struct):
    partition: int
    offset: int


class _Said(msgspec.Struct):
    type: str
    account_id: str
    cause: _Cause
    table_id: str = ""
    round_id: str = ""
    bet_id: str = ""
    balance: _Balance | None = None


class _Tails:
    """What the newest facts say must be in the ledger."""

    def __init__(self) -> None:
        self.sequences: dict[AccountId, int] = {}
        self.transfers: dict[int, int] = {}
        """The highest offset of each partition of `funds` that a fact was caused by."""
        self.refusals: list[tuple[int, _Said]] = []
        """Refused bets and cancels, with their facts' time."""

    def add(self, value: bytes, at_ms: int) -> None:
        said = msgspec.json.decode(value, type=_Said)
        if said.balance is not None:
            account_id = AccountId(said.account_id)
            self.sequences[account_id] = max(self.sequences.get(account_id, 0), said.balance.sequence)
        if said.type.startswith("funds_"):
            partition = said.cause.partition
            self.transfers[partition] = max(self.transfers.get(partition, -1), said.cause.offset)
        elif said.type in ("bet_rejected", "cancel_rejected"):
            self.refusals.append((at_ms, said))


async def check_nothing_is_lost(log: Log, ledger: Ledger, topics: Topics, *, remembered_since_ms: int) -> int:
    """Hold the ledger against the newest facts; how many accounts were looked at. Nobody may write meanwhile.

    `remembered_since_ms`: refusals said before it may have been forgotten rightly, and are not asked for.

    Raises:
        LedgerLostError: `behind`, naming something that was said and that the ledger does not have.
    """
    tails = await _read_tails(log, topics)
    for account_id, sequence in tails.sequences.items():
        account = await ledger.account(account_id)
        there = 0 if account is None else account.sequence
        if there < sequence:
            raise _behind(f"movement {sequence} of account {account_id} was said, the ledger has {there}")
    partitions = list(tails.transfers)
    newest = await ledger.newest_transfers([Source(f"f{partition}") for partition in partitions])
    for partition, there in zip(partitions, newest, strict=True):
        if there < tails.transfers[partition]:
            raise _behind(f"transfer {tails.transfers[partition]} of funds[{partition}] was said, it has {there}")
    fresh = sorted((one for one in tails.refusals if one[0] > remembered_since_ms + _HOUR_MS), key=lambda one: one[0])
    await _check_refusals(ledger, [said for _, said in fresh[-REFUSALS:]])
    inputs = (topics.table_events, topics.bets, topics.funds)
    counts = await log.partition_counts(inputs)
    await check_commits(
        log, ledger, [TopicPartition(name, number) for name in inputs for number in range(counts[name])]
    )
    return len(tails.sequences)


async def _check_refusals(ledger: Ledger, refusals: list[_Said]) -> None:
    names = [BetName(TableId(said.table_id), RoundId(said.round_id), BetId(said.bet_id)) for said in refusals]
    records = await ledger.find_bets(names)
    pages = await ledger.recall([round_page(name.table, name.round) for name in names])
    for said, found, page in zip(refusals, records, pages, strict=True):
        is_cancel = said.type == "cancel_rejected"
        field = f"{CANCEL}|{said.account_id}|{said.bet_id}" if is_cancel else f"{BET}|{said.bet_id}"
        if field not in page and (is_cancel or not found):
            raise _behind(f"{said.type} of {said.bet_id} in {said.table_id} {said.round_id} was said, it has none")


async def _read_tails(log: Log, topics: Topics) -> _Tails:
    names = (topics.bet_decisions, topics.funds_decisions, topics.settlements)
    counts = await log.partition_counts(names)
    partitions = [TopicPartition(name, number) for name in names for number in range(counts[name])]
    ends = await log.end_offsets(partitions)
    tails = _Tails()
    for partition in partitions:
        for record in await log.read(partition, max(0, ends[partition] - TAIL_RECORDS), ends[partition]):
            if record.value is not None:
                tails.add(record.value, record.timestamp)
    return tails


def _behind(detail: str) -> LedgerLostError:
    return LedgerLostError("behind", f"{detail}: restore it first")
