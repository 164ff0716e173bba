"""Apache Kafka as one broker or three, on this machine: killed, started again, and asked who leads what.

Each broker has two places to talk to: one that leads through a proxy, for workers, and a direct one, for the traffic
and for those who look on. Its logs outlive it.
"""

from __future__ import annotations

import asyncio
import base64
import shutil
import subprocess
import uuid
from typing import TYPE_CHECKING, Any

from aiokafka.admin import NewTopic
from aiokafka.errors import KafkaError

from pokdeng.cli.connect import topic_specs
from pokdeng.stream.kafka import KafkaSettings
from pokdeng.stream.kafka.untyped import AIOKafkaAdminClient
from tests.support.kafka import SCRIPTS, _libraries, free_port

if TYPE_CHECKING:
    from pathlib import Path

    from pokdeng.wire import Topics
    from tests.chaos.proxies import Proxies

_HEAP = ("-Xms192m", "-Xmx448m", "-XX:+UseSerialGC")
_START_WITHIN_S = 90.0
_IN_SYNC_WITHIN_S = 180.0
_CONFIG = """
process.roles=broker,controller
node.id={node}
controller.quorum.voters={voters}
listeners=WORKERS://127.0.0.1:{workers},DIRECT://127.0.0.1:{direct},INTERNAL://127.0.0.1:{internal},CONTROLLER://127.0.0.1:{controller}
advertised.listeners=WORKERS://127.0.0.1:{proxy},DIRECT://127.0.0.1:{direct},INTERNAL://127.0.0.1:{internal}
controller.listener.names=CONTROLLER
inter.broker.listener.name=INTERNAL
listener.security.protocol.map=WORKERS:PLAINTEXT,DIRECT:PLAINTEXT,INTERNAL:PLAINTEXT,CONTROLLER:PLAINTEXT
log.dirs={logs}
default.replication.factor={replicas}
min.insync.replicas={in_sync}
offsets.topic.replication.factor={replicas}
offsets.topic.num.partitions=6
transaction.state.log.replication.factor={replicas}
transaction.state.log.min.isr={in_sync}
transaction.state.log.num.partitions=2
share.coordinator.state.topic.replication.factor={replicas}
share.coordinator.state.topic.min.isr={in_sync}
group.initial.rebalance.delay.ms=0
group.min.session.timeout.ms=500
auto.create.topics.enable=false
unclean.leader.election.enable=false
leader.imbalance.check.interval.seconds=20
broker.session.timeout.ms=6000
broker.heartbeat.interval.ms=1000
replica.lag.time.max.ms=8000
log.retention.ms=-1
"""


class Broker:
    """One of them."""

    def __init__(self, node: int, folder: Path) -> None:
        """Not started; its ports are chosen now, for good."""
        self.node = node
        self.folder = folder / f"broker-{node}"
        self.folder.mkdir(parents=True)
        self.workers, self.direct, self.internal, self.controller = (free_port() for _ in range(4))
        self.process: subprocess.Popen[bytes] | None = None

    @property
    def config(self) -> Path:
        """Its settings."""
        return self.folder / "server.properties"

    @property
    def is_running(self) -> bool:
        """Whether the process lives."""
        return self.process is not None and self.process.poll() is None

    def java(self, *words: str) -> list[str]:
        """A command of Kafka's."""
        return [
            shutil.which("java") or "java",
            *_HEAP,
            f"-Dlog4j2.configurationFile={SCRIPTS / 'log4j2.properties'}",
            *("-cp", str(_libraries() / "*"), *words),
        ]

    async def start(self) -> None:
        """Start, and wait until it answers."""
        with (self.folder / "said").open("ab") as output:
            self.process = subprocess.Popen(  # noqa: ASYNC220, S603 - it outlives any loop
                self.java("kafka.Kafka", str(self.config)), stdout=output, stderr=output, start_new_session=True
            )
        async with asyncio.timeout(_START_WITHIN_S):
            while not await _answers(self.direct):
                if not self.is_running:
                    raise RuntimeError(f"broker {self.node} ended: {(self.folder / 'said').read_text()[-2000:]}")
                await asyncio.sleep(0.1)

    def kill(self) -> None:
        """SIGKILL."""
        if self.process is not None and self.is_running:
            self.process.kill()
            self.process.wait()

    def stop(self) -> None:
        """SIGTERM; SIGKILL where it takes long."""
        if self.process is not None and self.is_running:
            self.process.terminate()
            try:
                self.process.wait(10)
            except subprocess.TimeoutExpired:
                self.kill()


class Brokers:
    """A cluster of one or three."""

    def __init__(self, count: int, folder: Path) -> None:
        """Nothing runs yet."""
        self.all = [Broker(node, folder) for node in range(1, count + 1)]
        self._admin: Any = None

    @property
    def replicas(self) -> int:
        """How many brokers keep each record."""
        return len(self.all)

    @property
    def direct(self) -> str:
        """The address that leads through no proxy."""
        return ",".join(f"127.0.0.1:{broker.direct}" for broker in self.all)

    async def start(self, proxies: Proxies) -> str:
        """Put a proxy before each, format, start; the address for workers."""
        cluster = "A" + base64.urlsafe_b64encode(uuid.uuid4().bytes).decode().rstrip("=")[1:]
        voters = ",".join(f"{broker.node}@127.0.0.1:{broker.controller}" for broker in self.all)
        addresses = []
        for broker in self.all:
            proxy = await proxies.add(f"kafka-{broker.node}", broker.workers)
            addresses.append(f"127.0.0.1:{proxy}")
            broker.config.write_text(
                _CONFIG.format(
                    node=broker.node,
                    voters=voters,
                    workers=broker.workers,
                    direct=broker.direct,
                    internal=broker.internal,
                    controller=broker.controller,
                    proxy=proxy,
                    logs=broker.folder / "logs",
                    replicas=self.replicas,
                    in_sync=min(2, self.replicas),
                )
            )
            words = ("kafka.tools.StorageTool", "format", f"--cluster-id={cluster}", "-c", str(broker.config))
            done = await asyncio.create_subprocess_exec(
                *broker.java(*words), stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT
            )
            said, _ = await done.communicate()
            if done.returncode:
                raise RuntimeError(said.decode()[-2000:])
        await asyncio.gather(*(broker.start() for broker in self.all))
        return ",".join(addresses)

    def stop(self) -> None:
        """Stop them all."""
        for broker in self.all:
            broker.kill()

    async def create_topics(self, topics: Topics, partitions: int) -> None:
        """All nine; the two logs of a table are led by different brokers, where there are several."""
        admin = await self._connected()
        new = []
        nodes = [broker.node for broker in self.all]
        for turn, spec in enumerate(
            topic_specs(topics, partitions=partitions, replication=self.replicas, in_sync=min(2, self.replicas))
        ):
            places = {
                number: [nodes[(number + turn + step) % len(nodes)] for step in range(len(nodes))]
                for number in range(partitions)
            }
            topic: Any = NewTopic
            new.append(topic(spec.name, -1, -1, replica_assignments=places, topic_configs=dict(spec.configs)))
        answer = await admin.create_topics(new, timeout_ms=60_000)
        wrong = [error for error in answer.topic_errors if error[1]]
        if wrong:
            raise RuntimeError(f"topics were not created: {wrong}")

    async def leaders(self, topic: str) -> dict[int, int]:
        """Who leads each partition of a topic; -1: nobody."""
        return {one["partition"]: one["leader"] for one in await self._partitions(topic)}

    async def are_in_sync(self) -> bool:
        """Whether every partition of every topic has all its replicas."""
        admin = await self._connected()
        every = await admin.describe_topics()
        return all(len(one["isr"]) == len(one["replicas"]) for topic in every for one in topic["partitions"])

    async def until_in_sync(self) -> None:
        """Wait until it is so."""
        async with asyncio.timeout(_IN_SYNC_WITHIN_S):
            while True:
                try:
                    if await self.are_in_sync():
                        return
                except (KafkaError, OSError):
                    await self.close()
                await asyncio.sleep(0.25)

    async def close(self) -> None:
        """Close the connection for questions."""
        admin, self._admin = self._admin, None
        if admin is not None:
            await admin.close()

    async def _partitions(self, topic: str) -> list[dict[str, Any]]:
        admin = await self._connected()
        return next(one["partitions"] for one in await admin.describe_topics() if one["topic"] == topic)

    async def _connected(self) -> Any:
        if self._admin is None:
            admin = AIOKafkaAdminClient(**KafkaSettings(bootstrap=self.direct).client_arguments())
            await admin.start()
            self._admin = admin
        return self._admin


async def _answers(port: int) -> bool:
    try:
        _, writer = await asyncio.open_connection("127.0.0.1", port)
    except OSError:
        return False
    writer.close()
    return True
