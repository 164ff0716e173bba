"""One broker that asks who is there, for all tests here; where none can be started they are skipped."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from pokdeng.wire.rights import Role
from tests.support.kafka import runs_natively
from tests.support.secure_kafka import secure_kafka

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.support.secure_kafka import SecureKafka

PREFIX = "secure"


@pytest.fixture(scope="session")
def kafka(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SecureKafka]:
    """The broker; its users are the roles', named as `topics acls` names them for the prefix of these tests."""
    if not runs_natively():
        if os.environ.get("POKDENG_REQUIRE_KAFKA") == "1":
            pytest.fail("POKDENG_REQUIRE_KAFKA=1, but there is no Java with Maven")
        pytest.skip("no Apache Kafka can be started here: no Java with Maven")
    users = [*(f"{PREFIX}-{role}" for role in Role), "stranger"]
    with secure_kafka(tmp_path_factory.mktemp("kafka"), users) as broker:
        yield broker
