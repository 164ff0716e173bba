"""Where the worker stands: how far it is behind, what it keeps of the log, and which rounds do not end.

Only looked at, by the pages and for alarms; nothing is decided by it. Ages of rounds go by the log's time, so that a
worker that catches up with a long backlog raises no alarm about rounds whose close it has not read yet. Where all is
read, nothing more is known to come, and the log's time is now.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Final

import structlog

from pokdeng.stream.port import TopicPartition

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pokdeng.events.ids import RoundId, TableId
    from pokdeng.metrics import Metrics
    from pokdeng.settlement.book import Book
    from pokdeng.settlement.desk import Desk
    from pokdeng.settlement.engine import Engine
    from pokdeng.settlement.watchdog import Places
    from pokdeng.stream.port import Log
    from pokdeng.wire import Topics

_log = structlog.get_logger(__name__)

NEVER_CLOSES_AFTER_MS: Final = 30 * 60_000
"""A round that is neither held nor finished for so long is said in the log of the process."""


def _now_ms() -> int:
    return time.time_ns() // 1_000_000


class Standing:
    """Of one engine. Times are milliseconds since the epoch; `clock_ms` is this machine's."""

    def __init__(self, log: Log, topics: Topics, engine: Engine, *, clock_ms: Callable[[], int] = _now_ms) -> None:
        """The log's ends are not known before the first `ask_ends` or `know_ends`."""
        self._transport = log
        self._topics = topics
        self._engine = engine
        self._clock_ms = clock_ms
        self._ends: dict[TopicPartition, int] = {}
        self._alarmed: set[tuple[TableId, RoundId, str]] = set()
        self.kept_ms: int | None = None
        """How long the inputs keep records, None for ever or where it is not known."""

    async def ask_ends(self) -> None:
        """Ask where the owned input partitions end. Raises LogUnavailableError."""
        topics = self._topics
        owned = [
            TopicPartition(topic, desk.partition)
            for desk in self._engine.owned.desks
            for topic in (topics.table_events, topics.bets)
        ]
        owned += [TopicPartition(topics.funds, cashier.partition) for cashier in self._engine.owned.cashiers]
        self._ends = await self._transport.end_offsets(owned) if owned else {}

    def know_ends(self, places: Places) -> None:
        """Take the ends from where all sources stand: somebody has just asked for them."""
        self._ends = {part: end for place in places.values() for part, end in place.ends.items()}

    def say_alarms(self) -> None:
        """Say once, in the log of the process, of each round that does not end in time."""
        alarmed: set[tuple[TableId, RoundId, str]] = set()
        for book, age_ms, is_held in self._rounds():
            limit_ms = (None if self.kept_ms is None else self.kept_ms // 2) if is_held else NEVER_CLOSES_AFTER_MS
            if limit_ms is None or age_ms <= limit_ms:
                continue
            event = "round_held_for_long" if is_held else "round_does_not_close"
            name = (book.table_id, book.round_id, event)
            alarmed.add(name)
            if name not in self._alarmed:
                _log.error(
                    event, table_id=book.table_id, round_id=book.round_id, opened_s_ago=age_ms // 1000, alarm=True
                )
        self._alarmed = alarmed

    def show(self, metrics: Metrics) -> None:
        """Set the gauges; series of partitions that are not owned any more go."""
        engine = self._engine
        metrics.set("rounds_open", engine.owned.open_rounds)
        metrics.set("rounds_held", engine.owned.held_rounds)
        metrics.set("corrections_stopped", engine.owned.stopped_corrections)
        ages: dict[bool, int] = {False: 0, True: 0}
        for _, age_ms, is_held in self._rounds():
            ages[is_held] = max(ages[is_held], age_ms)
        metrics.set("oldest_open", ages[False] / 1000)
        metrics.set("oldest_held", ages[True] / 1000)
        metrics.clear("lag")
        metrics.clear("watermark_age")
        now_ms = self._clock_ms()
        for partition, done, needed, since_ms in self._partitions():
            labels = (partition.topic, str(partition.partition))
            end = self._end(partition)
            metrics.set("lag", max(0, end - done), *labels)
            if end <= needed:
                metrics.set("watermark_age", 0, *labels)
            elif since_ms is not None:
                metrics.set("watermark_age", max(0, now_ms - since_ms) / 1000, *labels)

    def _partitions(self) -> Iterator[tuple[TopicPartition, int, int, int | None]]:
        """Owned partitions: what is done up to, what is needed from, and the broker time of that, if it is known."""
        topics = self._topics
        for desk in self._engine.owned.desks:
            sides = zip(
                (topics.table_events, topics.bets),
                (desk.next_event, desk.next_bet),
                desk.watermarks,
                desk.needed_since_ms,
                desk.newest,
                strict=True,
            )
            for topic, done, needed, since_ms, newest in sides:
                acknowledged_ms = None if newest is None else newest[1]
                yield (
                    TopicPartition(topic, desk.partition),
                    done,
                    needed,
                    since_ms if needed < done else acknowledged_ms,
                )
        for cashier in self._engine.owned.cashiers:
            done = cashier.next_transfer
            acknowledged_ms = None if cashier.newest is None else cashier.newest[1]
            yield TopicPartition(topics.funds, cashier.partition), done, done, acknowledged_ms

    def _rounds(self) -> Iterator[tuple[Book, int, bool]]:
        """Unfinished rounds, how long ago they opened, and whether they wait for the supervisor."""
        for desk in self._engine.owned.desks:
            now_ms = self._log_time_ms(desk)
            if now_ms is not None:
                for book in desk.books.values():
                    round_ = book.table_round
                    age_ms = max(0, now_ms - round_.opened.at_ms)
                    yield book, age_ms, round_.is_held and not round_.is_over

    def _log_time_ms(self, desk: Desk) -> int | None:
        topics = self._topics
        sides = ((topics.table_events, desk.next_event), (topics.bets, desk.next_bet))
        if all(done >= self._end(TopicPartition(topic, desk.partition)) for topic, done in sides):
            return self._clock_ms()
        return max((newest[1] for newest in desk.newest if newest is not None), default=None)

    def _end(self, partition: TopicPartition) -> int:
        """The highest end that is known: asked for, or read up to."""
        try:
            position = self._transport.position(partition)
        except KeyError:  # it is being taken away
            position = 0
        return max(position, self._ends.get(partition, 0))
