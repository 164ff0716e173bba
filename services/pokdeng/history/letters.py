"""Dead letters as people are shown them: where they lie, why they died, what was done about them.

What a letter's value says is looked at only to tell which round it is about, and whether it may be shown: no card of a
round may be seen before its betting is closed, and whoever wrote a record that is none may have put one anywhere.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, get_args

from pokdeng.events.inputs import (
    BetCancelled,
    BetPlaced,
    BettingClosed,
    FundsDeposited,
    FundsWithdrawn,
    InputEvent,
    ShoeStarted,
)
from pokdeng.rules import Card, InvalidCardError
from pokdeng.wire import ActionInfo, DeadLetterInfo, MalformedRecordError, TopicKind, read_action, read_info
from pokdeng.wire.inputs import decode_table_event, input_rules
from pokdeng.wire.strict_json import NotJsonError, parse_strictly

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pokdeng.stream.port import Record
    from pokdeng.wire import Topics

_NAMES_WITHOUT_CARDS: Final = {
    TopicKind.BETS: frozenset({"type", *input_rules(BetPlaced), *input_rules(BetCancelled)}),
    TopicKind.FUNDS: frozenset({"type", *input_rules(FundsDeposited), *input_rules(FundsWithdrawn)}),
}
_TYPES: Final = frozenset(event.event_type for event in get_args(InputEvent))
_ID_BYTES_MAX: Final = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class Letter:
    """One dead letter: its record, why it died, what it is about as far as that can be read, what was done about it."""

    record: Record
    info: DeadLetterInfo
    about: dict[str, Any]
    """The members of its value, where that is a JSON object; else empty. Not to be shown: see `may_be_shown`."""
    action: ActionInfo | None = None

    @property
    def place(self) -> tuple[int, int]:
        """Partition and offset on the dead-letter topic."""
        return self.record.partition, self.record.offset

    @property
    def origin(self) -> tuple[str, int, int]:
        """Topic, partition and offset of the record that died."""
        return self.info.topic, self.info.partition, self.info.offset

    @property
    def event_type(self) -> str | None:
        """The `type` of its value, if it is that of an input; another could be anything, a card too."""
        said = self.about.get("type")
        return said if isinstance(said, str) and said in _TYPES else None

    @property
    def round_name(self) -> tuple[str, str] | None:
        """The table and round that its value names."""
        table, round_ = self.about.get("table_id"), self.about.get("round_id")
        return (table, round_) if isinstance(table, str) and isinstance(round_, str) else None

    @property
    def shown_key(self) -> str:
        """Its key, where that is what a key can be and no card; else its length."""
        key = self.record.key
        if key is None:
            return "none"
        text = key.decode("ascii", errors="replace")
        is_plain = len(key) <= _ID_BYTES_MAX and text.isascii() and text.isprintable() and " " not in text
        return text if is_plain and not _is_card(text) else f"{len(key):,} bytes"

    @property
    def is_close(self) -> bool:
        """Whether it is, or may be, a `betting_closed`: put back it would move the end of betting."""
        return self.about.get("type") == BettingClosed.event_type or b"betting_closed" in (self.record.value or b"")

    def may_be_shown(self, topics: Topics) -> bool:
        """Whether its value shows no card, whatever round it is about.

        That is so of a value of `bets` or `funds` with no other members than theirs and of a sound shoe. Whether
        another's may be seen depends on whether the betting of its round is closed (`round_name`).
        """
        kind = topics.kind_of(self.info.topic)
        if not self.record.value or self.info.is_truncated:
            return True
        if kind is TopicKind.TABLE_EVENTS:
            return self._is_sound_shoe()
        names = frozenset[str]() if kind is None else _NAMES_WITHOUT_CARDS.get(kind, frozenset())
        return bool(self.about) and self.about.keys() <= names and not any(map(_holds_card, self.about.values()))

    def _is_sound_shoe(self) -> bool:
        try:
            event = decode_table_event(self.record.value)
        except MalformedRecordError:
            return False
        return isinstance(event, ShoeStarted) and self.about.keys() == {"type", *input_rules(ShoeStarted)}


def letters_of(records: Iterable[Record]) -> list[Letter]:
    """The letters among records of the dead-letter topic, in order, each with what was done about it.

    What is neither letter nor action is passed over: another program wrote it.
    """
    letters: dict[tuple[int, int], Letter] = {}
    actions: dict[tuple[int, int], ActionInfo] = {}
    for record in records:
        try:
            action = read_action(record.headers)
            if action is None:
                letters[record.partition, record.offset] = letter_of(record)
            else:
                actions.setdefault((action.partition, action.offset), action)
        except ValueError:
            continue
    return [
        letter
        if place not in actions
        else Letter(record=letter.record, info=letter.info, about=letter.about, action=actions[place])
        for place, letter in letters.items()
    ]


def letter_of(record: Record) -> Letter:
    """A letter from its record.

    Raises:
        ValueError: when it is none.
    """
    return Letter(record=record, info=read_info(record.headers), about=_members_of(record.value))


def _members_of(value: bytes | None) -> dict[str, Any]:
    if value is None:
        return {}
    try:
        said = parse_strictly(value).value
    except NotJsonError:
        return {}
    return said if isinstance(said, dict) else {}


def _holds_card(value: object) -> bool:
    return isinstance(value, dict | list) or (isinstance(value, str) and _is_card(value))


def _is_card(text: str) -> bool:
    try:
        Card.parse(text.strip().capitalize())
    except InvalidCardError:
        return False
    return True
