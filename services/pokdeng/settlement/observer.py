"""Who is told what the engine did: the metrics, and the demo's view. Nothing of it can disturb the money path."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from pokdeng.settlement.batch import Batch


class Observer(Protocol):
    """Told by the engine; must not raise and must not block."""

    def ledger_called(self, seconds: float) -> None:
        """A batch was applied to the ledger."""

    def ledger_lost(self, cause: str) -> None:
        """The ledger was found `cold`, another incarnation (`check`) or `behind`."""

    def decisions_said(self, batch: Batch) -> None:
        """The decisions of a batch are acknowledged."""

    def settlements_said(self, batch: Batch) -> None:
        """Its settlements are acknowledged, too."""

    def batch_said(self, batch: Batch) -> None:
        """All of a batch is acknowledged, the rounds' records too."""


class SilentObserver:
    """Tells nobody."""

    def ledger_lost(self, cause: str) -> None:
        """See `Observer`."""

    def ledger_called(self, seconds: float) -> None:
        """See `Observer`."""

    def decisions_said(self, batch: Batch) -> None:
        """See `Observer`."""

    def settlements_said(self, batch: Batch) -> None:
        """See `Observer`."""

    def batch_said(self, batch: Batch) -> None:
        """See `Observer`."""
