"""A member of a group in a process of its own, to be killed: joins, reads, commits, says so, and waits."""

from __future__ import annotations

import asyncio
import sys

from pokdeng.stream.kafka import KafkaLog, KafkaSettings
from pokdeng.stream.port import TopicPartition
from tests.stream.recorder import Recorder


async def main(bootstrap: str, group: str, topic: str, count: str) -> None:
    """Commit `count` of partition 0 as soon as that many records arrived."""
    commit = int(count)
    settings = KafkaSettings(bootstrap=bootstrap, session_timeout_ms=1500, heartbeat_interval_ms=100)
    log = KafkaLog(settings, group, copartitioned=[topic])
    recorder = Recorder(log)
    await log.start(recorder)
    await recorder.until(lambda: recorder.count >= commit)
    if await log.commit({TopicPartition(topic, 0): commit}):
        sys.stdout.write("committed\n")
        sys.stdout.flush()
    await log.run_until_failed()


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:5]))
