"""An append-only file that ends in the middle of a transaction, loaded twice: all of a script is there, or nothing."""

from __future__ import annotations

import asyncio
import re
import shutil
from typing import TYPE_CHECKING

import pytest

from pokdeng.ledger.redis_ledger import RedisLedger
from pokdeng.ledger.values import BetState
from tests.chaos.stores import Store
from tests.ledger.world import balance, deposit, hold, name_of, own, revise, settle

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = [
    pytest.mark.skipif(shutil.which("redis-check-aof") is None, reason="needs redis-check-aof"),
    pytest.mark.skipif(shutil.which("redis-server") is None, reason="needs Redis"),
]
BEFORE, AFTER = (8_000, 2_000, 2), (11_000, 0, 3)
TWO_WRITES = "redis.call('HSET', KEYS[1], 'x', ARGV[1]); redis.call('HSET', KEYS[2], 'x', ARGV[2])"


@pytest.mark.parametrize("torn_at", ["settled", "26000", "EXEC"])
def test_a_script_is_not_done_by_halves(tmp_path: Path, torn_at: str) -> None:
    """Redis 7.0 loads what is whole of a torn file, leaves `MULTI` and the first write, and does them the next time."""

    async def scenario() -> None:
        store = Store(tmp_path)
        try:
            await store.start()
            await store.ask("EVAL", TWO_WRITES, 2, "account", "bet", 13_000, "accepted")
            await store.ask("EVAL", TWO_WRITES, 2, "account", "bet", 26_000, "settled")
            store.kill()
            assert store.file is not None
            whole = store.file.read_bytes()
            store.file.write_bytes(whole[: whole.rindex(torn_at.encode()) + 3])
            for _ in range(2):
                await store.start()
                assert await store.ask("HGET", "account", "x") == b"13000"
                assert await store.ask("HGET", "bet", "x") == b"accepted"
                await store.ask("EVAL", TWO_WRITES, 2, "another", "other", 1, "more")
                store.kill()
        finally:
            store.kill()
            await store.redis.aclose()

    asyncio.run(scenario())


@pytest.mark.parametrize("share", [0.1, 0.3, 0.5, 0.7, 0.8, 0.9])
def test_a_ledger_that_was_written_by_halves_is_known_for_it(tmp_path: Path, share: float) -> None:
    """Where nobody mended the file, and Redis did half of a settlement: it is torn, so it will be filled anew."""

    async def scenario() -> None:
        store = Store(tmp_path)
        try:
            await store.start()
            ledger = RedisLedger(f"redis://127.0.0.1:{store.port}/0", buckets=1)
            await own(ledger)
            bet = hold(5)
            await ledger.apply([deposit(1), bet])
            assert await balance(ledger) == BEFORE
            await ledger.apply([settle(bet, 3_000)])
            assert not await ledger.restoring().is_torn()
            await ledger.revise([revise(bet, 3_000, 3_000)])
            assert not await ledger.restoring().is_torn()
            await ledger.close()
            store.kill()
            assert store.file is not None
            whole = store.file.read_bytes()
            starts = [found.start() for found in re.finditer(rb"\*1\r\n\$5\r\nMULTI", whole)]
            start, end = starts[-2], starts[-1]
            store.file.write_bytes(whole[: start + int((end - start) * share)])
            for _ in range(2):
                await store.start(is_mended=False, **{"aof-load-truncated": "yes"})
                await store.ask("EVAL", TWO_WRITES, 2, "another", "other", 1, "more")
                store.kill()
            await store.start(is_mended=False)
            again = RedisLedger(f"redis://127.0.0.1:{store.port}/0", buckets=1)
            await again.open()
            ((record,),) = await again.find_bets([name_of(bet)])
            there = await balance(again), record.state
            is_torn = await again.restoring().is_torn()
            assert is_torn or there in ((BEFORE, BetState.ACCEPTED), (AFTER, BetState.SETTLED))
            await again.close()
        finally:
            store.kill()
            await store.redis.aclose()

    asyncio.run(scenario())
