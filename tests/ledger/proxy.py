"""A proxy before the server that loses, delays or damages what passes, once, when told to."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from enum import Enum, auto
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import AsyncIterator


class Fault(Enum):
    """What happens to the next request or reply."""

    DROP_REPLY = auto()
    """The server has done the work; the connection ends instead of the reply."""
    HOLD_REPLY = auto()
    """The reply waits for `release`."""
    CUT_REQUEST = auto()
    """Only the first `cut_at` bytes arrive, then the connection ends."""
    REPLACE_IN_REQUEST = auto()
    """The first occurrence of `old` is sent as `new`."""


@dataclass
class Proxy:
    """One listening place; `fault` is used up by the first request or reply that it fits."""

    url: str
    fault: Fault | None = None
    cut_at: int = 0
    old: bytes = b""
    new: bytes = b""
    is_silent: bool = False
    """All replies wait for `release`."""
    release: asyncio.Event = field(default_factory=asyncio.Event)
    held: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def is_armed(self) -> bool:
        """Whether the fault has not happened yet."""
        return self.fault is not None

    def take(self, *faults: Fault) -> Fault | None:
        """The armed fault if it is one of these; it happens once."""
        if self.fault not in faults:
            return None
        taken, self.fault = self.fault, None
        return taken

    async def requests(self, source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
        """Pass requests on."""
        while data := await source.read(1 << 16):
            fault = self.take(Fault.CUT_REQUEST, Fault.REPLACE_IN_REQUEST)
            if fault is Fault.REPLACE_IN_REQUEST:
                sink.write(data.replace(self.old, self.new, 1))
            elif fault is Fault.CUT_REQUEST:
                sink.write(data[: self.cut_at])
                await sink.drain()
                return
            else:
                sink.write(data)
            await sink.drain()

    async def replies(self, source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
        """Pass replies on."""
        while data := await source.read(1 << 16):
            fault = self.take(Fault.DROP_REPLY, Fault.HOLD_REPLY)
            if fault is Fault.DROP_REPLY:
                return
            if fault is Fault.HOLD_REPLY or self.is_silent:
                self.held.set()
                await self.release.wait()
            sink.write(data)
            await sink.drain()


@asynccontextmanager
async def proxy_before(path: str) -> AsyncIterator[Proxy]:
    """A proxy on a free port before the server at a unix socket."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        from_server, to_server = await asyncio.open_unix_connection(path)
        tasks = [
            asyncio.create_task(proxy.requests(reader, to_server)),
            asyncio.create_task(proxy.replies(from_server, writer)),
        ]
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in tasks:
                task.cancel()
            for end in (writer, to_server):
                end.close()
                with suppress(OSError):
                    await end.wait_closed()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    proxy = Proxy(f"redis://127.0.0.1:{server.sockets[0].getsockname()[1]}")
    try:
        yield proxy
    finally:
        proxy.release.set()
        server.close()
        await server.wait_closed()
