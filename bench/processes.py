"""What is measured: a worker of its own process, its CPU and memory, and the CPU of Redis."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import sys
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from redis.asyncio import Redis

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

_TICKS = os.sysconf("SC_CLK_TCK")


def cpu_seconds(pid: int) -> float:
    """User and system time of a process so far."""
    after_name = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(after_name[11]) + int(after_name[12])) / _TICKS


def peak_rss_mb(pid: int) -> float:
    """The most memory a process had, in MB."""
    found = re.search(r"VmHWM:\s+(\d+) kB", Path(f"/proc/{pid}/status").read_text())
    return int(found[1]) / 1024 if found else 0.0


def rss_mb(pid: int) -> float:
    """The memory that a process has now, in MB."""
    found = re.search(r"VmRSS:\s+(\d+) kB", Path(f"/proc/{pid}/status").read_text())
    return int(found[1]) / 1024 if found else 0.0


async def redis_cpu_seconds(url: str) -> float:
    """User and system time of Redis so far."""
    async with Redis.from_url(url) as client:
        info = await client.info("cpu")
    return float(info["used_cpu_user"]) + float(info["used_cpu_sys"])


@dataclass(slots=True)
class RunningWorker:
    """A worker in a process of its own."""

    process: asyncio.subprocess.Process
    port: int = 0
    events: list[dict[str, Any]] = field(default_factory=list)
    """What it logged so far."""

    def said(self, event: str) -> dict[str, Any]:
        """The first event of this name."""
        return next(one for one in self.events if one["event"] == event)

    async def read(self) -> bool:
        """Read a line of its log; whether there was one. Errors, and what is no event, are shown."""
        if self.process.stderr is None:
            raise RuntimeError("no standard error")
        line = await self.process.stderr.readline()
        event = json.loads(line) if line.startswith(b"{") else None
        if event is not None:
            self.events.append(event)
            self.port = event.get("http_port", self.port)
        if event is None or event["level"] == "error":
            sys.stderr.buffer.write(line)
        return bool(line)

    @property
    def pid(self) -> int:
        """Of the worker."""
        return self.process.pid


@asynccontextmanager
async def worker(
    bootstrap: str, redis: str, prefix: str, *, group: str = "bench", instance_id: str | None = None
) -> AsyncIterator[RunningWorker]:
    """A worker that has its partitions; stopped by SIGTERM at the end, if it was not killed."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "pokdeng", "worker", "--bootstrap", bootstrap, "--redis", redis, "--prefix", prefix),
        *("--group", group, "--http-port", "0"),
        *(() if instance_id is None else ("--instance-id", instance_id)),
        stderr=asyncio.subprocess.PIPE,
        env={**os.environ, "POKDENG_LOG_LEVEL": "info"},
    )
    running = RunningWorker(process)
    while not any(one["event"] == "assigned" for one in running.events):
        if not await running.read():
            raise RuntimeError(f"the worker ended with {await process.wait()}")

    async def drain() -> None:
        while await running.read():
            pass

    draining = asyncio.create_task(drain())
    try:
        yield running
    finally:
        if process.returncode is None:
            process.terminate()
        code = await process.wait()
        await draining
        if code not in {0, -signal.SIGKILL}:
            sys.stderr.write(f"the worker ended with {code}\n")
