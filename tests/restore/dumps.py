"""What lies in Redis, byte by byte."""

from __future__ import annotations

from redis.asyncio import Redis

Dump = dict[tuple[bytes, bytes], bytes]
REFUSED = 2
"""The first byte of a refused bet's record."""


async def dump(url: str, prefix: str) -> Dump:
    """The bytes of all accounts, bets and transfers under a prefix, and whether a key is kept for ever."""
    redis: Redis = Redis.from_url(url)
    found: Dump = {}
    try:
        async for key in redis.scan_iter(match=f"{prefix}:*", count=1000):
            rest = key.rpartition(b"}")[2]
            if rest == b"a" or rest.startswith(b"r:"):
                fields: dict[bytes, bytes] = await redis.hgetall(key)  # type: ignore[assignment]  # nothing is decoded
                found |= {(key, field): value for field, value in fields.items()}
                found[key, b""] = b"for ever" if await redis.ttl(key) == -1 else b"for a time"
            elif rest.startswith(b"t:"):
                found[key, b""] = bytes(await redis.get(key) or b"")  # type: ignore[arg-type]  # as above
    finally:
        await redis.aclose()
    return found


def check_same(restored: Dump, living: Dump) -> None:
    """Every balance, bet and transfer is there in the bytes that it had.

    What was refused when its round was over may be a bet's record now instead of a note: it is answered the same.
    """
    assert {name: restored.get(name) for name in living} == living
    more = {name: value for name, value in restored.items() if name not in living}
    assert all(value[0] == REFUSED for (_, field), value in more.items() if field), more
