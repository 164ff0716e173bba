"""What `helm test` runs, against a real worker: that of a demo."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.helm.chart import CHART
from tests.support.kafka import free_port

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(scope="module")
def pages() -> Iterator[int]:
    """The port of a worker's pages, for as long as it plays."""
    port = free_port()
    demo = subprocess.Popen(  # noqa: S603 - our own words
        [
            *(sys.executable, "-m", "pokdeng", "demo", "--json", "--seed", "7", "--http-port", str(port)),
            *("--tables", "1", "--rounds", "100000", "--rate", "50"),
        ],
        stdout=subprocess.DEVNULL,
    )
    try:
        yield port
    finally:
        demo.terminate()
        demo.wait(60)


def smoke(port: int, *, workers: int, within_s: float) -> subprocess.CompletedProcess[str]:
    """Run the smoke test as the pod does, against a port of this machine."""
    told = {"SMOKE_HOST": "127.0.0.1", "SMOKE_PORT": port, "SMOKE_WORKERS": workers, "SMOKE_WITHIN_S": within_s}
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    return subprocess.run(  # noqa: S603 - our own words
        [sys.executable, "-c", (CHART / "files" / "smoke.py").read_text()],
        env={**os.environ, "PATH": path, **{name: str(value) for name, value in told.items()}},
        check=False,
        capture_output=True,
        text=True,
    )


def test_a_ready_worker_passes(pages: int) -> None:
    """It waits for the worker to be ready, and ends with 0."""
    done = smoke(pages, workers=1, within_s=60)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "1 workers are ready" in done.stdout


def test_a_missing_worker_fails(pages: int) -> None:
    """One worker where there should be two is named, and ends with 1."""
    done = smoke(pages, workers=2, within_s=0)
    assert done.returncode == 1
    assert "1 workers have an address, 2 should" in done.stdout


def test_a_worker_that_does_not_answer_fails() -> None:
    """A page that nobody serves is named, and ends with 1."""
    done = smoke(free_port(), workers=1, within_s=0)
    assert done.returncode == 1
    assert "127.0.0.1: not ready" in done.stdout
