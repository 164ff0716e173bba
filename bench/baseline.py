"""The yardstick: a process that only reads the same bets and parses them. Prints CPU microseconds a record.

`python -m bench.baseline BOOTSTRAP TOPIC`
"""

from __future__ import annotations

import asyncio
import sys
import time

import msgspec
import uvloop
from aiokafka import AIOKafkaConsumer, TopicPartition


async def _read(bootstrap: str, topic: str) -> float:
    consumer = AIOKafkaConsumer(bootstrap_servers=bootstrap, enable_auto_commit=False)
    await consumer.start()
    try:
        numbers = consumer.partitions_for_topic(topic) or set()
        while not numbers:
            await consumer._client.force_metadata_update()  # noqa: SLF001 - a consumer without a topic knows none
            consumer._client.add_topic(topic)  # noqa: SLF001 - as above
            numbers = consumer.partitions_for_topic(topic) or set()
        partitions = [TopicPartition(topic, number) for number in numbers]
        consumer.assign(partitions)
        await consumer.seek_to_beginning()
        ends = await consumer.end_offsets(partitions)
        left = sum(ends.values())
        decode = msgspec.json.decode
        count = 0
        begun = time.process_time()
        while count < left:
            for records in (await consumer.getmany(timeout_ms=500, max_records=2_000)).values():
                for record in records:
                    decode(record.value)
                count += len(records)
        return (time.process_time() - begun) / max(1, count) * 1e6
    finally:
        await consumer.stop()


if __name__ == "__main__":
    print(uvloop.run(_read(sys.argv[1], sys.argv[2])))
