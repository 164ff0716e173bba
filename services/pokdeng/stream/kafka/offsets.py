"""Where partitions begin and end, asked over a connection of its own: it never waits behind a reader's long poll."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from typing import TYPE_CHECKING, Any, Final

from aiokafka.errors import KafkaError, LeaderNotAvailableError, for_code
from aiokafka.protocol.offset import OffsetRequest

from pokdeng.stream.kafka.connecting import connecting
from pokdeng.stream.kafka.errors import unavailable
from pokdeng.stream.kafka.untyped import AIOKafkaClient
from pokdeng.stream.port import TopicPartition

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from pokdeng.stream.kafka.settings import KafkaSettings

_END: Final = -1
_BEGINNING: Final = -2
_NONE: Final = -1
"""The broker's answer where no record is that young."""

_CONSUMER: Final = -1
"""Asks as a consumer does: the end that is replicated."""
_DEBUGGER: Final = -2
"""Asks for the leader's log end: records that are stamped but not replicated yet count."""

_RETRY_SECONDS: Final = 0.05


class OffsetsClient:
    """ListOffsets to the partitions' leaders. One question for many partitions is one request to each leader."""

    def __init__(self, settings: KafkaSettings) -> None:
        """Nothing is connected before the first question."""
        self._settings = settings
        self._client: Any = None
        self._opening = asyncio.Lock()
        self._topics: set[str] = set()
        self._replica = _DEBUGGER

    async def ends(self, partitions: Collection[TopicPartition]) -> dict[TopicPartition, int]:
        """The leaders' log ends as of an instant after the call; the replicated ends where a broker refuses that."""
        return await self._ask("end offsets", dict.fromkeys(partitions, _END), self._replica)

    async def beginnings(self, partitions: Collection[TopicPartition]) -> dict[TopicPartition, int]:
        """The first offsets still kept."""
        return await self._ask("beginning offsets", dict.fromkeys(partitions, _BEGINNING), _CONSUMER)

    async def for_time(self, partition: TopicPartition, timestamp_ms: int) -> int:
        """The offset of the first record not older than `timestamp_ms`; the log's end if there is none."""
        end = (await self.ends([partition]))[partition]
        found = (await self._ask("offset for a time", {partition: timestamp_ms}, _CONSUMER))[partition]
        return end if found == _NONE else found

    async def close(self) -> None:
        """Close the connections."""
        client, self._client = self._client, None
        if client is not None:
            await client.close()

    async def _ask(self, what: str, times: Mapping[TopicPartition, int], replica: int) -> dict[TopicPartition, int]:
        with unavailable(what):
            async with asyncio.timeout(self._settings.request_timeout_ms / 1000):
                client = await self._connected({partition.topic for partition in times})
                while True:
                    try:
                        return await self._ask_leaders(client, times, replica)
                    except KafkaError as error:
                        if replica == _DEBUGGER and not error.retriable:
                            replica = self._replica = _CONSUMER
                            continue
                        if not error.retriable:
                            raise
                        await client.force_metadata_update()
                        await asyncio.sleep(_RETRY_SECONDS)

    async def _connected(self, topics: set[str]) -> Any:
        async with self._opening:
            client = self._client
            if client is None:
                client = AIOKafkaClient(**self._settings.client_arguments())
                with connecting(self._settings):
                    await client.bootstrap()
                self._client = client
            if not topics <= self._topics:
                self._topics |= topics
                await client.set_topics(self._topics)
            return client

    async def _ask_leaders(
        self, client: Any, times: Mapping[TopicPartition, int], replica: int
    ) -> dict[TopicPartition, int]:
        by_leader: dict[int, dict[str, list[tuple[int, int]]]] = defaultdict(lambda: defaultdict(list))
        for partition, timestamp in times.items():
            leader = client.cluster.leader_for_partition(partition)
            if leader is None or leader < 0:
                raise LeaderNotAvailableError(partition)
            by_leader[leader][partition.topic].append((partition.partition, timestamp))
        questions = [
            client.send(leader, OffsetRequest(replica, 0, list(topics.items()))) for leader, topics in by_leader.items()
        ]
        answers: list[Any] = [await questions[0]] if len(questions) == 1 else await asyncio.gather(*questions)
        found: dict[TopicPartition, int] = {}
        for answer in answers:
            for topic, partitions in answer.topics:
                for number, code, _, offset in partitions:
                    if code:
                        raise for_code(code)(f"{topic}[{number}]")
                    found[TopicPartition(topic, number)] = offset
        return found
