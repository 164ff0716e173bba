"""Worker processes and who starts them again: as an orchestrator does, at once and for ever."""

from __future__ import annotations

import asyncio
import json
import signal
import sys
from collections import Counter
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

import aiohttp

from tests.support.kafka import free_port

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

SESSION_TIMEOUT_S = 6
_AGAIN_AFTER_S = 0.3


class Where(NamedTuple):
    """What a worker is told."""

    bootstrap: str
    redis: str
    prefix: str
    group: str


class Slot:
    """One worker, started again whenever it ends."""

    def __init__(self, number: int, where: Where, folder: Path, *, is_static: bool) -> None:
        """Not started. `is_static`: it has the same instance id each time."""
        self.name = f"worker-{number}"
        self._log = folder / f"{self.name}.log"
        self._port = free_port()
        self._arguments = [
            *("--bootstrap", where.bootstrap, "--redis", where.redis, "--prefix", where.prefix),
            *("--group", where.group, "--session-timeout", f"{SESSION_TIMEOUT_S}s", "--http-port", str(self._port)),
            *(("--instance-id", self.name) if is_static else ()),
        ]
        self._process: asyncio.subprocess.Process | None = None
        self._task: asyncio.Task[None] | None = None
        self.ends: Counter[int] = Counter()
        """How it ended, how often: exit statuses, signals as negative numbers."""

    def start(self) -> None:
        """Keep it running from now on."""
        self._task = asyncio.create_task(self._keep_running())

    async def stop(self) -> int:
        """SIGTERM, and not started again; its exit status."""
        if self._task is not None:
            self._task.cancel()
            with suppress(asyncio.CancelledError):
                await self._task
        process = self._process
        if process is None:
            return 0
        if process.returncode is None:
            process.send_signal(signal.SIGCONT)
            process.terminate()
        try:
            async with asyncio.timeout(15):
                return await process.wait()
        except TimeoutError:
            process.kill()
            return await process.wait()

    def signal(self, number: signal.Signals) -> bool:
        """Send a signal, if it runs; whether it did."""
        process = self._process
        if process is None or process.returncode is not None:
            return False
        with suppress(ProcessLookupError):
            process.send_signal(number)
            return True
        return False

    async def is_ready(self) -> bool:
        """What its readiness page says."""
        return (await self._page("health/ready"))[0] == 200

    async def why_not_ready(self) -> str:
        """The reasons on its readiness page."""
        return (await self._page("health/ready"))[1]

    def errors(self) -> Counter[str]:
        """What it logged as an error, by what it was."""
        found: Counter[str] = Counter()
        with self._log.open("rb") as lines:
            for line in lines:
                if line.startswith(b"{") and b'"error"' in line:
                    event = json.loads(line)
                    why = str(event.get("why") or event.get("exception") or event.get("reasons") or "")
                    found[f"{event['event']}: {why.strip().splitlines()[-1][:110] if why.strip() else ''}"] += 1
        return found

    async def _page(self, path: str) -> tuple[int, str]:
        try:
            async with (
                aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=3)) as session,
                session.get(f"http://127.0.0.1:{self._port}/{path}") as answer,
            ):
                return answer.status, await answer.text()
        except (aiohttp.ClientError, TimeoutError) as error:
            return 0, repr(error)

    async def _keep_running(self) -> None:
        while True:
            with self._log.open("ab") as output:
                self._process = await asyncio.create_subprocess_exec(
                    *(sys.executable, "-m", "pokdeng", "worker", *self._arguments), stdout=output, stderr=output
                )
            self.ends[await self._process.wait()] += 1
            await asyncio.sleep(_AGAIN_AFTER_S)


async def until_all_ready(slots: Sequence[Slot], *, within: float) -> None:
    """Wait until every worker says that it is ready.

    Raises:
        TimeoutError: with the reasons of those that are not.
    """
    try:
        async with asyncio.timeout(within):
            while not all(await asyncio.gather(*(slot.is_ready() for slot in slots))):
                await asyncio.sleep(0.5)
    except TimeoutError:
        reasons = [f"{slot.name}: {await slot.why_not_ready()}" for slot in slots]
        raise TimeoutError(f"not ready within {within:.0f} s: {'; '.join(reasons)}") from None
