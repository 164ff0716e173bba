"""A Redis Cluster of three masters, for tests: native servers, slots that can be moved while it works."""

from __future__ import annotations

import asyncio
import itertools
import shutil
import subprocess
import tempfile
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from redis.asyncio import Redis
from redis.crc import key_slot
from redis.exceptions import RedisError

from pokdeng.ledger.embedded import server_binary
from tests.support.kafka import free_port

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

MASTERS = 3
SLOTS = 16_384
ATTEMPTS = 3
_FORMED_WITHIN_S = 15.0
_AGREED_WITHIN_S = 30.0


class Master:
    """One node."""

    def __init__(self, folder: Path) -> None:
        """Start it."""
        folder.mkdir()
        self.port, self.bus = free_port(), free_port()
        words = {
            "port": str(self.port),
            "bind": "127.0.0.1",
            "dir": str(folder),
            "save": "",
            "appendonly": "yes",
            "cluster-enabled": "yes",
            "cluster-port": str(self.bus),
            "cluster-node-timeout": "3000",
            "maxmemory-policy": "noeviction",
            "hash-max-listpack-value": "128",
        }
        self._process = subprocess.Popen(  # noqa: S603 - our own words
            [server_binary(), *(part for name, value in words.items() for part in (f"--{name}", value))],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            process_group=0,
        )
        self.redis: Redis = Redis(host="127.0.0.1", port=self.port, decode_responses=True)
        self.id = ""

    async def ask(self, *words: Any) -> Any:
        """A command."""
        return await self.redis.execute_command(*words)  # type: ignore[no-untyped-call]  # redis-py is typed in places only

    async def until(self, *words: str, has: str) -> str:
        """Ask until an answer has a text."""
        async with asyncio.timeout(_FORMED_WITHIN_S):
            while True:
                try:
                    answer = str(await self.ask(*words))
                except (RedisError, OSError):
                    answer = ""
                if has in answer:
                    return answer
                await asyncio.sleep(0.02)

    async def end(self) -> None:
        """Kill it."""
        await self.redis.aclose()
        self._process.kill()
        await asyncio.to_thread(self._process.wait)


class Cluster:
    """Three of them."""

    def __init__(self, masters: list[Master]) -> None:
        """All started."""
        self.masters = masters

    @property
    def url(self) -> str:
        """The address of the first."""
        return f"redis://127.0.0.1:{self.masters[0].port}/0"

    async def end(self) -> None:
        """Kill all."""
        for master in self.masters:
            await master.end()

    async def form(self) -> None:
        """Make one cluster of them, slots shared out evenly."""
        first = self.masters[0]
        for number, master in enumerate(self.masters):
            await master.until("PING", has="True")
            master.id = await master.ask("CLUSTER MYID")
            share = SLOTS // MASTERS
            last = SLOTS - 1 if number == MASTERS - 1 else (number + 1) * share - 1
            await master.ask("CLUSTER ADDSLOTSRANGE", number * share, last)
            await master.ask("CLUSTER SET-CONFIG-EPOCH", number + 1)
        await self._meet(first)
        for master in self.masters:
            await master.until("CLUSTER INFO", has="'cluster_state': 'ok'")

    async def _meet(self, first: Master) -> None:
        """Have all know all; one that did not answer a handshake in time is asked again."""
        async with asyncio.timeout(_FORMED_WITHIN_S):
            for attempt in itertools.count():
                if attempt % 50 == 0:
                    for master in self.masters[1:]:
                        await first.ask("CLUSTER MEET", "127.0.0.1", master.port, master.bus)
                known = [str(await master.ask("CLUSTER INFO")) for master in self.masters]
                if all(f"'cluster_known_nodes': '{MASTERS}'" in one for one in known):
                    return
                await asyncio.sleep(0.02)

    async def owner(self, slot: int, *, asked: Master | None = None) -> Master:
        """Who has a slot, by the word of one of them."""
        for first, last, (_, port, *_), *_ in await (asked or self.masters[0]).ask("CLUSTER SLOTS"):
            if first <= slot <= last:
                return next(master for master in self.masters if master.port == port)
        raise LookupError(slot)

    async def move(self, key: str) -> Master:
        """Move the slot of a key to another master, key by key, as an operator does it; the new owner."""
        slot = key_slot(key.encode())
        source = await self.owner(slot)
        target = self.masters[(self.masters.index(source) + 1) % MASTERS]
        await target.ask("CLUSTER SETSLOT", slot, "IMPORTING", source.id)
        await source.ask("CLUSTER SETSLOT", slot, "MIGRATING", target.id)
        while keys := await source.ask("CLUSTER GETKEYSINSLOT", slot, 20):
            await source.ask("MIGRATE", "127.0.0.1", target.port, "", 0, 5_000, "KEYS", *keys)
        for master in (target, source, *self.masters):
            await master.ask("CLUSTER SETSLOT", slot, "NODE", target.id)
        await self.agree(slot, target)
        return target

    async def agree(self, slot: int, owner: Master) -> None:
        """Wait until all say that a slot is its owner's: until then what they tell each other may turn one back."""
        async with asyncio.timeout(_AGREED_WITHIN_S):
            for again in range(2):
                await asyncio.sleep(0.2 * again)
                for master in self.masters:
                    while await self.owner(slot, asked=master) is not owner:
                        await master.ask("CLUSTER SETSLOT", slot, "NODE", owner.id)
                        await asyncio.sleep(0.05)


@asynccontextmanager
async def redis_cluster() -> AsyncIterator[Cluster]:
    """A cluster for the time of the block."""
    folder = Path(tempfile.mkdtemp(prefix="pokdeng-cluster-"))
    try:
        cluster = await _formed(folder)
        try:
            yield cluster
        finally:
            await cluster.end()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


async def _formed(folder: Path) -> Cluster:
    """Three new servers that are one cluster: on other ports where somebody took one meanwhile."""
    for attempt in range(ATTEMPTS):
        cluster = Cluster([Master(folder / f"{attempt}-{number}") for number in range(MASTERS)])
        try:
            await cluster.form()
        except TimeoutError:
            await cluster.end()
            if attempt == ATTEMPTS - 1:
                raise
        except BaseException:
            await cluster.end()
            raise
        else:
            return cluster
    raise AssertionError("unreachable")
