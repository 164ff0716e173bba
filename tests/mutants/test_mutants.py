"""The simulation can fail: each seeded bug is found by it within 200 worlds, in which the service itself fails none."""

from __future__ import annotations

import gc

import pytest

from tests.mutants import of_decisions, of_progress, of_revisions, of_the_ledger
from tests.mutants.catalogue import MUTANTS, Mutant
from tests.simulation.inputs import spec_of
from tests.simulation.runs import quiet
from tests.simulation.world import run_world

WITHIN = 200
"""Of the fixed worlds of `tests/simulation/test_simulation.py`, which the service passes."""
FIRST: tuple[int, ...] = (0, 1, 4, 6, 14, 16, 89, 100, 110, 133, 204, 207, 333, 430)
"""Worlds in which much is found: tried first."""
FILES = (of_decisions, of_progress, of_revisions, of_the_ledger)


def seeds() -> list[int]:
    """All of them, in the order in which they are tried."""
    return [*FIRST, *(seed for seed in range(WITHIN) if seed not in FIRST)][:WITHIN]


@pytest.mark.parametrize("put", MUTANTS, ids=lambda put: put.__name__)
def test_the_simulation_finds(put: Mutant, monkeypatch: pytest.MonkeyPatch) -> None:
    """A service with this bug breaks a promise in one of the worlds."""
    put(monkeypatch)
    with quiet():
        for number, seed in enumerate(seeds()):
            if run_world(spec_of(seed)).is_failed:
                return
            if number % 25 == 0:
                gc.collect()
    pytest.fail(f"not found within {WITHIN} worlds: {put.__doc__}")


def test_there_are_enough_bugs_each_told_in_a_sentence() -> None:
    """At least 25, each with a name of its own and a docstring."""
    assert len({put.__name__ for put in MUTANTS}) == len(MUTANTS) >= 25
    assert all(put.__doc__ for put in MUTANTS)
    assert {put.__module__ for put in MUTANTS} == {file.__name__ for file in FILES}
