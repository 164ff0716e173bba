"""A world: a log, a ledger, workers that die and rise, and tables that are played; then rest, and judgement.

One seed makes one world, its play, the order of all steps and all that goes wrong. `run_world` plays it to its end:
all inputs are appended while faults fall; then the world heals, everything is read, the workers stop, and the whole log
is read again by a new group. What was said and what the ledger holds is then judged from the inputs alone.
"""

from __future__ import annotations

import asyncio
import json
import random
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final
from zlib import crc32

from pokdeng.ledger.memory import MemoryLedger
from pokdeng.ledger.memory_store import MemoryStore
from pokdeng.simulator.destinations import Places
from pokdeng.stream.memory import MemoryBroker
from pokdeng.stream.port import TopicPartition
from pokdeng.wire import Topics
from tests.checker.checker import check
from tests.settlement.plays import name_of
from tests.simulation.disasters import Disasters
from tests.simulation.faults import BEAT, Fault, Fired, Injector, Kind
from tests.simulation.inputs import Spec, steps_of
from tests.simulation.lives import EXPECTED, Life
from tests.simulation.loop import VirtualLoop
from tests.support.line import INPUTS, OUTPUTS

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pokdeng.stream.port import Record
    from pokdeng.wire import TopicKind
    from tests.checker.report import Report

_REST_WITHIN_S: Final = 300.0
_DAY_AND_MORE_S: Final = 30 * 3600.0
_LEASE_S: Final = 31.0
"""By then no lease of the first group lives."""
_LOOK_S: Final = 0.2
_MOST_LIVES: Final = 60
"""A worker that starts so often in a world is never going to live."""


@dataclass(slots=True)
class Outcome:
    """What came of a world."""

    seed: int
    findings: list[str] = field(default_factory=list)
    fired: list[Fired] = field(default_factory=list)
    steps: int = 0
    records: int = 0
    digest: int = 0
    """Of all outputs and of the order in which everything happened: the same for the same seed."""

    @property
    def is_failed(self) -> bool:
        """Whether something was found."""
        return bool(self.findings)


class World:
    """Everything that outlives a worker."""

    def __init__(self, spec: Spec, loop: VirtualLoop, injector: Injector) -> None:
        """Topics without records, a ledger without buckets, nobody at work."""
        self.spec = spec
        self.loop = loop
        self.injector = injector
        self.topics = Topics("pokdeng")
        self.broker = MemoryBroker(self.now_ms)
        for name in self.topics.names:
            self.broker.create_topic(name, spec.partitions)
        self.store = MemoryStore(clock=self.now_ms)
        self.findings: list[str] = []
        self.lives: dict[int, Life] = {}
        """Who lives in which slot."""
        self.wanted = spec.workers
        """Slots below this number are kept alive."""
        self._born = 0
        self._group = "settlement"
        self._keepers: list[asyncio.Task[None]] = []
        self.disasters = Disasters(self)

    def now_ms(self) -> int:
        """The broker's clock, and everybody's."""
        return self.spec.play.starts_at_ms + int(self.loop.time() * 1000)

    # Workers

    def want(self, workers: int) -> None:
        """Keep so many workers alive; those above stop in order."""
        self.wanted = workers
        for slot, life in self.lives.items():
            if slot >= workers:
                life.worker.stop()
        while len(self._keepers) < workers:
            self._keepers.append(asyncio.create_task(self._keep(len(self._keepers))))

    async def _keep(self, slot: int) -> None:
        """Start a worker in this slot whenever there is none and one is wanted, as a supervisor does."""
        while self.wanted >= 0:
            await self.disasters.day.wait()
            if slot >= self.wanted:
                await asyncio.sleep(_LOOK_S)
                continue
            self._born += 1
            if self._born > _MOST_LIVES:
                self.find(f"workers start for the {self._born}th time: {self.lives[slot].error!r}")
                return
            life = self.lives[slot] = Life(self, f"w{slot + 1}.{self._born}", self._group)
            await life.live()
            if life.was_killed:
                self.loop.call_later(self.disasters.session_s(), life.throw_out)
            self._look_at(life)
            await asyncio.sleep(self.spec.restart_s if self._born < _MOST_LIVES // 2 else 1.0)

    def _look_at(self, life: Life) -> None:
        error = life.error
        if error is None:
            return
        if not isinstance(error, EXPECTED):
            self.find(f"{life.name} stopped with {type(error).__name__}: {error}")

    def find(self, what: str) -> None:
        """Something is wrong."""
        self.findings.append(what)

    # The play

    async def play(self) -> None:
        """Append the play in its time, while things go wrong."""
        places = Places(self.topics, self.broker.topics())
        began_s = 0.0
        for steps in steps_of(self.spec):
            fault = self.injector.visit("beat", BEAT)
            night = fault if fault is not None and fault.kind is Kind.LONG_DOWN else None
            if fault is not None:
                (self.disasters.strike if night is None else self.disasters.nightfall)(fault)
            for step in steps:
                due_s = began_s + (step.at_ms - self.spec.play.starts_at_ms) / 1000
                if due_s > self.loop.time():
                    await asyncio.sleep(due_s - self.loop.time())
                topic, partition = places.of(step)
                self.broker.append(topic, step.key, step.value, (), partition)
            if night is not None:
                began_s += await self.disasters.until_dawn(night)
            await asyncio.sleep(0.001)
        await asyncio.sleep(self.spec.trouble_s)

    async def rest(self) -> None:
        """Heal, and work until every record is dealt with; then stop in order."""
        self.injector.is_over = True
        self.disasters.heal()
        self.want(max(1, self.wanted))
        deadline = self.loop.time() + _REST_WITHIN_S
        while not self._is_at_rest():
            if self.loop.time() > deadline:
                self.find(f"no rest within {_REST_WITHIN_S:.0f} s: {self._why_no_rest()}")
                break
            await asyncio.sleep(0.05)
        self.wanted = -1
        for life in self.lives.values():
            life.worker.stop()
        await asyncio.wait(self._keepers)

    def _is_at_rest(self) -> bool:
        return not self._why_no_rest()

    def _why_no_rest(self) -> str:
        if self.disasters.is_loss_open:
            return "the ledger has forgotten something, and nobody has noticed"
        lives = [life for slot, life in self.lives.items() if slot < self.wanted and not life.process.is_dead]
        owned = [(partition, life) for life in lives for partition in life.owned()]
        if len(owned) != len({partition for partition, _ in owned}) or len(owned) < 3 * self.spec.partitions:
            return f"{len(owned)} partitions are owned"
        for partition, life in owned:
            engine = life.worker.engine
            end = self.broker.partition(partition).end
            if engine is None or engine.owned.done_up_to(partition) < end:
                return f"{partition} is not read to its end {end}"
        if not all(life.worker.engine is not None and life.worker.engine.is_idle for life in lives):
            return "something is under way"
        return ""

    async def read_again(self) -> None:
        """A new group reads the whole log against the same ledger: nothing may move."""
        await asyncio.sleep(_DAY_AND_MORE_S if self.spec.jumps else _LEASE_S)
        before, said = await self.balances(), self.said()
        self._group, self._keepers, self.lives, self.wanted = "another-group", [], {}, 1
        await self.rest()
        after = await self.balances()
        if before != after:
            self.find(f"balances moved when the log was read again: {before} became {after}")
        for name in sorted(self.said() - said):
            self.find(f"{name} was said only when the log was read again")

    # Judgement

    def records(self, *kinds: TopicKind) -> list[Record]:
        """All records of these topics, by topic, partition and offset."""
        return [
            record
            for kind in kinds
            for number in range(self.spec.partitions)
            for record in self.broker.partition(TopicPartition(self.topics.name(kind), number)).records
        ]

    def is_told(self) -> bool:
        """Whether all movements of each account have been said but for the newest.

        One that was never said, and is forgotten by the ledger, leaves a hole in its account's sequence for ever where
        a later one was said: the restore tells of it, and cannot close it. Such losses are not tried here.
        """
        said: dict[str, set[int]] = {}
        for record in self.records(*OUTPUTS):
            body = json.loads(record.value or b"{}") if b'"sequence":' in (record.value or b"") else {}
            if "balance" in body:
                said.setdefault(body["account_id"], set()).add(body["balance"]["sequence"])
        newest = {account: of.sequence for bucket in self.store.buckets for account, of in bucket.accounts.items()}
        return all(said.get(account, set()) >= set(range(1, sequence)) for account, sequence in newest.items())

    def said(self) -> set[str]:
        """The names of all facts, and the places of all dead letters."""
        return {name_of(record) for record in self.records(*OUTPUTS)}

    async def balances(self) -> dict[str, tuple[int, int, int, str]]:
        """Available, held, sequence and currency of every account."""
        ledger = MemoryLedger(self.store, buckets=self.spec.buckets)
        if not self.store.buckets:
            return {}
        return {
            str(one.account): (one.available, one.held, one.sequence, str(one.currency))
            async for one in ledger.accounts()
        }

    async def judge(self) -> Report:
        """Hold everything against the inputs."""
        return check(
            self.records(*INPUTS),
            self.records(*OUTPUTS),
            partitions=self.spec.partitions,
            final_balances=await self.balances(),
            correction_window_ms=self.spec.correction_window_ms,
        )


def run_world(
    spec: Spec,
    script: Sequence[Fault] | None = None,
    *,
    watch: Callable[[World], None] | None = None,
) -> Outcome:
    """Play a world to its end.

    Args:
        spec: of `spec_of`.
        script: these faults and no others; None: those of the seed.
        watch: called with the world before it begins.
    """
    loop = VirtualLoop(random.Random(f"order/{spec.seed}"), step_s=spec.step_s)
    injector = Injector(
        random.Random(f"faults/{spec.seed}"),
        kinds=spec.kinds,
        rate=spec.rate,
        beat_rate=spec.beat_rate,
        most=spec.most,
        script=script,
    )
    outcome = Outcome(spec.seed)

    async def play() -> None:
        world = World(spec, loop, injector)
        if watch is not None:
            watch(world)
        outcome.findings = world.findings
        world.want(spec.workers)
        await world.play()
        await world.rest()
        if not world.findings:
            await world.read_again()
        if not world.findings:
            world.findings.extend((await world.judge()).findings)
        outputs = world.records(*OUTPUTS)
        outcome.records = len(outputs)
        outcome.digest = _digest(loop, outputs)

    try:
        loop.run(play())
    except Exception as error:  # noqa: BLE001 - a world that breaks is a finding, too
        outcome.findings.append(f"the world broke: {type(error).__name__}: {error}")
    unexpected = [error for error in loop.errors if not isinstance(error, EXPECTED)]
    outcome.findings.extend(f"nobody took {error!r}" for error in unexpected)
    outcome.fired = injector.fired
    outcome.steps = loop.steps
    return outcome


def _digest(loop: VirtualLoop, outputs: Sequence[Record]) -> int:
    value = crc32(f"{loop.steps}/{loop.time():.6f}".encode())
    for record in outputs:
        value = crc32(b"%d %d " % (record.offset, record.timestamp) + (record.value or b""), value)
    return value
