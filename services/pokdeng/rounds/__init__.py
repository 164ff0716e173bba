"""Rounds as they unfold: what a table event changes, whether a bet is in time, what a complete round comes to. Pure."""

from pokdeng.rounds.aftermath import CORRECTION_WINDOW_MS
from pokdeng.rounds.bets import is_in_time, refusal_of_bet, refusal_of_cancel
from pokdeng.rounds.evolve import evolve
from pokdeng.rounds.result import IncompleteDealError, Result, result_of
from pokdeng.rounds.road import RoadMark, road_of
from pokdeng.rounds.state import (
    NOTHING_DEALT,
    PLACES,
    SEATS,
    Cancelled,
    Completed,
    Mark,
    Places,
    Round,
    RoundEvent,
    Shoe,
    Table,
    new_shoe,
    place_of,
)
from pokdeng.rounds.verdicts import Applied, Duplicate, Refused, Verdict

__all__ = [
    "CORRECTION_WINDOW_MS",
    "NOTHING_DEALT",
    "PLACES",
    "SEATS",
    "Applied",
    "Cancelled",
    "Completed",
    "Duplicate",
    "IncompleteDealError",
    "Mark",
    "Places",
    "Refused",
    "Result",
    "RoadMark",
    "Round",
    "RoundEvent",
    "Shoe",
    "Table",
    "Verdict",
    "evolve",
    "is_in_time",
    "new_shoe",
    "place_of",
    "refusal_of_bet",
    "refusal_of_cancel",
    "result_of",
    "road_of",
]
