"""Logs larger than memory: spooled to files by co-partition, checked one part at a time, the accounts last.

A table's records, and all that was said of it, lie in one part; the transfers are a part of their own. Only accounts
are shared: what moved them is written to files again, by account, and looked at when all parts are done.
"""

from __future__ import annotations

import json
import pickle
from collections import Counter
from multiprocessing import get_context
from typing import TYPE_CHECKING, Any, BinaryIO, Final, NamedTuple
from zlib import crc32

from tests.checker.accounts import Accounts
from tests.checker.checker import Fold, balance_books
from tests.checker.collector import without_collector
from tests.checker.records import BETS, DEAD_LETTERS, FUNDS, FUNDS_DECISIONS, INPUT_KINDS, TABLE_EVENTS, Plain, Topics
from tests.checker.report import MOST_FINDINGS, Report
from tests.checker.tables import DAY_MS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

    from tests.checker.records import Rec

_OF_FUNDS: Final = -1
_SHARDS: Final = 16
_TABLE: Final = b'"table_id":"'


class Spool:
    """Files of a log, written once, in the order of the offsets of each partition."""

    def __init__(self, folder: Path, topics: Topics, partitions: int) -> None:
        """`partitions`: of every topic."""
        self._folder = folder
        self._topics = topics
        self._partitions = partitions
        self._files: dict[str, BinaryIO] = {}

    def write(self, records: Iterable[Rec]) -> None:
        """Put records where they belong; topics that are no input and no output are passed over."""
        for one in records:
            kind = self._topics.kind(one.topic)
            plain = tuple(Plain(one.topic, one.partition, one.offset, one.timestamp, one.key, one.value, one.headers))
            if kind in INPUT_KINDS:
                name = f"in-{kind}-{one.partition}"
            elif kind == "checkpoints":
                continue
            else:
                name = f"out-{self._part(kind, one)}"
            if name not in self._files:
                self._files[name] = (self._folder / name).open("wb")
            pickle.dump(plain, self._files[name], pickle.HIGHEST_PROTOCOL)

    def close(self) -> None:
        """All is written."""
        for file in self._files.values():
            file.close()
        self._files.clear()

    def _part(self, kind: str, record: Rec) -> int:
        """Which part must explain an output."""
        if kind == FUNDS_DECISIONS:
            return _OF_FUNDS
        if kind == DEAD_LETTERS:
            headers = dict(record.headers)
            if self._topics.kind(headers.get("dlq.topic", b"").decode()) == FUNDS:
                return _OF_FUNDS
            number = headers.get("dlq.partition", b"")
            return int(number) % self._partitions if number.isdigit() else 0
        return self._topics.partition(record.topic, _table_of(record.value or b""))


def _table_of(value: bytes) -> bytes:
    """The table that a fact names; where it names none, no part can explain it, so any will find it."""
    start = value.find(_TABLE)
    if start >= 0:
        start += len(_TABLE)
        return value[start : value.index(b'"', start)]
    try:
        return str(json.loads(value).get("table_id")).encode()
    except (ValueError, AttributeError):
        return b""


class _Part(NamedTuple):
    number: int
    report: Report
    house: dict[str, int]


class _Task(NamedTuple):
    folder: Path
    topics: Topics
    number: int
    partitions: int
    clocks_agree: bool
    window_ms: int


def check_spooled(
    folder: Path,
    topics: Topics,
    *,
    partitions: int,
    final_balances: Mapping[str, tuple[int, int, int, str]],
    clocks_agree: bool = True,
    correction_window_ms: int = DAY_MS,
    jobs: int = 2,
) -> Report:
    """As `check`, of what was spooled into a folder; `jobs` parts at a time, each with a process of its own."""
    tasks = [
        _Task(folder, topics, number, partitions, clocks_agree, correction_window_ms)
        for number in (_OF_FUNDS, *range(partitions))
    ]
    report, house = Report(), Counter[str]()
    # Not an executor: that of Python 3.11 may wait for ever once its processes have had their share of tasks.
    with get_context("spawn").Pool(jobs, maxtasksperchild=1) as pool:
        for part in pool.imap(_check_part, tasks):
            _add(report, part.report)
            house.update(part.house)
    books: dict[str, dict[str, int]] = {}
    for shard in range(_SHARDS):
        accounts = Accounts(report)
        for task in tasks:
            for one in _read(folder / f"moves-{shard}-{task.number}"):
                accounts.take(one)
        accounts.check({name: balance for name, balance in final_balances.items() if _shard(name) == shard})
        for currency, book in accounts.books().items():
            known = books.setdefault(currency, dict.fromkeys(book, 0))
            for name, amount in book.items():
                known[name] += amount
    balance_books(report, books, dict(house))
    return report


def _check_part(task: _Task) -> _Part:
    kinds = (FUNDS,) if task.number == _OF_FUNDS else (TABLE_EVENTS, BETS)
    numbers = range(task.partitions) if task.number == _OF_FUNDS else (task.number,)
    inputs = (
        Plain(*plain) for kind in kinds for number in numbers for plain in _read(task.folder / f"in-{kind}-{number}")
    )
    outputs = (Plain(*plain) for plain in _read(task.folder / f"out-{task.number}"))
    with without_collector():
        fold = Fold(task.topics, inputs, outputs, clocks_agree=task.clocks_agree, window_ms=task.window_ms)
        fold.fold()
        files = [(task.folder / f"moves-{shard}-{task.number}").open("wb") for shard in range(_SHARDS)]
        for name, one in fold.accounts.found():
            pickle.dump(one, files[_shard(name)], pickle.HIGHEST_PROTOCOL)
        for file in files:
            file.close()
    return _Part(task.number, fold.report, fold.house())


def _read(path: Path) -> Iterator[Any]:
    if not path.exists():
        return
    with path.open("rb") as file:
        while True:
            try:
                yield pickle.load(file)  # noqa: S301 - written here, a moment ago
            except EOFError:
                return


def _shard(account: str) -> int:
    return crc32(account.encode()) % _SHARDS


def _add(report: Report, part: Report) -> None:
    report.counts.update(part.counts)
    report.duplicates.update(part.duplicates)
    report.findings = (report.findings + part.findings)[:MOST_FINDINGS]
