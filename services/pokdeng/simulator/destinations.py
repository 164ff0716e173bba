"""Where a play can be sent: any log of the port (Kafka, the in-memory twin), or a broker in memory directly."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Final

from pokdeng.stream.partitioner import partition_for
from pokdeng.stream.port import Message, TopicPartition
from pokdeng.wire.topics import INPUTS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pokdeng.simulator.steps import Step
    from pokdeng.stream.memory import MemoryBroker
    from pokdeng.stream.port import Log
    from pokdeng.wire import TopicKind, Topics

BARRIER_SECONDS: Final = 0.002
"""How long a sender waits between the acknowledgement of a beat and the next: a broker's clock has gone on by then."""


class MissingTopicsError(Exception):
    """Input topics are not there. The message names them and says what to do."""


class Places:
    """The partition of each step; each key's is remembered."""

    def __init__(self, topics: Topics, counts: Mapping[str, int]) -> None:
        """`counts`: the number of partitions of each topic, by name.

        Raises:
            MissingTopicsError: when an input topic is not among them.
        """
        missing = [topics.name(kind) for kind in INPUTS if topics.name(kind) not in counts]
        if missing:
            raise MissingTopicsError(f"no topic {', '.join(missing)}: create the topics first (pokdeng topics create)")
        self._lanes = {
            kind: tuple(TopicPartition(topics.name(kind), number) for number in range(counts[topics.name(kind)]))
            for kind in INPUTS
        }
        self._known: dict[tuple[TopicKind, bytes], TopicPartition] = {}

    def of(self, step: Step) -> TopicPartition:
        """Where a step goes: by its key; astray to the next partition; without a key anywhere, always the same."""
        lanes, key = self._lanes[step.topic], step.key
        if key is None:
            return lanes[len(step.value or b"") % len(lanes)]
        place = self._known.get((step.topic, key))
        if place is None:
            place = self._known[step.topic, key] = lanes[partition_for(key, len(lanes))]
        return lanes[(place.partition + 1) % len(lanes)] if step.astray else place


class LogSender:
    """Sends to a log, each beat in as few batches as it needs. Whoever made the log stops it."""

    def __init__(self, log: Log, topics: Topics) -> None:
        """The topics must exist when the first step is sent."""
        self._log = log
        self._topics = topics
        self._places: Places | None = None

    async def send(self, steps: Sequence[Step]) -> None:
        """Append steps, those of one partition in order; return when all are acknowledged.

        Raises:
            MissingTopicsError: when input topics are not there.
            LogUnavailableError: when the log does not answer.
        """
        if self._places is None:
            names = [self._topics.name(kind) for kind in INPUTS]
            self._places = Places(self._topics, await self._log.partition_counts(names))
        lanes: dict[TopicPartition, list[Message]] = {}
        place = self._places.of
        for step in steps:
            lanes.setdefault(place(step), []).append(Message(step.key, step.value, ()))
        await self._log.publish(lanes)

    async def barrier(self) -> None:
        """Wait until the broker's clock has gone on."""
        await asyncio.sleep(BARRIER_SECONDS)


class MemorySender:
    """Sends to a broker in memory, each record stamped with its own moment in the play.

    The same log, byte for byte and millisecond for millisecond, for ever.
    """

    def __init__(self, broker: MemoryBroker, topics: Topics) -> None:
        """Take the partitions as they are.

        Raises:
            MissingTopicsError: when input topics are not there.
        """
        self._broker = broker
        self._places = Places(topics, broker.topics())

    async def send(self, steps: Sequence[Step]) -> None:
        """Append steps."""
        append, place = self._broker.append, self._places.of
        for step in steps:
            topic, partition = place(step)
            append(topic, step.key, step.value, (), partition, step.at_ms)

    async def barrier(self) -> None:
        """The play's time goes on by itself; others may run."""
        await asyncio.sleep(0)
