"""What a worker owns: the desks of its co-partitions and the cashiers of its funds partitions, and how they stand."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pokdeng.settlement.cashier import Cashier
from pokdeng.settlement.desk import Desk
from pokdeng.stream.merge import FIRST, SECOND, Merge
from pokdeng.stream.port import TopicPartition

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from pokdeng.ledger.values import Source
    from pokdeng.settlement.house import House
    from pokdeng.stream.port import Record


def sources_of(desks: Iterable[Desk], cashiers: Iterable[Cashier]) -> list[Source]:
    """Their sources, as the ledger names them."""
    return [desk.source for desk in desks] + [cashier.source for cashier in cashiers]


class Owned:
    """From an assignment to its revocation. The numbers are those of partitions."""

    def __init__(self, house: House) -> None:
        """Nothing yet."""
        self._house = house
        self._desks: dict[int, Desk] = {}
        self._cashiers: dict[int, Cashier] = {}

    def take(self, partitions: Collection[TopicPartition], starts: Mapping[TopicPartition, int]) -> None:
        """Own what was assigned; reading begins at `starts`.

        Raises:
            ValueError: where a table's events and its bets were not assigned together.
        """
        topics = self._house.topics
        tables = {one.partition for one in partitions if one.topic == topics.table_events}
        bets = {one.partition for one in partitions if one.topic == topics.bets}
        if tables != bets:
            raise ValueError(f"table-events {sorted(tables)} and bets {sorted(bets)} are not assigned together")
        for number in sorted(tables):
            self._desks[number] = Desk(
                number,
                self._house,
                Merge(),
                next_event=starts[TopicPartition(topics.table_events, number)],
                next_bet=starts[TopicPartition(topics.bets, number)],
            )
        for number in sorted(one.partition for one in partitions if one.topic == topics.funds):
            start = starts[TopicPartition(topics.funds, number)]
            self._cashiers[number] = Cashier(number, self._house, next_transfer=start)

    def clear(self) -> None:
        """Own nothing."""
        self._desks.clear()
        self._cashiers.clear()

    @property
    def desks(self) -> Collection[Desk]:
        """The co-partitions owned."""
        return self._desks.values()

    @property
    def cashiers(self) -> Collection[Cashier]:
        """The funds partitions owned."""
        return self._cashiers.values()

    @property
    def partitions(self) -> tuple[list[int], list[int]]:
        """The numbers of the co-partitions and of the funds partitions owned."""
        return sorted(self._desks), sorted(self._cashiers)

    @property
    def sources(self) -> list[Source]:
        """Of all that is owned, as the ledger names them."""
        return sources_of(self.desks, self.cashiers)

    def offer(self, partition: TopicPartition, records: Sequence[Record], now: float) -> None:
        """Queue what arrived; `now` is a monotonic time in seconds."""
        topics = self._house.topics
        if partition.topic == topics.funds:
            self._cashiers[partition.partition].offer(records)
        else:
            side = SECOND if partition.topic == topics.bets else FIRST
            self._desks[partition.partition].merge.offer(side, records, now)

    def done_up_to(self, partition: TopicPartition) -> int:
        """All records of an owned partition below this offset are acknowledged."""
        topics = self._house.topics
        if partition.topic == topics.funds:
            return self._cashiers[partition.partition].next_transfer
        desk = self._desks[partition.partition]
        return desk.next_bet if partition.topic == topics.bets else desk.next_event

    @property
    def is_at_rest(self) -> bool:
        """Whether nothing that was read is left to do."""
        return not (
            any(desk.waiting for desk in self.desks)
            or any(cashier.waiting for cashier in self.cashiers)
            or any(desk.is_ending for desk in self.desks)
        )

    @property
    def open_rounds(self) -> int:
        """How many rounds are not said yet."""
        return sum(len(desk.books) for desk in self.desks)

    @property
    def held_rounds(self) -> int:
        """How many rounds wait for the supervisor."""
        return sum(
            book.table_round.is_held and not book.table_round.is_over
            for desk in self.desks
            for book in desk.books.values()
        )

    @property
    def stopped_corrections(self) -> int:
        """How many settled rounds have a correction that cannot be begun."""
        return sum(desk.revisions.stopped for desk in self.desks)
