"""The rules of Pok Deng: cards, hands, bets, what they pay, the shoe, the odds.

Pure, and it knows nothing of events or accounts. docs/rules.md states the rules by number; docstrings name them.
"""

from __future__ import annotations

from pokdeng.rules.bets import PLAYER_SEATS, Bet, Seat
from pokdeng.rules.cards import CARDS, Card, InvalidCardError, Rank, Suit
from pokdeng.rules.covariances import covariance, variance_of_round
from pokdeng.rules.hands import VALUES, Combination, Hand, InvalidHandError, hand_of
from pokdeng.rules.odds import BetOdds, Chance, odds_of
from pokdeng.rules.payouts import (
    RULESET,
    STAKE_MAX,
    VERDICTS,
    InvalidStakeError,
    Odds,
    Outcome,
    PayLine,
    Payout,
    Verdict,
    settle,
    taken_for,
    verdict,
)
from pokdeng.rules.shoe import (
    COPIES_PER_FACE,
    DECKS,
    NO_COPIES,
    SHOE_CARDS,
    Copies,
    CopiesError,
    burned_by,
    copies_of,
    gone_from_shoe,
    parse_copies,
    total_copies,
    with_card,
    without_card,
)

__all__ = [
    "CARDS",
    "COPIES_PER_FACE",
    "DECKS",
    "NO_COPIES",
    "PLAYER_SEATS",
    "RULESET",
    "SHOE_CARDS",
    "STAKE_MAX",
    "VALUES",
    "VERDICTS",
    "Bet",
    "BetOdds",
    "Card",
    "Chance",
    "Combination",
    "Copies",
    "CopiesError",
    "Hand",
    "InvalidCardError",
    "InvalidHandError",
    "InvalidStakeError",
    "Odds",
    "Outcome",
    "PayLine",
    "Payout",
    "Rank",
    "Seat",
    "Suit",
    "Verdict",
    "burned_by",
    "copies_of",
    "covariance",
    "gone_from_shoe",
    "hand_of",
    "odds_of",
    "parse_copies",
    "settle",
    "taken_for",
    "total_copies",
    "variance_of_round",
    "verdict",
    "with_card",
    "without_card",
]
