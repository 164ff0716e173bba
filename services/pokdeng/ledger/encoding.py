"""How operations, answers and records look in Redis: msgpack and packed integers. No I/O.

The other half is in `scripts/`. Ids match `[A-Za-z0-9][A-Za-z0-9._:-]{0,63}` (the contract), so `|`, `/` and braces
separate safely.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final

import msgspec

from pokdeng.events.ids import AccountId, BetId, Currency, Minor, RoundId, TableId
from pokdeng.events.reasons import BetReason, TransferKind
from pokdeng.ledger.port import (
    LARGEST_MINOR,
    Account,
    Answer,
    BetName,
    BetRecord,
    BetState,
    Hold,
    LedgerCorruptError,
    Operation,
    Refuse,
    Settle,
    Source,
    Withdraw,
)
from pokdeng.rules import Bet

MAX_OPERATIONS_A_CALL: Final = 1000
"""A script call blocks the server for about 2 us an operation; more are split into further calls, in order."""

_ACCOUNT: Final = struct.Struct("<qqq3s")
_BETS: Final = tuple(Bet)
_BET_CODE: Final = {bet: code for code, bet in enumerate(_BETS)}
_STATES: Final = (BetState.ACCEPTED, BetState.REFUSED, BetState.WITHDRAWN, BetState.SETTLED)
_FIELDS: Final = {1: 10, 2: 7, 3: 14, 4: 15}

encode: Final = msgspec.msgpack.Encoder().encode
decode_answers: Final = msgspec.msgpack.Decoder(list[Answer]).decode
_decode_any: Final = msgspec.msgpack.Decoder(list[int | str]).decode


class Call:
    """The operations of one script call: all in one bucket, in order."""

    __slots__ = ("_names", "_ops", "_rounds", "_sources", "_transfers", "bucket", "positions")

    def __init__(self, bucket: int) -> None:
        """Begin without any operation."""
        self.bucket = bucket
        self.positions: list[int] = []
        self._names: list[AccountId] = []
        self._ops: list[int | str | bool] = []
        self._rounds: dict[tuple[TableId, RoundId], tuple[int, dict[BetId, int]]] = {}
        self._sources: dict[Source, None] = {}
        self._transfers: dict[str, int] = {}

    @property
    def sources(self) -> Iterable[Source]:
        """The sources of the operations, in order of their first one."""
        return self._sources

    def keys(self, prefix: str) -> list[str]:
        """All keys that the script touches, in its order."""
        tag = f"{prefix}:{{{self.bucket}}}"
        return [
            f"{tag}m",
            f"{tag}a",
            *[f"{tag}r:{table}|{round_}" for table, round_ in self._rounds],
            *[f"{tag}t:{name}" for name in self._transfers],
        ]

    def payload(self, heads: Sequence[int | str], transfer_ttl_ms: int) -> bytes:
        """The script's argument."""
        ids = [list(places) for _, places in self._rounds.values()]
        return encode((heads, self._names, ids, self._ops, transfer_ttl_ms))

    def enter(self, account: AccountId) -> int:
        """Name an account of this call; gives its place, from 1."""
        self._names.append(account)
        return len(self._names)

    def add(self, position: int, account: int, operation: Operation) -> None:
        """Append an operation whose answer belongs at `position`; `account` is a place that `enter` gave."""
        self.positions.append(position)
        if isinstance(operation, Hold | Refuse | Withdraw | Settle):
            name = (operation.table, operation.round)
            known = self._rounds.get(name)
            if known is None:
                known = self._rounds[name] = (len(self._rounds) + 1, {})
            round_, bets = known
            bet = bets.setdefault(operation.bet_id, len(bets) + 1)
            self._sources[operation.source] = None
            add = self._ops.extend
            if isinstance(operation, Hold):
                code = _BET_CODE[operation.bet]
                add(
                    (
                        1,
                        operation.offset,
                        account,
                        round_,
                        bet,
                        code,
                        operation.stake,
                        operation.currency,
                        operation.taken,
                    )
                )
            elif isinstance(operation, Settle):
                add((4, account, round_, bet, operation.returned, operation.revision))
            elif isinstance(operation, Withdraw):
                add((3, operation.offset, account, round_, bet))
            else:
                code = _BET_CODE[operation.bet]
                reason = operation.reason.value
                add((2, operation.offset, account, round_, bet, code, operation.stake, operation.currency, reason))
            return
        is_deposit = operation.kind is TransferKind.DEPOSIT
        key = f"{'d' if is_deposit else 'w'}:{operation.account}|{operation.transfer}"
        place = self._transfers.setdefault(key, len(self._transfers) + 1)
        self._sources[operation.source] = None
        reason = "" if operation.refused is None else operation.refused.value
        self._ops.extend(
            (
                5,
                operation.source,
                operation.offset,
                account,
                place,
                operation.amount,
                operation.currency,
                is_deposit,
                reason,
            )
        )


def calls_of(operations: Sequence[Operation], bucket_of: Callable[[AccountId], int]) -> list[Call]:
    """Group operations by bucket, keeping their order, at most `MAX_OPERATIONS_A_CALL` a call.

    A bucket that needs several calls has them in order. `positions` of a call says where its answers belong.
    """
    calls: list[Call] = []
    filling: dict[int, Call] = {}
    places: dict[AccountId, tuple[Call, int]] = {}

    def place_of(account: AccountId) -> tuple[Call, int]:
        bucket = bucket_of(account)
        call = filling.get(bucket)
        if call is None or len(call.positions) >= MAX_OPERATIONS_A_CALL:
            call = filling[bucket] = Call(bucket)
            calls.append(call)
        places[account] = place = (call, call.enter(account))
        return place

    for position, operation in enumerate(operations):
        place = places.get(operation.account)
        if place is None or len(place[0].positions) >= MAX_OPERATIONS_A_CALL:
            place = place_of(operation.account)
        place[0].add(position, place[1], operation)
    return calls


def encode_account(account: Account) -> bytes:
    """The stored form of an account.

    >>> from pokdeng.events.ids import AccountId, Currency
    >>> one = Account(account=AccountId("A-1"), currency=Currency("THB"), available=8000, held=2000, sequence=2)
    >>> decode_account(AccountId("A-1"), encode_account(one)) == one
    True
    """
    return _ACCOUNT.pack(account.available, account.held, account.sequence, account.currency.encode())


def decode_account(name: AccountId, raw: bytes) -> Account:
    """Read a stored account. Raises LedgerCorruptError where it is not what it must be.

    >>> decode_account(AccountId("A-1"), b"8000")
    Traceback (most recent call last):
    pokdeng.ledger.port.LedgerCorruptError: account A-1: 4 bytes instead of 27
    """
    if len(raw) != _ACCOUNT.size:
        raise LedgerCorruptError(f"account {name}: {len(raw)} bytes instead of {_ACCOUNT.size}")
    available, held, sequence, currency = _ACCOUNT.unpack(raw)
    if held < 0 or abs(available) > LARGEST_MINOR or available + held > LARGEST_MINOR or sequence < 1:
        raise LedgerCorruptError(f"account {name}: available {available}, held {held}, sequence {sequence}")
    return Account(
        account=name,
        currency=Currency(currency.decode("ascii", "replace")),
        available=available,
        held=held,
        sequence=sequence,
    )


def decode_bet(name: BetName, raw: bytes) -> BetRecord:
    """Read a stored bet. Raises LedgerCorruptError where it is not what it must be."""
    try:
        fields = _decode_any(raw)
        state, offset, account, bet, stake, currency, taken = fields[:7]
        if len(fields) != _FIELDS[int(state)]:
            raise LedgerCorruptError(f"bet {name}: {len(fields)} fields in state {state}")
        of = _STATES[int(state) - 1]
        returned, revision = 0, 0
        if of is BetState.SETTLED:
            returned, revision = int(fields[10]), int(fields[11])
        elif of is BetState.WITHDRAWN:
            returned = int(taken)
        return BetRecord(
            account=AccountId(str(account)),
            table=name.table,
            round=name.round,
            bet_id=name.bet_id,
            bet=_BETS[int(bet)],
            stake=Minor(int(stake)),
            currency=Currency(str(currency)),
            offset=int(offset),
            state=of,
            reason=BetReason(str(taken)) if of is BetState.REFUSED else None,
            taken=Minor(0 if of is BetState.REFUSED else int(taken)),
            returned=Minor(returned),
            revision=revision,
        )
    except (msgspec.MsgspecError, ValueError, KeyError, IndexError) as error:
        raise LedgerCorruptError(f"bet {name}: unreadable record {raw!r}") from error


def decode_fields(raw: Mapping[bytes, bytes] | Sequence[bytes]) -> dict[str, bytes]:
    """A hash as redis-py gives it, with its field names as text."""
    pairs = raw.items() if isinstance(raw, Mapping) else zip(raw[::2], raw[1::2], strict=True)
    return {field.decode(): value for field, value in pairs}
