"""Toxiproxy, between the workers and everything else: connections are cut, delayed, half closed, reset.

Its server is found as `toxiproxy-server` on the path, in the cache, or built there by Go, where that is at hand.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import subprocess
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import aiohttp

from tests.support.kafka import ROOT, free_port

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

MODULE: Final = "github.com/Shopify/toxiproxy/v2/cmd/server@v2.12.0"
_START_WITHIN_S: Final = 20.0
_GO: Final = ("/usr/local/go/bin/go",)
"""Where Go's own installer puts it, if it is not on the path."""


def server_binary() -> str | None:
    """Toxiproxy's server, None where there is none and none can be built."""
    found = shutil.which("toxiproxy-server")
    if found:
        return found
    cache = Path(os.environ.get("POKDENG_CACHE") or ROOT / ".cache") / "toxiproxy"
    if not (cache / "server").exists():
        go = shutil.which("go") or next((path for path in _GO if Path(path).exists()), None)
        if go is None:
            return None
        cache.mkdir(parents=True, exist_ok=True)
        built = subprocess.run(  # noqa: S603 - our own words
            [go, "install", MODULE], env={**os.environ, "GOBIN": str(cache)}, capture_output=True, check=False
        )
        if built.returncode:
            return None
    return str(cache / "server")


class Proxies:
    """A running server, and the proxies that were made in it."""

    def __init__(self, port: int, session: aiohttp.ClientSession) -> None:
        """Its API listens on `port`."""
        self._api = f"http://127.0.0.1:{port}"
        self._session = session
        self._ports: dict[str, int] = {}

    def port(self, name: str) -> int:
        """Where a proxy listens."""
        return self._ports[name]

    async def add(self, name: str, upstream: int) -> int:
        """A proxy before a port of this machine; the port that it listens on."""
        port = self._ports[name] = free_port()
        await self._ask(
            "POST",
            "/proxies",
            name=name,
            listen=f"127.0.0.1:{port}",
            upstream=f"127.0.0.1:{upstream}",
            enabled=True,
        )
        return port

    async def lead(self, name: str, upstream: int) -> None:
        """Lead to another port from now on; what is connected is cut."""
        await self._ask("POST", f"/proxies/{name}", upstream=f"127.0.0.1:{upstream}", enabled=True)

    @asynccontextmanager
    async def cut(self, name: str) -> AsyncIterator[None]:
        """All connections end, and no new one is taken, for the time of the block."""
        await self._ask("POST", f"/proxies/{name}", enabled=False)
        try:
            yield
        finally:
            await self._ask("POST", f"/proxies/{name}", enabled=True)

    @asynccontextmanager
    async def poisoned(self, name: str, kind: str, stream: str, **attributes: int) -> AsyncIterator[None]:
        """A toxic is in one direction (`upstream`: what clients send, `downstream`: answers) for the time of the block.

        `latency` (latency, jitter: ms), `timeout` (0: bytes vanish, the connection stays), `reset_peer` (timeout: ms).
        """
        await self._ask(
            "POST", f"/proxies/{name}/toxics", name="chaos", type=kind, stream=stream, attributes=attributes
        )
        try:
            yield
        finally:
            await self._ask("DELETE", f"/proxies/{name}/toxics/chaos")

    async def _ask(self, method: str, path: str, **body: Any) -> None:
        async with self._session.request(method, self._api + path, json=body or None) as answer:
            if answer.status >= 400:
                raise RuntimeError(f"toxiproxy: {method} {path}: {await answer.text()}")


@asynccontextmanager
async def proxies() -> AsyncIterator[Proxies]:
    """Run toxiproxy for the time of the block.

    Raises:
        RuntimeError: where there is none.
    """
    binary = server_binary()
    if binary is None:
        raise RuntimeError("no toxiproxy-server on the path, and no Go to build it with")
    port = free_port()
    process = subprocess.Popen(  # noqa: ASYNC220, S603 - our own words
        [binary, "-host", "127.0.0.1", "-port", str(port)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        async with aiohttp.ClientSession() as session:
            async with asyncio.timeout(_START_WITHIN_S):
                while True:
                    try:
                        async with session.get(f"http://127.0.0.1:{port}/version"):
                            break
                    except aiohttp.ClientError:
                        await asyncio.sleep(0.05)
            yield Proxies(port, session)
    finally:
        process.kill()
        process.wait()
