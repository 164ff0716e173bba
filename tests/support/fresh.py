"""Seeds that nobody has tried before: drawn once a run, the same in all of its processes, and told at its end."""

from __future__ import annotations

import os
import random

NAME = "POKDENG_FRESH_SEED"


def draw_fresh_seed() -> None:
    """Draw it, unless it is given; the processes that this one starts have it, too."""
    os.environ.setdefault(NAME, str(random.SystemRandom().randrange(1_000_000, 2**31)))


def fresh_seed() -> int:
    """The seed of this run."""
    draw_fresh_seed()
    return int(os.environ[NAME])
