"""The servers behind an address: one, or the masters of a Redis Cluster, and which of them has which slot.

Whether it is a cluster is asked of the first server that answers. Commands of one pipeline are sent to each master that
they concern, in their order; the others do not wait for it. A map of slots that turned out wrong is thrown away, and
asked for anew by whoever sends next.
"""

from __future__ import annotations

import asyncio
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from redis import exceptions
from redis.asyncio import Redis
from redis.asyncio.connection import parse_url
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.crc import key_slot

from pokdeng.ledger.lua import NAMES, script

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pokdeng.ledger.redis_settings import RedisSettings

Command: TypeAlias = tuple[Any, ...]

_KEY_OF: Final = {"EVALSHA": 3, "SCAN": 3, "INFO": 2}
"""Where the key stands that says which slot a command is for; at 1 in all others. A SCAN has it in its pattern, an INFO
behind what the server is told: it is asked of the server that has the key."""
_SLOT_GONE: Final = (
    exceptions.AskError,
    exceptions.ClusterDownError,
    exceptions.MovedError,
    exceptions.TryAgainError,
    exceptions.ReadOnlyError,
)


@contextmanager
def _ends_of_connections() -> Iterator[None]:
    """A connection that ended while it was written to, as redis-py would say it: uvloop has a word of its own."""
    try:
        yield
    except RuntimeError as error:
        if "closed" not in str(error):
            raise
        raise exceptions.ConnectionError(str(error)) from error


class _Node:
    """One server, with a pool of connections of its own."""

    def __init__(self, client: Redis) -> None:
        self.client = client
        self.are_scripts_loaded = False

    async def run(self, commands: Sequence[Command], copies: Command | None = None) -> list[Any]:
        """One pipeline; errors of single commands are among the answers. `copies`: a WAIT to end it with."""
        async with self.client.pipeline(transaction=False) as pipeline:
            if not self.are_scripts_loaded:
                for name in NAMES:
                    pipeline.execute_command("SCRIPT LOAD", script(name).text)
            loading = len(pipeline)
            for command in commands:
                pipeline.execute_command(*(command[:2] if command[0] == "INFO" else command))
            if copies is not None:
                pipeline.execute_command(*copies)
            with _ends_of_connections():
                replies: list[Any] = await pipeline.execute(raise_on_error=False)
        if copies is not None:
            _check_copies(replies.pop(), copies[1])
        self.are_scripts_loaded = not any(isinstance(reply, exceptions.NoScriptError) for reply in replies)
        return replies[loading:]


class RedisNodes:
    """All servers behind one address."""

    def __init__(self, settings: RedisSettings, *, timeout_ms: int) -> None:
        """Nothing is connected yet; `timeout_ms` is of connecting and of each answer."""
        self._settings = settings
        self._options: dict[str, Any] = {
            **settings.client_arguments(),
            "protocol": 2,
            "retry": Retry(NoBackoff(), 0),
            "socket_timeout": timeout_ms / 1000,
            "socket_connect_timeout": timeout_ms / 1000,
        }
        self._seed = _Node(Redis.from_url(settings.url, **self._options))
        self._nodes: dict[tuple[str, int], _Node] = {}
        self._is_cluster: bool | None = None
        self._slots: list[tuple[int, int, _Node]] = []
        self._known: dict[str, _Node] = {}
        """The node of each key's hash tag."""

    async def close(self) -> None:
        """Close connections. Idempotent."""
        for node in (self._seed, *self._nodes.values()):
            await node.client.aclose()

    async def run(self, commands: Sequence[Command], copies: Command | None = None) -> list[Any]:
        """Send commands once; an answer for each, errors among them. Raises what a connection raises.

        `copies`: a WAIT that each server must answer with as many replicas as it names; fewer count as no answer.
        """
        if self._is_cluster is None:
            with _ends_of_connections():
                info = await self._seed.client.info("cluster")
            self._is_cluster = bool(info.get("cluster_enabled"))
        if not self._is_cluster:
            return await self._seed.run(commands, copies)
        if not self._slots:
            await self._ask_slots()
        parts: dict[_Node, list[int]] = {}
        for place, command in enumerate(commands):
            parts.setdefault(self._node_of(command), []).append(place)
        sent = [node.run([commands[place] for place in places], copies) for node, places in parts.items()]
        answered = await asyncio.gather(*sent, return_exceptions=True)
        replies: list[Any] = [None] * len(commands)
        for places, part in zip(parts.values(), answered, strict=True):
            if isinstance(part, BaseException):
                self._forget_slots()
                raise part
            for place, reply in zip(places, part, strict=True):
                replies[place] = reply
                if isinstance(reply, _SLOT_GONE):
                    self._forget_slots()
        return replies

    def _node_of(self, command: Command) -> _Node:
        key: str = command[_KEY_OF.get(command[0], 1)]
        tag = key[: key.index("}") + 1]
        node = self._known.get(tag)
        if node is None:
            slot = key_slot(key.encode())
            node = next((node for first, last, node in self._slots if first <= slot <= last), None)
            if node is None:
                self._forget_slots()
                raise exceptions.ConnectionError(f"nobody has slot {slot}")
            self._known[tag] = node
        return node

    async def _ask_slots(self) -> None:
        """Ask whoever answers who has what."""
        for node in (self._seed, *self._nodes.values()):
            with suppress(exceptions.ConnectionError, exceptions.TimeoutError, OSError):
                with _ends_of_connections():
                    rows = await node.client.execute_command("CLUSTER SLOTS")  # type: ignore[no-untyped-call]  # redis-py is typed in places only
                break
        else:
            raise exceptions.ConnectionError("no node of the cluster answers")
        self._slots = [(int(first), int(last), self._node(*_address(master))) for first, last, master, *_ in rows]

    def _node(self, host: str, port: int) -> _Node:
        """The node at an address; one that names none is the one that was asked."""
        if not host or not port:
            return self._seed
        node = self._nodes.get((host, port))
        if node is None:
            options: dict[str, Any] = {**parse_url(self._settings.url), **self._options}
            for name in ("path", "connection_class", "db", "host", "port"):
                options.pop(name, None)
            is_encrypted = self._settings.url.startswith("rediss:")
            client: Redis = Redis(host=host, port=port, ssl=is_encrypted, **options)
            node = self._nodes[host, port] = _Node(client)
        return node

    def _forget_slots(self) -> None:
        self._slots = []
        self._known = {}


def _check_copies(reached: object, wanted: int) -> None:
    """Raises what a lost connection raises: the pipeline must be sent again."""
    if isinstance(reached, int) and reached < wanted:
        raise exceptions.ConnectionError(f"{reached} of {wanted} replicas have it")


def _address(master: Sequence[Any]) -> tuple[str, int]:
    host = master[0].decode() if isinstance(master[0], bytes) else master[0]
    return host or "", int(master[1])
