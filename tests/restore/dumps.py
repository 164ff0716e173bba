"""What lies in Redis, byte by byte."""

from __future__ import annotations

from redis.asyncio import Redis


async def dump(url: str, prefix: str) -> dict[bytes, object]:
    """The bytes of all accounts, bets and transfers under a prefix, and whether they are kept for ever."""
    redis: Redis = Redis.from_url(url)
    found: dict[bytes, object] = {}
    try:
        async for key in redis.scan_iter(match=f"{prefix}:*", count=1000):
            rest = key.rpartition(b"}")[2]
            if rest == b"a" or rest.startswith(b"r:"):
                found[key] = (await redis.hgetall(key), await redis.ttl(key) == -1)
            elif rest.startswith(b"t:"):
                found[key] = (await redis.get(key), False)
    finally:
        await redis.aclose()
    return found
