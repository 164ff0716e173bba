"""What a version left behind: every record of every topic, what its group committed, and every value in Redis."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from redis.asyncio import Redis

from pokdeng.ledger.redis_ledger import RedisLedger
from pokdeng.stream.port import TopicPartition
from tests.settlement.scene import GROUP, Scene
from tests.support.line import Line

if TYPE_CHECKING:
    from pokdeng.stream.memory import MemoryBroker

FOLDER = Path(__file__).parent
PREFIX = "pokdeng"
_BASE64 = "base64:"

PHASES = (
    "deposit A-1 10000\ndeposit A-2 10000\ndeposit A-3 5000 in EUR\nwithdraw A-1 500\nwithdraw A-2 999999",
    """
    shoe S-1 2h
    open R-1
    bet b1 A-1 player_1 1000
    bet b2 A-2 player_3_pair 1000
    bet b3 A-3 player_2 1000
    bet b4 A-1 player_2 500
    cancel b4 A-1
    cancel b9 A-1
    bet b5 A-2 player_5 100000
    raw bets T-1 nonsense
    raw bets T-1 -
    close R-1
    deal R-1 W
    """,
    """
    bet b6 A-1 player_1 100
    open R-2
    bet c1 A-1 player_1 1000 of R-2
    void R-2
    open R-3
    bet d1 A-2 player_1 1000 of R-3
    close R-3
    deal R-3 T but banker 2
    card R-3 player_1 1 2c
    """,
    """
    shoe S-9 3h at T-2
    open Q-1 at T-2 in S-9
    bet e1 A-2 player_2 500 of Q-1 at T-2
    bet e2 A-1 player_4 300 of Q-1 at T-2
    """,
)
"""What the version was told: a round settled, one refunded, one held, and one with bets that is still open."""


def new_scene(url: str) -> Scene:
    """Empty topics, and a ledger at this address."""
    scene = Scene()
    scene.line = Line(
        partitions=1, prefix=PREFIX, clock_ms=lambda: scene.talk.now_ms, ledger=lambda: RedisLedger(url, prefix=PREFIX)
    )
    return scene


async def play(scene: Scene) -> None:
    """Play it all, and stop as SIGTERM does it."""
    await scene.start()
    for phase in PHASES:
        await scene.play(phase)
    await scene.stop()


async def keep(scene: Scene, url: str) -> dict[str, Any]:
    """What is there now, as JSON."""
    broker = scene.line.broker
    return {
        "records": [
            [
                name,
                record.offset,
                record.timestamp,
                _text(record.key),
                _text(record.value),
                [[header, _text(value)] for header, value in record.headers],
            ]
            for name in scene.line.topics.names
            for record in broker.records(TopicPartition(name, 0))
        ],
        "committed": {place.topic: offset for place, offset in sorted(broker.committed(GROUP).items())},
        "redis": await _keep_redis(url),
    }


async def lay_out(kept: dict[str, Any], url: str) -> Scene:
    """A scene in which that version has just stopped."""
    scene = new_scene(url)
    broker = scene.line.broker
    for topic, offset, timestamp, key, value, headers in kept["records"]:
        read = [(header, _bytes(text) or b"") for header, text in headers]
        assert broker.append(topic, _bytes(key), _bytes(value), read, 0, timestamp).offset == offset
        scene.talk.now_ms = max(scene.talk.now_ms, timestamp)
    _commit(broker, kept["committed"])
    redis: Any = Redis.from_url(url)
    for key, stored in kept["redis"].items():
        name = _bytes(key) or b""
        if isinstance(stored["value"], dict):
            fields = {_bytes(field): _bytes(text) for field, text in stored["value"].items()}
            await redis.hset(name, mapping=fields)
        else:
            await redis.set(name, _bytes(stored["value"]) or b"")
        if stored["expires"]:
            await redis.pexpire(name, 3_600_000)
    await redis.aclose()
    return scene


def versions() -> list[str]:
    """Every version of which something is kept."""
    return sorted(file.stem for file in FOLDER.glob("*.json"))


def read(version: str) -> dict[str, Any]:
    """What is kept of a version."""
    found: dict[str, Any] = json.loads((FOLDER / f"{version}.json").read_text())
    return found


async def _keep_redis(url: str) -> dict[str, Any]:
    redis: Any = Redis.from_url(url)
    found: dict[str, Any] = {}
    for key in sorted([key async for key in redis.scan_iter(f"{PREFIX}:*")]):
        if b"}l:" in key:
            continue  # leases end within half a minute
        if await redis.type(key) == b"hash":
            fields = await redis.hgetall(key)
            value: Any = {_text(field): _text(fields[field]) for field in sorted(fields)}
        else:
            value = _text(await redis.get(key))
        found[str(_text(key))] = {"expires": await redis.pttl(key) > 0, "value": value}
    await redis.aclose()
    return found


def _commit(broker: MemoryBroker, offsets: dict[str, int]) -> None:
    broker.group(GROUP).committed.update({TopicPartition(topic, 0): offset for topic, offset in offsets.items()})


def _text(raw: bytes | None) -> str | None:
    """Readable where it is text, base64 where it is not; None stays None."""
    if raw is None:
        return None
    try:
        text = raw.decode()
    except UnicodeDecodeError:
        return _BASE64 + base64.b64encode(raw).decode()
    return text if text.isprintable() and not text.startswith(_BASE64) else _BASE64 + base64.b64encode(raw).decode()


def _bytes(text: str | None) -> bytes | None:
    if text is None:
        return None
    return base64.b64decode(text.removeprefix(_BASE64)) if text.startswith(_BASE64) else text.encode()
