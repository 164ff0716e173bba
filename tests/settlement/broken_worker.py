"""A real worker process in which something happens at a named point: `python -m tests.settlement.broken_worker`.

The options are those of `pokdeng worker`. What happens is said by the environment, `BREAK=<what>:<where>[:<seconds>]`:

    kill:held      after a bet's money is taken in Redis, before anything is said of it          (O05, K3)
    kill:paid      after a settlement is paid in Redis, before anything is said of it            (O05, K1)
    kill:landed    after a settlement lies in the log, before its acknowledgement is looked at   (O05, K4)
    kill:commit    after a settlement was acknowledged, before the next commit                   (O05, K2)
    hang:hold      before a bet's money is asked for: that call never returns                    (O02)
    hang:paid      between the payment and its settlement, for so many seconds                   (O17)
    block:held     the whole event loop stands still for so many seconds, after a bet's hold     (O24)

Each happens once. Nothing is replaced: the parts are the real ones, and they are asked as ever.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import time
from typing import TYPE_CHECKING, Any

from pokdeng.cli import main
from pokdeng.ledger.redis_ledger import RedisLedger
from pokdeng.ledger.values import Hold, Settle
from pokdeng.stream.kafka import KafkaLog

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pokdeng.ledger.values import Answer, Operation
    from pokdeng.stream.port import Message, TopicPartition

WHAT, WHERE, *REST = os.environ.get("BREAK", "nothing:nowhere").split(":")
SECONDS = float(REST[0]) if REST else 0.0
_state = {"is_broken": False, "was_settled": False}

_apply = RedisLedger.apply
_publish = KafkaLog.publish
_commit = KafkaLog.commit


async def _here(where: str) -> None:
    """Do what is to be done at this point, once."""
    if where != WHERE or _state["is_broken"]:
        return
    _state["is_broken"] = True
    sys.stderr.write(f"BROKEN {WHAT}:{WHERE}\n")
    sys.stderr.flush()
    if WHAT == "kill":
        os.kill(os.getpid(), signal.SIGKILL)
    elif WHAT == "block":
        time.sleep(SECONDS)  # noqa: ASYNC251 - the loop must stand still: that is the fault
    else:
        await asyncio.sleep(SECONDS or 1e9)


async def apply(self: RedisLedger, operations: Sequence[Operation]) -> list[Answer]:
    """As the ledger does it, with the points around it."""
    has_hold = any(isinstance(one, Hold) for one in operations)
    if has_hold:
        await _here("hold")
    answers = await _apply(self, operations)
    if has_hold:
        await _here("held")
    if any(isinstance(one, Settle) for one in operations):
        await _here("paid")
    return answers


async def publish(self: KafkaLog, batches: Mapping[TopicPartition, Sequence[Message]], **options: Any) -> None:
    """As the log does it; a settlement may land without its acknowledgement being looked at."""
    settlements = [place for place in batches if ".settlements." in place.topic]
    if WHERE == "landed" and settlements and not _state["is_broken"]:
        before = await self.end_offsets(settlements)
        sending = asyncio.ensure_future(_publish(self, batches, **options))
        while await self.end_offsets(settlements) == before:
            await asyncio.sleep(0)
        await _here("landed")
        await sending
        return
    await _publish(self, batches, **options)
    _state["was_settled"] = _state["was_settled"] or bool(settlements)


async def commit(self: KafkaLog, offsets: Mapping[TopicPartition, int]) -> bool:
    """As the log does it; the first after a settlement may never come."""
    if _state["was_settled"]:
        await _here("commit")
    return await _commit(self, offsets)


if __name__ == "__main__":
    RedisLedger.apply = apply  # type: ignore[method-assign]  # it breaks what it is about
    KafkaLog.publish = publish  # type: ignore[method-assign]  # it breaks what it is about
    KafkaLog.commit = commit  # type: ignore[method-assign]  # it breaks what it is about
    sys.exit(main(["worker", *sys.argv[1:]]))
