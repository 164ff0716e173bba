"""The in-memory twin of the log: a broker without a network, and a member of a group on it. Deterministic."""

from pokdeng.stream.memory.broker import MemoryBroker, Point
from pokdeng.stream.memory.log import MemoryLog

__all__ = ["MemoryBroker", "MemoryLog", "Point"]
