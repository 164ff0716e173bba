"""Apache Kafka and Redis in containers, by testcontainers, where a Docker engine answers and has the images already.

The engine must be this machine's: ports are published on 127.0.0.1. Nothing is pulled: an engine without the images is
common, and a test run should not wait for a registry. Images of other names: `POKDENG_TEST_KAFKA_IMAGE` (settings as
apache/kafka's image takes them) and `POKDENG_TEST_REDIS_IMAGE` (arguments as redis' own takes them);
`scripts/images/without-a-registry` makes such.

testcontainers' own `KafkaContainer` needs the start script of another vendor's image, its `RedisContainer` looks for
the published port at the bridge's gateway wherever there is a /.dockerenv: the plain container serves for both.
"""

from __future__ import annotations

import os
import socket
import struct
import time
from contextlib import contextmanager, suppress
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

KAFKA_IMAGE = os.environ.get("POKDENG_TEST_KAFKA_IMAGE") or "apache/kafka:4.4.0"
REDIS_IMAGE = os.environ.get("POKDENG_TEST_REDIS_IMAGE") or "redis:7.4-alpine"

_START_SECONDS = 120.0
_API_VERSIONS = struct.pack(">ihhih", 10, 18, 0, 1, -1)
"""The one request that any broker answers to anybody: length, ApiVersions, version 0, a number, no client id."""
_PING = b"PING\r\n"


@cache
def has_image(image: str) -> bool:
    """Whether a Docker engine of this machine answers and has this image already."""
    try:
        docker: Any = import_module("docker")
    except ModuleNotFoundError:
        return False
    try:
        client = docker.from_env(timeout=3)
        client.images.get(image)
        is_local: bool = client.api.base_url.startswith("http+docker:")  # a socket in the file system
    except docker.errors.DockerException:
        return False
    client.close()
    return is_local


@contextmanager
def kafka_container(settings: Mapping[str, str]) -> Iterator[str]:
    """One broker with these settings, for the time of the block. Yields its address.

    A broker must say an address that its clients can use, so the port is chosen before it starts.
    """
    port = _free_port()
    own = {
        "listeners": "PLAINTEXT://:9092,BROKER://:9094,CONTROLLER://:9093",
        "advertised.listeners": f"PLAINTEXT://127.0.0.1:{port},BROKER://localhost:9094",
        "inter.broker.listener.name": "BROKER",
        "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,BROKER:PLAINTEXT,CONTROLLER:PLAINTEXT",
        "controller.quorum.voters": "1@localhost:9093",
    }
    variables = {f"KAFKA_{name.upper().replace('.', '_')}": value for name, value in {**settings, **own}.items()}
    with _container(KAFKA_IMAGE, inside=9092, port=port, variables=variables, question=_API_VERSIONS):
        yield f"127.0.0.1:{port}"


@contextmanager
def redis_container(options: Mapping[str, str]) -> Iterator[str]:
    """One empty server with these options, for the time of the block. Yields its address."""
    port = _free_port()
    command = [part for name, value in options.items() for part in (f"--{name}", value)]
    with _container(REDIS_IMAGE, inside=6379, port=port, command=command, question=_PING):
        yield f"redis://127.0.0.1:{port}/0"


@contextmanager
def _container(
    image: str,
    *,
    inside: int,
    port: int,
    question: bytes,
    variables: Mapping[str, str] | None = None,
    command: Sequence[str] | None = None,
) -> Iterator[None]:
    """A container whose port `inside` is published on 127.0.0.1, once what is in it answers a question."""
    os.environ.setdefault("TESTCONTAINERS_RYUK_DISABLED", "true")  # it would be pulled; the block's end stops ours
    container: Any = import_module("testcontainers.core.container").DockerContainer(image)
    container.ports[inside] = ("127.0.0.1", port)
    for name, value in (variables or {}).items():
        container.with_env(name, value)
    if command:
        container.with_command(list(command))
    with container:
        _wait_until_it_answers(image, container, port, question)
        yield


def _wait_until_it_answers(image: str, container: Any, port: int, question: bytes) -> None:
    deadline = time.monotonic() + _START_SECONDS
    wrapped = container.get_wrapped_container()
    while time.monotonic() < deadline:
        if _answers(port, question):
            return
        wrapped.reload()
        if wrapped.status == "exited":
            raise RuntimeError(f"{image} ended: {wrapped.logs()[-2000:].decode(errors='replace')}")
        time.sleep(0.1)
    raise TimeoutError(f"{image} did not answer on port {port} within {_START_SECONDS} s")


def _answers(port: int, question: bytes) -> bool:
    """Whether there is an answer: the engine takes connections to a published port before anybody is behind it."""
    with suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=2) as asked:
        asked.sendall(question)
        return bool(asked.recv(4))
    return False


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
