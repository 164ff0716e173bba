"""`pokdeng topics acls`: a script for Kafka's tool, for whom it is told."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from pokdeng.cli import main


def test_roles_have_the_principals_they_are_given() -> None:
    """Two may have one role; who is not named has the default name."""
    told = ["--principal", "floor=User:a", "--principal", "floor=User:b", "--prefix", "x", "--json"]
    rows = json.loads(CliRunner().invoke(main, ["topics", "acls", *told]).stdout)
    writers = {row["principal"] for row in rows if row["operation"] == "Write" and row["name"] == "x.table-events.v1"}
    assert writers == {"User:a", "User:b", "User:x-supervisor"}


def test_the_script_is_one_call_for_what_is_granted_alike() -> None:
    """It passes its own arguments on, and quotes names."""
    lines = CliRunner().invoke(main, ["topics", "acls", "--principal", "gateway=User:bet gateway"]).stdout.splitlines()
    assert lines[0] == "#!/bin/sh"
    (write,) = [line for line in lines if "--topic pokdeng.bets.v1" in line and "'User:bet gateway'" in line]
    assert write == (
        """kafka-acls.sh "$@" --add --allow-principal 'User:bet gateway' --operation Write --topic pokdeng.bets.v1"""
    )


@pytest.mark.parametrize("wrong", ["floor", "floor=alice", "dealer=User:a", "floor=User:a'; rm -rf /'", "=User:a"])
def test_what_is_no_principal_is_refused(wrong: str) -> None:
    """Exit 2; the sentence names the roles."""
    result = CliRunner().invoke(main, ["topics", "acls", "--principal", wrong])
    assert result.exit_code == 2
    assert "ROLE=User:NAME" in result.output
