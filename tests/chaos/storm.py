"""The storm: faults drawn from a seed, each ended before the next of its lane (workers, Kafka, Redis) begins."""

from __future__ import annotations

import asyncio
import random
import signal
import time
from collections import Counter, deque
from contextlib import suppress
from typing import TYPE_CHECKING, Final, NamedTuple

from aiokafka.errors import KafkaError
from redis.exceptions import RedisError

from tests.chaos.stores import PROXY
from tests.chaos.workers import SESSION_TIMEOUT_S

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from tests.chaos.brokers import Brokers
    from tests.chaos.proxies import Proxies
    from tests.chaos.stores import Stores
    from tests.chaos.workers import Slot

KILLS: Final = frozenset(
    {"worker killed", "broker killed", "leader of both killed", "redis killed", "redis cut", "replica promoted"}
)
"""Faults with a kill -9 in them."""
LOSSY: Final = frozenset({"redis cut", "redis emptied", "replica promoted"})
"""After these Redis has lost what was acknowledged: the worker must restore it."""


class Happened(NamedTuple):
    """One fault."""

    at_s: float
    """Since the storm began."""
    kind: str
    what: str
    lasted_s: float


class Storm:
    """All that is harmed, and how."""

    def __init__(
        self, seed: int, slots: Sequence[Slot], brokers: Brokers, stores: Stores, proxies: Proxies, tables_topic: str
    ) -> None:
        """Nothing is harmed yet."""
        self._rng = random.Random(f"{seed}/storm")
        self._slots = slots
        self._brokers = brokers
        self._stores = stores
        self._proxies = proxies
        self._tables_topic = tables_topic
        self._began = time.monotonic()
        self._resting: set[asyncio.Task[None]] = set()
        self.happened: list[Happened] = []
        self._doing: list[str] = []

    def kinds(self, *, is_lossy: bool, is_replicated: bool) -> dict[str, tuple[int, Callable[[], Awaitable[str]]]]:
        """Each fault with its weight: how many of a hundred."""
        every: dict[str, tuple[int, Callable[[], Awaitable[str]]]] = {
            "worker killed": (52, self._kill_worker),
            "worker paused": (6, self._pause_worker),
            "worker paused past its session": (5, self._pause_worker_long),
            "broker killed": (3, self._kill_broker),
            "leader of both killed": (3, self._kill_leader),
            "redis killed": (6, self._stores_restart),
            "redis cut": (2, self._stores.cut_file),
            "redis emptied": (1, self._stores.empty),
            "replica promoted": (1, self._stores.promote_a_lagging_replica),
            "redis full": (2, self._fill_redis),
            "redis unable to save": (2, self._misconfigure_redis),
            "redis connections cut": (2, self._cut_redis),
            "redis delayed": (2, self._delay_redis),
            "redis answers vanish": (2, self._half_close_redis),
            "redis connections reset": (1, self._reset_redis),
            "kafka connections cut": (1, self._cut_kafka),
            "kafka delayed": (1, self._delay_kafka),
            "kafka answers vanish": (1, self._half_close_kafka),
        }
        if not is_lossy:
            every = {kind: one for kind, one in every.items() if kind not in LOSSY}
        if not is_replicated:
            every.pop("leader of both killed")
        return every

    def deck(self, kills: int, *, is_lossy: bool, is_replicated: bool) -> deque[str]:
        """Faults in the order in which they come, with as many kills in them as asked; every kind at least once."""
        kinds = self.kinds(is_lossy=is_lossy, is_replicated=is_replicated)
        names, weights = list(kinds), [weight for weight, _ in kinds.values()]
        drawn = list(names)
        while sum(name in KILLS for name in drawn) < kills:
            drawn += self._rng.choices(names, weights)
        self._rng.shuffle(drawn)
        return deque(drawn)

    async def rage(self, deck: deque[str], *, lasts_s: float, is_lossy: bool, is_replicated: bool) -> None:
        """Let all of a deck happen, spread over so many seconds, or one after the other if it takes longer."""
        kinds = self.kinds(is_lossy=is_lossy, is_replicated=is_replicated)
        self._began = time.monotonic()
        count = len(deck)
        lanes = {name: asyncio.Lock() for name in ("worker", "kafka", "redis")}
        async with asyncio.TaskGroup() as group:
            for number in range(count):
                due = self._began + lasts_s * (number + self._rng.random() * 0.8) / count
                await asyncio.sleep(max(0.0, due - time.monotonic()))
                kind = deck.popleft()
                group.create_task(self._do(kind, kinds[kind][1], lanes[_lane(kind)]))
        await asyncio.gather(*self._resting)

    async def _do(self, kind: str, harm: Callable[[], Awaitable[str]], lane: asyncio.Lock) -> None:
        """Faults of one lane come one after the other; those of others may fall together."""
        async with lane:
            began = time.monotonic()
            self._doing.append(kind)
            try:
                what = await harm()
            except (KafkaError, RedisError, OSError) as error:
                what = f"could not be done: {error!r}"
            finally:
                self._doing.remove(kind)
            self.happened.append(Happened(began - self._began, kind, what, time.monotonic() - began))

    @property
    def now(self) -> str:
        """What is being done, for whoever looks on."""
        return ", ".join(self._doing)

    @property
    def counts(self) -> Counter[str]:
        """Faults that were done, by kind."""
        return Counter(one.kind for one in self.happened if not one.what.startswith("could not"))

    # Workers

    async def _kill_worker(self) -> str:
        slot = self._rng.choice(self._slots)
        return f"{slot.name}" if slot.signal(signal.SIGKILL) else f"could not be done: {slot.name} does not run"

    async def _pause_worker(self) -> str:
        return await self._paused(self._rng.uniform(0.5, SESSION_TIMEOUT_S * 0.6))

    async def _pause_worker_long(self) -> str:
        return await self._paused(self._rng.uniform(SESSION_TIMEOUT_S * 1.3, SESSION_TIMEOUT_S * 2))

    async def _paused(self, seconds: float) -> str:
        """It goes on later, whatever happens meanwhile: others may be harmed while it sleeps."""
        slot = self._rng.choice(self._slots)
        if not slot.signal(signal.SIGSTOP):
            return f"could not be done: {slot.name} does not run"

        async def wake() -> None:
            await asyncio.sleep(seconds)
            slot.signal(signal.SIGCONT)

        task = asyncio.create_task(wake())
        self._resting.add(task)
        task.add_done_callback(self._resting.discard)
        return f"{slot.name} for {seconds:.1f} s"

    # Brokers

    async def _kill_broker(self) -> str:
        return await self._killed(self._rng.choice(self._brokers.all).node)

    async def _kill_leader(self) -> str:
        """The leader of a partition of table events, whose bets lie with another broker."""
        await self._brokers.until_in_sync()
        leaders = await self._brokers.leaders(self._tables_topic)
        bets = await self._brokers.leaders(self._tables_topic.replace("table-events", "bets"))
        apart = [number for number, node in leaders.items() if node not in (-1, bets[number])]
        if not apart:
            return "could not be done: no table's logs are led by different brokers"
        number = self._rng.choice(apart)
        return f"partition {number}: {await self._killed(leaders[number])}, bets with {bets[number]}"

    async def _killed(self, node: int) -> str:
        """Kill -9, and back after a while; only one at a time, for two of three must live."""
        await self._brokers.until_in_sync()
        broker = next(one for one in self._brokers.all if one.node == node)
        await self._brokers.close()
        broker.kill()
        away = self._rng.uniform(0.5, 8.0)
        await asyncio.sleep(away)
        await broker.start()
        return f"broker {node} away for {away:.1f} s"

    # Redis

    async def _stores_restart(self) -> str:
        return await self._stores.restart()

    async def _fill_redis(self) -> str:
        seconds = self._rng.uniform(0.5, 5.0)
        async with self._stores.full():
            await asyncio.sleep(seconds)
        return f"for {seconds:.1f} s"

    async def _misconfigure_redis(self) -> str:
        seconds = self._rng.uniform(0.5, 5.0)
        async with self._stores.unable_to_save():
            await asyncio.sleep(seconds)
        return f"for {seconds:.1f} s"

    # Connections

    async def _cut_redis(self) -> str:
        return await self._cut(PROXY)

    async def _delay_redis(self) -> str:
        return await self._poisoned(PROXY, "latency", "downstream", latency=self._rng.randint(50, 2_500), jitter=50)

    async def _half_close_redis(self) -> str:
        return await self._poisoned(PROXY, "timeout", "downstream", timeout=0)

    async def _reset_redis(self) -> str:
        return await self._poisoned(PROXY, "reset_peer", "downstream", timeout=self._rng.randint(0, 300))

    async def _cut_kafka(self) -> str:
        return await self._cut(self._some_broker)

    async def _delay_kafka(self) -> str:
        latency = self._rng.randint(50, 1_500)
        return await self._poisoned(self._some_broker, "latency", "downstream", latency=latency, jitter=50)

    async def _half_close_kafka(self) -> str:
        return await self._poisoned(self._some_broker, "timeout", "downstream", timeout=0)

    @property
    def _some_broker(self) -> str:
        return f"kafka-{self._rng.choice(self._brokers.all).node}"

    async def _cut(self, proxy: str) -> str:
        seconds = self._rng.uniform(0.1, 4.0)
        async with self._proxies.cut(proxy):
            await asyncio.sleep(seconds)
        return f"{proxy} for {seconds:.1f} s"

    async def _poisoned(self, proxy: str, kind: str, stream: str, **attributes: int) -> str:
        seconds = self._rng.uniform(0.5, 5.0)
        async with self._proxies.poisoned(proxy, kind, stream, **attributes):
            await asyncio.sleep(seconds)
        return f"{proxy} {attributes} for {seconds:.1f} s"


def _lane(kind: str) -> str:
    """Which of the three is harmed: two brokers down at once would be another promise."""
    if kind.startswith("worker"):
        return "worker"
    return "kafka" if kind.startswith(("broker", "leader", "kafka")) else "redis"


async def calm(task: asyncio.Task[None]) -> None:
    """End a storm that is not over."""
    task.cancel()
    with suppress(asyncio.CancelledError):
        await task
