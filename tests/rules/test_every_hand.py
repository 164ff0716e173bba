"""Every two-card hand against every other, held against a second reading of the rules.

The second reading is written from the published rules alone, in another way: hands as text matched by patterns, values
as decimal numbers, payouts by arithmetic instead of a table. It uses nothing of `pokdeng.rules`.
"""

from __future__ import annotations

import itertools
import re
from collections import Counter
from decimal import Decimal
from fractions import Fraction
from math import comb, prod
from typing import NamedTuple

import pytest

from pokdeng.rules import CARDS, Bet, Card, Hand, hand_of, odds_of, verdict

RANKS = "A23456789TJQK"
PATTERNS = [
    ("7.5", "ak_flush", "AK flush"),
    ("7.4", "special_pair", "(AA|55|66|TT).*"),
    ("7.3", "face_cards", "[JQK][JQK].*"),
    ("7.2", "ten_and_face", "T[JQK].*"),
    ("7.1", "no_point_flush", "(A9|28|37|46) flush"),
]


class Reading(NamedTuple):
    """What the second reading sees in a hand."""

    value: str
    combination: str | None
    is_pair: bool
    is_flush: bool

    @property
    def is_special(self) -> bool:
        """Whether there is any pattern at all."""
        return bool(self.combination) or self.is_pair or self.is_flush


def read(first: str, second: str) -> Reading:
    """Read a hand from its two cards as text."""
    low, high = sorted((first[0], second[0]), key=RANKS.index)
    text = f"{low}{high} flush" if first[1] == second[1] else f"{low}{high}"
    digit = str(sum(int({"A": "1"}.get(rank, rank)) for rank in (low, high) if rank not in "TJQK"))[-1]
    value, combination = digit, None
    if digit not in "89":
        for candidate, name, pattern in PATTERNS:
            if re.fullmatch(pattern, text):
                value, combination = candidate, name
                break
    return Reading(value, combination, low == high, "flush" in text)


def net_of_player_bet(player: Reading, banker: Reading, *, capped_by: str = "0 6", spared: str = "8 9") -> int:
    """What a bet on the player nets, in stakes; the two keywords are for readings that were not chosen."""
    difference = Decimal(player.value) - Decimal(banker.value)
    if difference < 0:
        return -2 if banker.is_special else -1
    if difference == 0:
        return 0
    capped = banker.value in capped_by.split() and player.value not in spared.split()
    return 2 if player.is_special and not capped else 1


HANDS = tuple(hand_of(first, second) for first, second in itertools.combinations_with_replacement(CARDS, 2))


class Survey(NamedTuple):
    """One pass over all pairs of hands: where the two readings differ, and how often each pair of readings is dealt."""

    differences: list[str]
    ways: Counter[tuple[Reading, Reading]]


@pytest.fixture(scope="module")
def survey() -> Survey:
    """Compare all 1,378 x 1,378 pairs of hands."""
    readings = [read(str(hand.cards[0]), str(hand.cards[1])) for hand in HANDS]
    kinds = list(dict.fromkeys(readings))
    kind_of = [kinds.index(reading) for reading in readings]
    faces_of = [frozenset(card.face for card in hand.cards) for hand in HANDS]
    ways_alone = [comb(8, 2) if hand.cards[0] is hand.cards[1] else 8 * 8 for hand in HANDS]
    differences = []
    ways: Counter[tuple[Reading, Reading]] = Counter()
    for banker_index, banker in enumerate(HANDS):
        units = [2 + net_of_player_bet(player_kind, readings[banker_index]) for player_kind in kinds]
        banker_faces, banker_ways = faces_of[banker_index], ways_alone[banker_index]
        against = [0] * len(kinds)
        for index, player in enumerate(HANDS):
            kind = kind_of[index]
            if (
                verdict(Bet.PLAYER_1, player, banker).returned_units != units[kind]
                or verdict(Bet.PLAYER_1_PAIR, player, banker).returned_units != 12 * kinds[kind].is_pair
            ):
                differences.append(f"{player} against {banker}")
            if banker_faces.isdisjoint(faces_of[index]):
                against[kind] += banker_ways * ways_alone[index]
            else:
                against[kind] += ways_of_both(banker, player)
        for kind, number in enumerate(against):
            ways[kinds[kind], readings[banker_index]] += number
    return Survey(differences, ways)


def ways_of_both(banker: Hand, player: Hand) -> int:
    """In how many ways a full shoe deals both hands: for each face, choose the banker's copies, then the player's."""
    banker_cards, player_cards = Counter(banker.cards), Counter(player.cards)
    return prod(
        comb(8, banker_cards[card]) * comb(8 - banker_cards[card], player_cards[card])
        for card in {*banker_cards, *player_cards}
    )


@pytest.mark.parametrize("first", CARDS, ids=str)
def test_every_hand_is_read_alike(first: Card) -> None:
    """All 52 x 52 hands by position: value, combination, points, pair, flush, special."""
    for second in CARDS:
        reading = read(str(first), str(second))
        hand = hand_of(first, second)
        assert (hand.value, hand.combination, hand.is_pair, hand.is_flush, hand.is_special) == (
            *reading,
            reading.is_special,
        )
        assert hand.points == (int(reading.value) if reading.combination is None else hand.points)


def test_every_hand_orders_alike() -> None:
    """Ranks rise exactly as the values do, read as decimal numbers."""
    by_rank = {hand.rank: Decimal(read(*map(str, hand.cards)).value) for hand in HANDS}
    assert sorted(by_rank) == list(range(15))
    assert sorted(set(by_rank.values())) == [by_rank[rank] for rank in range(15)]


def test_every_hand_against_every_other_pays_alike(survey: Survey) -> None:
    """All 1,898,884 pairs of hands, on the player and on the pair."""
    assert survey.differences == []


def test_every_deal_was_counted(survey: Survey) -> None:
    """The ways add to the number of ways to take two hands from 416 cards."""
    assert sum(survey.ways.values()) == comb(416, 2) * comb(414, 2)


def test_the_second_reading_has_the_published_return(survey: Survey) -> None:
    """Counted anew, a bet on a player returns 98.7499 % of what was taken, just as `odds_of` says."""
    net = sum(net_of_player_bet(*pair) * ways for pair, ways in survey.ways.items())
    expected = Fraction(net, comb(416, 2) * comb(414, 2))
    assert expected == odds_of(Bet.PLAYER_1).expected_net
    assert f"{float(expected):.10f}" == "-0.0250018589"
    assert f"{float((2 + expected) / 2):.6f}" == "0.987499"


@pytest.mark.parametrize(
    ("capped_by", "spared", "returned"),
    [("0 6", "", "98.39"), ("0 6 7.1 7.2 7.3", "8 9", "98.47"), ("", "", "100.00")],
    ids=["PD-12 without PD-13", "combinations without points taken for 0", "no PD-12"],
)
def test_no_other_reading_has_the_published_return(survey: Survey, capped_by: str, spared: str, returned: str) -> None:
    """Each reading of the 0-or-6 rule that was not chosen misses the published 98.75 %."""
    net = sum(net_of_player_bet(*pair, capped_by=capped_by, spared=spared) * ways for pair, ways in survey.ways.items())
    expected = Fraction(net, comb(416, 2) * comb(414, 2))
    assert f"{float((2 + expected) / 2):.2%}" == f"{returned}%"
