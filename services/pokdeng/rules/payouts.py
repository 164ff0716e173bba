"""Payouts: what a bet gets back, and the line of the pay table that decided it.

`verdict` is the part without money: one serves all bets of a round on one option. `settle` adds the stake. Amounts are
integers in minor units of a currency; nothing here knows which.
"""

from __future__ import annotations

import reprlib
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from pokdeng.rules.bets import Bet
    from pokdeng.rules.hands import Hand

RULESET: Final = "pokdeng-1"
"""This version of the rules, named with every settlement. It changes when any payout or sentence here does."""

STAKE_MAX: Final = 10**12
"""The highest stake, in minor units; the lowest is 1."""


class Outcome(StrEnum):
    """What became of a bet. A pair bet is never a tie."""

    WIN = "win"
    LOSE = "lose"
    TIE = "tie"


class Odds(StrEnum):
    """What is won or lost for 1 staked. A tie has none."""

    SINGLE = "1:1"
    DOUBLE = "2:1"
    ELEVENFOLD = "11:1"


class PayLine(StrEnum):
    """The lines of the pay table. The value is the sentence said to players, and as much part of the ruleset."""

    PLAYER_WINS_PLAIN = "The player's hand is higher and plain: the bet wins 1:1."
    PLAYER_WINS_SPECIAL = "The player's hand is higher and has a special pattern: the bet wins 2:1."
    PLAYER_WINS_AGAINST_0_OR_6 = (
        "The player's hand is higher and has a special pattern, but the banker has 0 or 6: the bet wins 1:1."
    )
    PLAYER_WINS_WITH_8_OR_9 = (
        "The player's hand is higher, 8 or 9 with a flush or a pair: the bet wins 2:1, though the banker has 0 or 6."
    )
    TIE = "Both hands have the same value: the bet is a tie, and all that was taken is returned."
    BANKER_WINS_PLAIN = "The banker's hand is higher and plain: the bet loses 1:1."
    BANKER_WINS_SPECIAL = "The banker's hand is higher and has a special pattern: the bet loses 2:1."
    PAIR = "The player's two cards have the same rank: the pair bet wins 11:1."
    NO_PAIR = "The player's two cards have different ranks: the pair bet loses 1:1."


class InvalidStakeError(ValueError):
    """A stake that is no whole number of 1 .. 10^12 minor units. The message names it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What a line of the pay table says, whatever the stake.

    `returned_units` is how many stakes go back to the balance, 0 .. 12; `odds` is None on a tie.
    """

    outcome: Outcome
    odds: Odds | None
    returned_units: int
    rule: PayLine


@dataclass(frozen=True, slots=True, kw_only=True)
class Payout:
    """What a settled bet got, in minor units: `net` = `returned` - `taken`. `odds` is None on a tie."""

    outcome: Outcome
    odds: Odds | None
    taken: int
    returned: int
    net: int
    rule: PayLine


def _line(rule: PayLine, outcome: Outcome, odds: Odds | None, returned_units: int) -> Verdict:
    return Verdict(rule=rule, outcome=outcome, odds=odds, returned_units=returned_units)


_PLAYER_WINS_PLAIN = _line(PayLine.PLAYER_WINS_PLAIN, Outcome.WIN, Odds.SINGLE, 3)
_PLAYER_WINS_SPECIAL = _line(PayLine.PLAYER_WINS_SPECIAL, Outcome.WIN, Odds.DOUBLE, 4)
_PLAYER_WINS_AGAINST_0_OR_6 = _line(PayLine.PLAYER_WINS_AGAINST_0_OR_6, Outcome.WIN, Odds.SINGLE, 3)
_PLAYER_WINS_WITH_8_OR_9 = _line(PayLine.PLAYER_WINS_WITH_8_OR_9, Outcome.WIN, Odds.DOUBLE, 4)
_TIE = _line(PayLine.TIE, Outcome.TIE, None, 2)
_BANKER_WINS_PLAIN = _line(PayLine.BANKER_WINS_PLAIN, Outcome.LOSE, Odds.SINGLE, 1)
_BANKER_WINS_SPECIAL = _line(PayLine.BANKER_WINS_SPECIAL, Outcome.LOSE, Odds.DOUBLE, 0)
_PAIR = _line(PayLine.PAIR, Outcome.WIN, Odds.ELEVENFOLD, 12)
_NO_PAIR = _line(PayLine.NO_PAIR, Outcome.LOSE, Odds.SINGLE, 0)

VERDICTS: tuple[Verdict, ...] = (
    _PLAYER_WINS_PLAIN,
    _PLAYER_WINS_SPECIAL,
    _PLAYER_WINS_AGAINST_0_OR_6,
    _PLAYER_WINS_WITH_8_OR_9,
    _TIE,
    _BANKER_WINS_PLAIN,
    _BANKER_WINS_SPECIAL,
    _PAIR,
    _NO_PAIR,
)
"""The whole pay table: one verdict a line, in the order of `PayLine`; `verdict` answers with one of these."""

_RANKS_THAT_HALVE_WINS = frozenset({0, 6})
_LOWEST_POINTS_THAT_STAND = 8
_BITS_SHOWN = 128


def verdict(bet: Bet, player: Hand, banker: Hand) -> Verdict:
    """What a bet on `player` gets against `banker`, whatever the stake. A pair bet does not look at the banker.

    "The banker has 0" means a hand that ranks 0, not a combination whose digits add to 0.
    Source: docs/rules.md, PD-11 .. PD-16.

    >>> from pokdeng.rules import Bet, Hand
    >>> verdict(Bet.PLAYER_1, Hand.parse("5c 5c"), Hand.parse("2h 4h")).rule.name
    'PLAYER_WINS_AGAINST_0_OR_6'
    >>> from pokdeng.rules import Bet, Hand
    >>> verdict(Bet.PLAYER_1, Hand.parse("Kh 9h"), Hand.parse("9d 7c")).returned_units
    4
    """
    if bet.is_pair:
        return _PAIR if player.is_pair else _NO_PAIR
    if player.rank < banker.rank:
        return _BANKER_WINS_SPECIAL if banker.is_special else _BANKER_WINS_PLAIN
    if player.rank == banker.rank:
        return _TIE
    return _win_of(player, banker)


def _win_of(player: Hand, banker: Hand) -> Verdict:
    if not player.is_special:
        return _PLAYER_WINS_PLAIN
    if banker.rank not in _RANKS_THAT_HALVE_WINS:
        return _PLAYER_WINS_SPECIAL
    # Special at 8 or 9 is a flush or a pair: no combination reaches them.
    if player.points >= _LOWEST_POINTS_THAT_STAND:
        return _PLAYER_WINS_WITH_8_OR_9
    return _PLAYER_WINS_AGAINST_0_OR_6


def taken_for(bet: Bet, stake: int) -> int:
    """What is taken from the balance when `stake` minor units are bet, in minor units. Source: docs/rules.md, PD-5.

    Raises:
        InvalidStakeError: when the stake is not a whole number of 1 .. 10^12.

    >>> from pokdeng.rules import Bet
    >>> taken_for(Bet.PLAYER_1, 100), taken_for(Bet.PLAYER_1_PAIR, 100)
    (200, 100)
    >>> taken_for(Bet.PLAYER_1, 0)
    Traceback (most recent call last):
    pokdeng.rules.payouts.InvalidStakeError: not a stake: 0; write whole minor units, 1 .. 1,000,000,000,000
    """
    if type(stake) is not int or not 1 <= stake <= STAKE_MAX:  # True is an int, and no stake
        raise InvalidStakeError(f"not a stake: {_shown(stake)}; write whole minor units, 1 .. {STAKE_MAX:,}")
    return stake * bet.units_taken


def settle(bet: Bet, player: Hand, banker: Hand, stake: int) -> Payout:
    """What a bet of `stake` minor units on `player` gets against `banker`.

    Raises:
        InvalidStakeError: when the stake is not a whole number of 1 .. 10^12.

    >>> from pokdeng.rules import Bet, Hand
    >>> payout = settle(Bet.PLAYER_1, Hand.parse("Qc Jc"), Hand.parse("Qc 10c"), 100)
    >>> payout.outcome.value, payout.odds.value, payout.taken, payout.returned, payout.net
    ('win', '2:1', 200, 400, 200)
    """
    taken = taken_for(bet, stake)
    decided = verdict(bet, player, banker)
    returned = stake * decided.returned_units
    return Payout(
        outcome=decided.outcome,
        odds=decided.odds,
        taken=taken,
        returned=returned,
        net=returned - taken,
        rule=decided.rule,
    )


def _shown(stake: object) -> str:
    if isinstance(stake, int) and stake.bit_length() > _BITS_SHOWN:
        return f"an integer of {stake.bit_length()} bits"  # thousands of digits are not even converted to text
    return reprlib.repr(stake)
