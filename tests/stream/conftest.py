"""One broker a session, where there is one; every test of the contract runs over both logs."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from tests.stream.worlds import OpenWorld, kafka_world, memory_world
from tests.support.kafka import is_at_hand, kafka_for_tests

if TYPE_CHECKING:
    from collections.abc import Iterator

_IS_REQUIRED = os.environ.get("POKDENG_REQUIRE_KAFKA") == "1"
_HAS_KAFKA = _IS_REQUIRED or is_at_hand()
_WORLDS = ["memory", "kafka"] if _HAS_KAFKA else ["memory"]
collect_ignore = [] if _HAS_KAFKA else ["test_kafka_log.py"]


@pytest.fixture(scope="session")
def kafka_bootstrap() -> Iterator[str]:
    """The address of the session's broker."""
    with kafka_for_tests() as kafka:
        if kafka is None:
            pytest.fail("POKDENG_REQUIRE_KAFKA=1, but there is no address, image, or Java with Maven")
        yield kafka.bootstrap


@pytest.fixture(params=_WORLDS)
def open_world(request: pytest.FixtureRequest) -> OpenWorld:
    """Opens a world, to be used inside the test's event loop."""
    if request.param == "memory":
        return memory_world
    return kafka_world(request.getfixturevalue("kafka_bootstrap"))
