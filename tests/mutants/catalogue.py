"""Seeded bugs, for the simulation to find: each a function that puts one into the service, by monkeypatching."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable

    import pytest

Mutant: TypeAlias = "Callable[[pytest.MonkeyPatch], None]"

MUTANTS: Final[list[Mutant]] = []
"""All of them, in the order in which they are written down."""


def mutant(put: Mutant) -> Mutant:
    """Enter a bug in the list. Its docstring says what bug it is."""
    MUTANTS.append(put)
    return put
