"""Bets as the gateway sends them: the plain ones fast, and what players and gateways get wrong."""

from __future__ import annotations

import random
from bisect import bisect
from itertools import accumulate
from typing import TYPE_CHECKING, Final, NamedTuple

from pokdeng.simulator.clock import time_text
from pokdeng.simulator.crowd import Transfer
from pokdeng.simulator.malformed import Spoiler
from pokdeng.simulator.mishaps import BETTING, CLOSING, RESTING, REVEALING
from pokdeng.simulator.steps import Kind, Step
from pokdeng.wire import TopicKind

if TYPE_CHECKING:
    from collections.abc import Callable

    from pokdeng.simulator.crowd import Crowd, Player
    from pokdeng.simulator.play import Play

_SHARES: Final = dict(zip(BETTING, (0.2, 0.3, 0.3, 0.2), strict=True))
_SPENDERS: Final = 5
_MOST: Final = 4
_LEAST: Final = 500
"""Who draws out all they have ask for so many times what such players bring, for half of it, and so on to so little."""
_TOO_MUCH: Final = 10**12
_OTHER_CURRENCY: Final = "KWD"


class Spot(NamedTuple):
    """Where and when bets are placed: a phase of a round at a table."""

    table_id: str
    key: bytes
    round_id: str
    phase: int
    starts_at_ms: int
    """Of the phase."""


class Later(NamedTuple):
    """A step of a later beat: so many beats on."""

    beats: int
    step: Step


class Betting:
    """All bets of a play."""

    def __init__(self, play: Play, crowd: Crowd) -> None:
        """Depends on the seed only."""
        self._rng = random.Random(f"{play.seed}/bets")
        self._play = play
        self._crowd = crowd
        self._spoiler = Spoiler()
        self._count = 0
        mischief = play.mischief
        deeds: tuple[tuple[float, Callable[[Spot, int], None]], ...] = (
            (mischief.malformed, self._malformed),
            (mischief.conflicts, self._conflict),
            (mischief.late_bets, self._late_bet),
            (mischief.unknown_rounds, self._unknown_round),
            (mischief.cancels, self._cancelled_bet),
            (mischief.late_cancels, self._late_cancel),
            (mischief.early_cancels, self._early_cancel),
            (mischief.foreign_cancels, self._foreign_cancel),
            (mischief.overdrafts, self._overdraft),
            (mischief.other_currencies, self._other_currency),
            (mischief.photo_finishes, self._photo_finish),
            (mischief.transfers, self._transfer),
        )
        self._deeds = [deed for _, deed in deeds]
        self._limits = list(accumulate(rate for rate, _ in deeds))
        self._mischief = self._limits[-1]
        self._now: list[Step] = []
        self._later: list[Later] = []
        self._played: dict[str, list[Player]] = {}
        """Some who bet on the round that a table plays, if rounds are corrected when they have spent what they won."""

    def play(self, spot: Spot) -> tuple[list[Step], list[Later]]:
        """The bets of one phase of a round, and what they bring in later beats."""
        self._now, self._later = [], []
        rng = self._rng.random
        beat_ms = self._play.beat_ms
        if spot.phase == BETTING[0]:
            self._played.pop(spot.table_id, None)
        for _ in range(int(self._play.bets_per_round * _SHARES[spot.phase] + rng())):
            at_ms = spot.starts_at_ms + 1 + int(rng() * (beat_ms - 2))
            if self._mischief and (choice := rng()) < self._mischief:
                self._deeds[bisect(self._limits, choice)](spot, at_ms)
            else:
                player = self._crowd.anyone()
                self._now.append(self._bet(spot, at_ms, player))
                if self._play.mischief.spent_before_correction:
                    self._remember(spot, player)
        return self._now, self._later

    def _remember(self, spot: Spot, player: Player) -> None:
        players = self._played.setdefault(spot.table_id, [])
        if len(players) < _SPENDERS and player not in players:
            players.append(player)

    def spend(self, table_id: str, starts_at_ms: int) -> list[Step]:
        """Some who bet on a table's round draw out all they have, to the last few coins: by halves, for who knows."""
        steps = []
        for player in self._played.get(table_id, []):
            amount = _MOST * player.money.brings[1]
            at_ms = starts_at_ms
            while amount >= _LEAST:
                transfer = Transfer("funds_withdrawn", amount, player.money.currency)
                steps.append(self._crowd.transfer(player, transfer, at_ms, Kind.WITHDRAWAL))
                at_ms = min(at_ms + 1, starts_at_ms + self._play.beat_ms - 1)
                amount //= 2
        return steps

    def _bet(self, spot: Spot, at_ms: int, player: Player, kind: Kind = Kind.BET) -> Step:
        """A new bet."""
        self._count += 1
        return self._bet_of(spot, at_ms, player.tail + player.bets[int(self._rng.random() * len(player.bets))], kind)

    def _bet_of(self, spot: Spot, at_ms: int, tail: str, kind: Kind) -> Step:
        """The newest bet, with other contents: its account, option, stake and currency as JSON members."""
        name = f"b{self._count}"
        value = (
            f'{{"type":"bet_placed","event_id":"e-{spot.round_id}-{name}","occurred_at":"{time_text(at_ms)}",'
            f'"bet_id":"{name}","table_id":"{spot.table_id}","round_id":"{spot.round_id}",{tail}'
        )
        return Step(at_ms, TopicKind.BETS, spot.key, value.encode(), kind)

    def _cancel(self, spot: Spot, at_ms: int, player: Player, kind: Kind = Kind.CANCEL) -> Step:
        """Take back the newest bet."""
        value = (
            f'{{"type":"bet_cancelled","event_id":"e-{spot.round_id}-c{self._count}-{at_ms}",'
            f'"occurred_at":"{time_text(at_ms)}","bet_id":"b{self._count}","table_id":"{spot.table_id}",'
            f'"round_id":"{spot.round_id}",{player.tail[:-1]}}}'
        )
        return Step(at_ms, TopicKind.BETS, spot.key, value.encode(), kind)

    def _within(self, spot: Spot, phase: int) -> int:
        """A moment of a phase of the round."""
        beats = phase - spot.phase
        return spot.starts_at_ms + beats * self._play.beat_ms + self._rng.randrange(self._play.beat_ms)

    def _soon(self, at_ms: int, spot: Spot) -> int:
        """A moment after another one, in the same phase."""
        return self._rng.randint(at_ms, spot.starts_at_ms + self._play.beat_ms - 1)

    def _then(self, spot: Spot, phase: int, step: Step) -> None:
        """Something of a later phase of the round."""
        self._later.append(Later(phase - spot.phase, step))

    def _malformed(self, spot: Spot, at_ms: int) -> None:
        player = self._crowd.anyone()
        self._now.append(self._spoiler.step(at_ms, spot.table_id, spot.round_id, player))
        self._now.append(self._bet(spot, at_ms, player))

    def _conflict(self, spot: Spot, at_ms: int) -> None:
        player, other = self._crowd.anyone(), self._crowd.anyone()
        first = self._bet(spot, at_ms, player)
        self._now.append(first)
        tail = self._rng.choice((player, other)).tail + self._rng.choice(player.bets)
        phase = self._rng.choice((spot.phase, CLOSING, RESTING))
        when = self._soon(at_ms, spot) if phase == spot.phase else self._within(spot, phase)
        again = self._bet_of(spot, when, tail, Kind.CONFLICT)
        self._now.append(again) if phase == spot.phase else self._then(spot, phase, again)

    def _late_bet(self, spot: Spot, at_ms: int) -> None:
        del at_ms
        phase = self._rng.choice((REVEALING, RESTING))
        step = self._bet(spot, self._within(spot, phase), self._crowd.anyone(), Kind.LATE_BET)
        self._then(spot, phase, step)

    def _unknown_round(self, spot: Spot, at_ms: int) -> None:
        nowhere = spot._replace(round_id=f"{spot.round_id}-nowhere")
        self._now.append(self._bet(nowhere, at_ms, self._crowd.anyone(), Kind.UNKNOWN_ROUND_BET))

    def _cancelled_bet(self, spot: Spot, at_ms: int) -> None:
        player = self._crowd.anyone()
        self._now.append(self._bet(spot, at_ms, player))
        self._now.append(self._cancel(spot, self._soon(at_ms, spot), player))
        if self._rng.random() < 0.2:  # noqa: PLR2004 - of the cancels are sent twice
            phase = self._rng.choice((CLOSING, RESTING))
            self._then(spot, phase, self._cancel(spot, self._within(spot, phase), player))

    def _late_cancel(self, spot: Spot, at_ms: int) -> None:
        player = self._crowd.anyone()
        self._now.append(self._bet(spot, at_ms, player))
        self._then(spot, REVEALING, self._cancel(spot, self._within(spot, REVEALING), player, Kind.LATE_CANCEL))

    def _early_cancel(self, spot: Spot, at_ms: int) -> None:
        player = self._crowd.anyone()
        bet = self._bet(spot, self._soon(at_ms, spot), player)
        self._now.append(self._cancel(spot, at_ms, player, Kind.EARLY_CANCEL))
        self._now.append(bet)

    def _foreign_cancel(self, spot: Spot, at_ms: int) -> None:
        player, other = self._crowd.anyone(), self._crowd.anyone()
        self._now.append(self._bet(spot, at_ms, player))
        self._now.append(self._cancel(spot, self._soon(at_ms, spot), other, Kind.FOREIGN_CANCEL))

    def _overdraft(self, spot: Spot, at_ms: int) -> None:
        player = self._crowd.anyone()
        stake = _TOO_MUCH - self._rng.randrange(1000)
        tail = f'{player.tail}"bet":"player_2","stake":{stake},"currency":"{player.money.currency}"}}'
        self._count += 1
        self._now.append(self._bet_of(spot, at_ms, tail, Kind.OVERDRAFT))

    def _other_currency(self, spot: Spot, at_ms: int) -> None:
        tail = f'{self._crowd.anyone().tail}"bet":"player_3_pair","stake":1000,"currency":"{_OTHER_CURRENCY}"}}'
        self._count += 1
        self._now.append(self._bet_of(spot, at_ms, tail, Kind.OTHER_CURRENCY))

    def _photo_finish(self, spot: Spot, at_ms: int) -> None:
        """A bet in the very millisecond of the close, or one beside it, if the log keeps the play's time."""
        del at_ms
        beats = CLOSING - spot.phase
        middle_ms = spot.starts_at_ms + beats * self._play.beat_ms + self._play.beat_ms // 2
        when = middle_ms + self._rng.choice((-1, 0, 0, 0, 1))
        self._then(spot, CLOSING, self._bet(spot, when, self._crowd.anyone(), Kind.PHOTO_FINISH))

    def _transfer(self, spot: Spot, at_ms: int) -> None:
        player = self._crowd.anyone()
        self._now.append(self._bet(spot, at_ms, player))
        step = self._rng.choices(_TRANSFERS, _TRANSFER_WEIGHTS)[0](self._crowd, player, at_ms, self._rng)
        self._now.append(step)
        if step.kind is Kind.DEPOSIT and self._rng.random() < 0.1:  # noqa: PLR2004 - of the deposits have a twin
            twin = (step.value or b"").replace(b'"amount":', b'"amount":1')
            self._now.append(step._replace(value=twin, kind=Kind.CONFLICT))


def _withdrawal(crowd: Crowd, player: Player, at_ms: int, rng: random.Random) -> Step:
    amount = player.money.brings[0] // rng.randint(2, 20)
    return crowd.transfer(player, Transfer("funds_withdrawn", amount, player.money.currency), at_ms, Kind.WITHDRAWAL)


def _deposit(crowd: Crowd, player: Player, at_ms: int, rng: random.Random) -> Step:
    del rng
    return crowd.deposit(player, at_ms)


def _all_and_more(crowd: Crowd, player: Player, at_ms: int, rng: random.Random) -> Step:
    del rng
    return crowd.transfer(player, Transfer("funds_withdrawn", _TOO_MUCH, player.money.currency), at_ms, Kind.OVERDRAFT)


def _foreign_money(crowd: Crowd, player: Player, at_ms: int, rng: random.Random) -> Step:
    event_type = rng.choice(("funds_deposited", "funds_withdrawn"))
    return crowd.transfer(player, Transfer(event_type, 1_000, _OTHER_CURRENCY), at_ms, Kind.OTHER_CURRENCY)


_TRANSFERS: Final = (_deposit, _withdrawal, _all_and_more, _foreign_money)
_TRANSFER_WEIGHTS: Final = (4, 4, 1, 1)
