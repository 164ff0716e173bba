"""Every test of the contract runs over both logs, where a broker is at hand."""

from __future__ import annotations

import os

import pytest

from tests.stream.worlds import OpenWorld, kafka_world, memory_world
from tests.support.kafka import is_at_hand

_IS_REQUIRED = os.environ.get("POKDENG_REQUIRE_KAFKA") == "1"
_HAS_KAFKA = _IS_REQUIRED or is_at_hand()
_WORLDS = ["memory", "kafka"] if _HAS_KAFKA else ["memory"]
collect_ignore = [] if _HAS_KAFKA else ["test_kafka_log.py"]


@pytest.fixture(params=_WORLDS)
def open_world(request: pytest.FixtureRequest) -> OpenWorld:
    """Opens a world, to be used inside the test's event loop."""
    if request.param == "memory":
        return memory_world
    return kafka_world(request.getfixturevalue("kafka_bootstrap"))
