"""What is worked out once for many facts: where an account's go, and how those of one round are written."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pokdeng.events.ids import AccountId
from pokdeng.stream.partitioner import partition_for
from pokdeng.stream.port import TopicPartition
from pokdeng.wire import AcceptedTemplate, EventIds, RejectedTemplate

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pokdeng.events.ids import RoundId, TableId

_ROUTES_MAX = 200_000


class Route:
    """Where an account's facts go: its key, and its partition in each topic."""

    __slots__ = ("decisions", "funds_decisions", "key", "settlements")

    def __init__(self, account_id: str, topics: tuple[str, str, str], counts: Mapping[str, int]) -> None:
        """Work it out once: the partitioner costs more than everything else that is said."""
        self.key = account_id.encode()
        partitions = {count: partition_for(self.key, count) for count in {counts[topic] for topic in topics}}
        self.decisions, self.settlements, self.funds_decisions = (
            TopicPartition(topic, partitions[counts[topic]]) for topic in topics
        )


class Routes(dict[AccountId, Route]):
    """The routes of accounts, worked out when they are looked up first; remembered, within bounds."""

    def __init__(self, topics: tuple[str, str, str], counts: Mapping[str, int]) -> None:
        """Where facts of accounts go: decisions, settlements, funds decisions; and how many partitions each has."""
        super().__init__()
        self._topics = topics
        self._counts = counts

    def __missing__(self, account_id: AccountId) -> Route:
        """An account that is met first."""
        if len(self) >= _ROUTES_MAX:
            self.clear()
        route = self[account_id] = Route(account_id, self._topics, self._counts)
        return route


class RoundTexts:
    """What is the same for all decisions on one round."""

    __slots__ = ("accepted", "accepted_id", "rejected", "rejected_id")

    def __init__(self, table_id: TableId, round_id: RoundId, topic: str, partition: int) -> None:
        """Write it once."""
        self.accepted = AcceptedTemplate(table_id=table_id, round_id=round_id, topic=topic, partition=partition).render
        self.accepted_id = EventIds("bet_accepted", table_id, round_id)
        self.rejected = RejectedTemplate(table_id=table_id, round_id=round_id, topic=topic, partition=partition).render
        self.rejected_id = EventIds("bet_rejected", table_id, round_id)
