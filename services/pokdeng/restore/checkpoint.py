"""A checkpoint: what the facts came to at a vector of offsets, kept on a compacted topic."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from pokdeng.restore.fold import Fold, Sink
    from pokdeng.restore.reading import Offsets


class Checkpoint(Protocol):
    """A complete checkpoint."""

    offsets: Offsets
    """What lies below is in it."""
    ids_from: Offsets
    """From where what is only to be remembered must be read."""

    async def load(self, fold: Fold, sink: Sink | None) -> None:
        """Put it into a fold: accounts, bets that are not finished, and what was early."""
