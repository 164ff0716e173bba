"""`pokdeng odds` (the contract, "Command line")."""

from __future__ import annotations

import json
from fractions import Fraction

import pytest
from click.testing import CliRunner, Result

from pokdeng.cli.odds import command
from pokdeng.rules import Bet, odds_of


def run(*arguments: str, **env: str) -> Result:
    """Run the command as a shell would, with these environment variables besides."""
    return CliRunner().invoke(command, list(arguments), env=env, prog_name="pokdeng odds")


def test_text_shows_both_kinds_of_bets() -> None:
    """Chances, and what comes back of the stake and of the amount taken."""
    result = run()
    assert result.exit_code == 0
    assert [" ".join(line.split()) for line in result.stdout.splitlines()] == [
        "Exact odds over a full shoe of 8 decks, rules pokdeng-1",
        "",
        "player_1 .. player_5: 2 x stake taken",
        "win 1:1 3 x stake returned 28.5744%",
        "win 2:1 4 x stake returned 17.2404%",
        "tie 2 x stake returned 8.3705%",
        "lose 1:1 1 x stake returned 26.0742%",
        "lose 2:1 0 x stake returned 19.7406%",
        "comes back: 97.4998% of the stake, 98.7499% of the amount taken",
        "standard deviation: 1.4231 x stake",
        "",
        "player_1_pair .. player_5_pair: 1 x stake taken",
        "win 11:1 12 x stake returned 7.4699%",
        "lose 1:1 0 x stake returned 92.5301%",
        "comes back: 89.6386% of the stake, 89.6386% of the amount taken",
        "standard deviation: 3.1549 x stake",
    ]


def test_json_has_every_option_by_its_code() -> None:
    """All ten, with the rules they are counted by."""
    result = run("--json")
    assert result.exit_code == 0
    answer = json.loads(result.stdout)
    assert (answer["ruleset"], answer["decks"]) == ("pokdeng-1", 8)
    assert list(answer["options"]) == [bet.value for bet in Bet]
    assert json.loads(run(POKDENG_JSON="1").stdout) == answer


@pytest.mark.parametrize("bet", Bet)
def test_json_has_each_number_exactly_and_as_a_decimal(bet: Bet) -> None:
    """The exact text is the fraction, the decimal its nearest float."""
    option = json.loads(run("--json").stdout)["options"][bet.value]
    odds = odds_of(bet)
    for name in ("expected_returned", "expected_net", "rtp_of_stake", "rtp_of_taken", "variance"):
        exact = getattr(odds, name)
        assert Fraction(option[f"{name}_exact"]) == exact
        assert option[name] == float(exact)
    assert option["units_taken"] == bet.units_taken
    assert sum(Fraction(chance["probability_exact"]) for chance in option["chances"]) == 1
    assert [chance["rule"] for chance in option["chances"]] == [chance.verdict.rule for chance in odds.chances]


def test_wrong_usage_ends_with_2() -> None:
    """An option that is not there is named."""
    result = run("--yaml")
    assert result.exit_code == 2
    assert "--yaml" in result.stderr
