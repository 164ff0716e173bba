"""What does not fit together may be another's by now: asked before it is called corrupt."""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from pokdeng.ledger.port import LedgerCorruptError
from pokdeng.settlement.another_log import AnotherLogError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Collection

    from pokdeng.ledger.port import Ledger
    from pokdeng.ledger.values import Source


@asynccontextmanager
async def ours(ledger: Ledger, sources: Collection[Source]) -> AsyncIterator[None]:
    """Do something with pages that were recalled, which no fence guards.

    A worker that was stopped for long goes on with what it knew, and finds what the sources' next owner has noted
    since: it must not take that for a ledger that is corrupt, or of another log.

    Raises:
        FencedError: where the sources are another's by now, instead of what went wrong.
    """
    try:
        yield
    except (LedgerCorruptError, AnotherLogError):
        if sources:
            await ledger.renew(sources)
        raise
