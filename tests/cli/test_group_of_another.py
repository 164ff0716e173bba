"""Two prefixes and one group: a worker does not join a group whose members read the topics of another prefix."""

from __future__ import annotations

import asyncio
import uuid

from pokdeng.cli.connect import create_topics, topic_specs, why_not_join
from pokdeng.stream.kafka import KafkaLog, KafkaSettings
from pokdeng.wire import Topics
from tests.stream.recorder import Recorder


def test_a_group_is_joined_only_where_all_its_members_have_our_prefix(kafka_bootstrap: str) -> None:
    """Asked before joining: an empty group and one of our own may be joined, another's not until its members left."""
    settings = KafkaSettings(bootstrap=kafka_bootstrap, session_timeout_ms=10_000, rebalance_timeout_ms=10_000)
    name = f"group-{uuid.uuid4().hex[:8]}"
    ours, theirs = Topics(f"{name}.ours"), Topics(name)

    async def scenario() -> None:
        await create_topics(settings, topic_specs(theirs, partitions=1, replication=1))
        assert await why_not_join(settings, name, ours) == []
        log = KafkaLog(settings, name, copartitioned=(theirs.table_events, theirs.bets), others=(theirs.funds,))
        recorder = Recorder(log)
        try:
            await log.start(recorder)
            await recorder.until(lambda: bool(recorder.owned))
            assert await why_not_join(settings, name, theirs) == []
            (why,) = await why_not_join(settings, name, ours)
            read = ", ".join(sorted(theirs.inputs))
            assert why.startswith(f"group {name} has members that read {read}: ")
            assert f"ours is {ours.prefix}; name another with --group" in why
        finally:
            await log.stop()
        assert await why_not_join(settings, name, ours) == []

    asyncio.run(scenario())
