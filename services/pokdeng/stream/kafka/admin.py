"""Topics and groups as the broker keeps them: create, describe, count."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from aiokafka.coordinator.protocol import ConsumerProtocolMemberMetadata
from aiokafka.errors import KafkaError, TopicAlreadyExistsError, for_code
from aiokafka.protocol.commit import OffsetFetchRequest

from pokdeng.stream.kafka.connecting import connecting
from pokdeng.stream.kafka.errors import is_passing, unavailable
from pokdeng.stream.kafka.untyped import AIOKafkaAdminClient, ConfigResource, ConfigResourceType, NewTopic
from pokdeng.stream.port import TopicPartition

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Collection, Mapping

    from pokdeng.stream.kafka.settings import KafkaSettings

_UNCOMMITTED: Final = -1
_AGAIN_AFTER_S: Final = 0.5
_AGAIN_FOR_S: Final = 10.0
"""For so long a refusal that may pass is asked again: a broker that died is known to be away by then."""
_ATTEMPTS: Final = 3
_CONSUMERS: Final = "consumer"
"""The protocol type of groups whose members read topics."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NewTopicSpec:
    """A topic to create."""

    name: str
    partitions: int
    replication: int
    """How many brokers keep it."""

    configs: Mapping[str, str] = field(default_factory=dict)
    """As the broker names them: `message.timestamp.type`, `retention.ms`, ..."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicDescription:
    """A topic as it is."""

    name: str
    partitions: int
    replication: int
    """The fewest replicas that a partition of it has."""

    configs: Mapping[str, str]
    """Every setting in force, defaults included, as the broker names and writes them."""


class KafkaAdmin:
    """A connection for questions about topics and groups, opened on first use."""

    def __init__(self, settings: KafkaSettings) -> None:
        """Nothing is connected yet."""
        self._settings = settings
        self._client: Any = None
        self._opening = asyncio.Lock()

    async def create_topics(self, topics: Collection[NewTopicSpec]) -> frozenset[str]:
        """Create those that do not exist; return their names. Existing ones are left as they are.

        Raises KafkaError where the broker refuses one.
        """
        client = await self._connected()
        with unavailable("creating topics"):
            answer: Any = await client.create_topics(
                [
                    NewTopic(one.name, one.partitions, one.replication, topic_configs=dict(one.configs))
                    for one in topics
                ],
                timeout_ms=self._settings.request_timeout_ms,
            )
        created = set()
        for name, code, *rest in answer.topic_errors:
            if code == TopicAlreadyExistsError.errno:
                continue
            with unavailable(f"creating {name}"):
                if code:
                    raise for_code(code)(f"{name}: {rest[0] if rest else code}")
            created.add(name)
        return frozenset(created)

    async def describe_topics(self, topics: Collection[str]) -> dict[str, TopicDescription]:
        """What these topics are; one that does not exist is absent."""
        found = {one["topic"]: one["partitions"] for one in await self._metadata(topics)}
        if not found:
            return {}
        configs: dict[str, dict[str, str]] = {name: {} for name in found}
        resources = [ConfigResource(ConfigResourceType.TOPIC, name) for name in found]
        answers: list[Any] = await self._ask("describing topics", lambda client: client.describe_configs(resources))
        for answer in answers:
            for code, message, _, name, entries in answer.resources:
                with unavailable(f"settings of {name}"):
                    if code:
                        raise for_code(code)(message)
                configs[name] = {key: value for key, value, *_ in entries}
        return {
            name: TopicDescription(
                name=name,
                partitions=len(partitions),
                replication=min(len(partition["replicas"]) for partition in partitions),
                configs=configs[name],
            )
            for name, partitions in found.items()
        }

    async def partition_counts(self, topics: Collection[str]) -> dict[str, int]:
        """How many partitions each of these topics has; one that does not exist is absent."""
        return {one["topic"]: len(one["partitions"]) for one in await self._metadata(topics)}

    async def committed(self, group: str, partitions: Collection[TopicPartition]) -> dict[TopicPartition, int | None]:
        """What a group has committed, None where it has not."""
        places: defaultdict[str, list[int]] = defaultdict(list)
        for partition in partitions:
            places[partition.topic].append(partition.partition)
        question = OffsetFetchRequest(group, list(places.items()))

        async def kept(client: Any) -> dict[TopicPartition, int | None]:
            # Not aiokafka's own question: it takes "not now" of a coordinator that is just becoming one for "nothing".
            return committed_in(await client._send_request(question, await client.find_coordinator(group)))  # noqa: SLF001

        found: dict[TopicPartition, int | None] = await self._ask("committed offsets", kept)
        return {partition: found[partition] for partition in partitions}

    async def subscribed(self, group: str) -> frozenset[str]:
        """The topics that the members of a group read at this moment; none where it has no members.

        Raises LogError where our principal may not ask.
        """

        async def described(client: Any) -> tuple[str, list[Any]]:
            # One group a question: aiokafka misreads a second one in the answers that brokers give today.
            ((code, _, _, kind, _, members, *_),) = (await client.describe_consumer_groups([group]))[0].groups
            if code:
                raise for_code(code)(group)
            return kind, members

        kind, members = await self._ask(f"the members of group {group}", described)
        if kind != _CONSUMERS:
            return frozenset()
        told = [ConsumerProtocolMemberMetadata.decode(metadata) for *_, metadata, _ in members if metadata]
        return frozenset(topic for one in told for topic in one.subscription)

    async def close(self) -> None:
        """Close the connection."""
        client, self._client = self._client, None
        if client is not None:
            await client.close()

    async def _metadata(self, topics: Collection[str]) -> list[dict[str, Any]]:
        every: list[dict[str, Any]] = await self._ask("the list of topics", lambda client: client.describe_topics())
        wanted = set(topics)
        return [one for one in every if one["topic"] in wanted and not one["error_code"]]

    async def _ask(self, what: str, question: Callable[[Any], Awaitable[Any]]) -> Any:
        """What Kafka answers, asked again for some seconds where the same might work later.

        aiokafka asks any broker it has heard of, one that is away too; and a new cluster has no coordinator of groups
        before the first question for it. A broker that says nothing costs a third of a request's time.
        """
        client = await self._connected()
        loop = asyncio.get_running_loop()
        began = loop.time()
        request_s = self._settings.request_timeout_ms / 1000
        with unavailable(what):
            while True:
                try:
                    async with asyncio.timeout(request_s / _ATTEMPTS):
                        return await question(client)
                except TimeoutError:
                    if loop.time() - began >= request_s * (_ATTEMPTS - 1) / _ATTEMPTS:
                        raise
                except KafkaError as error:
                    if not is_passing(error) or loop.time() - began >= min(_AGAIN_FOR_S, request_s):
                        raise
                await asyncio.sleep(_AGAIN_AFTER_S)

    async def _connected(self) -> Any:
        async with self._opening:
            if self._client is None:
                client = AIOKafkaAdminClient(**self._settings.client_arguments())
                with unavailable("connecting"), connecting(self._settings):
                    await client.start()
                self._client = client
            return self._client


def committed_in(answer: Any) -> dict[TopicPartition, int | None]:
    """What an answer to an OffsetFetchRequest says of each partition, None where nothing is committed.

    Raises the KafkaError that it carries: for the group, which then has no partitions in it, or for one of them.
    """
    if getattr(answer, "error_code", 0):  # brokers before 0.10.2 had none
        raise for_code(answer.error_code)("committed offsets")
    found: dict[TopicPartition, int | None] = {}
    for topic, partitions in answer.topics:
        for number, offset, _, code in partitions:
            if code:
                raise for_code(code)(f"committed offset of {topic}[{number}]")
            found[TopicPartition(topic, number)] = None if offset == _UNCOMMITTED else offset
    return found
