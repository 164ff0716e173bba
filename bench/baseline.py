"""The yardstick: a process that only reads the same bets and parses them. Prints CPU microseconds a record.

`python -m bench.baseline BOOTSTRAP TOPIC`
"""

from __future__ import annotations

import sys
import time
from typing import Any

import msgspec
import uvloop
from aiokafka import AIOKafkaConsumer


async def _read(bootstrap: str, topic: str) -> float:
    consumer: Any = AIOKafkaConsumer(  # type: ignore[no-untyped-call]  # aiokafka is typed in places only
        topic, bootstrap_servers=bootstrap, group_id=None, auto_offset_reset="earliest"
    )
    await consumer.start()
    try:
        left = sum((await consumer.end_offsets(list(consumer.assignment()))).values())
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
