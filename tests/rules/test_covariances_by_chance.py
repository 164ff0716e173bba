"""The covariances of the rules against a million rounds that were dealt (docs/rules.md, PD-23)."""

from __future__ import annotations

import random
from collections import Counter
from math import sqrt
from typing import TYPE_CHECKING

from pokdeng.rules import CARDS, Bet, Hand, covariance, hand_of, verdict

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

ROUNDS = 1_000_000
SPOTS = 5
CARDS_OF_ROUND = 2 * (SPOTS + 1)
SHOE = 8 * len(CARDS)

Sums = tuple[int, int, int, int, int]
"""Of one round with 1 staked on every bet, over its spots: what player bets return, its squares; pairs; products."""


def kind_of(hand: Hand) -> tuple[object, ...]:
    """All that a payout can depend on: hands of one kind are paid alike."""
    return (hand.value, hand.points, hand.combination, hand.is_pair, hand.is_flush)


def returns_by_hands() -> tuple[list[int], list[list[tuple[int, int]]]]:
    """A number for each two faces, and what a player and a pair bet return for a banker's and a player's number."""
    examples: dict[tuple[object, ...], Hand] = {}
    numbers = []
    for first in CARDS:
        for second in CARDS:
            hand = hand_of(first, second)
            examples.setdefault(kind_of(hand), hand)
            numbers.append(list(examples).index(kind_of(hand)))
    hands = list(examples.values())
    return numbers, [[paid(hand, banker) for hand in hands] for banker in hands]


def paid(hand: Hand, banker: Hand) -> tuple[int, int]:
    """What 1 on the spot of a hand returns, and 1 on its pair."""
    return (
        verdict(Bet.PLAYER_1, hand, banker).returned_units,
        verdict(Bet.PLAYER_1_PAIR, hand, banker).returned_units,
    )


def dealt_rounds(seed: int) -> Iterator[list[int]]:
    """Rounds from a full shoe: twelve of 416 cards, none twice, in any order."""
    rng = random.Random(seed)
    while True:
        drawn = rng.choices(range(SHOE), k=120_000)
        for start in range(0, len(drawn), CARDS_OF_ROUND):
            cards = drawn[start : start + CARDS_OF_ROUND]
            if len(set(cards)) == CARDS_OF_ROUND:
                yield cards


def sums_of_rounds(seed: int) -> Counter[Sums]:
    """How often a million rounds came to the same sums."""
    numbers, returns = returns_by_hands()
    faces = len(CARDS)
    found: Counter[Sums] = Counter()
    for _, cards in zip(range(ROUNDS), dealt_rounds(seed), strict=False):
        hands = [numbers[cards[at] % faces * faces + cards[at + 1] % faces] for at in range(0, CARDS_OF_ROUND, 2)]
        of_hand = returns[hands[SPOTS]]
        (a, p), (b, q), (c, r), (d, s), (e, t) = [of_hand[hand] for hand in hands[:SPOTS]]
        found[
            a + b + c + d + e,
            a * a + b * b + c * c + d * d + e * e,
            p + q + r + s + t,
            p * p + q * q + r * r + s * s + t * t,
            a * p + b * q + c * r + d * s + e * t,
        ] += 1
    return found


def test_a_million_rounds_vary_together_as_the_rules_say() -> None:
    """All six covariances, each within four and a half standard errors of what was dealt; the seed is fixed.

    A round's sums over its five spots estimate them: of one spot over 5, of two spots over the 20 ordered pairs.
    """
    rounds = sums_of_rounds(seed=20)
    player, pair = (covariance(bet, bet) for bet in (Bet.PLAYER_1, Bet.PLAYER_1_PAIR))
    mean_player = sum(sums[0] * count for sums, count in rounds.items()) / ROUNDS / SPOTS
    mean_pair = sum(sums[2] * count for sums, count in rounds.items()) / ROUNDS / SPOTS
    pairs_of_spots = SPOTS * (SPOTS - 1)

    def of_spots(one: int, squares: int, mean: float) -> tuple[Callable[[Sums], float], Callable[[Sums], float]]:
        return (
            lambda sums: sums[squares] / SPOTS - 2 * mean * sums[one] / SPOTS + mean**2,
            lambda sums: (sums[one] ** 2 - sums[squares]) / pairs_of_spots - 2 * mean * sums[one] / SPOTS + mean**2,
        )

    def mixed(sums: Sums) -> float:
        return (mean_pair * sums[0] + mean_player * sums[2]) / SPOTS - mean_player * mean_pair

    player_alone, player_two = of_spots(0, 1, mean_player)
    pair_alone, pair_two = of_spots(2, 3, mean_pair)
    for estimate, exact in (
        (player_alone, player),
        (pair_alone, pair),
        (player_two, covariance(Bet.PLAYER_1, Bet.PLAYER_2)),
        (pair_two, covariance(Bet.PLAYER_1_PAIR, Bet.PLAYER_2_PAIR)),
        (lambda sums: sums[4] / SPOTS - mixed(sums), covariance(Bet.PLAYER_1, Bet.PLAYER_1_PAIR)),
        (
            lambda sums: (sums[0] * sums[2] - sums[4]) / pairs_of_spots - mixed(sums),
            covariance(Bet.PLAYER_1, Bet.PLAYER_2_PAIR),
        ),
    ):
        found = sum(estimate(sums) * count for sums, count in rounds.items()) / ROUNDS
        spread = sum((estimate(sums) - found) ** 2 * count for sums, count in rounds.items()) / ROUNDS
        error = sqrt(spread / ROUNDS)
        assert 0 < error < 0.05
        assert abs(found - float(exact)) < 4.5 * error, (found, float(exact), error)
