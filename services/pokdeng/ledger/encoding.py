"""How operations, answers and records look in Redis: msgpack and packed integers. No I/O.

The other half is in `scripts/`. Ids match `[A-Za-z0-9][A-Za-z0-9._:-]{0,63}` (the contract), so `|`, `/` and braces
separate safely.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final, TypeAlias

import msgspec

from pokdeng.events.ids import AccountId, BetId, Currency, Minor, RoundId, TableId
from pokdeng.events.reasons import BetReason, TransferKind
from pokdeng.ledger.port import LedgerCorruptError
from pokdeng.ledger.values import (
    LARGEST_MINOR,
    Account,
    Answer,
    BetName,
    BetRecord,
    BetState,
    Hold,
    Operation,
    Refuse,
    Settle,
    Source,
    Transfer,
    Withdraw,
)
from pokdeng.rules import Bet

MAX_OPERATIONS_A_CALL: Final = 1000
"""A script call blocks the server for some microseconds an operation; more are split into further calls, in order."""

_ACCOUNT: Final = struct.Struct("<qqq3s")
_BETS: Final = tuple(Bet)
_BET_CODE: Final = {bet: code for code, bet in enumerate(_BETS)}
_BET_HEAD_SIZE: Final = 28
_SETTLED_ANEW: Final = 5
_BET_REST: Final = {1: (0,), 2: (0,), 3: (25, 37), 4: (25, 37), _SETTLED_ANEW: (32, 44)}
"""By stored state, what follows the first answer: nothing, or how the bet ended and an answer of 15 or 27 bytes."""

_STATES: Final = {
    1: BetState.ACCEPTED,
    2: BetState.REFUSED,
    3: BetState.WITHDRAWN,
    4: BetState.SETTLED,
    _SETTLED_ANEW: BetState.SETTLED,
}

encode: Final = msgspec.msgpack.Encoder().encode
_decode_answers: Final = msgspec.msgpack.Decoder(list[Answer]).decode


class Call:
    """The operations of one script call: all in one bucket, in order."""

    __slots__ = ("bucket", "names", "ops", "positions", "rounds", "slots", "sources", "transfers")

    def __init__(self, bucket: int) -> None:
        """Begin without any operation."""
        self.bucket = bucket
        self.positions: list[int] = []
        """Where the answers belong."""
        self.names: list[AccountId] = []
        self.ops: list[int | str | bool] = []
        self.rounds: dict[tuple[TableId, RoundId], dict[BetId, int]] = {}
        """The slot of each bet."""
        self.slots = 0
        self.sources: dict[Source, None] = {}
        self.transfers: dict[str, int] = {}

    def keys(self, prefix: str) -> list[str]:
        """All keys that the script touches, in its order."""
        tag = f"{prefix}:{{{self.bucket}}}"
        return [
            f"{tag}m",
            f"{tag}a",
            *[f"{tag}r:{table}|{round_}" for table, round_ in self.rounds],
            *[f"{tag}t:{name}" for name in self.transfers],
        ]

    def payload(self, heads: Sequence[int | str], transfer_ttl_ms: int) -> bytes:
        """The script's argument."""
        ids: list[BetId] = []
        slots: list[int] = []
        for bets in self.rounds.values():
            ids += bets
            slots += bets.values()
        counts = [len(bets) for bets in self.rounds.values()]
        return encode((heads, self.names, counts, ids, slots, self.ops, transfer_ttl_ms))

    def transfer(self, transfer: Transfer, account: int) -> None:
        """Append a transfer."""
        is_deposit = transfer.kind is TransferKind.DEPOSIT
        name = f"{'d' if is_deposit else 'w'}:{transfer.account}|{transfer.transfer}"
        place = self.transfers.setdefault(name, len(self.transfers) + 1)
        self.sources[transfer.source] = None
        reason = "" if transfer.refused is None else transfer.refused.value
        self.ops += (5, transfer.source, transfer.offset, account, place)
        self.ops += (transfer.amount, transfer.currency, is_deposit, reason)


_Rounds: TypeAlias = dict[tuple[TableId, RoundId], dict[BetId, int]]
_Place: TypeAlias = tuple[Call, int, list[int], _Rounds, list[int | str | bool]]
"""A call, the place of an account in it, and the call's parts that each operation needs."""
_Open: TypeAlias = tuple[Call, list[AccountId], list[int], _Rounds, list[int | str | bool]]
"""A call that takes more, and its parts."""


def calls_of(operations: Sequence[Operation], bucket_of: Callable[[AccountId], int]) -> list[Call]:
    """Group operations by bucket, keeping their order, at most `MAX_OPERATIONS_A_CALL` a call.

    A bucket that needs several calls has them in order. `positions` of a call says where its answers belong. Written
    flat, since each step here is paid once an operation.
    """
    calls: list[Call] = []
    filling: dict[int, _Open] = {}
    places: dict[AccountId, _Place] = {}
    for position, operation in enumerate(operations):
        account = operation.account
        place = places.get(account)
        if place is None or len(place[2]) >= MAX_OPERATIONS_A_CALL:  # its name is not in the call that takes it
            bucket = bucket_of(account)
            open_ = filling.get(bucket)
            if open_ is None or len(open_[2]) >= MAX_OPERATIONS_A_CALL:
                call = Call(bucket)
                calls.append(call)
                open_ = filling[bucket] = (call, call.names, call.positions, call.rounds, call.ops)
            call, names, positions, rounds, ops = open_
            names.append(account)
            at = len(names)
            places[account] = (call, at, positions, rounds, ops)
        else:
            call, at, positions, rounds, ops = place
        positions.append(position)
        if isinstance(operation, Hold):
            source, offset, _, table, round_, bet_id, bet, stake, currency, taken = operation
            ops += (1, offset, at, _BET_CODE[bet], stake, currency, taken)
        elif isinstance(operation, Settle):
            source, _, table, round_, bet_id, returned, revision = operation
            ops += (4, at, returned, revision)
        elif isinstance(operation, Withdraw):
            source, offset, _, table, round_, bet_id = operation
            ops += (3, offset, at)
        elif isinstance(operation, Refuse):
            source, offset, _, table, round_, bet_id, bet, stake, currency, reason = operation
            ops += (2, offset, at, _BET_CODE[bet], stake, currency, reason.value)
        else:
            call.transfer(operation, at)
            continue
        bets = rounds.get((table, round_))
        if bets is None:
            bets = rounds[table, round_] = {}
            call.sources[source] = None
        slot = bets.get(bet_id)
        if slot is None:
            call.slots = slot = bets[bet_id] = call.slots + 1
        ops.append(slot)
    return calls


def decode_answers(head: bytes, body: bytes) -> list[Answer]:
    """Read a script's answers. Raises LedgerCorruptError where one, from a stored record, is not what it must be."""
    try:
        return _decode_answers(head + body)
    except msgspec.MsgspecError as error:
        raise LedgerCorruptError(f"an answer kept in a record cannot be read: {error}") from error


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
    if (
        not 0 <= held <= LARGEST_MINOR
        or not -LARGEST_MINOR <= available <= LARGEST_MINOR - held
        or not 1 <= sequence <= LARGEST_MINOR
    ):
        raise LedgerCorruptError(f"account {name}: available {available}, held {held}, sequence {sequence}")
    return Account(
        account=name,
        currency=Currency(currency.decode("ascii", "replace")),
        available=available,
        held=held,
        sequence=sequence,
    )


def decode_bet(name: BetName, raw: bytes) -> BetRecord:
    """Read a stored bet (its form: `scripts/apply.lua`). Raises LedgerCorruptError where it is not what it must be."""
    try:
        state, code, account_size, first_size = raw[:4]
        offset, stake, taken = (int.from_bytes(raw[at : at + 7], "little", signed=True) for at in (4, 11, 21))
        first_at = _BET_HEAD_SIZE + account_size
        end_at = first_at + first_size
        of = _STATES[state]
        if len(raw) - end_at not in _BET_REST[state] or first_size == 0 or taken < 0:
            raise LedgerCorruptError(f"bet {name}: unreadable record {raw!r}")
        reason = None
        if of is BetState.REFUSED:
            reason = BetReason(msgspec.msgpack.decode(raw[first_at:end_at], type=str))
        ended_with = int.from_bytes(raw[end_at : end_at + 7], "little", signed=True)
        reversed_ = raw[end_at + 10 : end_at + 17] if state == _SETTLED_ANEW else b""
        return BetRecord(
            account=AccountId(raw[_BET_HEAD_SIZE:first_at].decode("ascii")),
            table=name.table,
            round=name.round,
            bet_id=name.bet_id,
            bet=_BETS[code],
            stake=Minor(stake),
            currency=Currency(raw[18:21].decode("ascii")),
            offset=offset,
            state=of,
            reason=reason,
            taken=Minor(taken),
            returned=Minor({BetState.SETTLED: ended_with, BetState.WITHDRAWN: taken}.get(of, 0)),
            revision=int.from_bytes(raw[end_at + 7 : end_at + 10], "little"),
            reversed=Minor(int.from_bytes(reversed_, "little", signed=True)),
            cancel_offset=ended_with if of is BetState.WITHDRAWN else -1,
        )
    except (msgspec.MsgspecError, ValueError, KeyError, IndexError) as error:
        raise LedgerCorruptError(f"bet {name}: unreadable record {raw!r}") from error


def decode_round(
    table: TableId, round_: RoundId, rows: Iterable[Mapping[bytes, bytes] | Sequence[bytes]]
) -> tuple[BetRecord, ...]:
    """All bets of a round from its hashes, one a bucket: by offset and id. Raises as `decode_bet` does."""
    bets = [
        decode_bet(BetName(table, round_, BetId(bet_id)), raw)
        for row in rows
        for bet_id, raw in decode_fields(row).items()
    ]
    return tuple(sorted(bets, key=lambda record: (record.offset, record.bet_id)))


def decode_fields(raw: Mapping[bytes, bytes] | Sequence[bytes]) -> dict[str, bytes]:
    """A hash as redis-py gives it, with its field names as text."""
    pairs = raw.items() if isinstance(raw, Mapping) else zip(raw[::2], raw[1::2], strict=True)
    return {field.decode(): value for field, value in pairs}
