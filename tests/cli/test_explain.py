"""`pokdeng explain` (the contract, "Command line")."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner, Result

from pokdeng.cli.explain import command
from pokdeng.rules import Bet

QUESTION = {"--banker": "2h 4h", "--player": "5c 5c", "--bet": "player_1", "--stake": "100"}
ANSWER = {
    "outcome": "win",
    "odds": "1:1",
    "taken": 200,
    "returned": 300,
    "net": 100,
    "rule": "The player's hand is higher and has a special pattern, but the banker has 0 or 6: the bet wins 1:1.",
    "player": {
        "cards": ["5c", "5c"],
        "value": "7.4",
        "points": 0,
        "combination": "special_pair",
        "pair": True,
        "flush": True,
    },
    "banker": {
        "cards": ["2h", "4h"],
        "value": "6",
        "points": 6,
        "combination": None,
        "pair": False,
        "flush": True,
    },
}
LINE = {"banker": "2h 4h", "player": "5c 5c", "bet": "player_1", "stake": 100}


def run(*arguments: str, stdin: str | bytes = "", **env: str) -> Result:
    """Run the command as a shell would, with these environment variables besides."""
    return CliRunner().invoke(command, list(arguments), input=stdin, env=env, prog_name="pokdeng explain")


def options(**changed: str | None) -> list[str]:
    """The options of the contract's example, some of them changed or (None) left out."""
    wanted = QUESTION | {f"--{name}": value for name, value in changed.items()}
    return [part for name, value in wanted.items() if value is not None for part in (name, value)]


def test_json_has_the_fields_of_the_contract() -> None:
    """The example of the contract, field by field, exit 0."""
    result = run(*options(), "--json")
    assert result.exit_code == 0
    assert json.loads(result.stdout) == ANSWER


def test_text_says_values_result_odds_returned_and_the_rule() -> None:
    """For people, with amounts in the US format and the whole sentence on one line."""
    result = run(*options(stake="1000000"))
    assert result.exit_code == 0
    assert [line.rstrip() for line in result.stdout.splitlines()] == [
        "banker    2h 4h  6    flush",
        "player_1  5c 5c  7.4  special pair, flush",
        "player_1 1,000,000: 2,000,000 taken",
        "win 1:1: 3,000,000 returned, net +1,000,000",
        ANSWER["rule"],
    ]


@pytest.mark.parametrize(
    ("cards", "words"),
    [
        ("As Ks", "ace and king flush"),
        ("5c 5d", "special pair"),
        ("Jc Jd", "two face cards, pair"),
        ("Tc Jc", "ten and a face card, flush"),
        ("4c 6c", "no-point flush"),
        ("4c 4d", "pair"),
        ("9c Kc", "flush"),
        ("9c Kd", "plain"),
    ],
)
def test_text_says_what_makes_a_hand_special(cards: str, words: str) -> None:
    """Each pattern in words, and none twice."""
    first_lines = run(*options(player=cards)).stdout.splitlines()[:2]
    assert first_lines[1].split("  ", maxsplit=3)[-1].strip().endswith(words)
    assert first_lines[1].rstrip().endswith(f"  {words}")


def test_a_tie_has_no_odds() -> None:
    """In JSON the name is absent, as in the events; in the text nothing stands after `tie`."""
    tie = options(banker="6c 5c", player="Jd Ac")
    assert "odds" not in json.loads(run(*tie, "--json").stdout)
    assert "tie: 200 returned, net 0\n" in run(*tie).stdout


@pytest.mark.parametrize("bet", Bet)
def test_every_option_can_be_asked(bet: Bet) -> None:
    """The ten codes."""
    answer = json.loads(run(*options(bet=bet.value), "--json").stdout)
    assert answer["returned"] == (1200 if bet.is_pair else 300)


def test_10_is_read_and_t_is_written() -> None:
    """`10c` is the same card as `Tc`."""
    answer = json.loads(run(*options(player="10c 10h"), "--json").stdout)
    assert answer["player"]["cards"] == ["Tc", "Th"]


def test_options_can_come_from_the_environment() -> None:
    """Each option has a variable: POKDENG_ and its name."""
    result = run(
        POKDENG_BANKER="2h 4h", POKDENG_PLAYER="5c 5c", POKDENG_BET="player_1", POKDENG_STAKE="100", POKDENG_JSON="1"
    )
    assert json.loads(result.stdout) == ANSWER
    assert json.loads(run(stdin=json.dumps(LINE), POKDENG_STDIN="1").stdout) == ANSWER


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"banker": "2h"}, "not a hand: '2h'; write two cards"),
        ({"banker": "2h 4h 5h"}, "not a hand"),
        ({"player": "5c 5x"}, "not a card: '5x'; write a rank"),
        ({"player": ""}, "not a hand: ''"),
        ({"bet": "player_6"}, "'player_6' is not one of 'player_1'"),
        ({"bet": "banker"}, "is not one of"),
        ({"stake": "0"}, "not a stake: '0'; write whole minor units with digits only"),
        ({"stake": "-1"}, "not a stake"),
        ({"stake": "1e3"}, "not a stake"),
        ({"stake": "100.0"}, "not a stake"),
        ({"stake": "1_000"}, "not a stake"),
        ({"stake": " 100 "}, "not a stake"),
        ({"stake": "\u0661\u0660"}, "not a stake"),
        ({"stake": "1000000000001"}, "1 .. 1000000000000"),
        ({"stake": None}, "--stake missing"),
        ({"banker": None, "bet": None}, "--banker, --bet missing"),
    ],
)
def test_wrong_usage_ends_with_2_and_says_what_to_write(changed: dict[str, str | None], said: str) -> None:
    """Nothing on standard output, a sentence on standard error."""
    result = run(*options(**changed))
    assert result.exit_code == 2
    assert result.stdout == ""
    assert said in " ".join(result.stderr.split())


def test_a_wrong_number_in_the_environment_names_the_variable() -> None:
    """As a chart might write it: 1e+06."""
    result = run(*options(stake=None), POKDENG_STAKE="1e+06")
    assert result.exit_code == 2
    assert "POKDENG_STAKE" in result.stderr
    assert "'1e+06'" in result.stderr


def test_stdin_answers_each_line_in_order() -> None:
    """One JSON line in, one out, by either way to write hands and with fields that mean nothing here."""
    lines = [LINE, LINE | {"stake": 1}, LINE | {"banker": ["2h", "4h"], "player": ["5c", "5c"], "note": None}]
    result = run("--stdin", stdin="\n".join(json.dumps(line) for line in lines))
    assert result.exit_code == 0
    assert [json.loads(line) for line in result.stdout.splitlines()] == [
        ANSWER,
        ANSWER | {"taken": 2, "returned": 3, "net": 1},
        ANSWER,
    ]


def test_stdin_without_lines_answers_nothing() -> None:
    """Nothing asked is nothing wrong."""
    result = run("--stdin")
    assert (result.exit_code, result.stdout) == (0, "")


BAD_LINES = {
    "empty": "",
    "no JSON": "nope",
    "no object": "[]",
    "missing field": '{"banker": "2h 4h", "player": "5c 5c", "bet": "player_1"}',
    "wrong card": json.dumps(LINE | {"player": "5c 5x"}),
    "card of another case": json.dumps(LINE | {"player": "5C 5c"}),
    "one card": json.dumps(LINE | {"banker": ["2h"]}),
    "cards that are no text": json.dumps(LINE | {"banker": [2, 4]}),
    "hand that is no text": json.dumps(LINE | {"banker": None}),
    "wrong bet": json.dumps(LINE | {"bet": "player_6"}),
    "bet that is no text": json.dumps(LINE | {"bet": ["player_1"]}),
    "stake 0": json.dumps(LINE | {"stake": 0}),
    "stake too high": json.dumps(LINE | {"stake": 10**12 + 1}),
    "stake as text": json.dumps(LINE | {"stake": "100"}),
    "stake true": json.dumps(LINE | {"stake": True}),
    "stake with a fraction": json.dumps(LINE | {"stake": 100.0}),
    "stake with an exponent": json.dumps(LINE).replace("100", "1e2"),
    "stake of 5000 digits": json.dumps(LINE).replace("100", "9" * 5000),
    "stake NaN": json.dumps(LINE).replace("100", "NaN"),
    "a name twice": json.dumps(LINE).replace("{", '{"stake": 1, ', 1),
    "a byte order mark": "\ufeff" + json.dumps(LINE),
    "nested too deep": "[" * 100_000,
}


@pytest.mark.parametrize("bad", BAD_LINES.values(), ids=BAD_LINES.keys())
def test_a_bad_line_gets_an_error_and_the_next_its_answer(bad: str) -> None:
    """It does not stop the others; its number is said, and the end is exit 1."""
    result = run("--stdin", stdin="\n".join([json.dumps(LINE), bad, json.dumps(LINE)]))
    first, error, last = [json.loads(line) for line in result.stdout.splitlines()]
    assert (first, last) == (ANSWER, ANSWER)
    assert error["line"] == 2
    assert 0 < len(error["error"]) < 300
    assert result.exit_code == 1


def test_a_line_that_is_not_utf_8_gets_an_error() -> None:
    """Bytes that are no text are one bad line, not the end of the run."""
    result = run("--stdin", stdin=b"\xff\xfe\n" + json.dumps(LINE).encode())
    error, answer = [json.loads(line) for line in result.stdout.splitlines()]
    assert "error" in error
    assert answer == ANSWER
    assert result.exit_code == 1


def test_stdin_and_a_bet_on_the_command_line_contradict_each_other() -> None:
    """Which one is meant is not guessed."""
    result = run("--stdin", "--stake", "100", "--bet", "player_1")
    assert result.exit_code == 2
    assert "leave out --bet, --stake, or leave out --stdin" in " ".join(result.stderr.split())
