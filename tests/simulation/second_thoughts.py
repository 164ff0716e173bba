"""What supervisors think of later: cards corrected again and again, rounds cancelled, and who spent the winnings first.

The play's own corrections come one round at a time, and fit. These come to any round of a table, several at once, some
back to the card that lay there, some impossible, some delivered again: whatever is in the log has an answer. Cards are
said once more, too, under ids of their own, and these ids with other cards.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from pokdeng.rules import Card, Seat
from pokdeng.simulator import Kind, Step
from pokdeng.simulator.clock import time_text
from pokdeng.simulator.crowd import player
from pokdeng.simulator.tellings import cancelled, corrected, dealt
from pokdeng.wire import TopicKind

if TYPE_CHECKING:
    import random
    from collections.abc import Sequence

    from pokdeng.simulator import Play

_CARD: Final = re.compile(
    rb'"card_dealt".*"table_id":"([^"]+)","round_id":"([^"]+)","seat":"(\w+)","position":(\d),"card":"(\w+)"'
)
_CODES: Final = tuple(f"{rank}{suit}" for rank in "A23456789TJQK" for suit in "cdhs")
_AGAIN: Final = 0.15
_BACK: Final = 0.2
_CANCELLED: Final = 0.1
_DRAWN: Final = (90_000, 30_000, 10_000, 3_000)
_MOST_TIMES: Final = 2
_BRINGS: Final = 0.3
_REPEATS: Final = 4
_SAME_ID: Final = 0.6


class SecondThoughts:
    """Hears what is sent, and adds to it."""

    def __init__(self, rng: random.Random, play: Play, *, rate: float, spends: float, repeats: random.Random) -> None:
        """`rate`: how often per beat something is corrected, 0 .. 1; `spends`: how often all was spent before it.

        `repeats` decides on cards that are said once more, as often.
        """
        self._rng = rng
        self._repeats = repeats
        self._play = play
        self._rate = rate
        self._spends = spends
        self._rounds: list[tuple[str, str, bytes]] = []
        self._cards: dict[tuple[str, str, bytes], list[tuple[Seat, int, str]]] = {}
        self._said: list[Step] = []
        self._own: list[tuple[str, str, bytes, Seat, int]] = []
        """Cards that were said once more; the id of each tells its place in this list."""
        self._count = 0
        self._spent = 0

    def of_beat(self, steps: Sequence[Step], starts_at_ms: int) -> list[Step]:
        """The steps of a beat, and what is added to them, by their moments."""
        rng = self._rng
        added: list[Step] = []
        if self._rounds and rng.random() < self._rate:
            at_ms = starts_at_ms + rng.randrange(self._play.beat_ms)
            if rng.random() < self._spends:
                added += self._spend(at_ms)
            added += self._think(at_ms)
        if self._said and rng.random() < self._rate * _AGAIN:
            at_ms = starts_at_ms + rng.randrange(self._play.beat_ms)
            added.append(rng.choice(self._said)._replace(at_ms=at_ms, kind=Kind.REDELIVERY))
        if self._rounds and self._repeats.random() < self._rate:
            moments = [starts_at_ms + self._repeats.randrange(self._play.beat_ms) for _ in range(_REPEATS)]
            added += [self._repeat(at_ms) for at_ms in sorted(moments)]
        for step in steps:
            if step.kind is Kind.CARD and step.value is not None:
                self._hear(step.value, step.key or b"")
        return sorted([*steps, *added], key=lambda step: step.at_ms) if added else list(steps)

    def _hear(self, value: bytes, key: bytes) -> None:
        found = _CARD.search(value)
        if found is None:
            return
        table, round_, seat, position, card = (part.decode() for part in found.groups())
        name = (table, round_, key)
        if name not in self._cards:
            self._rounds.append(name)
        self._cards.setdefault(name, []).append((Seat(seat), int(position), card))

    def _think(self, at_ms: int) -> list[Step]:
        rng = self._rng
        table, round_, key = name = rng.choice(self._rounds)
        steps = []
        for _ in range(rng.choice((1, 1, 2, 3))):
            self._count += 1
            seat, position, lies = rng.choice(self._cards[name])
            telling = corrected(
                round_, (seat, position), Card.parse(rng.choice((lies, *_CODES[:: rng.choice((1, 9))])))
            )
            if rng.random() < _CANCELLED:
                telling = cancelled(round_, "second thoughts")
            steps.append(telling.step(table, key, f"e-{table}-thought-{self._count}", at_ms))
        self._said += steps
        return steps

    def _repeat(self, at_ms: int) -> Step:
        """A card that was dealt, under an id of its own; or such an id once more, with any card."""
        rng = self._repeats
        if self._own and rng.random() < _SAME_ID:
            number = rng.randrange(len(self._own))
            table, round_, key, seat, position = self._own[number]
            card = rng.choice(_CODES)
        else:
            table, round_, key = name = rng.choice(self._rounds)
            seat, position, card = rng.choice(self._cards[name])
            number = len(self._own)
            self._own.append((table, round_, key, seat, position))
        telling = dealt(round_, (seat, position), Card.parse(card), Kind.REPEATED_CARD)
        return telling.step(table, key, f"e-{table}-own-{number}", at_ms)

    def _spend(self, at_ms: int) -> list[Step]:
        """All draw out what they can; some bring money again."""
        rng = self._rng
        steps: list[Step] = []
        if self._spent == _MOST_TIMES:
            return steps
        self._spent += 1
        for number in range(1, self._play.accounts + 1):
            steps += [self._transfer("funds_withdrawn", number, amount, at_ms) for amount in _DRAWN]
            if rng.random() < _BRINGS:
                steps.append(self._transfer("funds_deposited", number, rng.choice((700, 40_000)), at_ms + 1))
        return steps

    def _transfer(self, event_type: str, number: int, amount: int, at_ms: int) -> Step:
        self._count += 1
        who, name = player(number), f"{self._play.seed}-s{self._count}"
        value = (
            f'{{"type":"{event_type}","event_id":"e-{name}","occurred_at":"{time_text(at_ms)}",'
            f'"transfer_id":"{name}",{who.tail}"amount":{amount},"currency":"{who.money.currency}"}}'
        )
        kind = Kind.WITHDRAWAL if event_type == "funds_withdrawn" else Kind.DEPOSIT
        return Step(at_ms, TopicKind.FUNDS, who.key, value.encode(), kind)
