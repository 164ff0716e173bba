"""How bets that are reversed and settled anew look to `scripts/revise.lua`: grouped into script calls. No I/O."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pokdeng.ledger.encoding import MAX_OPERATIONS_A_CALL, encode

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pokdeng.events.ids import AccountId, BetId, RoundId, TableId
    from pokdeng.ledger.values import Revise, Source


class RevisionCall:
    """The revisions of one script call: all in one bucket, in order, each bet once, those of a round side by side."""

    __slots__ = ("_last", "_names", "_ops", "_rounds", "bucket", "positions", "sources")

    def __init__(self, bucket: int) -> None:
        """Begin without any."""
        self.bucket = bucket
        self.positions: list[int] = []
        """Where the answers belong."""
        self.sources: dict[Source, None] = {}
        self._names: dict[AccountId, int] = {}
        self._rounds: dict[tuple[TableId, RoundId], dict[BetId, None]] = {}
        self._last: tuple[TableId, RoundId] | None = None
        self._ops: list[int] = []

    def takes(self, revise: Revise) -> bool:
        """Whether it can be the next of this call."""
        name = (revise.table, revise.round)
        bets = self._rounds.get(name)
        if len(self.positions) >= MAX_OPERATIONS_A_CALL:
            return False
        return bets is None or (name == self._last and revise.bet_id not in bets)

    def add(self, position: int, revise: Revise) -> None:
        """Append one that it takes."""
        self._last = (revise.table, revise.round)
        self._rounds.setdefault(self._last, {})[revise.bet_id] = None
        self.positions.append(position)
        self.sources[revise.source] = None
        account = self._names.setdefault(revise.account, len(self._names) + 1)
        self._ops += (account, revise.reversed, revise.returned, revise.revision)

    def keys(self, prefix: str) -> list[str]:
        """All keys that the script touches, in its order."""
        tag = f"{prefix}:{{{self.bucket}}}"
        return [f"{tag}m", f"{tag}a", *[f"{tag}r:{table}|{round_}" for table, round_ in self._rounds]]

    def payload(self, heads: Sequence[int | str]) -> bytes:
        """The script's argument."""
        counts = [len(bets) for bets in self._rounds.values()]
        ids = [bet_id for bets in self._rounds.values() for bet_id in bets]
        return encode((heads, list(self._names), counts, ids, self._ops))


def calls_of_revisions(revisions: Sequence[Revise], bucket_of: Callable[[AccountId], int]) -> list[RevisionCall]:
    """Group revisions by bucket, keeping their order, at most `MAX_OPERATIONS_A_CALL` a call."""
    calls: list[RevisionCall] = []
    filling: dict[int, RevisionCall] = {}
    for position, revise in enumerate(revisions):
        bucket = bucket_of(revise.account)
        call = filling.get(bucket)
        if call is None or not call.takes(revise):
            call = filling[bucket] = RevisionCall(bucket)
            calls.append(call)
        call.add(position, revise)
    return calls
