"""What the audit knows of one round: its table events, its bets while it goes on, and sums of them afterwards."""

from __future__ import annotations

from array import array
from collections import defaultdict
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from pokdeng.history.audit.facts import Content, Fact, HandSaid
    from pokdeng.stream.port import Record

STANDING, REJECTED, WITHDRAWN, SETTLED, REVERSED = range(5)
"""What became of a bet so far."""
STATES = ("standing", "rejected", "withdrawn", "settled", "reversed")


class Bet:
    """One bet of a round that goes on."""

    __slots__ = ("at_ms", "content", "digest", "offset", "reason", "returned", "revision", "state", "taken", "where")

    def __init__(self, content: Content, taken: int, state: int, offset: int) -> None:
        """As it was decided; `offset` is that of the `bets` record."""
        self.content = content
        self.taken = taken
        self.state = state
        self.offset = offset
        self.at_ms: int | None = None
        """Broker time of that record; None where it is no longer kept."""
        self.reason = ""
        self.returned = 0
        self.revision = 0
        self.digest = 0
        """A hash of its decision's bytes."""
        self.where = ""
        """Where that lies."""


class TableEvent(NamedTuple):
    """A table event that may count: unless it is a dead letter."""

    offset: int
    at_ms: int
    type: str
    seat: str
    position: int
    card: str


class Revision:
    """What was said of a round in one revision."""

    __slots__ = ("bets", "digest", "hands", "is_judged", "options", "record", "returned", "said", "seen", "taken")

    def __init__(self) -> None:
        """Nothing yet."""
        self.bets = 0
        self.is_judged = False
        self.taken: defaultdict[str, int] = defaultdict(int)
        self.returned: defaultdict[str, int] = defaultdict(int)
        self.digest = 0
        """The sum over its bets of the hashes of their content and what was returned: the same in any order."""
        self.options: defaultdict[tuple[str, str], list[int]] = defaultdict(lambda: [0, 0, 0, 0])
        """By option and currency: bets, stakes, taken, returned; of settled bets."""
        self.hands: dict[str, HandSaid] = {}
        """The hands that its bets were settled by, by seat."""
        self.said: Fact | None = None
        """The round's own record."""
        self.record: Record | None = None
        self.seen: Record | None = None
        """The first settlement of it."""

    def add(self, bet_id: str, content: Content, taken: int, returned: int) -> None:
        """One more bet."""
        self.bets += 1
        self.taken[content[3]] += taken
        self.returned[content[3]] += returned
        self.digest = (self.digest + hash((bet_id, content, taken, returned))) & 0xFFFF_FFFF_FFFF_FFFF


class RoundState:
    """One round."""

    __slots__ = (
        "base_cards",
        "base_offset",
        "bets",
        "events",
        "is_folded",
        "known",
        "last_ms",
        "name",
        "partition",
        "reversals",
        "revisions",
    )

    def __init__(self, name: tuple[str, str], partition: int) -> None:
        """Nothing known yet; `partition` is that of its table."""
        self.name = name
        self.partition = partition
        self.bets: dict[str, Bet] = {}
        self.revisions: dict[int, Revision] = {}
        self.reversals: dict[int, Revision] = {}
        """What each revision reversed: the sums of the one before it, if all is well."""
        self.events: list[TableEvent] = []
        self.base_cards: dict[tuple[str, int], str] = {}
        """The cards as of `base_offset`, once the events up to it were folded away."""
        self.base_offset = -1
        self.known: array[Any] = array("q")
        """Hashes of what was decided, once the bets were folded away: to know a duplicate that comes later."""
        self.is_folded = False
        self.last_ms = 0

    def revision(self, number: int) -> Revision:
        """What is known of a revision."""
        found = self.revisions.get(number)
        if found is None:
            found = self.revisions[number] = Revision()
        return found

    def reversal(self, number: int) -> Revision:
        """What is known of what a revision reversed."""
        found = self.reversals.get(number)
        if found is None:
            found = self.reversals[number] = Revision()
        return found

    def has_decided(self, bet_id: str, content: Content | None = None) -> bool:
        """Whether a bet of that id, and of that content if one is given, was decided."""
        bet = self.bets.get(bet_id)
        if bet is not None and bet.offset >= 0:
            return content is None or bet.content == content
        return hash_of(bet_id, *(content or ())) in self.known

    def is_behind(self, offset: int) -> bool:
        """Whether a place in `bets` is behind the round's seal."""
        return any(one.said is not None and offset >= one.said.seal for one in self.revisions.values())

    def cards_at(self, offset: int, dead: set[tuple[str, int, int]], topic: str) -> dict[tuple[str, int], str]:
        """The cards that lie after the table event at an offset."""
        cards = dict(self.base_cards)
        for event in self.events:
            if self.base_offset < event.offset <= offset and (topic, self.partition, event.offset) not in dead:
                if event.type == "card_dealt":
                    cards.setdefault((event.seat, event.position), event.card)
                elif event.type == "card_corrected":
                    cards[event.seat, event.position] = event.card
        return cards


def hash_of(*parts: object) -> int:
    """A hash that an `array` of eight-byte integers takes."""
    return hash(parts)
