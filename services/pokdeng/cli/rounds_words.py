"""How cards, hands, amounts, times and places are written for people who look at a round."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

from rich.text import Text

from pokdeng.cli.money import shown_money
from pokdeng.rules import Combination, Outcome

if TYPE_CHECKING:
    from pokdeng.rules import Card, Hand
    from pokdeng.stream.port import Record

LABEL: Final = "grey58"
MARKS: Final = {Outcome.WIN: "dodger_blue1", Outcome.LOSE: "grey50", Outcome.TIE: "green3"}
WARNING: Final = "dark_orange"
_RED: Final = "indian_red1"
_SUITS: Final = {"c": "♣", "d": "♦", "h": "♥", "s": "♠"}
_RED_SUITS: Final = frozenset("dh")
SPOKEN: Final = {Outcome.WIN: "won", Outcome.LOSE: "lost", Outcome.TIE: "tie"}
_COMBINATIONS: Final = {
    Combination.AK_FLUSH: "ace and king flush",
    Combination.SPECIAL_PAIR: "special pair",
    Combination.FACE_CARDS: "two face cards",
    Combination.TEN_AND_FACE: "ten and a face card",
    Combination.NO_POINT_FLUSH: "no-point flush",
}


def card_text(card: Card | str) -> Text:
    """A card: its rank and the sign of its suit."""
    code = str(card)
    return Text(code[:-1] + _SUITS[code[-1]], style=_RED if code[-1] in _RED_SUITS else "")


def hand_pattern(hand: Hand) -> str:
    """What makes a hand special, in words; empty where nothing does."""
    words = [] if hand.combination is None else [_COMBINATIONS[hand.combination]]
    if hand.is_pair and hand.combination is not Combination.SPECIAL_PAIR:
        words.append("pair")
    if hand.is_flush and hand.combination not in {Combination.AK_FLUSH, Combination.NO_POINT_FLUSH}:
        words.append("flush")
    return ", ".join(words)


def clock(at_ms: int, *, has_date: bool = False) -> str:
    """A broker time as people read it, in UTC.

    >>> clock(1_767_268_800_010), clock(1_767_268_800_010, has_date=True)
    ('12:00:00.010', '2026-01-01 12:00:00.010 UTC')
    """
    when = datetime.fromtimestamp(at_ms / 1000, UTC)
    time = when.strftime("%H:%M:%S.") + f"{at_ms % 1000:03}"
    return f"{when:%Y-%m-%d} {time} UTC" if has_date else time


def amount(minor: int, currency: str) -> str:
    """An amount whose currency is said beside it."""
    return shown_money(minor, currency).removesuffix(f" {currency}")


def signed(minor: int, currency: str) -> str:
    """An amount with its sign.

    >>> signed(2500, "THB"), signed(-2500, "THB"), signed(0, "THB")
    ('+25.00', '-25.00', '0.00')
    """
    return f"+{amount(minor, currency)}" if minor > 0 else amount(minor, currency)


def late_text(late_ms: int) -> str:
    """How much too late.

    >>> late_text(84), late_text(12_400)
    ('84 ms late', '12.4 s late')
    """
    return f"{late_ms:,} ms late" if late_ms < 10_000 else f"{late_ms / 1000:,.1f} s late"  # noqa: PLR2004 - reads better


def place_text(record: Record) -> str:
    """Where a record lies, in short.

    >>> from pokdeng.stream.port import LogRecord
    >>> place_text(LogRecord("pokdeng.bets.v1", 3, 17, 0, None, None, ()))
    'bets 3:17'
    """
    return f"{short_topic(record.topic)} {record.partition}:{record.offset}"


def short_topic(name: str) -> str:
    """A topic without prefix and version.

    >>> short_topic("staging.v2.table-events.v1")
    'table-events'
    """
    return name.rpartition(".")[0].rpartition(".")[2] or name


def counted(number: int, one: str, more: str) -> str:
    """So many of something.

    >>> counted(1, "bet stands", "bets stand"), counted(1200, "bet", "bets")
    ('1 bet stands', '1,200 bets')
    """
    return f"{number:,} {one if number == 1 else more}"
