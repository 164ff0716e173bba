"""The embedded server: found, started, always ended."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from redis.asyncio import Redis

from pokdeng.ledger.embedded import embedded_server, server_binary
from pokdeng.ledger.port import LedgerUnavailableError
from tests.ledger.world import in_world

if TYPE_CHECKING:
    from pokdeng.ledger.embedded import EmbeddedServer


def folder_of(server: EmbeddedServer) -> Path:
    """Where its files are."""
    return Path(server.url.removeprefix("unix://")).parent


@in_world
async def test_it_is_configured_as_the_ledger_needs_it() -> None:
    """No eviction, an append-only file, small hashes stay small."""
    async with embedded_server() as server:
        redis: Redis = Redis.from_url(server.url, decode_responses=True)
        found = await redis.config_get("*")
        await redis.aclose()
    assert {
        name: found[name]
        for name in ("save", "appendonly", "maxmemory-policy", "hash-max-listpack-entries", "hash-max-listpack-value")
    } == {
        "save": "",
        "appendonly": "yes",
        "maxmemory-policy": "noeviction",
        "hash-max-listpack-entries": "128",
        "hash-max-listpack-value": "128",
    }
    assert found["port"] == "0"


@in_world
async def test_it_is_ended_with_its_files_whatever_happens_inside() -> None:
    """An error in the block ends the server and removes its folder."""
    servers: list[EmbeddedServer] = []

    async def fail() -> None:
        async with embedded_server() as server:
            servers.append(server)
            assert folder_of(server).is_dir()
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await fail()
    assert not folder_of(servers[0]).exists()
    assert not servers[0].is_running


@in_world
async def test_two_live_side_by_side() -> None:
    """Each has a place of its own."""
    async with embedded_server() as one, embedded_server() as two:
        for at, server in enumerate((one, two)):
            redis: Redis = Redis.from_url(server.url)
            assert await redis.dbsize() == 0
            await redis.set("who", at)
            await redis.aclose()


@in_world
async def test_a_server_that_ends_at_once_is_told() -> None:
    """A setting that it does not take is an error, not an endless wait."""
    with pytest.raises(LedgerUnavailableError, match="ended with"):
        async with embedded_server({"maxmemory-policy": "nonsense"}):
            pass


def test_the_named_binary_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    """`REDIS_SERVER` comes before everything else."""
    monkeypatch.setenv("REDIS_SERVER", "/somewhere/redis-server")
    assert server_binary() == "/somewhere/redis-server"


def test_the_wheel_serves_where_nothing_is_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a system server the packaged one is started."""
    monkeypatch.delenv("REDIS_SERVER", raising=False)
    monkeypatch.setenv("PATH", "")
    assert Path(server_binary()).name == "valkey-server"
