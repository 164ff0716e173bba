"""What every fact must be, whatever it says: its id, its key, its partition, its headers."""

from __future__ import annotations

from hashlib import sha1
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

TYPES_OF: Final = {
    "bet-decisions": frozenset({"bet_accepted", "bet_rejected", "bet_withdrawn", "cancel_rejected"}),
    "funds-decisions": frozenset({"funds_credited", "funds_debited", "funds_rejected"}),
    "settlements": frozenset({"bet_settled", "bet_refunded", "bet_reversed"}),
    "rounds": frozenset({"round_settled", "round_refunded", "round_held"}),
}


def right_id(fact: Fact) -> str:
    """The id that a fact must have: a UUIDv5 of its type and the parts that name it."""
    parts = [fact.type, *(str(getattr(fact, name)) for name in _PARTS[fact.type])]
    if fact.type == "round_held":
        parts += [str(fact.cause.partition), str(fact.cause.offset)]
    digest = bytearray(sha1(_NAMESPACE + "\n".join(parts).encode(), usedforsecurity=False).digest()[:16])
    digest[6] = digest[6] & 0x0F | 0x50
    digest[8] = digest[8] & 0x3F | 0x80
    digits = digest.hex()
    return f"{digits[:8]}-{digits[8:12]}-{digits[12:16]}-{digits[16:20]}-{digits[20:]}"


class Marks:
    """Looks at facts one by one."""

    def __init__(self, findings: Findings, prefix: str, counts: Mapping[str, int]) -> None:
        """`counts`: the number of partitions of each topic."""
        self._findings = findings
        self._source = f"/{prefix}/settlement".encode()
        self._counts = counts
        self._partitions: dict[tuple[bytes, int], int] = {}

    def look(self, record: Record, fact: Fact) -> None:
        """Find what is wrong with a fact by itself."""
        if fact.event_id != right_id(fact):
            self._findings.add(Promise.WRONG_ID, record, f"{fact.type} {fact.event_id}, by its parts {right_id(fact)}")
        key = (fact.account_id or fact.table_id).encode()
        if record.key != key:
            self._findings.add(Promise.WRONG_PLACE, record, f"the key of {fact.type} is not {key.decode()}")
        elif record.partition != self._partition(key, self._counts[record.topic]):
            what = f"the key {key.decode()} belongs to partition {self._partition(key, self._counts[record.topic])}"
            self._findings.add(Promise.WRONG_PLACE, record, what)
        said = dict(record.headers)
        right = {
            "ce_id": fact.event_id.encode(),
            "ce_type": fact.type.encode(),
            "ce_time": fact.occurred_at.encode(),
            "ce_source": self._source,
            "ce_specversion": b"1.0",
            "content-type": b"application/json",
        }
        if not right.items() <= said.items():
            wrong = sorted(name for name, value in right.items() if said.get(name) != value)
            self._findings.add(Promise.WRONG_PLACE, record, f"{fact.type}: wrong header {', '.join(wrong)}")

    def _partition(self, key: bytes, count: int) -> int:
        found = self._partitions.get((key, count))
        if found is None:
            if len(self._partitions) >= _KEYS_MAX:
                self._partitions.clear()
            found = self._partitions[key, count] = partition_for(key, count)
        return found
