"""Plays tables: dealing floors and a crowd, from a seed, with as much mischief as is asked for. Demo, load, chaos."""

from __future__ import annotations

from pokdeng.simulator.destinations import LogSender, MemorySender, MissingTopicsError
from pokdeng.simulator.play import QUIET, Mischief, Play
from pokdeng.simulator.script import script
from pokdeng.simulator.sender import Sender, Sent, perform
from pokdeng.simulator.steps import Beat, Kind, Step

__all__ = [
    "QUIET",
    "Beat",
    "Kind",
    "LogSender",
    "MemorySender",
    "Mischief",
    "MissingTopicsError",
    "Play",
    "Sender",
    "Sent",
    "Step",
    "perform",
    "script",
]
