"""The image, run for real: the one that `POKDENG_TEST_IMAGE` names, where a Docker engine of this machine has it."""

from __future__ import annotations

import json
import os
import signal
import time
from contextlib import contextmanager
from importlib import import_module
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.containers import has_image

if TYPE_CHECKING:
    from collections.abc import Iterator

IMAGE = os.environ.get("POKDENG_TEST_IMAGE", "")
RESTRICTED = {
    "user": "12345:23456",
    "read_only": True,
    "cap_drop": ["ALL"],
    "security_opt": ["no-new-privileges:true"],
    "network_mode": "none",
}
"""Anybody but root, on a read-only root, with no capability and no network."""

pytestmark = pytest.mark.skipif(
    not (IMAGE and has_image(IMAGE)), reason="POKDENG_TEST_IMAGE names no image of this machine's Docker engine"
)


@contextmanager
def running(*command: str, **settings: Any) -> Iterator[Any]:
    """A container that runs a command of the image, removed after the block."""
    client = import_module("docker").from_env()
    container = client.containers.run(IMAGE, list(command), detach=True, **{**RESTRICTED, **settings})
    try:
        yield container
    finally:
        container.remove(force=True)
        client.close()


def test_anybody_plays_a_demo_on_a_read_only_root() -> None:
    """`demo --json` ends with 0 and books that balance, with nothing to write to but /tmp."""
    with running("demo", "--json", "--rounds", "3", "--rate", "0", "--seed", "7", tmpfs={"/tmp": ""}) as container:  # noqa: S108 - its own
        assert container.wait(timeout=110)["StatusCode"] == 0
        said = json.loads(container.logs(stderr=False))
    assert said["rounds"] == 24
    assert all(one["balanced"] for one in said["books"].values())


def test_the_worker_is_process_1_and_ends_on_sigterm() -> None:
    """Field failure O17: SIGTERM reaches the worker, which ends with 0 within 10 s, and it has written no file."""
    with running("worker", environment={"POKDENG_BOOTSTRAP": "127.0.0.1:9092"}) as container:
        deadline = time.monotonic() + 60
        while b'"waiting"' not in container.logs():
            assert time.monotonic() < deadline, container.logs()
            time.sleep(0.1)
        assert container.exec_run(["cat", "/proc/1/cmdline"]).output.split(b"\0")[1:] == [
            b"/opt/pokdeng/bin/pokdeng",
            b"worker",
            b"",
        ]
        before = time.monotonic()
        container.stop(timeout=30)
        assert time.monotonic() - before < 10
        container.reload()
        assert container.attrs["State"]["ExitCode"] == 0
        assert container.diff() is None


def test_a_sigterm_at_the_very_start_is_not_lost() -> None:
    """Field failure O17: stopped while it loads, it ends by the signal and not by the kill that follows."""
    with running("worker") as container:
        while not _catches_sigterm(container.exec_run(["cat", "/proc/1/status"]).output.decode()):
            time.sleep(0.02)
        container.stop(timeout=30)
        container.reload()
        assert container.attrs["State"]["ExitCode"] in (0, 143)


def _catches_sigterm(status: str) -> bool:
    """Whether a process has a handler for it; process 1 without one is not even sent it."""
    (caught,) = [line.split()[1] for line in status.splitlines() if line.startswith("SigCgt:")]
    return bool(int(caught, 16) >> (signal.SIGTERM - 1) & 1)


def test_there_is_no_compiler_and_no_health_check() -> None:
    """What builds is not in what runs; probes are Kubernetes'; the user is a number; labels say what it is."""
    with running("--version") as container:
        container.wait(timeout=60)
        said = container.logs(stderr=False).decode().strip()
        config = container.image.attrs["Config"]
    assert config["User"] == "65532:65532"
    assert not config.get("Healthcheck")
    assert config["Labels"]["org.opencontainers.image.title"] == "pokdeng-settlement"
    assert config["Labels"]["org.opencontainers.image.version"] == said
    found = "for name in gcc cc g++ make ld; do command -v $name; done; true"
    with running("-c", found, entrypoint="sh") as container:
        container.wait(timeout=60)
        assert container.logs() == b""
