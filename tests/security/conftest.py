"""One broker that asks who is there, for all tests here; where none can be started they are skipped."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

from pokdeng.cli import main
from pokdeng.wire import TopicKind
from pokdeng.wire.rights import Role
from tests.support.kafka import runs_natively
from tests.support.secure_kafka import granted, secure_kafka
from tests.support.secure_redis import secure_redis, tls_server

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.support.secure_kafka import SecureKafka
    from tests.support.secure_redis import SecureRedis

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


def with_topics(broker: SecureKafka, prefix: str, partitions: int = 2) -> int:
    """Rights as `pokdeng topics acls` prints them, and topics, created by the role that may. How many rights."""
    who = [f"--principal={role}=User:{PREFIX}-{role}" for role in Role]
    arguments = ["topics", "acls", "--prefix", prefix, "--group", f"{PREFIX}-settlement", *who]
    given = granted(broker, CliRunner().invoke(main, arguments).stdout.splitlines())
    assert given == len(json.loads(CliRunner().invoke(main, [*arguments, "--json"]).stdout))
    sizes = ["--partitions", str(partitions), "--replication", "1"]
    created = CliRunner().invoke(
        main, ["topics", "create", "--prefix", prefix, *sizes], env=broker.variables(f"{PREFIX}-{Role.ADMIN}")
    )
    assert created.exit_code == 0, created.output
    assert created.stdout.count("created") == len(TopicKind)
    return given


@pytest.fixture(scope="session")
def redis(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SecureRedis]:
    """A Redis with TLS and the users of `ops/redis/users.acl`."""
    binary = tls_server()
    if binary is None:
        if os.environ.get("POKDENG_REQUIRE_REDIS") == "1":
            pytest.fail("POKDENG_REQUIRE_REDIS=1, but no server here was built with TLS")
        pytest.skip("no Redis here was built with TLS")
    with secure_redis(binary, tmp_path_factory.mktemp("redis")) as server:
        yield server
