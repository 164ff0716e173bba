"""`pokdeng explain`: what a bet gets on given cards, and the rule behind it."""

from __future__ import annotations

import json
import re
import reprlib
from dataclasses import dataclass
from typing import Final

import click
from rich.console import Console
from rich.table import Table

from pokdeng.rules import (
    STAKE_MAX,
    Bet,
    Card,
    Combination,
    Hand,
    InvalidCardError,
    InvalidHandError,
    InvalidStakeError,
    Payout,
    hand_of,
    settle,
)

_EXAMPLE: Final = 'pokdeng explain --banker "2h 4h" --player "5c 5c" --bet player_1 --stake 100'
_FIELDS: Final = ("banker", "player", "bet", "stake")
_BETS: Final = {bet.value: bet for bet in Bet}
_COMBINATION_NAMES: Final = {
    Combination.AK_FLUSH: "ace and king flush",
    Combination.SPECIAL_PAIR: "special pair",
    Combination.FACE_CARDS: "two face cards",
    Combination.TEN_AND_FACE: "ten and a face card",
    Combination.NO_POINT_FLUSH: "no-point flush",
}


class UnusableLineError(ValueError):
    """A line of `--stdin` that asks nothing that can be answered. The message says what to write instead."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A bet and the cards to settle it by; `stake` in minor units."""

    banker: Hand
    player: Hand
    bet: Bet
    stake: int

    def payout(self) -> Payout:
        """What the bet gets.

        Raises:
            InvalidStakeError: when the stake is not a whole number of 1 .. 10^12.
        """
        return settle(self.bet, self.player, self.banker, self.stake)


def _to_hand(_ctx: click.Context, _param: click.Parameter, text: str | None) -> Hand | None:
    try:
        return None if text is None else Hand.parse(text)
    except (InvalidHandError, InvalidCardError) as error:
        raise click.BadParameter(f"{error}.") from error


def _to_stake(_ctx: click.Context, _param: click.Parameter, text: str | None) -> int | None:
    if text is None:
        return None
    if not re.fullmatch("[1-9][0-9]{0,12}", text) or int(text) > STAKE_MAX:
        raise click.BadParameter(
            f"not a stake: {reprlib.repr(text)}; write whole minor units with digits only, 1 .. {STAKE_MAX}."
        )
    return int(text)


@click.command("explain")
@click.option(
    "--banker",
    metavar="CARDS",
    callback=_to_hand,
    envvar="POKDENG_BANKER",
    show_envvar=True,
    help="The banker's two cards, such as '2h 4h'.",
)
@click.option(
    "--player",
    metavar="CARDS",
    callback=_to_hand,
    envvar="POKDENG_PLAYER",
    show_envvar=True,
    help="The player's two cards.",
)
@click.option(
    "--bet",
    type=click.Choice(list(_BETS)),
    envvar="POKDENG_BET",
    show_envvar=True,
    help="One of the ten options.",
)
@click.option(
    "--stake",
    metavar="MINOR_UNITS",
    callback=_to_stake,
    envvar="POKDENG_STAKE",
    show_envvar=True,
    help="What is bet, in minor units.",
)
@click.option(
    "--stdin",
    "from_stdin",
    is_flag=True,
    envvar="POKDENG_STDIN",
    show_envvar=True,
    help="Answer JSON lines {banker, player, bet, stake}, one JSON line for each.",
)
@click.option("--json", "as_json", is_flag=True, envvar="POKDENG_JSON", show_envvar=True, help="Answer with JSON.")
@click.pass_context
def command(
    ctx: click.Context,
    *,
    banker: Hand | None,
    player: Hand | None,
    bet: str | None,
    stake: int | None,
    from_stdin: bool,
    as_json: bool,
) -> None:
    """Say what a bet gets on given cards: value, result, odds, returned and the rule behind it."""
    if from_stdin:
        _refuse_options_besides_stdin(ctx)
        ctx.exit(_answer_lines())
    if banker is None or player is None or bet is None or stake is None:
        given = {"banker": banker, "player": player, "bet": bet, "stake": stake}
        missing = ", ".join(f"--{name}" for name in _FIELDS if given[name] is None)
        raise click.UsageError(f"{missing} missing. Write for example: {_EXAMPLE}", ctx)
    question = Question(banker=banker, player=player, bet=_BETS[bet], stake=stake)
    if as_json:
        click.echo(json.dumps(_answer(question)))
    else:
        _print(question)


def _refuse_options_besides_stdin(ctx: click.Context) -> None:
    besides = [
        f"--{name}" for name in _FIELDS if ctx.get_parameter_source(name) is click.core.ParameterSource.COMMANDLINE
    ]
    if besides:
        raise click.UsageError(
            f"--stdin takes bets from its lines: leave out {', '.join(besides)}, or leave out --stdin.", ctx
        )


def _answer_lines() -> int:
    """Answer each line of standard input in its turn; the exit status: 1 when a line was unusable, else 0."""
    status = 0
    for number, line in enumerate(click.get_binary_stream("stdin"), start=1):
        try:
            answer = _answer(_parse_line(line))
        except (UnusableLineError, InvalidHandError, InvalidCardError, InvalidStakeError) as error:
            answer = {"error": str(error), "line": number}
            status = 1
        click.echo(json.dumps(answer))
    return status


def _parse_line(line: bytes) -> Question:
    try:
        fields = json.loads(line.decode(), object_pairs_hook=_without_duplicates, parse_constant=_refuse_constant)
    except UnusableLineError:
        raise
    except (ValueError, RecursionError) as error:
        raise UnusableLineError(f"cannot be read as JSON: {error}") from error
    if not isinstance(fields, dict):
        raise UnusableLineError(f"not a JSON object: write {{{', '.join(_FIELDS)}}}")
    missing = [name for name in _FIELDS if name not in fields]
    if missing:
        raise UnusableLineError(f"{', '.join(missing)} missing: write {{{', '.join(_FIELDS)}}}")
    return Question(
        banker=_parse_hand(fields["banker"]),
        player=_parse_hand(fields["player"]),
        bet=_parse_bet(fields["bet"]),
        stake=fields["stake"],
    )


def _without_duplicates(pairs: list[tuple[str, object]]) -> dict[str, object]:
    fields = dict(pairs)
    if len(fields) < len(pairs):
        raise UnusableLineError("a name stands twice in one JSON object: write each once")
    return fields


def _refuse_constant(text: str) -> object:
    raise UnusableLineError(f"{text} is not JSON")


def _parse_hand(value: object) -> Hand:
    match value:
        case str():
            return Hand.parse(value)
        case [str(first), str(second)]:
            return hand_of(Card.parse(first), Card.parse(second))
        case _:
            raise InvalidHandError(f"not a hand: {reprlib.repr(value)}; write two cards, as in '2h 4h' or ['2h', '4h']")


def _parse_bet(value: object) -> Bet:
    if isinstance(value, str) and value in _BETS:
        return _BETS[value]
    raise UnusableLineError(
        f"not a bet: {reprlib.repr(value)}; write player_1 .. player_5 or player_1_pair .. player_5_pair"
    )


def _answer(question: Question) -> dict[str, object]:
    """The answer as JSON: names as in the events; `odds` is absent on a tie."""
    payout = question.payout()
    answer: dict[str, object] = {"outcome": payout.outcome}
    if payout.odds is not None:
        answer["odds"] = payout.odds
    return answer | {
        "taken": payout.taken,
        "returned": payout.returned,
        "net": payout.net,
        "rule": payout.rule,
        "player": _hand_fields(question.player),
        "banker": _hand_fields(question.banker),
    }


def _hand_fields(hand: Hand) -> dict[str, object]:
    return {
        "cards": [str(card) for card in hand.cards],
        "value": hand.value,
        "points": hand.points,
        "combination": hand.combination,
        "pair": hand.is_pair,
        "flush": hand.is_flush,
    }


def _print(question: Question) -> None:
    payout = question.payout()
    result = payout.outcome if payout.odds is None else f"{payout.outcome} {payout.odds}"
    hands = Table.grid(padding=(0, 2))
    for name, hand in (("banker", question.banker), (question.bet.seat.value, question.player)):
        hands.add_row(name, str(hand), hand.value, _pattern(hand))
    console = Console(highlight=False, soft_wrap=True)
    console.print(hands)
    console.print(f"{question.bet} {question.stake:,}: {payout.taken:,} taken")
    console.print(f"[bold]{result}[/bold]: {payout.returned:,} returned, net {_signed(payout.net)}")
    console.print(payout.rule)


def _pattern(hand: Hand) -> str:
    """What makes a hand special, in words; `plain` where nothing does."""
    words = [] if hand.combination is None else [_COMBINATION_NAMES[hand.combination]]
    if hand.is_pair and hand.combination is not Combination.SPECIAL_PAIR:
        words.append("pair")
    if hand.is_flush and hand.combination not in {Combination.AK_FLUSH, Combination.NO_POINT_FLUSH}:
        words.append("flush")
    return ", ".join(words) or "plain"


def _signed(minor: int) -> str:
    return f"{minor:+,}" if minor else "0"
