"""A producer that is thrown away begins to write nothing more, and leaves nothing behind; whatever its broker does."""

from __future__ import annotations

import asyncio
import socket
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest
from aiokafka import client, conn
from aiokafka.conn import AIOKafkaConnection

from pokdeng.stream.kafka import KafkaSettings, producing, untyped
from pokdeng.stream.kafka.publisher import Publisher
from pokdeng.stream.port import LogUnavailableError, Message, TopicPartition

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

TIMEOUT_S = 0.3
LEADERS = (0, 1, 2)
"""Each leads one partition, and listens on the port of its number."""


async def published(monkeypatch: pytest.MonkeyPatch, connect: Callable[[int], Awaitable[Any]]) -> Publisher:
    """Publish to three leaders of whom one hangs, until that is given up. Only how they are connected to is made up."""

    async def create_conn(_host: str, port: int, **_more: Any) -> Any:
        return await connect(port)

    async def nothing(*_: Any) -> None:
        """It is known already."""

    async def metadata(_topic: str) -> set[int]:
        return set(LEADERS)

    def made(**arguments: Any) -> Any:
        kafka = real(**arguments)
        kafka.client.bootstrap = kafka._sender._maybe_wait_for_pid = nothing
        kafka.client._wait_on_metadata = metadata
        kafka.client.cluster.partitions_for_topic = lambda _topic: set(LEADERS)
        kafka.client.cluster.leader_for_partition = lambda place: place.partition
        kafka.client.cluster.broker_metadata = lambda node: SimpleNamespace(host="127.0.0.1", port=node)
        kafka._txn_manager.set_pid_and_epoch(1, 0)
        return kafka

    real = untyped.AIOKafkaProducer
    monkeypatch.setattr(producing, "AIOKafkaProducer", made)
    monkeypatch.setattr(client, "create_conn", create_conn)
    publisher = Publisher(KafkaSettings(bootstrap="127.0.0.1:1", request_timeout_ms=int(TIMEOUT_S * 1000)))
    with pytest.raises(LogUnavailableError):
        await publisher.publish({TopicPartition("t", leader): [Message(b"k", b"v", [])] for leader in LEADERS}, None)
    return publisher


class Healthy:
    """A connection that notes what is written to it."""

    def __init__(self, written: list[int], leader: int) -> None:
        """To a leader that takes all and answers nothing."""
        self._written = written
        self._leader = leader
        self._writer = None

    def connected(self) -> bool:
        """It is."""
        return True

    def send(self, _request: object, **_more: Any) -> asyncio.Future[None]:
        """Write."""
        self._written.append(self._leader)
        return asyncio.get_running_loop().create_future()

    def close(self, **_more: Any) -> asyncio.Future[None]:
        """Close."""
        closed = asyncio.get_running_loop().create_future()
        closed.set_result(None)
        return closed


@pytest.mark.parametrize("comes_back", [False, True])
def test_requests_behind_a_connection_that_hangs_are_not_written_later(
    monkeypatch: pytest.MonkeyPatch, *, comes_back: bool
) -> None:
    """One broker is connected to after the other: what waited for that is not sent when the publish is over."""

    async def scenario() -> None:
        written: list[int] = []
        back = asyncio.Event()

        async def connect(leader: int) -> Healthy:
            if leader == LEADERS[0]:
                await back.wait()
            return Healthy(written, leader)

        publisher = await published(monkeypatch, connect)
        began = len(written)
        if comes_back:
            back.set()
        await publisher.close()
        await asyncio.sleep(2 * TIMEOUT_S)
        assert len(written) == began
        assert not publisher._open
        others = asyncio.all_tasks() - {asyncio.current_task()}
        assert not others, others

    asyncio.run(scenario())


def test_a_broker_that_reads_nothing_holds_nobody_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """Stopped, its kernel takes what fits: the rest is not waited for, and not written when it goes on."""

    async def scenario() -> None:
        async def nothing(_connection: AIOKafkaConnection) -> None:
            """No version is asked for."""

        real: Any = conn.create_conn
        monkeypatch.setattr(AIOKafkaConnection, "_do_version_lookup", nothing)
        made: list[Any] = []
        with socket.socket() as stopped:
            stopped.bind(("127.0.0.1", 0))
            stopped.listen()

            async def connect(_leader: int) -> Any:
                connection: Any = await real("127.0.0.1", stopped.getsockname()[1], request_timeout_ms=1_000)
                connection._versions = {0: (0, 7)}
                connection._writer.write(b"x" * 16_000_000)
                made.append(connection._writer.transport)
                return connection

            publisher = await published(monkeypatch, connect)
            assert not publisher._open
            assert made
            assert all(one.is_closing() and not one.get_write_buffer_size() for one in made)
            others = asyncio.all_tasks() - {asyncio.current_task()}
            assert not others, others

    asyncio.run(scenario())
