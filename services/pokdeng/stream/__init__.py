"""The log: a port, Apache Kafka through Faust (`stream.kafka`), an in-memory twin; merge of two topics by broker time.

Knows no Pok Deng. Importing this package imports neither Faust nor aiokafka.
"""

from pokdeng.stream.memory import MemoryBroker, MemoryLog
from pokdeng.stream.merge import FIRST, SECOND, Ask, Merge
from pokdeng.stream.partitioner import partition_for
from pokdeng.stream.port import (
    Assignment,
    Listener,
    Log,
    LogError,
    LogUnavailableError,
    Message,
    Record,
    RecordRefusedError,
    TopicPartition,
)

__all__ = [
    "FIRST",
    "SECOND",
    "Ask",
    "Assignment",
    "Listener",
    "Log",
    "LogError",
    "LogUnavailableError",
    "MemoryBroker",
    "MemoryLog",
    "Merge",
    "Message",
    "Record",
    "RecordRefusedError",
    "TopicPartition",
    "partition_for",
]
