"""What all tests share: one broker and one store a session, and a line that says which they are."""

from __future__ import annotations

import asyncio
import logging
import os
import shutil
import tempfile
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import structlog

from pokdeng.ledger.embedded import EmbeddedServer, server_binary
from pokdeng.ledger.port import LedgerError
from tests.support.containers import KAFKA_IMAGE, REDIS_IMAGE, has_image, redis_container
from tests.support.fresh import NAME, draw_fresh_seed, fresh_seed
from tests.support.kafka import is_at_hand, kafka_for_tests

if TYPE_CHECKING:
    from collections.abc import Iterator

    from _pytest.terminal import TerminalReporter

_GIVEN_REDIS = os.environ.get("POKDENG_TEST_REDIS", "")
SERVER_OPTIONS = {
    "save": "",
    "appendonly": "yes",
    "maxmemory-policy": "noeviction",
    "hash-max-listpack-entries": "128",
    "hash-max-listpack-value": "128",
}
"""As production's, see docs/operating.md."""
_IS_REDIS_REQUIRED = os.environ.get("POKDENG_REQUIRE_REDIS") == "1"


def pytest_report_header() -> list[str]:
    """Say which broker and store this run uses."""
    given = os.environ.get("POKDENG_TEST_KAFKA")
    if given:
        broker = f"Apache Kafka at {given}, and the in-memory log"
    elif has_image(KAFKA_IMAGE):
        broker = f"Apache Kafka in a container of {KAFKA_IMAGE}, and the in-memory log"
    elif is_at_hand():
        broker = "Apache Kafka started for this run, and the in-memory log"
    else:
        broker = "the in-memory log only (no POKDENG_TEST_KAFKA, no Docker image, no Java with Maven)"
    try:
        embedded = Path(server_binary()).name
    except LedgerError as error:
        embedded = f"none ({error})"
    store = f"{embedded}, started for this run"
    if _GIVEN_REDIS:
        store = f"Redis at {_GIVEN_REDIS}, and {store}"
    elif has_image(REDIS_IMAGE):
        store = f"Redis in a container of {REDIS_IMAGE}, and {store}"
    return [f"broker: {broker}", f"store: {store}, and the in-memory ledger"]


def pytest_configure(config: pytest.Config) -> None:
    """Where Redis is required, an address must be given. Processes that share the tests share a broker and seeds."""
    if _IS_REDIS_REQUIRED and not _GIVEN_REDIS:
        raise pytest.UsageError("POKDENG_REQUIRE_REDIS=1, but POKDENG_TEST_REDIS names no server")
    draw_fresh_seed()
    shares_tests = bool(config.getoption("numprocesses", None)) and not hasattr(config, "workerinput")
    if shares_tests and not os.environ.get("POKDENG_TEST_KAFKA") and is_at_hand():
        broker = ExitStack()
        kafka = broker.enter_context(kafka_for_tests())
        if kafka is not None:
            os.environ["POKDENG_TEST_KAFKA"] = kafka.bootstrap
        config.add_cleanup(broker.close)


def pytest_terminal_summary(terminalreporter: TerminalReporter) -> None:
    """Say which seeds were fresh, so that they can be played again."""
    terminalreporter.write_line(f"fresh seeds from {fresh_seed()} (again: {NAME}={fresh_seed()})")


@pytest.fixture(autouse=True)
def _logs_as_before() -> Iterator[None]:
    """What a test sets up for the logs of this process, or a command that it calls, is not for the tests after it."""
    before, levels = structlog.get_config(), {logger: logger.level for logger in _loggers()}
    yield
    structlog.configure(**before)
    for logger, level in levels.items():
        if logger.level != level:
            logger.setLevel(level)


def _loggers() -> list[logging.Logger]:
    """All that there are."""
    named = [one for one in logging.root.manager.loggerDict.values() if isinstance(one, logging.Logger)]
    return [logging.root, *named]


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
def given_redis_url() -> Iterator[str]:
    """The store that `POKDENG_TEST_REDIS` names, else one in a container."""
    if _GIVEN_REDIS:
        yield _GIVEN_REDIS
        return
    with redis_container(SERVER_OPTIONS) as url:
        yield url


@pytest.fixture(scope="session")
def redis_url(request: pytest.FixtureRequest) -> str:
    """The store that `POKDENG_TEST_REDIS` names, else one in a container, else the embedded one."""
    if _GIVEN_REDIS or has_image(REDIS_IMAGE):
        given: str = request.getfixturevalue("given_redis_url")
        return given
    url: str = request.getfixturevalue("server_url")
    return url
