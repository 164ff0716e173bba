"""The service as it runs: worker processes on Apache Kafka and Redis, looked at from outside only."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import time
from typing import TYPE_CHECKING

import aiohttp

from pokdeng.ledger.redis_ledger import RedisLedger
from pokdeng.stream.kafka import KafkaLog, KafkaSettings
from pokdeng.stream.port import TopicPartition
from pokdeng.wire import TopicKind, Topics
from tests.support.kafka import free_port

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping, Sequence
    from pathlib import Path

    from pokdeng.stream.port import Record

PARTITIONS = 12
_STOP_WITHIN_S = 60.0
_POLL_S = 0.2


class WorkerProcess:
    """One `pokdeng worker`."""

    def __init__(
        self,
        name: str,
        address: Address,
        group: str,
        folder: Path,
        variables: Mapping[str, str] | None = None,
        *,
        are_addresses_given: bool = True,
    ) -> None:
        """Not started yet; what it says goes to a file in `folder`.

        `variables` are added to its environment; where no addresses are given they must be there.
        """
        self.name = name
        self._environment = {**os.environ, **(variables or {})}
        self._said = folder / f"{name}.log"
        port = free_port()
        self._pages = f"http://127.0.0.1:{port}"
        addresses = ("--bootstrap", address.bootstrap, "--redis", address.redis_url) if are_addresses_given else ()
        self._arguments = (
            *(*addresses, "--prefix", address.prefix),
            *("--group", group, "--http-port", str(port)),
        )
        self._process: asyncio.subprocess.Process | None = None

    async def start(self) -> None:
        """Start, and wait until it is ready."""
        await self.launch()
        await until(self.is_ready, within=90, what=lambda: f"{self.name} is not ready: {self.tail()}")

    async def launch(self) -> None:
        """Start."""
        with self._said.open("wb") as output:
            self._process = await asyncio.create_subprocess_exec(
                sys.executable,
                "-m",
                "pokdeng",
                "worker",
                *self._arguments,
                stdout=output,
                stderr=output,
                env=self._environment,
            )

    async def is_ready(self) -> bool:
        """What its readiness page says; raises where the process has ended."""
        if self._process is not None and self._process.returncode is not None:
            raise RuntimeError(f"{self.name} ended with {self._process.returncode}: {self.tail()}")
        try:
            async with aiohttp.ClientSession() as session, session.get(f"{self._pages}/health/ready") as answer:
                return answer.status == 200
        except aiohttp.ClientError:
            return False

    async def counted(self, metric: str) -> float:
        """The sum of a metric over its labels, as its page says."""
        async with aiohttp.ClientSession() as session, session.get(f"{self._pages}/metrics") as answer:
            lines = (await answer.text()).splitlines()
        return sum(float(line.rpartition(" ")[2]) for line in lines if line.startswith((f"{metric}{{", f"{metric} ")))

    async def stop(self) -> int:
        """SIGTERM; its exit status."""
        process = self._process
        if process is None:
            raise RuntimeError(f"{self.name} was not started")
        process.send_signal(signal.SIGTERM)
        async with asyncio.timeout(_STOP_WITHIN_S):
            return await process.wait()

    async def kill(self) -> None:
        """SIGKILL, if it runs."""
        if self._process is not None and self._process.returncode is None:
            self._process.kill()
            await self._process.wait()

    async def page(self, path: str) -> str:
        """One of its pages, as text."""
        async with aiohttp.ClientSession() as session, session.get(f"{self._pages}{path}") as answer:
            return await answer.text()

    def tail(self) -> str:
        """The end of what it said."""
        return self._said.read_text(errors="replace")[-3000:]


class Address:
    """Where the parts are, and under which names."""

    def __init__(self, bootstrap: str, redis_url: str, prefix: str) -> None:
        """Topics and keys begin with `prefix`."""
        self.bootstrap = bootstrap
        self.redis_url = redis_url
        self.prefix = prefix
        self.topics = Topics(prefix)

    async def create_topics(self) -> None:
        """As the command does it."""
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "pokdeng", "topics", "create", "--bootstrap", self.bootstrap),
            *("--prefix", self.prefix, "--partitions", str(PARTITIONS), "--replication", "1"),
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
        )
        said, _ = await process.communicate()
        if process.returncode:
            raise RuntimeError(said.decode())

    async def command(self, *words: str, redis: bool = False) -> tuple[int, str]:
        """A command on these topics, as a person calls it: its exit status, and what it says."""
        addresses = ["--bootstrap", self.bootstrap, "--prefix", self.prefix]
        addresses += ["--redis", self.redis_url] if redis else []
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "pokdeng", *words, *addresses),
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
        )
        said, _ = await process.communicate()
        return process.returncode or 0, said.decode()

    def log(self, group: str = "") -> KafkaLog:
        """A connection of the test's own."""
        return KafkaLog(KafkaSettings(bootstrap=self.bootstrap), group)

    def places(self, kinds: Sequence[TopicKind]) -> list[TopicPartition]:
        """All partitions of these topics."""
        return [TopicPartition(self.topics.name(kind), number) for kind in kinds for number in range(PARTITIONS)]

    async def read_all(self, log: KafkaLog, kinds: Sequence[TopicKind]) -> list[Record]:
        """Every record of these topics."""
        ends = await log.end_offsets(self.places(kinds))
        parts = await asyncio.gather(*(log.read(place, 0, end) for place, end in ends.items()))
        return [record for part in parts for record in part]

    async def balances(self) -> dict[str, tuple[int, int, int, str]]:
        """Every account as Redis has it."""
        ledger = RedisLedger(self.redis_url, prefix=self.prefix)
        try:
            await ledger.open()
            return {
                str(one.account): (one.available, one.held, one.sequence, str(one.currency))
                async for one in ledger.accounts()
            }
        finally:
            await ledger.close()


async def until(
    is_so: Callable[[], Awaitable[bool]], *, within: float, what: Callable[[], str], every: float = _POLL_S
) -> None:
    """Ask until something is so.

    Raises:
        TimeoutError: saying `what` is not.
    """
    deadline = time.monotonic() + within
    while not await is_so():
        if time.monotonic() > deadline:
            raise TimeoutError(what())
        await asyncio.sleep(every)
