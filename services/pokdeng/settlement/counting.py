"""What a round adds to the counts when it ends, or when its end is reversed: for the metrics alone.

Amounts are counted by option and currency, once a round. Expectation and variance are counted once a bet, with the
first revision, and taken back only when the round is cancelled after its settlement: a corrected round was played.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from pokdeng.rules import PLAYER_SEATS, Bet
from pokdeng.settlement import tally
from pokdeng.settlement.expectation import expectation

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from pokdeng.settlement.tally import Key, Tally

    Counted = tuple[Bet, str, Mapping[str, Sequence[int]]]
    """An option of a round, its outcome, and by currency: bets, taken and returned."""

SPOTS = len(PLAYER_SEATS)


class _Option(NamedTuple):
    """What is asked of an option for every round, looked up once."""

    place: int
    """Players 0 .. 4, pairs 5 .. 9, in the order of their seats."""
    units_taken: int
    expected_units: float
    outcomes: dict[str, Key]
    amounts: dict[str, tuple[Key, Key, Key]]
    """By currency: the keys of taken, returned and expected."""
    reversed_amounts: dict[str, tuple[Key, Key, Key]]


_OPTIONS: dict[Bet, _Option] = {}


def _option(bet: Bet) -> _Option:
    place = PLAYER_SEATS.index(bet.seat) + (SPOTS if bet.is_pair else 0)
    option = _OPTIONS[bet] = _Option(place, bet.units_taken, expectation().expected_return(bet, 1), {}, {}, {})
    return option


def count_round(counts: Tally, options: Iterable[Counted], *, is_first: bool = True) -> None:
    """Count a settled round's options; `is_first` revision or a later one. Refunds: `count_refunds`."""
    stakes: dict[str, list[int]] = {}
    for bet, outcome, sums in options:
        option = _OPTIONS.get(bet) or _option(bet)
        settled = option.outcomes.get(outcome) or option.outcomes.setdefault(outcome, tally.settled(bet, outcome))
        for currency, (bets, taken, returned) in sums.items():
            counts[settled] += bets
            keys = option.amounts.get(currency)
            if keys is None:
                keys = option.amounts[currency] = (
                    tally.taken(bet, currency),
                    tally.returned(bet, currency),
                    tally.expected(bet, currency),
                )
            counts[keys[0]] += taken
            counts[keys[1]] += returned
            if is_first:
                stake = taken // option.units_taken
                counts[keys[2]] += stake * option.expected_units
                try:
                    stakes[currency][option.place] = stake
                except KeyError:
                    row = stakes[currency] = [0] * (2 * SPOTS)
                    row[option.place] = stake
    for currency, row in stakes.items():
        _add_variances(counts, row, currency, _VARIANCES)


def count_refunds(counts: Tally, options: Iterable[Counted]) -> None:
    """Count a refunded round's options: no amounts, for nothing was played."""
    for bet, _, sums in options:
        for bets, _, _ in sums.values():
            counts[tally.settled(bet, "refunded")] += bets


def count_reversed(counts: Tally, options: Iterable[Counted], *, is_cancelled: bool) -> None:
    """Count what a later revision takes back of a settled round: with its expectation only if it is cancelled."""
    stakes: dict[str, list[int]] = {}
    for bet, _, sums in options:
        option = _OPTIONS.get(bet) or _option(bet)
        for currency, (bets, taken, returned) in sums.items():
            counts[tally.settled(bet, "reversed")] += bets
            keys = option.reversed_amounts.setdefault(currency, tally.reversed_amounts(bet, currency))
            counts[keys[0]] += taken
            counts[keys[1]] += returned
            if is_cancelled:
                stake = taken // option.units_taken
                counts[keys[2]] += stake * option.expected_units
                stakes.setdefault(currency, [0] * (2 * SPOTS))[option.place] = stake
    for currency, row in stakes.items():
        _add_variances(counts, row, currency, _REVERSED_VARIANCES)


_VARIANCES: dict[str, tuple[Key, Key, Key]] = {}
_REVERSED_VARIANCES: dict[str, tuple[Key, Key, Key]] = {}


def _add_variances(counts: Tally, stakes: list[int], currency: str, known: dict[str, tuple[Key, Key, Key]]) -> None:
    keys = known.get(currency)
    if keys is None:
        of = tally.variance if known is _VARIANCES else tally.reversed_variance
        keys = known[currency] = (of("player", currency), of("pair", currency), of("all", currency))
    player, pair, both = expectation().variances(stakes[:SPOTS], stakes[SPOTS:])
    counts[keys[0]] += player
    counts[keys[1]] += pair
    counts[keys[2]] += both
