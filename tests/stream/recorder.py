"""A listener that writes down what it is told, and waits for conditions on it."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from typing import TYPE_CHECKING

from pokdeng.stream.port import Assignment, Log, Record, TopicPartition

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

_DEADLINE_SECONDS = 25.0


class Recorder:
    """Keeps every call; gives credits back at once unless told otherwise."""

    def __init__(self, log: Log, *, keeps_credits: bool = False) -> None:
        """Listens to nothing yet."""
        self.log = log
        self.calls: list[str] = []
        self.assignments: list[Assignment] = []
        self.records: dict[TopicPartition, list[Record]] = defaultdict(list)
        self.commits: list[bool] = []
        self.to_commit_when_revoked: Mapping[TopicPartition, int] = {}
        self.keeps_credits = keeps_credits
        self._changed = asyncio.Event()

    async def assigned(self, assignment: Assignment) -> None:
        """Keep the assignment."""
        self.calls.append("assigned")
        self.assignments.append(assignment)
        self._changed.set()

    async def revoked(self) -> None:
        """Commit what it was told to, forget the records."""
        self.calls.append("revoked")
        if self.to_commit_when_revoked:
            self.commits.append(await self.log.commit(self.to_commit_when_revoked))
        self.records.clear()
        self._changed.set()

    def arrived(self, partition: TopicPartition, records: Sequence[Record]) -> None:
        """Keep the records; the log's position is behind them."""
        if records:
            self.calls.append("arrived")
        self.records[partition].extend(records)
        if records:
            assert self.log.position(partition) == records[-1].offset + 1
        if not self.keeps_credits:
            self.log.done(len(records), partition)
        self._changed.set()

    @property
    def owned(self) -> frozenset[TopicPartition]:
        """The latest assignment's partitions."""
        return self.assignments[-1].partitions if self.assignments else frozenset()

    @property
    def count(self) -> int:
        """How many records arrived since the last revocation."""
        return sum(map(len, self.records.values()))

    def values(self, topic: str, partition: int) -> list[bytes | None]:
        """What arrived of one partition since the last revocation."""
        return [record.value for record in self.records[TopicPartition(topic, partition)]]

    async def until(self, condition: Callable[[], bool]) -> None:
        """Wait until a call makes it true."""
        async with asyncio.timeout(_DEADLINE_SECONDS):
            while not condition():
                self._changed.clear()
                await self._changed.wait()
