"""What all tests share: one broker and one store a session, and a line that says which they are."""

from __future__ import annotations

import asyncio
import os
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from pokdeng.ledger.embedded import EmbeddedServer, server_binary
from pokdeng.ledger.port import LedgerError
from tests.support.kafka import is_at_hand, kafka_for_tests

if TYPE_CHECKING:
    from collections.abc import Iterator

_GIVEN_REDIS = os.environ.get("POKDENG_TEST_REDIS", "")
_IS_REDIS_REQUIRED = os.environ.get("POKDENG_REQUIRE_REDIS") == "1"


def pytest_report_header() -> list[str]:
    """Say which broker and store this run uses."""
    given = os.environ.get("POKDENG_TEST_KAFKA")
    if given:
        broker = f"Apache Kafka at {given}, and the in-memory log"
    elif is_at_hand():
        broker = "Apache Kafka started for this run, and the in-memory log"
    else:
        broker = "the in-memory log only (no POKDENG_TEST_KAFKA, no Docker image, no Java with Maven)"
    try:
        embedded = Path(server_binary()).name
    except LedgerError as error:
        embedded = f"none ({error})"
    store = f"Redis at {_GIVEN_REDIS}, and {embedded}" if _GIVEN_REDIS else f"{embedded}, started for this run"
    return [f"broker: {broker}", f"store: {store}, and the in-memory ledger"]


def pytest_configure() -> None:
    """Where Redis is required, an address must be given."""
    if _IS_REDIS_REQUIRED and not _GIVEN_REDIS:
        raise pytest.UsageError("POKDENG_REQUIRE_REDIS=1, but POKDENG_TEST_REDIS names no server")


@pytest.fixture(scope="session")
def kafka_bootstrap() -> Iterator[str]:
    """The address of the session's broker."""
    with kafka_for_tests() as kafka:
        if kafka is None:
            pytest.fail("POKDENG_REQUIRE_KAFKA=1, but there is no address, image, or Java with Maven")
        yield kafka.bootstrap


@pytest.fixture(scope="session")
def server_url() -> Iterator[str]:
    """An embedded store for all tests of the session that need none of their own."""
    folder = Path(tempfile.mkdtemp(prefix="pokdeng-redis-"))
    server = EmbeddedServer(folder)
    asyncio.run(server.start())
    try:
        yield server.url
    finally:
        asyncio.run(server.stop())
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="session")
def redis_url(request: pytest.FixtureRequest) -> str:
    """The store that `POKDENG_TEST_REDIS` names, else the embedded one."""
    if _GIVEN_REDIS:
        return _GIVEN_REDIS
    url: str = request.getfixturevalue("server_url")
    return url
