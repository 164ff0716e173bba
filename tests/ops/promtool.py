"""Prometheus' own checker. Where it is not installed tests of it are skipped, unless `POKDENG_REQUIRE_PROMTOOL=1`."""

from __future__ import annotations

import os
import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path


def promtool(*arguments: str | Path) -> str:
    """What it says; fails the test where it is not content."""
    found = shutil.which("promtool")
    if found is None:
        if os.environ.get("POKDENG_REQUIRE_PROMTOOL") == "1":
            pytest.fail("POKDENG_REQUIRE_PROMTOOL=1, but there is no promtool")
        pytest.skip("no promtool (Debian: prometheus)")
    ended = subprocess.run([found, *arguments], capture_output=True, text=True, check=False)  # noqa: S603 - given here
    assert ended.returncode == 0, ended.stdout + ended.stderr
    return ended.stdout
