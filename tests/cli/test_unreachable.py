"""Nobody answers at an address, or somebody has it: one sentence names it, how long it was tried, and what to do."""

from __future__ import annotations

import json
import re
import socket
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

from pokdeng.cli import main

if TYPE_CHECKING:
    from collections.abc import Iterator

COMMANDS = (
    "topics check",
    "topics create",
    "rounds show T R",
    "rounds explain T R B",
    "rounds cancel T R --reason x --yes",
    "rounds resume T R --reason x --yes",
    "dead-letters list",
    "dead-letters show 0:0",
    "dead-letters replay 0:0 --yes",
    "dead-letters discard 0:0 --note x --yes",
    "audit",
    "simulate --rounds 1",
    "balances checkpoint",
    "demo --rounds 1",
)
NO_KAFKA = (
    r"Error: no connection to Kafka at 127\.0\.0\.1:{port} \(connection refused\) within [0-9.]+ s, tried once: "
    r"does it run there, and are --bootstrap and --kafka-security right\?"
)


@pytest.fixture
def closed_port() -> Iterator[int]:
    """A port that nobody listens at, and nobody else can take."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        yield taken.getsockname()[1]


@pytest.fixture
def taken_port() -> Iterator[int]:
    """A port that somebody listens at."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        yield taken.getsockname()[1]


@pytest.mark.parametrize("command", COMMANDS)
def test_a_broker_that_does_not_answer_is_named(command: str, closed_port: int) -> None:
    """Exit 1 and one line on standard error; nothing on standard output, no traceback, no line of a library."""
    result = CliRunner().invoke(main, [*command.split(), "--bootstrap", f"127.0.0.1:{closed_port}"])
    assert result.exit_code == 1
    assert re.fullmatch(NO_KAFKA.format(port=closed_port), result.stderr.strip()), result.stderr
    assert result.stdout == ""


def test_every_broker_is_named_with_its_reason(closed_port: int, taken_port: int) -> None:
    """In the order in which they were given; a name that cannot be resolved is none that refused."""
    addresses = f"127.0.0.1:{closed_port},nobody.invalid:{taken_port}"
    result = CliRunner().invoke(main, ["topics", "check", "--bootstrap", addresses])
    assert result.exit_code == 1
    first, _, second = result.stderr.partition(", nobody.invalid:")
    assert first == f"Error: no connection to Kafka at 127.0.0.1:{closed_port} (connection refused)"
    assert "(connection refused)" not in second
    assert ", each tried once: " in second


def test_a_worker_whose_port_is_taken_says_so_and_ends(taken_port: int) -> None:
    """Exit 1, with the address and how to take another; before Kafka or Redis are asked for anything."""
    done = subprocess.run(  # noqa: S603 - our own words
        [sys.executable, "-m", "pokdeng", "worker", "--http-port", str(taken_port)],
        check=False,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 1
    (line,) = done.stderr.splitlines()
    assert json.loads(line)["why"] == (
        f"no pages at 127.0.0.1:{taken_port} (address already in use), tried once: "
        "does another worker run? --http-port 0 takes a free one"
    )


def test_a_demo_whose_port_is_taken_says_so_and_ends(taken_port: int) -> None:
    """As a worker does."""
    result = CliRunner().invoke(main, ["demo", "--rounds", "1", "--http-port", str(taken_port)])
    assert result.exit_code == 1
    assert f"Error: no pages at 127.0.0.1:{taken_port} (address already in use)" in result.stderr


def test_a_demo_without_a_store_says_so_and_ends() -> None:
    """What is named as the server cannot be run."""
    result = CliRunner().invoke(main, ["demo", "--rounds", "1"], env={"REDIS_SERVER": "/nonexistent/redis"})
    assert result.exit_code == 1
    assert "/nonexistent/redis cannot be run (No such file or directory): is REDIS_SERVER right?" in result.stderr
