"""Deposits and withdrawals, folded: each id names one thing, and is decided once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from tests.checker import facts
from tests.checker.parsing import Event, Read, content

if TYPE_CHECKING:
    from tests.checker.facts import Fact
    from tests.checker.records import Rec


class TransferSink(Protocol):
    """Who is told each transfer's fate, and asked whether the account can do it."""

    def dead(self, record: Rec, reason: str, shown: str | None = None) -> None:
        """It is a dead letter."""

    def duplicate(self, record: Rec) -> None:
        """It is counted, and that is all."""

    def say(self, fact: Fact) -> None:
        """A fact that must be said."""

    def transfer(self, record: Rec, event: Event) -> str | None:
        """Move the money: None, or why not."""


class Transfers:
    """All transfers; an id is of an account, so one of these serves every partition."""

    def __init__(self, sink: TransferSink) -> None:
        """Nothing was read yet."""
        self._known: dict[tuple[str, str, str], tuple[object, ...]] = {}
        self._sink = sink

    def take(self, record: Rec, read: Read) -> None:
        """Fold the next record of its partition."""
        event = read.event
        if event is None or read.reason is not None:
            self._sink.dead(record, read.reason or "not_an_event")
            return
        name = (event["type"], event["account_id"], event["transfer_id"])
        known = self._known.get(name)
        if known is None:
            self._known[name] = content(event)
            self._sink.say(facts.transferred(record, event, self._sink.transfer(record, event)))
        elif known == content(event):
            self._sink.duplicate(record)
        else:
            self._sink.dead(record, "id_conflict")
