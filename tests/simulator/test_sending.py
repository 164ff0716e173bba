"""Performing a play: to a log, to a broker in memory, at a rate."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from pokdeng.simulator import (
    Beat,
    Kind,
    LogSender,
    MemorySender,
    Mischief,
    MissingTopicsError,
    Play,
    Sent,
    Step,
    perform,
    script,
)
from pokdeng.stream.memory import MemoryBroker, MemoryLog
from pokdeng.stream.port import TopicPartition
from pokdeng.wire import Topics
from tests.checker.records import place_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pokdeng.stream.port import Record

PLAY = Play(tables=4, rounds=4, accounts=20, bets_per_round=10, mischief=Mischief.at(0.5))
TOPICS = Topics("try")
PARTITIONS = 3


def a_broker() -> MemoryBroker:
    """A broker with the input topics, and a clock that goes on by a millisecond at each look."""
    moments = iter(range(1_000_000))
    broker = MemoryBroker(lambda: next(moments))
    for name in TOPICS.names[:3]:
        broker.create_topic(name, PARTITIONS)
    return broker


def records(broker: MemoryBroker) -> list[Record]:
    """Everything in it, by topic, partition and offset."""
    return [
        record
        for name in TOPICS.names[:3]
        for number in range(PARTITIONS)
        for record in broker.records(TopicPartition(name, number))
    ]


def log_of(broker: MemoryBroker) -> MemoryLog:
    """A log that only publishes."""
    return MemoryLog(broker, "", copartitioned=())


class Listening:
    """A sender that notes what it was asked."""

    def __init__(self) -> None:
        """Nothing was asked yet."""
        self.asked: list[Sequence[Step] | None] = []

    async def send(self, steps: Sequence[Step]) -> None:
        """Note the steps."""
        self.asked.append(steps)

    async def barrier(self) -> None:
        """Note a barrier as None."""
        self.asked.append(None)


def test_a_log_and_a_broker_get_the_same_records() -> None:
    """Both senders lay the same bytes into the same partitions in the same order."""
    by_log, by_hand = a_broker(), a_broker()
    asyncio.run(perform(script(PLAY), LogSender(log_of(by_log), TOPICS)))
    asyncio.run(perform(script(PLAY), MemorySender(by_hand, TOPICS)))
    first, second = (
        [(record.topic, record.partition, record.offset, record.key, record.value) for record in records(broker)]
        for broker in (by_log, by_hand)
    )
    assert first == second
    assert len(first) > 500


def test_a_key_goes_where_kafka_would_put_it() -> None:
    """Every record but those sent astray lies in its key's partition."""
    broker = a_broker()
    asyncio.run(perform(script(Play(tables=9, rounds=1, accounts=50)), MemorySender(broker, TOPICS)))
    assert all(record.partition == place_of(record.key or b"", PARTITIONS) for record in records(broker))


def test_a_broker_in_memory_keeps_the_plays_own_time() -> None:
    """Each record is stamped with its moment in the play, so a test's log is the same for ever."""
    broker = a_broker()
    asyncio.run(perform(script(PLAY), MemorySender(broker, TOPICS)))
    moments = sorted(step.at_ms for beat in script(PLAY) for step in beat.steps)
    assert sorted(record.timestamp for record in records(broker)) == moments


def test_every_beat_ends_with_a_barrier() -> None:
    """No step is sent while an earlier beat's barrier is open."""
    listening = Listening()
    asyncio.run(perform(script(PLAY), listening))
    beats = [beat.steps for beat in script(PLAY) if beat.steps]
    assert listening.asked[::2] == beats
    assert listening.asked[1::2] == [None] * len(beats)


def test_what_was_sent_is_counted_by_kind() -> None:
    """The summary adds up to the records of the log."""
    broker = a_broker()
    sent = asyncio.run(perform(script(PLAY), MemorySender(broker, TOPICS)))
    assert sent.records == sum(sent.by_kind.values()) == len(records(broker))
    assert sent.by_kind[Kind.DEPOSIT] >= 20
    assert 100 < sent.bets < 250


def test_the_opening_is_waited_for() -> None:
    """No bet is sent before the caller has seen the first deposits credited."""
    listening = Listening()

    async def opened() -> None:
        assert listening.asked == [next(script(PLAY)).steps, None]

    sent = asyncio.run(perform(script(PLAY), listening, opened=opened))
    assert sent.beats > 1


def test_the_caller_is_told_after_each_beat() -> None:
    """Progress grows beat by beat, up to the end."""
    heard: list[int] = []

    def told(sent: Sent) -> None:
        heard.append(sent.records)

    sent = asyncio.run(perform(script(PLAY), Listening(), told=told))
    assert heard == sorted(heard)
    assert heard[-1] == sent.records
    assert len(heard) == sent.beats


def test_a_rate_is_kept() -> None:
    """At 2,000 bets a second 200 bets take a tenth of a second or more, in slices that keep their order."""
    listening = Listening()
    play = Play(tables=2, rounds=2, accounts=10, bets_per_round=50, puts_money_in=False)
    sent = asyncio.run(perform(script(play), listening, bets_per_second=2_000))
    assert sent.bets > 180
    assert sent.seconds >= sent.bets / 2_000
    steps = [step for asked in listening.asked if asked is not None for step in asked]
    assert steps == [step for beat in script(play) for step in beat.steps]


def test_missing_topics_are_named() -> None:
    """A broker without the topics is an error that says which, and what to do."""
    broker = MemoryBroker(lambda: 0)
    broker.create_topic(TOPICS.bets, 1)
    with pytest.raises(MissingTopicsError, match=r"no topic try\.table-events\.v1, try\.funds\.v1: create"):
        MemorySender(broker, TOPICS)
    with pytest.raises(MissingTopicsError, match="pokdeng topics create"):
        asyncio.run(perform(script(PLAY), LogSender(log_of(broker), TOPICS)))


def test_an_empty_beat_is_not_sent() -> None:
    """A beat without steps needs no barrier."""
    listening = Listening()
    empty = Beat(number=0, starts_at_ms=0, lasts_ms=1, steps=())
    asyncio.run(perform([empty], listening))
    assert listening.asked == []
