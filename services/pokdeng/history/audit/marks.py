"""What every fact must be, whatever it says: its id, its key, its partition, its headers."""

from __future__ import annotations

from hashlib import sha1
from operator import attrgetter
from typing import TYPE_CHECKING, Final
from uuid import UUID

from pokdeng.history.audit.findings import Findings, Promise
from pokdeng.stream.partitioner import partition_for

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pokdeng.history.audit.facts import Fact
    from pokdeng.stream.port import Record

_NAMESPACE: Final = UUID("6f1c3f0e-1d0b-5a9e-9d55-0a0d5e771e00").bytes
_KEYS_MAX: Final = 500_000

_BET = ("table_id", "round_id", "bet_id")
_PARTS: Final = {
    "bet_accepted": _BET,
    "bet_rejected": _BET,
    "bet_withdrawn": _BET,
    "cancel_rejected": ("table_id", "round_id", "account_id", "bet_id"),
    "funds_credited": ("account_id", "transfer_id"),
    "funds_debited": ("account_id", "transfer_id"),
    "funds_rejected": ("account_id", "transfer_id", "transfer"),
    "bet_settled": (*_BET, "revision"),
    "bet_refunded": (*_BET, "revision"),
    "bet_reversed": (*_BET, "revision"),
    "round_settled": ("table_id", "round_id", "revision"),
    "round_refunded": ("table_id", "round_id", "revision"),
    "round_held": ("table_id", "round_id"),
}
"""What names each fact. Source: the contract, "Outputs", column "named by"; `round_held` by its cause besides."""
_PARTS_OF: Final = {event_type: attrgetter(*names) for event_type, names in _PARTS.items()}
_VARIANTS: Final = {digit: "89ab"[int(digit, 16) % 4] for digit in "0123456789abcdef"}

TYPES_OF: Final = {
    "bet-decisions": frozenset({"bet_accepted", "bet_rejected", "bet_withdrawn", "cancel_rejected"}),
    "funds-decisions": frozenset({"funds_credited", "funds_debited", "funds_rejected"}),
    "settlements": frozenset({"bet_settled", "bet_refunded", "bet_reversed"}),
    "rounds": frozenset({"round_settled", "round_refunded", "round_held"}),
}


def right_id(fact: Fact) -> str:
    """The id that a fact must have: a UUIDv5 of its type and the parts that name it."""
    name = "\n".join([fact.type, *map(str, _PARTS_OF[fact.type](fact))])
    if fact.type == "round_held":
        name += f"\n{fact.cause.partition}\n{fact.cause.offset}"
    digits = sha1(_NAMESPACE + name.encode(), usedforsecurity=False).hexdigest()
    return f"{digits[:8]}-{digits[8:12]}-5{digits[13:16]}-{_VARIANTS[digits[16]]}{digits[17:20]}-{digits[20:32]}"


class Marks:
    """Looks at facts one by one."""

    def __init__(self, findings: Findings, prefix: str, counts: Mapping[str, int]) -> None:
        """`counts`: the number of partitions of each topic."""
        self._findings = findings
        self._always = (
            ("ce_source", f"/{prefix}/settlement".encode()),
            ("ce_specversion", b"1.0"),
            ("content-type", b"application/json"),
        )
        self._counts = counts
        self._known: dict[str, dict[str, tuple[bytes, int]]] = {name: {} for name in counts}
        """By topic and account or table: its key and partition."""

    def look(self, record: Record, fact: Fact) -> None:
        """Find what is wrong with a fact by itself."""
        if fact.event_id != (right := right_id(fact)):
            self._findings.add(Promise.WRONG_ID, record, f"{fact.type} {fact.event_id}, by its parts {right}")
        named = fact.account_id or fact.table_id
        known = self._known[record.topic]
        place = known.get(named)
        if place is None:
            if len(known) >= _KEYS_MAX:
                known.clear()
            key = named.encode()
            place = known[named] = (key, partition_for(key, self._counts[record.topic]))
        if record.key != place[0]:
            self._findings.add(Promise.WRONG_PLACE, record, f"the key of {fact.type} is not {named}")
        elif record.partition != place[1]:
            self._findings.add(Promise.WRONG_PLACE, record, f"the key {named} belongs to partition {place[1]}")
        said = record.headers
        right_headers = (
            ("ce_id", fact.event_id.encode()),
            ("ce_type", fact.type.encode()),
            ("ce_time", fact.occurred_at.encode()),
            *self._always,
        )
        if tuple(said[: len(right_headers)]) != right_headers and not set(right_headers) <= set(said):
            wrong = sorted(name for name, value in right_headers if (name, value) not in said)
            self._findings.add(Promise.WRONG_PLACE, record, f"{fact.type}: wrong header {', '.join(wrong)}")
