"""The past, noted again: what was said of finished rounds, refused strays and cancels, as pages of `memory`.

Used where a ledger is restored. Besides what facts tell there are the tables where something went on without any round
ending: the worker says their snapshots on the `checkpoints` topic when it notes them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from pokdeng.events.ids import RoundId, ShoeId, TableId
from pokdeng.ledger.restoring import RestoredNote
from pokdeng.restore.stored import noted_tables
from pokdeng.settlement.afterwards import Afterwards, read_asked
from pokdeng.settlement.finished import Finished, TableNote, decode_finished, decode_table, encode_note, newer_of
from pokdeng.settlement.memory import (
    ASIDE,
    ASIDE_PAGE,
    BET,
    CANCEL,
    IMPOSSIBLE,
    MARK,
    round_page,
    shoe_page,
    table_page,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pokdeng.ledger.values import Note
    from pokdeng.restore.facts import BetFact
    from pokdeng.settlement.afterwards import Asked, Key
    from pokdeng.stream.port import Log
    from pokdeng.wire import Topics


async def past_of(log: Log, topics: Topics, *, now_ms: int, remember_ms: int) -> Past:
    """What the log tells besides facts, when a ledger is restored; facts are told it then."""
    past = Past(remember_ms=remember_ms, asked=await read_asked(log, topics, since_ms=now_ms - remember_ms))
    for table_id, raw in await noted_tables(log, topics):
        past.know_noted_table(table_id, raw)
    return past


class Past:
    """Makes notes of facts."""

    def __init__(self, *, remember_ms: int, asked: Mapping[Key, list[Asked]] | None = None) -> None:
        """`remember_ms`: how long rounds and shoes are remembered; `asked`: what came for them after their end."""
        self._remember_ms = remember_ms
        self._afterwards = Afterwards(asked or {})
        self._tables: dict[str, TableNote] = {}

    def of_refusal(self, fact: BetFact, ttl_ms: int) -> RestoredNote:
        """Of a bet or cancel that was refused."""
        page = round_page(TableId(fact.table_id), RoundId(fact.round_id))
        offset = fact.cause.offset
        if fact.type == "cancel_rejected":
            field = f"{CANCEL}|{fact.account_id}|{fact.bet_id}"
            return RestoredNote(page, field, msgspec.json.encode((offset, fact.reason)), True, ttl_ms)
        value = msgspec.json.encode((offset, fact.account_id, fact.bet, fact.stake, fact.currency, fact.reason))
        return RestoredNote(page, f"{BET}|{fact.bet_id}", value, True, ttl_ms)

    def of_round(self, table_id: str, round_id: str, resume: bytes, now_ms: int) -> tuple[list[RestoredNote], int]:
        """Of a finished round, with how long it is remembered from now on."""
        finished = decode_finished(resume)
        if finished.table is not None:
            self.know_table(table_id, finished.table)
        ttl_ms = finished.caused_at_ms + self._remember_ms - now_ms
        if ttl_ms <= 0:
            return [], ttl_ms
        self._afterwards.ended((table_id, round_id), finished, ttl_ms)
        return [
            RestoredNote(round_page(TableId(table_id), RoundId(round_id)), MARK, resume, False, ttl_ms),
            _shoe_note(table_id, finished, ttl_ms),
        ], ttl_ms

    def know_table(self, table_id: str, note: TableNote) -> None:
        """A snapshot of a table; the newest counts."""
        known = self._tables.get(table_id)
        self._tables[table_id] = note if known is None else newer_of(known, note)

    def know_noted_table(self, table_id: str, raw: bytes) -> None:
        """A snapshot as it was said when it was noted."""
        self.know_table(table_id, decode_table(raw))

    def tables(self) -> dict[str, bytes]:
        """The newest snapshot of each table."""
        return {table_id: encode_note(note) for table_id, note in sorted(self._tables.items())}

    def of_tables(self) -> list[RestoredNote]:
        """Of the tables: the newest snapshot of each; and of what came for their rounds after the end."""
        aside = [table_id for table_id, note in self._tables.items() if note.held]
        return [
            *(RestoredNote(ASIDE_PAGE, table_id, ASIDE, False, None) for table_id in aside),
            *(
                RestoredNote(table_page(TableId(table_id)), MARK, note, False, None)
                for table_id, note in self.tables().items()
            ),
            *(
                RestoredNote(
                    round_page(TableId(table_id), RoundId(held.round_id)),
                    f"{IMPOSSIBLE}|{at}",
                    why.encode(),
                    True,
                    None,
                )
                for table_id, note in self._tables.items()
                for held in note.held
                for at, why in held.impossible.items()
            ),
            *(restored_note(note) for note in self._afterwards.notes(self._tables)),
        ]


def restored_note(note: Note) -> RestoredNote:
    """A note that is written by a restore."""
    return RestoredNote(note.page, note.field, note.value, note.keep_first, note.ttl_ms)


def _shoe_note(table_id: str, finished: Finished, ttl_ms: int) -> RestoredNote:
    shoe = finished.shoe
    value = msgspec.json.encode((finished.first_event, shoe.decks, shoe.burn_card))
    return RestoredNote(shoe_page(TableId(table_id), ShoeId(shoe.shoe_id)), MARK, value, True, ttl_ms)
