"""What is measured: a worker of its own process, its CPU and memory, and the CPU of Redis."""

from __future__ import annotations

import asyncio
import json
import os
import re
import sys
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

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


async def redis_cpu_seconds(url: str) -> float:
    """User and system time of Redis so far."""
    async with Redis.from_url(url) as client:
        info = await client.info("cpu")
    return float(info["used_cpu_user"]) + float(info["used_cpu_sys"])


@dataclass(slots=True)
class RunningWorker:
    """A worker in a process of its own."""

    process: asyncio.subprocess.Process
    port: int

    @property
    def pid(self) -> int:
        """Of the worker."""
        return self.process.pid


@asynccontextmanager
async def worker(bootstrap: str, redis: str, prefix: str, *, group: str = "bench") -> AsyncIterator[RunningWorker]:
    """A worker that has its partitions; stopped by SIGTERM at the end."""
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "pokdeng",
        "worker",
        *("--bootstrap", bootstrap, "--redis", redis, "--prefix", prefix, "--group", group, "--http-port", "0"),
        stderr=asyncio.subprocess.PIPE,
    )
    stderr = process.stderr
    if stderr is None:
        raise RuntimeError("no standard error")
    port = 0
    while True:
        line = await stderr.readline()
        if not line:
            raise RuntimeError(f"the worker ended with {await process.wait()}")
        event = json.loads(line) if line.startswith(b"{") else {}
        if event.get("level") == "error" or not event:
            sys.stderr.buffer.write(line)
        port = event.get("http_port", port)
        if event.get("event") == "assigned":
            break
    drain = asyncio.create_task(_drain(stderr))
    try:
        yield RunningWorker(process, port)
    finally:
        if process.returncode is None:
            process.terminate()
        code = await process.wait()
        await drain
        if code:
            sys.stderr.write(f"the worker ended with {code}\n")


async def _drain(stream: asyncio.StreamReader) -> None:
    while line := await stream.readline():
        if b'"level": "error"' in line or not line.startswith(b"{"):
            sys.stderr.buffer.write(line)
