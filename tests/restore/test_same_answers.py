"""The same night with and without losses of the ledger: whatever is asked afterwards, the answers are the same."""

from __future__ import annotations

import asyncio
import random

import pytest

from tests.restore.losses import LOSSES
from tests.settlement.scene import Scene
from tests.settlement.table_talk import FIVE_ACCOUNTS

FACES = ("9c", "Td", "2c", "As", "5s", "Kh")
PLACES = ("player_1 1", "player_1 2", "player_2 1", "banker 2")


class Night:
    """A table's night as lines: rounds in shoes, and second thoughts about any of them, some more than once."""

    def __init__(self, seed: int) -> None:
        """Nothing is said yet."""
        self._random = random.Random(seed)
        self._shoe = self._number = 0
        self._is_open = False
        self._over: list[str] = []
        self._asked: list[str] = []
        self._bets: list[str] = []

    def lines(self, count: int) -> list[str]:
        """So many steps of it."""
        said = [FIVE_ACCOUNTS, self._next_shoe()]
        for _ in range(7):
            said += [self._open(), self._end()]
        for _ in range(count):
            said += self._step()
        return said

    def _step(self) -> list[str]:
        chance, line = self._random.random(), ""
        if chance < 0.15:
            line = self._end() if self._is_open else self._open()
        elif chance < 0.22:
            line = "" if self._is_open else self._next_shoe()
        elif chance < 0.3:
            line = self._bet() if self._is_open else ""
        elif chance < 0.6:
            line = self._correct()
        elif chance < 0.65:
            line = self._named(f"void {self._random.choice(self._over[-12:])}")
        elif chance < 0.7:
            line = f"again {self._random.choice(self._bets)}"
        elif self._asked:
            line = f"again {self._random.choice(self._asked[-8:])}"
        return [line]

    def _next_shoe(self) -> str:
        self._shoe += 1
        return f"shoe S-{self._shoe} 2h"

    def _open(self) -> str:
        self._number += 1
        self._is_open = True
        return f"open R-{self._number} in S-{self._shoe}\n{self._bet()}"

    def _end(self) -> str:
        self._is_open = False
        name = f"R-{self._number}"
        self._over.append(name)
        return f"close {name}\ndeal {name} W"

    def _bet(self) -> str:
        self._bets.append(f"b{len(self._bets)}")
        account = self._random.randrange(1, 6)
        return f"bet {self._bets[-1]} A-{account} player_{account} 100 of R-{self._number} #{self._bets[-1]}"

    def _correct(self) -> str:
        name = self._random.choice(self._over[-12:])
        return self._named(f"correct {name} {self._random.choice(PLACES)} {self._random.choice(FACES)}")

    def _named(self, line: str) -> str:
        self._asked.append(f"q{len(self._asked)}")
        return f"{line} #{self._asked[-1]}"


async def played_through(
    lines: list[str], losses: random.Random | None, held_ms: int
) -> tuple[list[str], dict[str, str]]:
    """Said line by line, with losses and kills in between if any are to be; what was heard, and the balances."""
    played = Scene()
    played.line.held_ms = held_ms
    await played.start()
    try:
        for line in lines:
            await played.play(line)
            chance = 1.0 if losses is None else losses.random()
            if losses is not None and chance < 0.08:
                await losses.choice(LOSSES)(played)
            elif chance < 0.16:
                await played.restart()
                await played.caught_up()
        await played.stop()
    finally:
        await played.kill()
    report = await played.report()
    assert not report.findings, report
    played.distinct()
    return sorted(played.facts()), await played.balances()


@pytest.mark.parametrize(("seed", "held_ms"), [(4, 600_000), (6, 600_000), (5, 30), (41, 30)])
def test_a_night_with_losses_is_the_night_without(seed: int, held_ms: int) -> None:
    """Rounds, corrections, their copies, cards that would be a ninth: the same facts, the same balances.

    Rounds that are held are put aside late, or at once.
    """

    async def play() -> None:
        lines = Night(seed).lines(120)
        whole = await played_through(lines, None, held_ms)
        assert await played_through(lines, random.Random(seed), held_ms) == whole
        assert any("ninth_copy" in fact for fact in whole[0])
        assert sum("bet_reversed" in fact for fact in whole[0]) > 10

    asyncio.run(play())
