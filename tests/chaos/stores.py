"""Redis, to be harmed: killed, its file cut, emptied, replaced by a replica that lags, full, unable to save."""

from __future__ import annotations

import asyncio
import shutil
import subprocess
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from redis.asyncio import Redis
from redis.exceptions import RedisError

from pokdeng.ledger.embedded import server_binary
from tests.support.kafka import free_port

if TYPE_CHECKING:
    import random
    from collections.abc import AsyncIterator
    from pathlib import Path

    from tests.chaos.proxies import Proxies

PROXY = "redis"
_LINK = "redis-replication"
_START_WITHIN_S = 30.0
_MOST_CUT_BYTES = 300_000
_OPTIONS = {
    "bind": "127.0.0.1",
    "save": "",
    "appendonly": "yes",
    "aof-load-truncated": "no",
    "auto-aof-rewrite-percentage": "0",
    "maxmemory-policy": "noeviction",
    "hash-max-listpack-entries": "128",
    "hash-max-listpack-value": "128",
    "enable-protected-configs": "local",
    "repl-diskless-sync-delay": "0",
}


class Store:
    """One Redis server and its folder."""

    def __init__(self, folder: Path) -> None:
        """Not started; its port is chosen now, for good."""
        self.folder = folder
        self.port = free_port()
        self._process: subprocess.Popen[bytes] | None = None
        self.redis: Redis = Redis(host="127.0.0.1", port=self.port, socket_timeout=5)

    async def start(self, *, is_mended: bool = True, **options: str) -> None:
        """Mend its file, start, and wait until that is loaded."""
        self.folder.mkdir(parents=True, exist_ok=True)
        if is_mended:
            self._mend()
        words = [part for name, value in (_OPTIONS | options).items() for part in (f"--{name}", value)]
        with (self.folder / "said").open("ab") as output:
            self._process = subprocess.Popen(  # noqa: ASYNC220, S603 - it outlives any loop
                [server_binary(), "--port", str(self.port), "--dir", str(self.folder), *words],
                stdout=output,
                stderr=output,
                start_new_session=True,
            )
        async with asyncio.timeout(_START_WITHIN_S):
            while True:
                try:
                    await self.ask("PING")
                except (RedisError, OSError):
                    await asyncio.sleep(0.02)
                else:
                    return

    @property
    def file(self) -> Path | None:
        """The append-only file that is written, None before the first start."""
        files = (self.folder / "appendonlydir").glob("*.incr.aof")
        return max(files, key=lambda path: path.stat().st_mtime, default=None)

    def _mend(self) -> None:
        """Take a torn end off, as docs/operating.md says: Redis 7.0 leaves half a transaction, and does it later."""
        tool, file = shutil.which("redis-check-aof"), self.file
        if tool is not None and file is not None:
            subprocess.run([tool, "--fix", file], input=b"y\n", capture_output=True, check=True)  # noqa: S603 - our own file

    def kill(self) -> None:
        """SIGKILL."""
        if self._process is not None and self._process.poll() is None:
            self._process.kill()
            self._process.wait()

    async def ask(self, *command: Any) -> Any:
        """One command."""
        return await self.redis.execute_command(*command)  # type: ignore[no-untyped-call]  # redis-py is typed in places only


class Stores:
    """The master behind the proxy, and its replica."""

    def __init__(self, folder: Path, proxies: Proxies, rng: random.Random) -> None:
        """Nothing runs yet."""
        self._folder = folder
        self._proxies = proxies
        self._rng = rng
        self._made = 0
        self.master = self._new()
        self.replica: Store | None = None

    async def start(self, *, has_replica: bool) -> str:
        """Start; the address for workers."""
        await self.master.start()
        port = await self._proxies.add(PROXY, self.master.port)
        if has_replica:
            await self._proxies.add(_LINK, self.master.port)
            await self._attach()
        return f"redis://127.0.0.1:{port}/0"

    @property
    def direct(self) -> str:
        """The address of the master that leads through no proxy."""
        return f"redis://127.0.0.1:{self.master.port}/0"

    async def stop(self) -> None:
        """End all."""
        for store in (self.master, self.replica):
            if store is not None:
                store.kill()
                await store.redis.aclose()

    # What is done to them

    async def restart(self) -> str:
        """Kill -9, and started again from its append-only file."""
        self.master.kill()
        await asyncio.sleep(self._rng.uniform(0, 1.5))
        await self.master.start()
        return "with all its data"

    async def cut_file(self) -> str:
        """Kill -9, and started again from a file that lost its last bytes, as after a loss of power."""
        self.master.kill()
        file = self.master.file
        if file is None:
            raise RuntimeError("it has no file")
        size = file.stat().st_size
        lost = self._rng.randint(1, max(1, min(size // 2, _MOST_CUT_BYTES)))
        with file.open("r+b") as opened:
            opened.truncate(size - lost)
        await self.master.start()
        return f"{lost:,} of {size:,} bytes cut"

    async def empty(self) -> str:
        """FLUSHALL."""
        keys = await self.master.ask("DBSIZE")
        await self.master.ask("FLUSHALL")
        return f"{keys:,} keys"

    async def promote_a_lagging_replica(self) -> str:
        """The replica hears nothing for a while, the master dies, the replica takes its place."""
        replica, old = self.replica, self.master
        if replica is None:
            raise RuntimeError("there is no replica")
        async with self._proxies.poisoned(_LINK, "timeout", "downstream", timeout=0):
            await asyncio.sleep(self._rng.uniform(0.3, 2.0))
            ahead = (await old.redis.info("replication"))["master_repl_offset"]
            behind = (await replica.redis.info("replication"))["slave_repl_offset"]
            old.kill()
            await replica.ask("REPLICAOF", "NO", "ONE")
        self.master, self.replica = replica, None
        await self._proxies.lead(PROXY, replica.port)
        await old.redis.aclose()
        shutil.rmtree(old.folder)
        await self._proxies.lead(_LINK, self.master.port)
        await self._attach()
        return f"{ahead - behind:,} bytes behind"

    @asynccontextmanager
    async def full(self) -> AsyncIterator[None]:
        """No memory is left for the time of the block."""
        await self.master.ask("CONFIG", "SET", "maxmemory", "1mb")
        try:
            yield
        finally:
            await self.master.ask("CONFIG", "SET", "maxmemory", "0")

    @asynccontextmanager
    async def unable_to_save(self) -> AsyncIterator[None]:
        """No snapshot can be written, so no write is taken (MISCONF), for the time of the block."""
        ask = self.master.ask
        await ask("CONFIG", "SET", "save", "3600 1")
        await ask("CONFIG", "SET", "dir", "/proc")
        try:
            await ask("BGSAVE")
            async with asyncio.timeout(10):
                while (await self.master.redis.info("persistence"))["rdb_last_bgsave_status"] == "ok":
                    await asyncio.sleep(0.02)
            yield
        finally:
            await ask("CONFIG", "SET", "dir", str(self.master.folder))
            await ask("CONFIG", "SET", "save", "")

    async def _attach(self) -> None:
        """A new replica of the master, over a link of its own; wait until it has everything."""
        replica = self.replica = self._new()
        await replica.start()
        link = self._proxies.port(_LINK)
        await replica.ask("REPLICAOF", "127.0.0.1", link)
        async with asyncio.timeout(_START_WITHIN_S):
            while (await replica.redis.info("replication")).get("master_link_status") != "up":
                await asyncio.sleep(0.05)

    def _new(self) -> Store:
        self._made += 1
        return Store(self._folder / f"redis-{self._made}")
