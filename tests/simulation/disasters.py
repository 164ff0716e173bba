"""What faults do to a world: at each await of a worker, and from outside."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Final

from pokdeng.ledger.port import LedgerUnavailableError
from pokdeng.stream.memory import Point
from pokdeng.stream.memory.broker import at_once
from pokdeng.stream.port import LogUnavailableError, TopicPartition
from pokdeng.wire import TopicKind
from tests.simulation.faults import (
    ACKNOWLEDGE,
    AFTER,
    ANSWER,
    APPEND,
    BEFORE,
    COMMIT,
    COMMITTED,
    LOSSES,
    PUBLISH,
    Fault,
    Fired,
    Kind,
)
from tests.simulation.loop import OWNER
from tests.simulation.parts import PassingError

if TYPE_CHECKING:
    from pokdeng.ledger.memory_store import Bucket
    from tests.simulation.lives import Life
    from tests.simulation.world import World

_SHORT_NIGHT_S: Final = 60.0
_EARLY: Final = 0.2
_SESSIONS_S: Final = (0.0, 0.0, 0.01, 0.1, 3.0)
_SNAPSHOTS: Final = 12
_LOOKS_EVERY_S: Final = 0.5
_ANSWERS: Final = {Point.ACKNOWLEDGE: ACKNOWLEDGE, Point.COMMITTED: COMMITTED, Point.ANSWER: ANSWER}


_ERRORS: Final[dict[Kind, type[Exception]]] = {
    Kind.LEDGER_LOST_AGAIN: PassingError,
    Kind.LEDGER_UNANSWERED_AGAIN: PassingError,
    Kind.LEDGER_LOST: LedgerUnavailableError,
    Kind.LEDGER_UNANSWERED: LedgerUnavailableError,
    Kind.LOG_FAILS: LogUnavailableError,
    Kind.PRODUCE_NEVER_ARRIVES: LogUnavailableError,
    Kind.PRODUCE_TIMES_OUT: LogUnavailableError,
    Kind.COMMIT_UNANSWERED: LogUnavailableError,
}
"""What a worker hears, after a while; of the others it hears late, and that is all."""


class Disasters:
    """Strikes a world where its injector says so."""

    def __init__(self, world: World) -> None:
        """Stand behind every hook of log and ledger."""
        self._world = world
        self._injector = world.injector
        self.day = asyncio.Event()
        """Not set: all workers are down, and none is started."""
        self.day.set()
        self._looks_at_dawn = False
        self._was_night = False
        self._last_session_s = 0.0
        self._hidden: set[TopicPartition] = set()
        self._snapshots: list[list[Bucket]] = []
        self._calls = 0
        self._is_lossy = False
        """Whether the ledger has forgotten something and is not whole again."""
        store, broker = world.store, world.broker
        self._keeps_snapshots = bool(world.spec.kinds & LOSSES)
        store.before, store.after = self._before, self._after
        broker.intercept, broker.linger = self._intercept, self._linger

    # At the awaits of workers

    async def _before(self, name: str, bucket: int) -> None:
        if self._keeps_snapshots and name not in ("recall", "account", "find_bets"):
            self._remember()
        fault = self._injector.visit(f"{name}<", BEFORE)
        if fault is not None:
            await self._strike_worker(fault, f"before ledger call {name}, bucket {bucket}")

    async def _after(self, name: str, bucket: int) -> None:
        fault = self._injector.visit(f"{name}>", AFTER)
        if fault is not None:
            await self._strike_worker(fault, f"after ledger call {name}, bucket {bucket}")

    async def _linger(self, point: Point, member: str) -> None:
        fault = self._injector.visit(point.value, _ANSWERS[point])
        if fault is None:
            await at_once(point, member)
        else:
            await self._strike_worker(fault, f"at {point.value}")

    async def publishing(self) -> bool:
        """Before a publish; whether it comes twice."""
        fault = self._injector.visit("publish", PUBLISH)
        if fault is None:
            return False
        if fault.kind is Kind.PRODUCE_TWICE:
            self._fired(fault, self._life().name)
            return True
        await self._strike_worker(fault, "before a publish")
        return False

    def _intercept(self, point: Point, _member: str, partition: TopicPartition | None) -> None:
        if point not in (Point.APPEND, Point.COMMIT):
            return
        fault = self._injector.visit(point.value, APPEND if point is Point.APPEND else COMMIT)
        if fault is not None:
            life = self._life()
            self._fired(fault, f"{life.name} at {point.value} {'' if partition is None else partition.topic}")
            if fault.kind is Kind.KILL:
                self._kill(life, fault)
            raise LogUnavailableError("killed" if fault.kind is Kind.KILL else "it did not answer")

    async def _strike_worker(self, fault: Fault, where: str) -> None:
        life = self._life()
        kind = fault.kind
        self._fired(fault, f"{life.name} {where}")
        if kind is Kind.KILL:
            self._kill(life, fault)
            await asyncio.sleep(0)
        elif kind is Kind.FREEZE:
            life.freeze(fault.long_s)
            await asyncio.sleep(0)
        else:
            await asyncio.sleep(fault.short_s)
            error = _ERRORS.get(kind)
            if error is not None:
                raise error("it did not answer")

    def _life(self) -> Life:
        """Whose step runs now."""
        owner = OWNER.get()
        for life in self._world.lives.values():
            if life.process is owner:
                return life
        raise LookupError(f"{owner} is nobody's process")

    def _kill(self, life: Life, fault: Fault) -> None:
        self._last_session_s = _SESSIONS_S[int(fault.amount * len(_SESSIONS_S))]
        life.kill()

    def session_s(self) -> float:
        """How long after the last kill the group learns of it."""
        return self._last_session_s

    def _fired(self, fault: Fault, whom: str) -> None:
        self._injector.fired.append(Fired(fault, self._world.loop.time(), whom))

    # From outside

    def strike(self, fault: Fault) -> None:
        """Do something to the world."""
        world, kind = self._world, fault.kind
        lives = [life for life in world.lives.values() if not life.process.is_dead]
        life = lives[int(fault.amount * len(lives))] if lives else None
        self._fired(fault, "nobody" if life is None else life.name)
        if kind is Kind.JOIN:
            world.want(min(3, max(1, world.wanted + 1)))
        elif kind is Kind.LEAVE:
            world.want(max(0, world.wanted - 1))
        elif kind in (Kind.LOG_HIDES, Kind.LOG_DOWN):
            self._cut(fault)
        elif kind is Kind.LEDGER_RESTART:
            world.store.new_incarnation()
        elif kind in LOSSES:
            self._lose(fault)
        elif life is not None:
            if kind is Kind.KILL:
                self._kill(life, fault)
            elif kind is Kind.FREEZE:
                life.freeze(fault.long_s)
            else:
                life.throw_out()
                world.loop.call_later(fault.short_s, life.log.heartbeat)

    def _cut(self, fault: Fault) -> None:
        world = self._world
        if fault.kind is Kind.LOG_DOWN:
            world.broker.is_down = True
            world.loop.call_later(fault.short_s, self._up)
            return
        topics = (world.topics.bets, world.topics.table_events, world.topics.funds, world.topics.rounds)
        count = len(topics) * world.spec.partitions
        number = int(fault.amount * count)
        partition = TopicPartition(topics[number % len(topics)], number // len(topics))
        self._hidden.add(partition)
        world.broker.hide(partition)
        world.loop.call_later(fault.long_s, self._show, partition)

    def _up(self) -> None:
        self._world.broker.is_down = False

    def _show(self, partition: TopicPartition) -> None:
        if partition in self._hidden:
            self._hidden.remove(partition)
            self._world.broker.show(partition)

    def nightfall(self, fault: Fault) -> None:
        """All workers die at once, and none is started; what is sent now lies in the log until the morning."""
        self._fired(fault, "all")
        self.day.clear()
        for life in self._world.lives.values():
            life.kill()

    async def until_dawn(self, fault: Fault) -> float:
        """How long it was dark, in seconds. One night is long, mostly with rounds said before it: all is remembered."""
        world = self._world
        before_s = world.loop.time()
        is_long = not self._was_night and (fault.amount < _EARLY or bool(world.records(TopicKind.ROUNDS)))
        self._was_night |= is_long
        await asyncio.sleep(world.spec.night_s if is_long else _SHORT_NIGHT_S)
        self.day.set()
        if self._looks_at_dawn:
            self._looks_at_dawn = False
            self._look_after()
        return world.loop.time() - before_s

    # A ledger that forgets

    def _remember(self) -> None:
        """Now and then keep what the ledger holds, to set it back to that."""
        self._calls += 1
        if self._calls % 5 == 0:
            self._snapshots.append(self._world.store.snapshot())
            del self._snapshots[:-_SNAPSHOTS]

    def _lose(self, fault: Fault) -> None:
        store = self._world.store
        if self._is_lossy or not store.buckets or not self._snapshots or not self._world.is_told():
            return
        self._is_lossy = True
        self._world.loop.call_later(_LOOKS_EVERY_S, self._look_after)
        if fault.kind is Kind.LEDGER_FLUSH:
            store.flush()
            return
        behind = 1 if fault.kind is Kind.LEDGER_PROMOTED else 1 + int(fault.amount * len(self._snapshots))
        store.restore(self._snapshots[-min(behind, len(self._snapshots))])
        store.new_incarnation()
        self._snapshots.clear()

    @property
    def is_loss_open(self) -> bool:
        """Whether the ledger has forgotten something, and nobody has seen to it."""
        return self._is_lossy

    def _look_after(self) -> None:
        """Wait until the workers have found out, and the ledger is whole again."""
        store = self._world.store
        if not self._is_lossy:
            return
        if any(bucket.verified == store.incarnation for bucket in store.buckets):
            self._is_lossy = False
            self._snapshots.clear()
        elif self.day.is_set():
            self._world.loop.call_later(_LOOKS_EVERY_S, self._look_after)
        else:
            self._looks_at_dawn = True

    def heal(self) -> None:
        """Everything works again, and everybody goes on."""
        world = self._world
        world.broker.is_down = False
        for partition in sorted(self._hidden):
            world.broker.show(partition)
        self._hidden.clear()
        for life in world.lives.values():
            if not life.process.is_dead:
                life.thaw()
                life.log.heartbeat()
