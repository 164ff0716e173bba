"""The fresh seeds of this run."""

from __future__ import annotations

import pytest

from tests.support.fresh import fresh_seed


@pytest.fixture(scope="session")
def first_fresh() -> int:
    """The first of the seeds that nobody has tried before; `POKDENG_FRESH_SEED` names those of another run."""
    return fresh_seed()
