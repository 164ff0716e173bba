"""One table's play on the real parts, told as on the twins: a worker process, Apache Kafka and a Redis of its own.

Broker times are those of the text (the topics take the producer's), so what must be said is known to the last byte.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import time
import uuid
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import aiohttp

from pokdeng.cli.connect import create_topics, topic_specs
from pokdeng.ledger.embedded import embedded_server
from pokdeng.ledger.redis_ledger import RedisLedger
from pokdeng.stream.kafka import KafkaLog, KafkaSettings
from pokdeng.stream.kafka.untyped import AIOKafkaProducer
from pokdeng.stream.port import TopicPartition
from pokdeng.wire import TopicKind, Topics
from tests.checker.checker import check
from tests.settlement import scene as twins
from tests.settlement.real_parts import until
from tests.settlement.table_talk import NOON_MS, Talk
from tests.support.kafka import free_port
from tests.support.line import INPUTS, OUTPUTS

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterable
    from pathlib import Path

    from pokdeng.ledger.embedded import EmbeddedServer
    from pokdeng.stream.port import Record
    from tests.settlement.table_talk import Spoken

SESSION_TIMEOUT_S = 6.0
STOP_WITHIN_S = 10.0
"""Field failure O17: so long may an orderly stop last."""


class RealScene:
    """Topics of one partition each, a Redis, and one worker at a time."""

    def __init__(self, bootstrap: str, server: EmbeddedServer, folder: Path) -> None:
        """Nothing is there yet."""
        self.talk = Talk()
        self.server = server
        self.prefix = f"scene-{uuid.uuid4().hex[:12]}"
        self.topics = Topics(self.prefix)
        self._bootstrap = bootstrap
        self._folder = folder
        self._shift_ms = time.time_ns() // 1_000_000 - NOON_MS
        self._log = KafkaLog(KafkaSettings(bootstrap=bootstrap))
        self._of_group = KafkaLog(KafkaSettings(bootstrap=bootstrap), self.prefix)
        self._producer: Any = AIOKafkaProducer(bootstrap_servers=bootstrap, acks="all", linger_ms=0)
        self._port = free_port()
        self._starts = 0
        self.process: asyncio.subprocess.Process | None = None

    async def open(self) -> None:
        """Create the topics."""
        specs = topic_specs(self.topics, partitions=1, replication=1, with_log_append_time=False)
        await create_topics(KafkaSettings(bootstrap=self._bootstrap), specs)
        await self._producer.start()

    async def close(self) -> None:
        """End all that is ours."""
        await self.kill()
        await self._producer.stop()
        await self._log.stop()
        await self._of_group.stop()

    # The worker

    async def start(self, breaks: str = "", *, is_awaited: bool = True) -> None:
        """Start a worker; `breaks` as `broken_worker` takes it. It has the same instance id each time."""
        self._starts += 1
        program = "tests.settlement.broken_worker" if breaks else "pokdeng"
        words = [] if breaks else ["worker"]
        with self._said.open("wb") as output:
            self.process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-m", program, *words),
                *("--bootstrap", self._bootstrap, "--redis", self.server.url, "--prefix", self.prefix),
                *("--group", self.prefix, "--instance-id", "only", "--session-timeout", f"{SESSION_TIMEOUT_S:.0f}s"),
                *("--http-port", str(self._port), "--allow-create-time"),
                env={**os.environ, "BREAK": breaks},
                stdout=output,
                stderr=output,
            )
        if is_awaited:
            await until(self.is_ready, within=60, what=lambda: f"not ready: {self.tail()}")

    async def ended(self, *, within: float = 60.0) -> int:
        """Wait for the worker's end; its exit status."""
        process = self._running
        async with asyncio.timeout(within):
            return await process.wait()

    async def stop(self) -> int:
        """SIGTERM; its exit status, which must come in time."""
        self._running.send_signal(signal.SIGTERM)
        return await self.ended(within=STOP_WITHIN_S)

    async def kill(self) -> None:
        """SIGKILL, where one runs."""
        if self.process is not None and self.process.returncode is None:
            self.process.kill()
            await self.process.wait()

    @asynccontextmanager
    async def paused(self) -> AsyncIterator[None]:
        """The worker stands still (SIGSTOP) for the time of the block, which must be shorter than its session."""
        self._running.send_signal(signal.SIGSTOP)
        try:
            yield
        finally:
            self._running.send_signal(signal.SIGCONT)

    async def health(self, page: str) -> int:
        """The status of `/health/live` or `/health/ready`, 0 where nobody answers within two seconds."""
        try:
            async with (
                aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=2)) as session,
                session.get(f"http://127.0.0.1:{self._port}/health/{page}") as answer,
            ):
                return answer.status
        except (aiohttp.ClientError, TimeoutError):
            return 0

    async def is_ready(self) -> bool:
        """What the readiness page says; raises where the worker has ended."""
        if self._running.returncode is not None:
            raise RuntimeError(f"the worker ended with {self._running.returncode}: {self.tail()}")
        return await self.health("ready") == 200

    def has_broken(self) -> bool:
        """Whether what was to happen has happened."""
        return b"BROKEN" in self._said.read_bytes()

    def tail(self) -> str:
        """The end of what it said."""
        return self._said.read_text(errors="replace")[-3000:]

    @property
    def _running(self) -> asyncio.subprocess.Process:
        assert self.process is not None, "no worker runs"
        return self.process

    @property
    def _said(self) -> Path:
        return self._folder / f"worker-{self._starts}.log"

    # What goes in

    async def say(self, text: str) -> None:
        """Append a text; acknowledged when it returns."""
        await self.append(self.talk.tell(text))

    async def append(self, spoken: Iterable[Spoken], *topics: str) -> None:
        """Append records in this order; of these topics only, where any are named."""
        sent = [
            await self._producer.send(
                self.topics.name(TopicKind(one.topic)),
                value=one.value,
                key=one.key,
                partition=0,
                timestamp_ms=one.at_ms + self._shift_ms,
            )
            for one in spoken
            if not topics or one.topic in topics
        ]
        await asyncio.gather(*sent)

    # What came of it

    async def records(self, *kinds: TopicKind) -> list[Record]:
        """All records of these topics."""
        places = [TopicPartition(self.topics.name(kind), 0) for kind in kinds]
        ends = await self._log.end_offsets(places)
        return [record for place in places for record in await self._log.read(place, 0, ends[place])]

    async def facts(self, *kinds: TopicKind) -> list[str]:
        """What was said, each once, in the order of the topics; funds' only where they are asked for."""
        wanted = kinds or tuple(kind for kind in OUTPUTS if kind is not TopicKind.FUNDS_DECISIONS)
        return list(dict.fromkeys(twins._text(record) for record in await self.records(*wanted)))

    async def until_said(self, *facts: str, within: float = 60.0) -> None:
        """Wait until all of these were said."""

        async def is_said() -> bool:
            said = await self.facts(*OUTPUTS)
            return all(fact in said for fact in facts)

        await until(is_said, within=within, what=lambda: f"not all said: {facts}; {self.tail()}", every=0.05)

    async def committed(self, kind: TopicKind) -> int | None:
        """The group's committed offset."""
        place = TopicPartition(self.topics.name(kind), 0)
        return (await self._of_group.committed([place]))[place]

    async def balances(self) -> dict[str, tuple[int, int, int, str]]:
        """Every account as Redis has it."""
        ledger = RedisLedger(self.server.url, prefix=self.prefix)
        try:
            await ledger.open()
            return {
                str(one.account): (one.available, one.held, one.sequence, str(one.currency))
                async for one in ledger.accounts()
            }
        finally:
            await ledger.close()

    async def balance(self, account: str = "A-1") -> str:
        """One account's: available/held/sequence."""
        return "/".join(str(part) for part in (await self.balances())[account][:3])

    async def distinct(self) -> dict[str, tuple[bytes | None, bytes | None, tuple[tuple[str, bytes], ...]]]:
        """What was said, by event id: key, value and headers. Copies must be the same to the byte."""
        found: dict[str, tuple[bytes | None, bytes | None, tuple[tuple[str, bytes], ...]]] = {}
        for record in await self.records(*OUTPUTS):
            copy = (record.key, record.value, tuple(record.headers))
            first = found.setdefault(twins._name(record), copy)
            assert first == copy, f"said again in other bytes: {copy} after {first}"
        return found

    async def check(self) -> None:
        """The independent checker must find nothing."""
        report = check(
            await self.records(*INPUTS),
            await self.records(*OUTPUTS),
            partitions=1,
            prefix=self.prefix,
            final_balances=await self.balances(),
        )
        assert not report.findings, report
        await self.distinct()


@asynccontextmanager
async def real_scene(bootstrap: str, folder: Path) -> AsyncIterator[RealScene]:
    """A scene without a worker; at its end the checker must find nothing."""
    async with embedded_server({"timeout": "0"}) as server:
        played = RealScene(bootstrap, server, folder)
        await played.open()
        try:
            yield played
            await played.check()
        finally:
            await played.close()
