"""The fresh seeds of this run: drawn once, and told at its end."""

from __future__ import annotations

import os
import random
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from _pytest.terminal import TerminalReporter

_GIVEN = os.environ.get("POKDENG_FRESH_SEED")
FIRST_FRESH = random.SystemRandom().randrange(1_000_000, 2**31) if _GIVEN is None else int(_GIVEN)


@pytest.fixture(scope="session")
def first_fresh() -> int:
    """The first of the seeds that nobody has tried before; `POKDENG_FRESH_SEED` names those of another run."""
    return FIRST_FRESH


def pytest_terminal_summary(terminalreporter: TerminalReporter) -> None:
    """Say which they were."""
    terminalreporter.write_line(f"simulation: fresh seeds from {FIRST_FRESH} (again: POKDENG_FRESH_SEED={FIRST_FRESH})")
