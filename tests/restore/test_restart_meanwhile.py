"""A restore whose server restarts meanwhile: who leads it leads anew, and it comes to its end."""

from __future__ import annotations

import asyncio

import pytest

from pokdeng.ledger.memory import MemoryLedger
from pokdeng.ledger.memory_store import MemoryStore
from pokdeng.ledger.port import FencedError


def test_a_leader_goes_on_when_the_server_restarted() -> None:
    """What it writes under the stamp of before is refused; beginning again, it takes the lead anew, and ends."""

    async def play() -> None:
        store = MemoryStore()
        ledger = MemoryLedger(store)
        await ledger.create()
        await ledger.doubt()
        restoring = ledger.restoring()
        name = await restoring.begin()
        assert await restoring.lead(name, "w1")
        store.new_incarnation()
        with pytest.raises(FencedError):
            await restoring.clear()
        name = await restoring.begin()
        assert await restoring.lead(name, "w1")
        await restoring.clear()
        await restoring.open()
        assert await restoring.begin() == ""

    asyncio.run(play())
