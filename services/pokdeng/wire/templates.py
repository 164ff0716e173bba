"""Facts that come by the thousand: what is the same for a round, a bet option and a cause is written once.

A template gives byte for byte what `encode` gives for the whole fact. What varies is written as it is, without escapes:
ids, currencies and times have patterns that need none, the rest are numbers and the contract's own words. `render` may
be called with positions, which is what its price per fact allows.
"""

from __future__ import annotations

from dataclasses import fields
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any, Final

from pokdeng.events.ids import AccountId, BetId, Cause, Currency, EventId, Minor, Reason, RoundId, TableId, Timestamp
from pokdeng.events.outputs import BetAccepted, BetRefunded, BetRejected, BetSettled, HandShown
from pokdeng.wire.encode import encode_field

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pokdeng.events.outputs import OutputEvent
    from pokdeng.events.reasons import BetReason
    from pokdeng.rules import Bet, Outcome

_HERE = "\0"
"""Where something varies: a character that JSON never has in it, only its escape."""
_TEXT = f'"{_HERE}"'
_BALANCE = f'{{"available":{_HERE},"held":{_HERE},"sequence":{_HERE}}}'
_END, _END_OVERDRAWN = "}}", ',"overdrawn":true}}'
_BET: Final = {"event_id": _TEXT, "bet_id": _TEXT, "account_id": _TEXT, "stake": _HERE, "currency": _TEXT}


def _parts(event_class: Any, constant: Mapping[str, object], varying: Mapping[str, str]) -> list[str]:
    """The text of a fact between what varies: each field in order, its constant value's JSON or what stands for it."""
    form, names = _form(event_class, tuple(varying.items()))
    said = [(_once if name in _OF_ONE_ROUND else _json)(event_class, name, constant[name]) for name in names]
    return (form % tuple(said)).split(_HERE)


@cache
def _form(event_class: Any, varying: tuple[tuple[str, str], ...]) -> tuple[str, tuple[str, ...]]:
    """A fact's text with `%s` for each constant's JSON, and the names of these fields."""
    stands_for = dict(varying)
    names = [field.name for field in fields(event_class)]
    members = [f'"type":"{event_class.event_type}"']
    members += [f'"{name}":{stands_for[name].replace("%", "%%") if name in stands_for else "%s"}' for name in names]
    return f"{{{','.join(members)}}}", tuple([name for name in names if name not in stands_for])


_OF_ONE_ROUND: Final = frozenset({"cause", "occurred_at", "round_id"})
"""Fields that do not come again with another round."""


def _once(event_class: Any, name: str, value: object) -> str:
    """The JSON of a constant field."""
    return encode_field(event_class, name, value).decode()


_json = lru_cache(maxsize=16_384)(_once)
"""The same, remembered: hands, tables, rules and outcomes come again and again."""


def _parts_to_balance(
    event_class: type[OutputEvent], constant: Mapping[str, object], varying: Mapping[str, str]
) -> list[str]:
    """The same for a fact that ends with a balance, without its end: that depends on the balance."""
    return _without_end(event_class, _parts(event_class, constant, {**varying, "balance": _BALANCE}))


def _without_end(event_class: Any, parts: list[str]) -> list[str]:
    *parts, end = parts
    if end != _END:
        raise TypeError(f"{event_class.__name__} does not end with its balance")
    return parts


class AcceptedTemplate:
    """`bet_accepted` of one table and round, decided from one partition of a topic."""

    __slots__ = ("_parts",)

    def __init__(self, *, table_id: TableId, round_id: RoundId, topic: str, partition: int) -> None:
        """Write what is the same for all."""
        constant = {"table_id": table_id, "round_id": round_id}
        varying = {**_BET, **_decided(topic, partition), "taken": _HERE}
        self._parts = _parts_to_balance(BetAccepted, constant, varying)

    def render(
        self,
        event_id: EventId,
        occurred_at: Timestamp,
        offset: int,
        bet_id: BetId,
        account_id: AccountId,
        bet: Bet,
        stake: Minor,
        currency: Currency,
        taken: Minor,
        available: int,
        held: int,
        sequence: int,
    ) -> bytes:
        """The bytes of one fact; `offset` is that of the bet's record, the last three are the balance after it."""
        a, b, c, d, e, f, g, h, i, j, k, m = self._parts
        return (
            f"{a}{event_id}{b}{occurred_at}{c}{offset}{d}{bet_id}{e}{account_id}{f}{bet}{g}{stake}{h}{currency}"
            f"{i}{taken}{j}{available}{k}{held}{m}{sequence}{_END if available >= 0 else _END_OVERDRAWN}"
        ).encode()


class RejectedTemplate:
    """`bet_rejected` of one table and round, decided from one partition of a topic."""

    __slots__ = ("_parts",)

    def __init__(self, *, table_id: TableId, round_id: RoundId, topic: str, partition: int) -> None:
        """Write what is the same for all."""
        constant = {"table_id": table_id, "round_id": round_id}
        self._parts = _parts(BetRejected, constant, {**_BET, **_decided(topic, partition), "reason": _TEXT})

    def render(
        self,
        event_id: EventId,
        occurred_at: Timestamp,
        offset: int,
        bet_id: BetId,
        account_id: AccountId,
        bet: Bet,
        stake: Minor,
        currency: Currency,
        reason: BetReason,
    ) -> bytes:
        """The bytes of one fact; `offset` is that of the bet's record."""
        a, b, c, d, e, f, g, h, i, end = self._parts
        return (
            f"{a}{event_id}{b}{occurred_at}{c}{offset}{d}{bet_id}{e}{account_id}{f}{bet}{g}{stake}{h}{currency}"
            f"{i}{reason}{end}"
        ).encode()


class SettledRound:
    """What all `bet_settled` of one round, banker and cause have in common; `of` adds what an option has."""

    __slots__ = ("_end", "_start")

    def __init__(
        self,
        *,
        table_id: TableId,
        round_id: RoundId,
        banker: HandShown,
        ruleset: str,
        cause: Cause,
        occurred_at: Timestamp,
        revision: int,
    ) -> None:
        """Write what is the same for all; `cause` and `occurred_at` are the table event's."""
        self._start = (
            '{"type":"bet_settled","event_id":"',
            f'","occurred_at":"{occurred_at}","cause":{_once(BetSettled, "cause", cause)},"bet_id":"',
            f'","table_id":"{table_id}","round_id":"{round_id}","account_id":"',
        )
        self._end = (
            f',"banker":{_json(BetSettled, "banker", banker)},"rule":',
            f',"ruleset":{_json(BetSettled, "ruleset", ruleset)},"revision":{revision},"balance":{{"available":',
        )

    def of(self, *, bet: Bet, outcome: Outcome, odds: str | None, player: HandShown, rule: str) -> SettledTemplate:
        """The template of one option; `odds` None on a tie.

        Written by hand, for it is made ten times a round: that it is what `encode` writes is held by a test.
        """
        after_player, after_rule = self._end
        named_odds = "" if odds is None else f'"odds":"{odds}",'
        shown, said = _json(BetSettled, "player", player), _json(BetSettled, "rule", rule)
        return SettledTemplate(
            (
                *self._start,
                f'","bet":"{bet}","stake":',
                ',"currency":"',
                '","taken":',
                f',"outcome":"{outcome}",{named_odds}"returned":',
                ',"net":',
                f',"player":{shown}{after_player}{said}{after_rule}',
                ',"held":',
                ',"sequence":',
            )
        )


class SettledTemplate:
    """`bet_settled` of one round, bet option and cause."""

    __slots__ = ("_parts",)

    def __init__(self, parts: tuple[str, ...]) -> None:
        """Made by `SettledRound.of`."""
        self._parts = parts

    def render(
        self,
        event_id: EventId,
        bet_id: BetId,
        account_id: AccountId,
        stake: Minor,
        currency: Currency,
        taken: Minor,
        returned: Minor,
        available: int,
        held: int,
        sequence: int,
    ) -> bytes:
        """The bytes of one fact; `net` follows, the last three are the balance after it."""
        a, b, c, d, e, f, g, h, i, j, k = self._parts
        net = returned - taken
        return (
            f"{a}{event_id}{b}{bet_id}{c}{account_id}{d}{stake}{e}{currency}{f}{taken}{g}{returned}{h}{net}"
            f"{i}{available}{j}{held}{k}{sequence}{_END if available >= 0 else _END_OVERDRAWN}"
        ).encode()


class RefundedTemplate:
    """`bet_refunded` of one round, bet option and cause."""

    __slots__ = ("_parts",)

    def __init__(
        self,
        *,
        table_id: TableId,
        round_id: RoundId,
        bet: Bet,
        reason: Reason,
        cause: Cause,
        occurred_at: Timestamp,
        revision: int,
    ) -> None:
        """Write what is the same for all; `reason`, `cause` and `occurred_at` are the cancellation's."""
        constant = {
            "occurred_at": occurred_at,
            "cause": cause,
            "table_id": table_id,
            "round_id": round_id,
            "bet": bet,
            "reason": reason,
            "revision": revision,
        }
        self._parts = _parts_to_balance(BetRefunded, constant, {**_BET, "taken": _HERE, "returned": _HERE})

    def render(
        self,
        event_id: EventId,
        bet_id: BetId,
        account_id: AccountId,
        stake: Minor,
        currency: Currency,
        taken: Minor,
        returned: Minor,
        available: int,
        held: int,
        sequence: int,
    ) -> bytes:
        """The bytes of one fact; called as `SettledTemplate.render` is. The last three are the balance after it."""
        a, b, c, d, e, f, g, h, i, j = self._parts
        return (
            f"{a}{event_id}{b}{bet_id}{c}{account_id}{d}{stake}{e}{currency}{f}{taken}{g}{returned}"
            f"{h}{available}{i}{held}{j}{sequence}{_END if available >= 0 else _END_OVERDRAWN}"
        ).encode()


def _decided(topic: str, partition: int) -> dict[str, str]:
    """What varies besides in a decision: its cause is the bet's own record."""
    cause = encode_field(BetAccepted, "cause", Cause(topic=topic, partition=partition, offset=0)).decode()
    return {"occurred_at": _TEXT, "cause": f"{cause.removesuffix('0}')}{_HERE}}}", "bet": _TEXT}
