"""Questions to a cluster of three brokers while one of them is away."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from pokdeng.stream.kafka import KafkaAdmin, KafkaSettings
from pokdeng.stream.port import TopicPartition
from pokdeng.wire import Topics
from tests.chaos.brokers import Brokers
from tests.chaos.proxies import proxies, server_binary
from tests.chaos.test_chaos import HAS_PARTS, IS_REQUIRED

if TYPE_CHECKING:
    from pathlib import Path


async def ask(folder: Path) -> None:
    """Each question many times, over connections that know the broker and over new ones."""
    topics = Topics("away")
    async with proxies() as toxi:
        brokers = Brokers(3, folder)
        try:
            bootstrap = await brokers.start(toxi)
            await brokers.create_topics(topics, 3)
            await brokers.until_in_sync()
            await brokers.close()
            brokers.all[1].kill()
            bets = [TopicPartition(topics.bets, number) for number in range(3)]
            for _ in range(10):
                admin = KafkaAdmin(KafkaSettings(bootstrap=bootstrap))
                for _ in range(3):
                    assert await admin.partition_counts([topics.bets, topics.funds]) == {
                        topics.bets: 3,
                        topics.funds: 3,
                    }
                    assert set(await admin.describe_topics([topics.bets])) == {topics.bets}
                    assert await admin.committed("nobody", bets) == dict.fromkeys(bets)
                    assert await admin.subscribed("nobody") == frozenset()
                await admin.close()
        finally:
            await brokers.close()
            brokers.stop()


@pytest.mark.timeout(300)
@pytest.mark.skipif(not HAS_PARTS and not IS_REQUIRED, reason="needs Java with Maven, and Redis")
def test_questions_are_answered_while_a_broker_is_away(tmp_path: Path) -> None:
    """A question goes to any broker that was heard of: whichever it is, the answer comes, and nobody stops for it."""
    if server_binary() is None and not IS_REQUIRED:
        pytest.skip("needs toxiproxy, or Go to build it")
    asyncio.run(ask(tmp_path))
