"""Thousands of bad days: whatever falls, each bet is decided once and paid once, and the books balance."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.simulation.faults import Kind
from tests.simulation.inputs import spec_of
from tests.simulation.runs import explain, quiet, run_seeds
from tests.simulation.world import run_world

FIXED = 500
FRESH = 100
EACH = 25
"""Seeds a test: short enough to see which is slow."""


def none_fails(seeds: range) -> None:
    """Play the worlds of these seeds; a failing one is told with the fewest faults that are enough."""
    failed = run_seeds(seeds).failed
    assert not failed, "\n".join([f"{len(failed)} of {len(seeds)} worlds", *(explain(one.seed) for one in failed[:2])])


@pytest.mark.parametrize("first", range(0, FIXED, EACH))
def test_all_promises_hold_on_bad_days(first: int) -> None:
    """Worlds of fixed seeds: whatever goes wrong, the checker finds nothing, and reading again moves nothing."""
    none_fails(range(first, first + EACH))


@pytest.mark.parametrize("first", range(0, FRESH, EACH))
def test_all_promises_hold_on_days_nobody_has_seen(first: int, first_fresh: int) -> None:
    """Worlds of fresh seeds, told at the end of the run."""
    none_fails(range(first_fresh + first, first_fresh + first + EACH))


@pytest.mark.parametrize("seed", [1068, 1308, 1410, 1518])
def test_days_on_which_a_correction_was_lost_or_judged_anew(seed: int) -> None:
    """Worlds that found something once: a revised round was forgotten, a round took the events of its neighbour."""
    none_fails(range(seed, seed + 1))


def test_every_kind_of_fault_falls() -> None:
    """No kind of fault has silently gone out of use."""
    assert set(run_seeds(range(150)).faults) == {kind.value for kind in Kind}


@pytest.mark.parametrize("seed", [3, 20, 77])
def test_a_seed_plays_the_same_day_again(seed: int) -> None:
    """The same steps, faults and bytes at the same moments, in another process with other hashes, too."""
    with quiet():
        first, second = run_world(spec_of(seed)), run_world(spec_of(seed))
    assert first == second
    assert first.fired
    text = (
        "from tests.simulation.inputs import spec_of; from tests.simulation.runs import quiet\n"
        "from tests.simulation.world import run_world\n"
        f"with quiet(): print(run_world(spec_of({seed})).digest)"
    )
    digests = {
        subprocess.run(  # noqa: S603 - this interpreter, a text of our own
            [sys.executable, "-c", text],
            check=True,
            capture_output=True,
            text=True,
            cwd=Path(__file__).parents[2],
            env={**os.environ, "PYTHONHASHSEED": hashes},
        ).stdout.strip()
        for hashes in ("1", "2")
    }
    assert digests == {str(first.digest)}


@pytest.mark.parametrize("seed", range(10))
def test_a_list_of_faults_can_be_played_again(seed: int) -> None:
    """The faults that fell, played from their list, are the same day: so a part of the list can be tried."""
    with quiet():
        first = run_world(spec_of(seed))
        again = run_world(spec_of(seed), [fired.fault for fired in first.fired])
    assert again == first
