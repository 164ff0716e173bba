"""Every failure of the field that this service must survive has a test that names it."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

HERE = Path(__file__).parent
FAILURES = {
    "O01": "an exception in the handler loses that bet for good",
    "O02": "concurrency above 1 commits past a record still in flight",
    "O03": "tombstones and bad records crash the stream, then vanish",
    "O04": "the Redis client repeats a command on its own",
    "O05": "a crash between the Redis write, the event and the commit",
    "O06": "idempotency by looking first, then writing",
    "O07": "the same bet id comes with other content",
    "O08": "a Lua script stops half way and keeps what it did",
    "O09": "numbers inside Lua are doubles",
    "O10": "the script cache is empty after a restart, failover or flush",
    "O11": "CROSSSLOT, also through an account id",
    "O12": "repeating a void pays again, or takes the money back",
    "O13": "the cancel arrives before its bet",
    "O14": "settle, reverse, settle again, after the winner spent the money",
    "O15": "late bets and the closing instant",
    "O16": "misdeals and scan faults",
    "O17": "SIGTERM is lost, or the grace period is too short",
    "O18": "a round id is used again after a table restart",
    "O19": "lax parsing turns non-stakes into stakes",
    "O20": "minor units are not always hundredths",
    "O21": "a metric throws inside the money path",
    "O22": "label cardinality grows with play",
    "O23": "Helm writes large integers with an exponent",
    "O24": "liveness kills a recovering worker, or misses a stuck one",
    "O25": "fields renamed, added, unknown",
}
"""Each by its number, and what went wrong elsewhere."""


_NAME = re.compile(r"\bO\d\d\b")


def names_in_tests() -> dict[str, list[str]]:
    """The failures that tests name, in their docstring or their own name, and which tests those are."""
    found: dict[str, list[str]] = {}
    for path in sorted(HERE.rglob("test_*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test_"):
                in_name = node.name.removeprefix("test_").split("_")[0].upper()
                for name in _NAME.findall(f"{in_name} {ast.get_docstring(node) or ''}"):
                    found.setdefault(name, []).append(f"{path.relative_to(HERE)}::{node.name}")
    return found


@pytest.mark.parametrize("name", FAILURES)
def test_each_failure_has_a_test_of_its_name(name: str) -> None:
    """At least one test says its number."""
    assert names_in_tests().get(name), f"no test names {name}: {FAILURES[name]}"


def test_no_test_names_a_failure_that_is_none() -> None:
    """A number that is not in the list is a slip."""
    assert names_in_tests().keys() <= FAILURES.keys()
