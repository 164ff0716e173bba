"""What fuzzed records come to: in the decoder against an independent one, and in a worker against the checker."""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from pokdeng.settlement.keys import KeyCheck
from pokdeng.stream.partitioner import partition_for
from pokdeng.wire import MalformedRecordError, TopicKind
from pokdeng.wire.inputs import DECODERS
from tests.checker.checker import check
from tests.checker.parsing import KEY_FIELD, read
from tests.checker.records import Plain, Topics
from tests.fuzz.records import Fuzzer
from tests.support.line import INPUTS, OUTPUTS, Line

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tests.checker.report import Report
    from tests.fuzz.records import FuzzRecord

PARTITIONS = 2
RECORDS_A_RUN = 10_000
"""So many go through one worker: what it remembers, and what the checker holds, stays small."""
_TOPICS = Topics("pokdeng", PARTITIONS)
_WITHIN_S = 600.0


class Fuzzed(NamedTuple):
    """One run: what the records ended as, and each promise that was broken."""

    ends: Counter[str]
    findings: list[str]


def placed(records: Iterable[FuzzRecord]) -> Iterable[Plain]:
    """Records as they lie in their topics."""
    offsets: Counter[tuple[str, int]] = Counter()
    for record in records:
        right = 0 if record.key is None else partition_for(record.key, PARTITIONS)
        partition = (right + record.is_astray) % PARTITIONS
        topic = _TOPICS.name(record.kind)
        yield Plain(topic, partition, offsets[topic, partition], record.at_ms, record.key, record.value, record.headers)
        offsets[topic, partition] += 1


def fuzz_decoder(seed: int, count: int) -> Fuzzed:
    """Each record is an event, or unusable for one reason: the one that the independent reading finds."""
    ends: Counter[str] = Counter()
    findings: list[str] = []
    checks = {(kind, number): KeyCheck(PARTITIONS) for kind in DECODERS for number in range(PARTITIONS)}
    for record in placed(Fuzzer(seed).records(count)):
        kind = TopicKind(_TOPICS.kind(record.topic))
        try:
            event = DECODERS[kind].decode(record.value, record.key)
            named = getattr(event, KEY_FIELD[kind])
            checks[kind, record.partition].check(record, named)
        except MalformedRecordError as error:
            end = str(error.reason.value)
        else:
            end = "event"
        right = read(record, kind, _TOPICS)
        expected = right.reason or ("event" if right.event is not None else "not_an_event")
        ends[end] += 1
        if end != expected:
            findings.append(f"{record.topic}@{record.offset}: {end}, must be {expected}: {record.value!r:.300}")
    return Fuzzed(ends, findings)


def fuzz_worker(seed: int, count: int) -> Fuzzed:
    """A worker takes them all, and the checker finds each one's right end and every balance as it must be."""
    report = asyncio.run(_through_a_worker(seed, count))
    ends = Counter({name: number for name, number in report.counts.items() if name != "findings"})
    ends["duplicates"] = report.duplicates.total()
    return Fuzzed(ends, report.findings)


WAYS = {"decoder": fuzz_decoder, "worker": fuzz_worker}


def fuzz(task: tuple[str, int, int]) -> tuple[str, int, Fuzzed]:
    """One run of a way, a seed and a count, in a process of its own; what stops it is a finding, too."""
    way, seed, count = task
    try:
        return way, seed, WAYS[way](seed, count)
    except Exception as error:  # noqa: BLE001 - whatever stopped the worker is what is looked for
        return way, seed, Fuzzed(Counter(), [f"stopped: {error!r}"])


async def _through_a_worker(seed: int, count: int) -> Report:
    now_ms = [0]
    line = Line(partitions=PARTITIONS, clock_ms=lambda: now_ms[0])
    worker = await line.start_worker()
    await worker.owns(within=_WITHIN_S)
    for sent, record in enumerate(placed(Fuzzer(seed).records(count))):
        now_ms[0] = record.timestamp
        line.broker.append(record.topic, record.key, record.value, record.headers, record.partition, record.timestamp)
        if sent % 1_000 == 0:
            await worker.caught_up(within=_WITHIN_S)
    await worker.caught_up(within=_WITHIN_S)
    ledger = line.new_ledger()
    await ledger.open()
    balances = {
        str(one.account): (one.available, one.held, one.sequence, str(one.currency)) async for one in ledger.accounts()
    }
    await worker.stop()
    return check(line.records(*INPUTS), line.records(*OUTPUTS), partitions=PARTITIONS, final_balances=balances)
