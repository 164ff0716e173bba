"""The port's promises about publishing and asking, over the in-memory log and over Apache Kafka."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from pokdeng.stream.port import Message, RecordRefusedError, TopicPartition
from tests.stream.scenario import numbered, played

if TYPE_CHECKING:
    from tests.stream.worlds import OpenWorld, World


def test_publish_returns_when_the_log_has_it(open_world: OpenWorld) -> None:
    """The end has moved by then; order within a partition is kept, also over several batches and compressed."""

    async def scenario(world: World) -> None:
        await world.create(rounds=2)
        zero, one = (TopicPartition(world.topic("rounds"), number) for number in (0, 1))
        log = world.log("rounds")
        large = [Message(b"k", b"%06d" % number + b"x" * 1000, [("n", b"1")]) for number in range(2000)]
        await log.publish({zero: large, one: []})
        await log.publish({one: large[:10]}, compressed=True)
        assert await log.end_offsets([zero, one]) == {zero: 2000, one: 10}
        assert [record.value for record in await log.read(zero, 0, 2000)] == [message.value for message in large]
        assert [record.value for record in await log.read(one, 0, 10)] == [message.value for message in large[:10]]

    played(open_world, scenario)


def test_a_refused_message_is_named(open_world: OpenWorld) -> None:
    """A message above the topic's limit is found by partition and index; batches above it are none."""

    async def scenario(world: World) -> None:
        await world.create(letters=1, max_message_bytes=5000)
        partition = TopicPartition(world.topic("letters"), 0)
        log = world.log("letters")
        small = [Message(b"k", b"%06d" % number + b"x" * 1000, []) for number in range(20)]
        await log.publish({partition: small})
        assert [record.value for record in await log.read(partition, 0, 20)] == [message.value for message in small]
        with pytest.raises(RecordRefusedError) as refused:
            await log.publish({partition: [*small[:7], Message(b"k", b"x" * 6000, []), *small[7:]]})
        assert (refused.value.partition, refused.value.index) == (partition, 7)
        await log.publish({partition: [Message(b"k", b"after", [])]})
        end = (await log.end_offsets([partition]))[partition]
        assert (await log.read(partition, end - 1, end))[0].value == b"after"

    played(open_world, scenario)


def test_what_is_published_at_the_same_time_fails_by_itself(open_world: OpenWorld) -> None:
    """A refusal ends nothing but its own publish."""

    async def scenario(world: World) -> None:
        await world.create(letters=1, rounds=1, max_message_bytes=5000)
        letters, rounds = TopicPartition(world.topic("letters"), 0), TopicPartition(world.topic("rounds"), 0)
        log = world.log("letters")
        for number in range(10):
            refused, said = await asyncio.gather(
                log.publish({letters: [Message(b"k", b"x" * 6000, [])]}),
                log.publish({rounds: [Message(b"k", b"%d" % number, [])]}),
                return_exceptions=True,
            )
            assert isinstance(refused, RecordRefusedError)
            assert said is None
        assert [record.value for record in await log.read(rounds, 0, 10)] == [b"%d" % number for number in range(10)]

    played(open_world, scenario)


def test_a_range_is_read_outside_of_the_group(open_world: OpenWorld) -> None:
    """Exactly the offsets asked for that are still kept, whatever the group does."""

    async def scenario(world: World) -> None:
        await world.create(rounds=1)
        partition = TopicPartition(world.topic("rounds"), 0)
        log = world.log("rounds")
        await world.append("rounds", 0, *numbered(3000))
        assert [record.offset for record in await log.read(partition, 10, 2500)] == list(range(10, 2500))
        assert await log.read(partition, 5, 5) == []
        assert [record.offset for record in await log.read(partition, 2998, 9999)] == [2998, 2999]
        await world.trim("rounds", 0, 2000)
        assert [record.offset for record in await log.read(partition, 10, 2002)] == [2000, 2001]
        assert await log.beginning_offsets([partition]) == {partition: 2000}
        both = await asyncio.gather(log.read(partition, 2000, 2500), log.read(partition, 2500, 3000))
        assert list(map(len, both)) == [500, 500]

    played(open_world, scenario)


def test_stretches_of_many_partitions_are_read_by_turns(open_world: OpenWorld) -> None:
    """Each from where it was left, in whatever order they are asked for, up to its end and no further."""

    async def scenario(world: World) -> None:
        await world.create(rounds=3)
        zero, one, two = (TopicPartition(world.topic("rounds"), number) for number in range(3))
        log = world.log("rounds")
        await world.append("rounds", 0, *numbered(3000))
        await world.append("rounds", 1, *numbered(100))
        await world.trim("rounds", 0, 20)
        async with log.open_stretches({zero: 10, one: 40}, {zero: 2500, one: 9999, two: 5}) as stretches:
            found: dict[TopicPartition, list[int]] = {zero: [], one: [], two: []}
            for turn in (one, zero, zero, two, one, one, *[zero] * 200, two, one):
                records = await stretches.read(turn, 30)
                assert len(records) <= 30
                found[turn] += [record.offset for record in records]
            assert found == {zero: list(range(20, 2500)), one: list(range(40, 100)), two: []}
            assert await stretches.read(zero, 30) == []
        async with log.open_stretches({}, {}):
            pass

    played(open_world, scenario)


def test_an_offset_is_found_by_time(open_world: OpenWorld) -> None:
    """The first record not older than a broker time; the end where all are older."""

    async def scenario(world: World) -> None:
        await world.create(rounds=1)
        partition = TopicPartition(world.topic("rounds"), 0)
        log = world.log("rounds")
        assert await log.offset_for_time(partition, 5) == 0
        for value in numbered(4):
            await world.append("rounds", 0, value)
        records = await log.read(partition, 0, 4)
        for record in records:
            expected = min(other.offset for other in records if other.timestamp >= record.timestamp)
            assert await log.offset_for_time(partition, record.timestamp) == expected
        assert await log.offset_for_time(partition, 0) == 0
        assert await log.offset_for_time(partition, records[-1].timestamp + 10_000) == 4

    played(open_world, scenario)


def test_partitions_are_counted(open_world: OpenWorld) -> None:
    """A topic that does not exist is absent, and stays so."""

    async def scenario(world: World) -> None:
        await world.create(bets=3, funds=1)
        log = world.log("bets")
        names = [world.topic(name) for name in ("bets", "funds", "none")]
        for _ in range(2):
            assert await log.partition_counts(names) == {world.topic("bets"): 3, world.topic("funds"): 1}

    played(open_world, scenario)
