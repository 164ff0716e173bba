"""A ledger that is another incarnation than the one that was verified: has it lost anything that was said?

A store that restarted, failed over or was set back has lost a tail of its writes, or nothing. So if the newest facts
that were said are in it, all are: it is enough to hold the ends of the output topics against it. What was applied but
never said is decided again from the log, as after any crash. Where something that was said is missing, nothing may be
written before the ledger is restored.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from pokdeng.events.ids import AccountId
from pokdeng.ledger.port import LedgerLostError
from pokdeng.stream.port import TopicPartition

if TYPE_CHECKING:
    from pokdeng.ledger.port import Ledger
    from pokdeng.stream.port import Log
    from pokdeng.wire import Topics

TAIL_RECORDS = 1_000
"""So many of the newest facts of each partition are looked at: more than what two workers may say side by side."""


class _Balance(msgspec.Struct):
    sequence: int


class _Moved(msgspec.Struct):
    account_id: str
    balance: _Balance | None = None


async def accept_if_nothing_is_lost(log: Log, ledger: Ledger, topics: Topics) -> int:
    """Let writers in again, or raise; how many accounts were looked at.

    Raises:
        LedgerLostError: `behind`, naming an account of which a movement was said that the ledger does not have.
    """
    said = await _newest_said(log, topics)
    for account_id, sequence in said.items():
        account = await ledger.account(account_id)
        there = 0 if account is None else account.sequence
        if there < sequence:
            raise LedgerLostError(
                "behind", f"movement {sequence} of account {account_id} was said, the ledger has {there}: restore it"
            )
    await ledger.accept_incarnation()
    return len(said)


async def _newest_said(log: Log, topics: Topics) -> dict[AccountId, int]:
    names = (topics.bet_decisions, topics.funds_decisions, topics.settlements)
    counts = await log.partition_counts(names)
    partitions = [TopicPartition(name, number) for name in names for number in range(counts[name])]
    ends = await log.end_offsets(partitions)
    newest: dict[AccountId, int] = {}
    for partition in partitions:
        for record in await log.read(partition, max(0, ends[partition] - TAIL_RECORDS), ends[partition]):
            moved = msgspec.json.decode(record.value or b"{}", type=_Moved)
            if moved.balance is not None:
                account_id = AccountId(moved.account_id)
                newest[account_id] = max(newest.get(account_id, 0), moved.balance.sequence)
    return newest
