"""One ledger contract, three places to hold it in."""

from __future__ import annotations

import asyncio
import os
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from pokdeng.ledger.embedded import EmbeddedServer
from tests.ledger.cluster import redis_cluster
from tests.ledger.world import ClusterWorld, MemoryWorld, RedisWorld
from tests.support.containers import REDIS_IMAGE, has_image

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.ledger.world import World


HAS_REDIS = bool(os.environ.get("POKDENG_TEST_REDIS")) or has_image(REDIS_IMAGE)


@pytest.fixture(scope="session")
def server_url() -> Iterator[str]:
    """A server for all tests of the session that need no server of their own."""
    folder = Path(tempfile.mkdtemp(prefix="pokdeng-redis-"))
    server = EmbeddedServer(folder)
    asyncio.run(server.start())
    try:
        yield server.url
    finally:
        asyncio.run(server.stop())
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def redis_world(server_url: str) -> RedisWorld:
    """A prefix of its own on the embedded server."""
    return RedisWorld(server_url)


@pytest.fixture(scope="session")
def cluster_url() -> Iterator[str]:
    """A Redis Cluster of three masters for the whole session."""
    with asyncio.Runner() as runner:
        context = redis_cluster()
        cluster = runner.run(context.__aenter__())
        try:
            yield cluster.url
        finally:
            runner.run(context.__aexit__(None, None, None))


@pytest.fixture(params=["memory", "embedded", "cluster", *(["given"] if HAS_REDIS else [])])
def world(request: pytest.FixtureRequest) -> World:
    """The twin, the embedded server, a cluster of three, and a Redis that is given or in a container."""
    if request.param == "memory":
        return MemoryWorld()
    if request.param == "cluster":
        return ClusterWorld(str(request.getfixturevalue("cluster_url")))
    if request.param == "given":
        return RedisWorld(request.getfixturevalue("given_redis_url"))
    url: str = request.getfixturevalue("server_url")
    return RedisWorld(url)
