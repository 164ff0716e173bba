"""Pipelines to Redis, sent until every command was executed, those of a bucket in order.

The client repeats nothing by itself: on any failure the whole pipeline is sent again, so all that is sent through
here must be idempotent.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from typing import Any, Final, TypeAlias

from redis import exceptions

from pokdeng.ledger.lua import script
from pokdeng.ledger.port import FencedError, LedgerCorruptError, LedgerError, LedgerLostError, LedgerUnavailableError
from pokdeng.ledger.redis_nodes import Command, RedisNodes
from pokdeng.ledger.redis_settings import RedisSettings

ScriptCall: TypeAlias = tuple[Sequence[str], Sequence[bytes | str]]
"""Keys and arguments."""

_FIRST_PAUSE_S: Final = 0.005
_LONGEST_PAUSE_S: Final = 0.5
_PASSING: Final = (
    exceptions.AskError,
    exceptions.ClusterDownError,
    exceptions.MasterDownError,
    exceptions.MovedError,
    exceptions.OutOfMemoryError,
    exceptions.ReadOnlyError,
    exceptions.TryAgainError,
)
_PASSING_PREFIXES: Final = ("BUSY", "LOADING", "MISCONF", "NOREPLICAS", "OOM")


class RedisPipeline:
    """One connection's worth of pipelines, one after the other: a task that comes meanwhile waits for its turn."""

    def __init__(
        self, address: RedisSettings | str, *, timeout_ms: int, retry_budget_ms: int, replicas: int = 0
    ) -> None:
        """Remember the settings; the first pipeline connects.

        `replicas`: so many must have what a copied pipeline wrote, each time within half of an answer's time.
        """
        settings = RedisSettings(url=address) if isinstance(address, str) else address
        self._retry_budget_ms = retry_budget_ms
        self._copies: Command | None = ("WAIT", replicas, timeout_ms // 2) if replicas else None
        self._nodes = RedisNodes(settings, timeout_ms=timeout_ms)
        self._turn = asyncio.Lock()

    async def close(self) -> None:
        """Close connections. Idempotent."""
        await self._nodes.close()

    async def send(self, commands: Sequence[Command], *, is_copied: bool = False) -> list[Any]:
        """Send commands until each was executed, in order; `is_copied`: and replicas have it. Gives their answers.

        Raises LedgerUnavailableError when the retry budget is used up, LedgerCorruptError where a key is of another
        type, LedgerError for any other refusal.
        """
        async with self._turn:
            return await self._send(commands, is_copied=is_copied)

    async def _send(self, commands: Sequence[Command], *, is_copied: bool) -> list[Any]:
        loop = asyncio.get_running_loop()
        deadline = loop.time() + self._retry_budget_ms / 1000
        pause_s = _FIRST_PAUSE_S
        while True:
            failure: Exception | None
            try:
                replies = await self._nodes.run(commands, self._copies if is_copied else None)
                failure = _failure_in(replies)
            except (exceptions.ConnectionError, exceptions.TimeoutError, OSError) as error:
                failure = error
            except exceptions.ResponseError as error:  # to what the nodes ask for themselves
                failure = _failure_in([error])
            if failure is None:
                return replies
            if loop.time() + pause_s > deadline:
                why = str(failure) or type(failure).__name__
                raise LedgerUnavailableError(f"no answer within {self._retry_budget_ms} ms: {why}") from failure
            await asyncio.sleep(pause_s)
            pause_s = min(2 * pause_s, _LONGEST_PAUSE_S)

    async def call(self, name: str, calls: Iterable[ScriptCall], *, is_copied: bool = False) -> list[list[bytes]]:
        """Call a script once per item, in order, in one pipeline; the answers as the script gives them.

        Besides the errors of `send`: LedgerLostError, FencedError and LedgerCorruptError as the scripts say.
        """
        sha = script(name).sha
        replies: list[list[bytes]] = await self.send(
            [("EVALSHA", sha, len(keys), *keys, *arguments) for keys, arguments in calls],
            is_copied=is_copied,
        )
        refusals = {reply[0]: reply[1].decode() for reply in replies if reply[0] != b"OK"}
        if refusals:
            for status, cause in ((b"COLD", "cold"), (b"CHECK", "check"), (b"BEHIND", "behind")):
                if status in refusals:
                    raise LedgerLostError(cause, refusals[status])
            if b"FENCED" in refusals:
                raise FencedError(refusals[b"FENCED"])
            if b"CORRUPT" in refusals:
                raise LedgerCorruptError(refusals[b"CORRUPT"])
        return replies


def _failure_in(replies: Sequence[Any]) -> Exception | None:
    """Why a pipeline must be sent again, None where it need not. Raises what no repetition can mend."""
    again: Exception | None = None
    for reply in replies:
        if isinstance(reply, exceptions.NoScriptError):
            return reply
        if isinstance(reply, _PASSING):
            again = reply
        elif isinstance(reply, exceptions.ResponseError):
            message = str(reply)
            if message.startswith(_PASSING_PREFIXES):
                again = reply
            elif "WRONGTYPE" in message:
                raise LedgerCorruptError(message) from reply
            else:
                raise LedgerError(message) from reply
        elif isinstance(reply, list) and reply and reply[0] == b"GAP" and again is None:
            again = LedgerUnavailableError(f"an earlier call of {reply[1].decode()} is missing")
    return again
