"""Bets and transfers as `scripts/apply.lua` stores them, made from what was said. No I/O."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Final

import msgspec

from pokdeng.events.reasons import TransferKind
from pokdeng.ledger.values import BetState
from pokdeng.rules import Bet

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pokdeng.ledger.restoring import AfterState, RestoredBet, RestoredTransfer

_KIND: Final = {BetState.ACCEPTED: 1, BetState.REFUSED: 2, BetState.WITHDRAWN: 3, BetState.SETTLED: 4}
_SETTLED_ANEW: Final = 5
_CODE: Final = {bet.value: code for code, bet in enumerate(Bet)}
_SHORT: Final = struct.Struct(">BIBIBI").pack
_LONG: Final = struct.Struct(">BqBqBq").pack
_UINT32, _INT64 = 206, 211
_SHORT_MOST: Final = 2**32 - 1
_HEAD_SIZE: Final = 28
_encode: Final = msgspec.msgpack.Encoder().encode


def encode_answer(after: AfterState) -> bytes:
    """An account after a movement, as answers say it: 15 bytes, 27 where a number needs more."""
    available, held, sequence = after.available, after.held, after.sequence
    if available >= 0 and available + held + sequence <= _SHORT_MOST:
        return _SHORT(_UINT32, available, _UINT32, held, _UINT32, sequence)
    return _LONG(_INT64, available, _INT64, held, _INT64, sequence)


def _kind(bet: RestoredBet) -> int:
    return _SETTLED_ANEW if bet.revision > 1 else _KIND[bet.state]


def encode_end(bet: RestoredBet) -> bytes:
    """What follows a bet's first answer: nothing while it stands, else how it ended."""
    if bet.after_end is None:
        return b""
    more, revision = (bet.cancel_offset, 0) if bet.state is BetState.WITHDRAWN else (bet.returned, bet.revision)
    end = more.to_bytes(7, "little", signed=True) + revision.to_bytes(3, "little")
    if revision > 1:
        end += bet.reversed.to_bytes(7, "little", signed=True)
    return end + encode_answer(bet.after_end)


def encode_bet(bet: RestoredBet) -> bytes:
    """The stored form of a bet."""
    name = bet.account.encode()
    first = _encode(bet.reason) if bet.after_hold is None else encode_answer(bet.after_hold)
    head = _kind(bet) | _CODE[bet.bet] << 8 | len(name) << 16 | len(first) << 24
    return b"".join((
        head.to_bytes(4, "little"),
        bet.offset.to_bytes(7, "little", signed=True),
        bet.stake.to_bytes(7, "little", signed=True),
        bet.currency.encode(),
        bet.taken.to_bytes(7, "little", signed=True),
        name,
        first,
        encode_end(bet),
    ))  # fmt: skip


def revise(stored: bytes, bet: RestoredBet) -> bytes:
    """A stored bet, ended otherwise."""
    begins = _HEAD_SIZE + stored[2] + stored[3]
    return bytes((_kind(bet),)) + stored[1:begins] + encode_end(bet)


def encode_transfer(transfer: RestoredTransfer) -> bytes:
    """The stored form of a transfer."""
    answer = (transfer.reason,) if transfer.after is None else tuple(transfer.after)
    return _encode((transfer.offset, transfer.amount, transfer.currency, *answer))


def transfer_key(transfer: RestoredTransfer) -> str:
    """What names a transfer within its bucket."""
    letter = "d" if transfer.kind is TransferKind.DEPOSIT else "w"
    return f"t:{letter}:{transfer.account}|{transfer.transfer}"


def pack_texts(values: Iterable[bytes | str]) -> bytes:
    """Many texts as one argument of a script, which it reads with `cmsgpack.unpack`.

    Written here, for msgspec would mark bytes as binary, which the script's msgpack does not know; and a client takes
    longer for thousands of arguments than for one.
    """
    pieces: list[bytes] = [b""]
    append = pieces.append
    for value in values:
        raw = value.encode() if isinstance(value, str) else value
        size = len(raw)
        append(_SIZES[size] if size < len(_SIZES) else b"\xdb" + size.to_bytes(4, "big"))
        append(raw)
    pieces[0] = b"\xdd" + (len(pieces) // 2).to_bytes(4, "big")
    return b"".join(pieces)


_SIZES: Final = [b"\xd9" + bytes((size,)) for size in range(256)]
"""The marks of texts below 256 bytes, in msgpack."""
