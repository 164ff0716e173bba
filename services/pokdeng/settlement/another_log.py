"""The log is not the one that the ledger was filled from: topics were made anew under the same names."""

from __future__ import annotations


class AnotherLogError(Exception):
    """What the ledger remembers of the log is not there. Nothing may be read: use another prefix, or both anew."""

    def __init__(self, remembered: str, end: int) -> None:
        """What the ledger remembers, and where the log ends."""
        super().__init__(
            f"{remembered}; that is not in the log, which ends at {end}: these topics are not those that the ledger "
            "was filled from. Use another --prefix, or begin with an empty Redis and empty topics"
        )
