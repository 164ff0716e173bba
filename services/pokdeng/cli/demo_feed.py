"""What the demo knows of its play: read from the output topics as any other service would, and from the worker."""

from __future__ import annotations

import time
from collections import Counter, defaultdict, deque
from typing import TYPE_CHECKING

import msgspec

from pokdeng.cli.demo_snapshot import BookLine, DemoSnapshot, Latency, OptionLine, RoadLine
from pokdeng.events.reasons import BetReason
from pokdeng.rounds import RoadMark
from pokdeng.rules import Outcome, Seat
from pokdeng.settlement.books import FACT_TOPICS, Books
from pokdeng.stream.port import TopicPartition
from pokdeng.wire import TopicKind, Topics

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pokdeng.ledger.values import Account
    from pokdeng.settlement.worker import Worker
    from pokdeng.stream.port import Log

CURRENCY = "THB"
_ROAD_ROUNDS = 60
_RATE_OVER_S = 3.0


class _Player(msgspec.Struct):
    seat: str
    result: str
    pair: bool
    flush: bool


class _RoundSettled(msgspec.Struct):
    type: str
    table_id: str
    players: list[_Player] = []


class _Rejected(msgspec.Struct):
    type: str
    reason: str = ""


class DemoFeed:
    """Reads on where it stopped, whenever `refresh` is called."""

    def __init__(self, log: Log, topics: Topics, counts: dict[str, int], worker: Worker, seed: int) -> None:
        """From the beginning of the outputs."""
        self._source = log
        self._worker = worker
        self._seed = seed
        self._next = {
            TopicPartition(topics.name(kind), number): 0
            for kind in FACT_TOPICS
            for number in range(counts[topics.name(kind)])
        }
        self._topics = topics
        self._books = Books()
        self._reasons: Counter[str] = Counter()
        self._roads: defaultdict[str, deque[tuple[RoadMark, ...]]] = defaultdict(lambda: deque(maxlen=_ROAD_ROUNDS))
        self._rates: deque[tuple[float, int]] = deque()
        self._begun = time.monotonic()
        self._ended: float | None = None

    def begin(self) -> None:
        """The play begins now."""
        self._begun = time.monotonic()

    def end(self) -> None:
        """The play is over: its time stands."""
        self._ended = time.monotonic()

    async def is_every_deposit_decided(self, count: int) -> bool:
        """Whether as many deposits are decided."""
        await self.refresh()
        counts = self._books.counts
        return counts["funds_credited"] + counts["funds_rejected"] >= count

    async def refresh(self) -> None:
        """Read what was said since."""
        ends = await self._source.end_offsets(list(self._next))
        for partition, start in self._next.items():
            end = ends[partition]
            if start < end:
                kind = self._topics.kind_of(partition.topic)
                for record in await self._source.read(partition, start, end):
                    if record.value is not None:
                        self._fold(kind, record.value)
                self._next[partition] = end

    def _fold(self, kind: TopicKind | None, value: bytes) -> None:
        self._books.add(value)
        if kind is TopicKind.ROUNDS:
            settled = msgspec.json.decode(value, type=_RoundSettled)
            if settled.players:
                self._roads[settled.table_id].append(
                    tuple(
                        RoadMark(seat=Seat(one.seat), result=Outcome(one.result), is_pair=one.pair, is_flush=one.flush)
                        for one in settled.players
                    )
                )
        elif kind is TopicKind.BET_DECISIONS:
            rejected = msgspec.json.decode(value, type=_Rejected)
            if rejected.type == "bet_rejected":
                self._reasons[BetReason(rejected.reason).value] += 1

    def snapshot(self, accounts: Iterable[Account] = (), *, is_over: bool = False) -> DemoSnapshot:
        """What is so now; with all `accounts`, the books too."""
        counts, observer, engine = self._books.counts, self._worker.observer, self._worker.engine
        now = time.monotonic() if self._ended is None else self._ended
        decided = counts["bet_accepted"] + counts["bet_rejected"]
        books = self._books.currencies(accounts) if is_over else {}
        return DemoSnapshot(
            seed=self._seed,
            elapsed_seconds=now - self._begun,
            is_over=is_over,
            rounds_settled=counts["round_settled"],
            rounds_refunded=counts["round_refunded"],
            rounds_open=0 if engine is None else engine.owned.open_rounds,
            rounds_held=0 if engine is None else engine.owned.held_rounds,
            accepted=counts["bet_accepted"],
            rejected=counts["bet_rejected"],
            withdrawn=counts["bet_withdrawn"],
            settled=counts["bet_settled"],
            refunded=counts["bet_refunded"],
            reasons=dict(self._reasons),
            bets_per_second=self._rate(now, decided, is_over=is_over),
            decision=_latency(observer.decision_latencies),
            settlement=_latency(observer.settlement_latencies),
            dead_letters=round(observer.totals["dead_letters"]),
            duplicates=round(observer.totals["duplicates"]),
            currency=CURRENCY,
            options=tuple(
                OptionLine(
                    bet=bet,
                    bets=one.bets,
                    taken=one.taken,
                    returned=one.returned,
                    expected=one.expected,
                    variance=one.variance,
                )
                for bet, one in self._books.options(CURRENCY).items()
            ),
            books=tuple(
                BookLine(
                    currency=currency,
                    deposits=one.deposits,
                    withdrawals=one.withdrawals,
                    house_net=one.house_net,
                    available=one.available,
                    held=one.held,
                )
                for currency, one in books.items()
            ),
            roads=tuple(RoadLine(table_id=table, rounds=tuple(marks)) for table, marks in sorted(self._roads.items())),
        )

    def _rate(self, now: float, decided: int, *, is_over: bool) -> float:
        if is_over:
            return decided / max(now - self._begun, 0.001)
        self._rates.append((now, decided))
        while self._rates[0][0] < now - _RATE_OVER_S:
            self._rates.popleft()
        since, before = self._rates[0]
        return (decided - before) / (now - since) if now > since else 0.0


def _latency(seconds: Sequence[float]) -> Latency:
    if not seconds:
        return Latency()
    ordered = sorted(seconds)
    return Latency(
        p50_ms=ordered[len(ordered) // 2] * 1000, p99_ms=ordered[min(len(ordered) - 1, len(ordered) * 99 // 100)] * 1000
    )
