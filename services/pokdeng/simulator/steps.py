"""What the simulator makes: records to send, gathered into beats."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pokdeng.wire import TopicKind


class Kind(StrEnum):
    """What a step is in the play, whatever becomes of it: the names of the summary."""

    SHOE = "shoe"
    ROUND = "round"
    CLOSE = "close"
    CARD = "card"
    CORRECTION = "correction"
    CUT_CARD = "cut_card"
    PAUSE = "pause"
    RESUME = "resume"
    ROUND_CANCEL = "round_cancel"
    BET = "bet"
    CANCEL = "cancel"
    DEPOSIT = "deposit"
    WITHDRAWAL = "withdrawal"
    REDELIVERY = "redelivery"
    """The very bytes of an earlier step."""
    CONFLICT = "conflict"
    """The id of an earlier step with other content."""
    LATE_BET = "late_bet"
    UNKNOWN_ROUND_BET = "unknown_round_bet"
    LATE_CANCEL = "late_cancel"
    EARLY_CANCEL = "early_cancel"
    FOREIGN_CANCEL = "foreign_cancel"
    OVERDRAFT = "overdraft"
    """A bet or withdrawal that no account can pay."""
    OTHER_CURRENCY = "other_currency"
    PHOTO_FINISH = "photo_finish"
    """A bet within milliseconds of its round's close: the log decides."""
    REPEATED_CARD = "repeated_card"
    """A card dealt again under another event id."""
    SEAT_CONFLICT = "seat_conflict"
    NINTH_COPY = "ninth_copy"
    SECOND_CLOSE = "second_close"
    STRAY = "stray"
    """A table event that fits no round or shoe."""
    MALFORMED = "malformed"


class Step(NamedTuple):
    """One record to send. `at_ms` is its moment in the play; `astray`: to a partition where its key does not belong."""

    at_ms: int
    topic: TopicKind
    key: bytes | None
    value: bytes | None
    kind: Kind
    astray: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Beat:
    """A stretch of the play, and a barrier at its end.

    Within a beat the order of the steps of one partition matters, and no other: the sender may batch as it likes.
    Before the next beat all must be acknowledged, and a millisecond must have passed: what the next beat holds comes
    later in broker time. A round's bets, its close and its late bets are in different beats.
    """

    number: int
    starts_at_ms: int
    lasts_ms: int
    steps: Sequence[Step]
    """By `at_ms`."""
    is_opening: bool = False
    """The first deposits: whoever wants the bets to find money waits until these are credited."""
