"""A line on the twins, and what is heard of it: balances and facts as short texts, copies folded into one.

bet_accepted b1 A-1 8000/2000/2         bet_rejected b3 A-3 betting_closed
bet_settled b1 A-1 win 3000 11000/0/3   bet_refunded b1 A-1 2000 10000/0/3
bet_withdrawn b1 A-1 2000 10000/0/3     cancel_rejected b1 A-2 bet_unknown
funds_credited A-1 10000 10000/0/1      funds_rejected A-1 50 insufficient_funds
bet_reversed b1 A-1 3000 8000/2000/4 r2 bet_settled b1 A-1 lose 1000 9000/0/5 r2
round_settled R-1 1 bets seal 1         round_settled R-1 1 bets seal 1 r2
round_held R-1 seat_conflict            replayed 0:3 by ana
dead bets@3 not_json
"""

from __future__ import annotations

import asyncio
import json
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from pokdeng.stream.port import TopicPartition
from pokdeng.wire import TopicKind
from tests.checker.checker import check
from tests.settlement.table_talk import Talk
from tests.support.line import INPUTS, OUTPUTS, Line, RunningWorker

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterable, Sequence

    from pokdeng.settlement.limits import Limits
    from pokdeng.stream.port import Record
    from tests.checker.report import Report
    from tests.settlement.table_talk import Spoken

GROUP = "settlement"


class Scene:
    """A line, its producers' talk, and one worker at a time. Its clock is that of the talk."""

    def __init__(self, *, partitions: int = 1, limits: Limits | None = None) -> None:
        """Everything is empty; no worker runs. One partition, so that offsets are those of the text."""
        self.talk = Talk()
        self.line = Line(partitions=partitions, limits=limits, clock_ms=lambda: self.talk.now_ms)
        self.worker: RunningWorker | None = None
        self._group = GROUP

    async def start(self, *, group: str | None = None, name: str = "w1") -> RunningWorker:
        """Start a worker that owns what it gets, in the group of the one before if none is named."""
        group = self._group = group or self._group
        self.worker = await self.line.start_worker(group, name)
        await self.worker.owns()
        return self.worker

    async def stop(self) -> None:
        """As SIGTERM does it."""
        if self.worker is not None:
            worker, self.worker = self.worker, None
            await worker.stop()

    async def kill(self) -> None:
        """As kill -9 does it."""
        if self.worker is not None:
            worker, self.worker = self.worker, None
            await worker.kill()

    async def restart(self) -> None:
        """Kill what runs, and start anew."""
        await self.kill()
        await self.start()

    async def caught_up(self) -> None:
        """Wait until the worker has done what can be done."""
        if self.worker is None:
            raise ValueError("no worker runs")
        await self.worker.caught_up()

    async def play(self, text: str) -> None:
        """Append a text, and wait until the worker has done what can be done."""
        self.say(text)
        await self.caught_up()

    def say(self, text: str) -> None:
        """Append a text."""
        self.append(self.talk.tell(text))

    def append(self, spoken: Iterable[Spoken], *topics: str) -> None:
        """Append records in this order; of these topics only, where any are named."""
        for one in spoken:
            if not topics or one.topic in topics:
                name = self.line.topics.name(TopicKind(one.topic))
                partition = 0 if one.key is None else None
                self.line.broker.append(name, one.key, one.value, (), partition, one.at_ms)

    # What readers are shown

    def hide(self, *kinds: TopicKind) -> None:
        """Show readers nothing of what is appended from now on, as if replicas lagged; the log's ends count it."""
        for kind in kinds:
            for place in self._places(kind):
                self.line.broker.hide(place)

    def show(self, *kinds: TopicKind) -> None:
        """End `hide`."""
        for kind in kinds:
            for place in self._places(kind):
                self.line.broker.show(place)

    def show_more(self, kind: TopicKind, count: int) -> int:
        """Show up to `count` more hidden records of partition 0; how many are hidden still."""
        place = self._places(kind)[0]
        partition = self.line.broker.partition(place)
        if partition.shown is None:
            return 0
        partition.shown = min(partition.end, partition.shown + count)
        self.line.broker._wake(place)
        return partition.end - partition.shown

    def _places(self, kind: TopicKind) -> list[TopicPartition]:
        return [TopicPartition(self.line.topics.name(kind), number) for number in range(self.line.partitions)]

    # What is heard

    async def balances(self) -> dict[str, str]:
        """Available, held and sequence of every account."""
        ledger = self.line.new_ledger()
        await ledger.open()
        return {str(one.account): f"{one.available}/{one.held}/{one.sequence}" async for one in ledger.accounts()}

    async def balance(self, account: str = "A-1") -> str:
        """One account's."""
        return (await self.balances()).get(account, "none")

    def outputs(self) -> list[Record]:
        """All that was said, copies too."""
        return self.line.records(*OUTPUTS)

    def distinct(self) -> dict[str, tuple[bytes | None, bytes | None, tuple[tuple[str, bytes], ...]]]:
        """What was said, by event id or the place of a dead letter: key, value and headers.

        Raises:
            AssertionError: when two copies differ.
        """
        found: dict[str, tuple[bytes | None, bytes | None, tuple[tuple[str, bytes], ...]]] = {}
        for record in self.outputs():
            copy = (record.key, record.value, tuple(record.headers))
            first = found.setdefault(_name(record), copy)
            assert first == copy, f"said again in other bytes: {copy} after {first}"
        return found

    def facts(self, *kinds: TopicKind) -> list[str]:
        """What was said, in these topics or all but funds', each once, in the order of the topics."""
        wanted = kinds or tuple(kind for kind in OUTPUTS if kind is not TopicKind.FUNDS_DECISIONS)
        return list(dict.fromkeys(_text(record) for record in self.line.records(*wanted)))

    @property
    def last_event(self) -> int:
        """The offset of the newest table event of partition 0."""
        return self.line.broker.partition(self._places(TopicKind.TABLE_EVENTS)[0]).end - 1

    def bodies(self, kind: TopicKind) -> list[dict[str, Any]]:
        """The facts of a topic as they were said, copies too."""
        return [json.loads(record.value or b"") for record in self.line.records(kind)]

    def about(self, word: str) -> list[str]:
        """The facts in which a word stands."""
        return [fact for fact in self.facts(*OUTPUTS) if word in fact.split()]

    def copies(self, start: str) -> int:
        """How often a fact that begins so was said."""
        return sum(_text(record).startswith(start) for record in self.outputs())

    def committed(self, kind: TopicKind, group: str = GROUP) -> int | None:
        """The committed offset of partition 0."""
        return self.line.broker.committed(group).get(TopicPartition(self.line.topics.name(kind), 0))

    async def report(self, *, clocks_agree: bool = True) -> Report:
        """What the independent checker says of everything."""
        ledger = self.line.new_ledger()
        await ledger.open()
        balances = {
            str(one.account): (one.available, one.held, one.sequence, str(one.currency))
            async for one in ledger.accounts()
        }
        return check(
            self.line.records(*INPUTS),
            self.outputs(),
            partitions=self.line.partitions,
            final_balances=balances,
            clocks_agree=clocks_agree,
        )


async def a_while() -> None:
    """Enough for whatever can be done at once, where nothing tells that nothing more will happen."""
    for _ in range(200):
        await asyncio.sleep(0)


@asynccontextmanager
async def scene(
    *, partitions: int = 1, limits: Limits | None = None, clocks_agree: bool = True, is_checked: bool = True
) -> AsyncIterator[Scene]:
    """A scene with a worker; at its end the worker stops, and the checker must find nothing (if it is asked)."""
    played = Scene(partitions=partitions, limits=limits)
    await played.start()
    try:
        yield played
    except BaseException:
        await played.kill()
        raise
    await played.stop()
    played.distinct()
    if is_checked:
        report = await played.report(clocks_agree=clocks_agree)
        assert not report.findings, report


def _name(record: Record) -> str:
    headers = dict(record.headers)
    if "dlq.action" in headers:
        return f"{headers['dlq.action'].decode()} {headers['dlq.of'].decode()}"
    if "dlq.reason" in headers:
        return "/".join(headers[name].decode() for name in ("dlq.topic", "dlq.partition", "dlq.offset"))
    return headers["ce_id"].decode()


def _text(record: Record) -> str:
    headers = dict(record.headers)
    if "dlq.action" in headers:
        return f"{headers['dlq.action'].decode()} {headers['dlq.of'].decode()} by {headers['dlq.by'].decode()}"
    if "dlq.reason" in headers:
        topic = headers["dlq.topic"].decode().split(".")[1]
        return f"dead {topic}@{headers['dlq.offset'].decode()} {headers['dlq.reason'].decode()}"
    body = json.loads(record.value or b"")
    return " ".join(str(word) for word in (body["type"], *_words(body)) if word != "")


def _words(body: dict[str, Any]) -> Sequence[object]:
    return [*_words_of_any_revision(body), f"r{revision}" if (revision := body.get("revision", 1)) > 1 else ""]


def _words_of_any_revision(body: dict[str, Any]) -> Sequence[object]:
    balance = body.get("balance")
    after = "" if balance is None else f"{balance['available']}/{balance['held']}/{balance['sequence']}"
    if "transfer_id" in body:
        return body["account_id"], body["amount"], body.get("reason", ""), after
    if "bet_id" not in body:
        return body["round_id"], body.get(
            "reason", ""
        ) if "bets" not in body else f"{body['bets']} bets seal {body['seal']}"
    outcome = body.get("outcome", "") if body["type"] == "bet_settled" else ""
    reason = body["reason"] if "rejected" in body["type"] else ""
    moved = body.get("returned", body.get("reversed", ""))
    return body["bet_id"], body["account_id"], outcome, moved, reason, after
