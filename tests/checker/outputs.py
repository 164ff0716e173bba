"""The outputs as they are: read, told apart by their ids, and looked at one by one."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from tests.checker.records import DEAD_LETTERS, OUTPUT_KINDS

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tests.checker.records import Rec, Topics
    from tests.checker.report import Report

Place: TypeAlias = tuple[str, int, int]
"""Topic, partition and offset of an input."""

DLQ = ("dlq.reason", "dlq.detail", "dlq.topic", "dlq.partition", "dlq.offset", "dlq.timestamp")
ACTION = ["dlq.action", "dlq.by", "dlq.note", "dlq.of"]
LONGEST_DETAIL = 1024


_DECODER = json.JSONDecoder(parse_float=lambda text: text)
"""A fraction becomes a text, which no amount equals."""


class Said(NamedTuple):
    """A fact that was said."""

    kind: str
    key: bytes | None
    body: dict[str, Any]
    booleans: int
    """How many it seems to have besides `overdrawn`, written without spaces."""


class Letter(NamedTuple):
    """A dead letter that was written: its record, and the `dlq.` headers as texts."""

    record: Rec
    headers: tuple[tuple[str, bytes], ...]
    why: dict[str, str]


class Outputs:
    """All outputs, copies folded into one."""

    def __init__(self, records: Iterable[Rec], topics: Topics, report: Report) -> None:
        """Read all outputs; what is wrong with one alone is a finding at once."""
        self.facts: dict[str, Said] = {}
        self.letters: dict[Place, Letter] = {}
        self._bytes: dict[str, tuple[str, bytes | None, bytes | None]] = {}
        self._topics = topics
        self._source = f"/{topics.prefix}/settlement".encode()
        self._report = report
        for record in records:
            kind = topics.kind(record.topic)
            if kind == DEAD_LETTERS and [name for name, _ in record.headers] == ACTION:
                report.counts["letters dealt with"] += 1  # what people did about a dead letter, not said by the worker
            elif kind == DEAD_LETTERS:
                self._letter(record)
            elif kind in OUTPUT_KINDS:
                self._fact(record, kind)

    def _fact(self, record: Rec, kind: str) -> None:
        body = _object(record.value)
        if body is None or not isinstance(body.get("event_id"), str):
            self._report.find(f"{_at(record)} is no fact: {record.value!r:.200}")
            return
        name = body["event_id"]
        copy = (record.topic, record.key, record.value)
        first = self._bytes.setdefault(name, copy)
        self._report.counts["facts" if first is copy else "copies"] += 1
        if first != copy:
            self._report.find(f"{_at(record)} says {body.get('type')} {name} again in other bytes")
        elif first is copy:
            raw = record.value or b""
            booleans = raw.count(b":true") + raw.count(b":false") - raw.count(b'"overdrawn":true')
            self.facts[name] = Said(kind, record.key, body, booleans)
        self._headers(record, body)
        self._partition(record)

    def _headers(self, record: Rec, body: dict[str, Any]) -> None:
        expected = [
            ("ce_id", body["event_id"].encode()),
            ("ce_type", str(body.get("type")).encode()),
            ("ce_time", str(body.get("occurred_at")).encode()),
            ("ce_source", self._source),
            ("ce_specversion", b"1.0"),
            ("content-type", b"application/json"),
        ]
        actual = [header for header in record.headers if header[0].startswith("ce_") or header[0] == "content-type"]
        if actual != expected and sorted(actual) != sorted(expected):
            self._report.find(f"{_at(record)} has wrong CloudEvents headers: {actual}")

    def _partition(self, record: Rec) -> None:
        if record.key is None:
            self._report.find(f"{_at(record)} has no key")
        elif self._topics.partition(record.topic, record.key) != record.partition:
            self._report.find(f"{_at(record)} lies in the wrong partition for key {record.key!r}")

    def _letter(self, record: Rec) -> None:
        headers = tuple((name, value) for name, value in record.headers)
        why = {name: value.decode(errors="replace") for name, value in headers if name.startswith("dlq.")}
        names = [name for name, _ in headers][-len(DLQ) :]
        if tuple(names) != DLQ or not (why["dlq.partition"].isdigit() and why["dlq.offset"].isdigit()):
            if "dlq.truncated" in why:
                self._report.counts["truncated dead letters"] += 1
            self._report.find(f"{_at(record)} has wrong dead-letter headers: {headers}")
            return
        place = (why["dlq.topic"], int(why["dlq.partition"]), int(why["dlq.offset"]))
        letter = Letter(record, headers, why)
        first = self.letters.setdefault(place, letter)
        self._report.counts["dead letters" if first is letter else "copies"] += 1
        if (record.key, record.value, headers) != (first.record.key, first.record.value, first.headers):
            self._report.find(f"{_at(record)} is a copy of the dead letter of {place} in other bytes")
        if len(dict(headers)["dlq.detail"]) > LONGEST_DETAIL:
            self._report.find(f"{_at(record)} has a dlq.detail above 1 KiB")

    def match_letter(self, source: Rec, reason: str, shown: str | None) -> None:
        """Take the dead letter of an input, and look whether it is as it must be."""
        place = (source.topic, source.partition, source.offset)
        letter = self.letters.pop(place, None)
        if letter is None:
            self._report.find(f"{_at(source)} must be the dead letter {reason}, and is none")
            return
        record, why = letter.record, letter.why
        if why["dlq.reason"] != reason:
            self._report.find(f"{_at(source)} is the dead letter {why['dlq.reason']}, it must be {reason}")
        if (record.key, record.value) != (source.key, source.value):
            self._report.find(f"{_at(source)}: its dead letter has not its key and value")
        if letter.headers[: -len(DLQ)] != tuple((name, value) for name, value in source.headers):
            self._report.find(f"{_at(source)}: its dead letter has not its headers")
        if why["dlq.timestamp"] != str(source.timestamp):
            self._report.find(f"{_at(source)}: its dead letter has dlq.timestamp {why['dlq.timestamp']}")
        is_a_name = re.search(rf'_id"\s*:\s*"{shown}"'.encode(), source.value or b"") is not None  # a round "Th"
        if shown is not None and not is_a_name and re.search(rf"\b{shown}\b", why["dlq.detail"]):
            self._report.find(f"{_at(source)}: dlq.detail shows the card {shown} before the close")
        count = self._topics.count(record.topic)
        where = source.partition % count if source.key is None else self._topics.partition(record.topic, source.key)
        if record.partition != where:
            self._report.find(f"{_at(source)}: its dead letter lies in partition {record.partition}, not {where}")


def _object(value: bytes | None) -> dict[str, Any] | None:
    try:
        body = _DECODER.decode((value or b"").decode())
    except ValueError:
        return None
    return body if isinstance(body, dict) else None


def _at(record: Rec) -> str:
    return f"{record.topic}[{record.partition}]@{record.offset}"
