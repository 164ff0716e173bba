"""`pokdeng simulate`: how it is called, and what it says."""

from __future__ import annotations

import io
import json
from collections import Counter

import pytest
from click.testing import CliRunner
from rich.console import Console

from pokdeng.cli.simulate import Teller, command
from pokdeng.simulator import Kind, Play, Sent
from pokdeng.wire import TopicKind

SENT = Sent(
    by_kind=Counter({Kind.BET: 1_234, Kind.LATE_BET: 5}),
    by_topic=Counter({TopicKind.BETS: 1_239}),
    beats=3,
    seconds=2.5,
)


def said(*, is_terminal: bool) -> str:
    """What is said of a play, in the middle and at its end."""
    written = io.StringIO()
    console = Console(file=written, force_terminal=is_terminal, width=80, highlight=False, color_system=None)
    teller = Teller(console, Play(seed=7))
    teller.told(SENT)
    teller.finish(SENT)
    return written.getvalue()


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--tables", "0"], "0 is not in the range"),
        (["--rounds", "x"], "not a valid integer"),
        (["--mischief", "2"], "2.0 is not in the range"),
        (["--rate", "nan"], "POKDENG_RATE"),
        (["--mischief", "nan"], "POKDENG_MISCHIEF"),
        (["--corrections", "1.1"], "1.1 is not in the range"),
        (["--corrections", "nan"], "POKDENG_CORRECTIONS"),
        (["--prefix", "a b"], "cannot begin topic names"),
        (["--no-such-option"], "No such option"),
    ],
)
def test_wrong_usage_is_said_and_exits_with_2(arguments: list[str], sentence: str) -> None:
    """A wrong option is a sentence that names it, and exit status 2."""
    result = CliRunner().invoke(command, arguments)
    assert result.exit_code == 2
    assert sentence in result.output


def test_every_option_is_an_environment_variable() -> None:
    """An option's value may come from POKDENG_ and its name."""
    result = CliRunner().invoke(command, [], env={"POKDENG_BETS_PER_ROUND": "many"})
    assert result.exit_code == 2
    assert "POKDENG_BETS_PER_ROUND" in result.output


def test_a_program_reads_json_lines() -> None:
    """Where there is no terminal every line is JSON, the last one the summary."""
    lines = [json.loads(line) for line in said(is_terminal=False).splitlines()]
    assert lines == [
        {"sent": 1_239, "bets": 1_239, "seconds": 2.5},
        {
            "seed": 7,
            "sent": 1_239,
            "bets": 1_239,
            "seconds": 2.5,
            "by_topic": {"bets": 1_239},
            "by_kind": {"bet": 1_234, "late_bet": 5},
        },
    ]


def test_people_read_a_table_and_a_sentence() -> None:
    """On a terminal the summary is a table by kind, with numbers in US format."""
    text = said(is_terminal=True)
    assert "late bet" in text
    assert "1,234" in text
    assert "sent 1,239 records, 1,239 bets among them, in 2.5 s; seed 7" in text
