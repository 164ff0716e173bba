"""The log is not the one that the ledger was filled from: topics were made anew under the same names."""

from __future__ import annotations


class AnotherLogError(Exception):
    """The ledger remembers more of the log than there is. Nothing may be read: use another prefix, or both anew."""

    def __init__(self, remembered: str, end: int) -> None:
        """What the ledger remembers, and where the log ends."""
        super().__init__(
            f"{remembered}, but the log ends at {end}: these topics are not those that the ledger was filled from. "
            "Use another --prefix, or begin with an empty Redis and empty topics"
        )
