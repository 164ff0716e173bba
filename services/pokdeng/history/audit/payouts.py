"""What settlements say of hands and money, held against the rules."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from pokdeng.rules import RULESET, Bet, Hand, InvalidCardError, InvalidHandError, Verdict, verdict

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pokdeng.history.audit.facts import Fact, HandSaid

UNITS = {bet.value: bet.units_taken for bet in Bet}
"""Stakes taken for each option."""


@lru_cache(maxsize=8_192)
def _hand(first: str, second: str) -> Hand | None:
    try:
        return Hand.parse(f"{first} {second}")
    except (InvalidCardError, InvalidHandError):
        return None


@lru_cache(maxsize=65_536)
def _verdict(option: str, player: tuple[str, str], banker: tuple[str, str]) -> Verdict | None:
    one, other = _hand(*player), _hand(*banker)
    if one is None or other is None or option not in UNITS:
        return None
    return verdict(Bet(option), one, other)


def wrong_hand(said: HandSaid) -> str | None:
    """What of a hand does not follow from its cards, None where all does."""
    hand = _hand(*said.cards)
    if hand is None:
        return f"{said.cards} is no hand"
    combination = None if hand.combination is None else hand.combination.value
    right = (hand.value, hand.points, combination, hand.is_pair, hand.is_flush)
    if (said.value, said.points, said.combination, said.pair, said.flush) != right:
        return f"{' '.join(said.cards)} is worth {hand.value}, not {said.value}, or its marks are wrong"
    return None


def wrong_settlement(fact: Fact) -> Iterator[str]:
    """What of a settled bet does not follow from its cards and stake by the rules."""
    if fact.player is None or fact.banker is None:
        yield "no hands are said"
        return
    right = _verdict(fact.bet, fact.player.cards, fact.banker.cards)
    if right is None:
        yield f"{fact.bet} on {fact.player.cards} against {fact.banker.cards} cannot be settled"
        return
    taken, returned = fact.stake * UNITS[fact.bet], fact.stake * right.returned_units
    if (fact.taken, fact.returned, fact.net) != (taken, returned, returned - taken):
        yield (
            f"{fact.bet} of {fact.stake}: taken {fact.taken}, returned {fact.returned}, net {fact.net}; "
            f"by the rules {taken}, {returned}, {returned - taken}"
        )
    odds = None if right.odds is None else right.odds.value
    if (fact.outcome, fact.odds, fact.rule) != (right.outcome.value, odds, right.rule.value):
        rules = f"{right.outcome.value} {odds}, {right.rule.value!r}"
        yield f"{fact.outcome} {fact.odds}, {fact.rule!r}; by the rules {rules}"
    if fact.ruleset != RULESET:
        yield f"rule set {fact.ruleset}, this audit knows {RULESET} only"


def result_of(player: HandSaid, banker: HandSaid) -> str | None:
    """A player spot's result against the banker, None where there is none."""
    one, other = _hand(*player.cards), _hand(*banker.cards)
    if one is None or other is None:
        return None
    return "win" if one.rank > other.rank else "lose" if one.rank < other.rank else "tie"
