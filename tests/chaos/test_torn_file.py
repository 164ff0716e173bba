"""An append-only file that ends in the middle of a transaction, loaded twice: all of a script is there, or nothing."""

from __future__ import annotations

import asyncio
import shutil
from typing import TYPE_CHECKING

import pytest

from tests.chaos.stores import Store

if TYPE_CHECKING:
    from pathlib import Path

TWO_WRITES = "redis.call('HSET', KEYS[1], 'x', ARGV[1]); redis.call('HSET', KEYS[2], 'x', ARGV[2])"


@pytest.mark.skipif(shutil.which("redis-check-aof") is None, reason="needs redis-check-aof")
@pytest.mark.skipif(shutil.which("redis-server") is None, reason="needs Redis")
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
