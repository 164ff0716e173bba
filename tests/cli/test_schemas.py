"""`pokdeng schemas`: writes what `--check` then finds unchanged."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from pokdeng.cli.schemas import command, schema_files

PUBLISHED = Path(__file__).parents[2] / "schemas"


def run(*arguments: str, **environment: str) -> Result:
    """Run the command."""
    return CliRunner().invoke(command, arguments, env=environment)


def test_what_was_written_is_found_unchanged(tmp_path: Path) -> None:
    """Exit 0, twice the same files."""
    out = tmp_path / "new" / "schemas"
    assert run("--out", str(out)).exit_code == 0
    written = {path.name: path.read_bytes() for path in out.iterdir()}
    assert written == {name: text.encode() for name, text in schema_files().items()}
    checked = run("--check", "--out", str(out))
    assert (checked.exit_code, checked.output) == (0, "")


def test_files_that_differ_are_named_and_left_alone(tmp_path: Path) -> None:
    """Exit 1; one changed, one missing, nothing written."""
    run("--out", str(tmp_path))
    changed, missing = tmp_path / "bet_placed.v1.schema.json", tmp_path / "asyncapi.json"
    changed.write_text("{}")
    missing.unlink()
    checked = run("--check", "--out", str(tmp_path))
    assert checked.exit_code == 1
    assert checked.stdout.splitlines() == [f"{changed} differs", f"{missing} is missing"]
    assert changed.read_text() == "{}"
    assert not missing.exists()


def test_options_come_from_the_environment_too(tmp_path: Path) -> None:
    """`POKDENG_OUT` and `POKDENG_CHECK`."""
    assert run(POKDENG_OUT=str(tmp_path), POKDENG_CHECK="1").exit_code == 1
    assert run(POKDENG_OUT=str(tmp_path)).exit_code == 0
    assert run(POKDENG_OUT=str(tmp_path), POKDENG_CHECK="1").exit_code == 0


def test_an_unknown_option_is_wrong_usage() -> None:
    """Exit 2."""
    assert run("--colour").exit_code == 2


@pytest.mark.parametrize("name", sorted(schema_files()))
def test_the_published_files_are_those_of_the_code(name: str) -> None:
    """Nobody changed an event without its schema, or a schema by hand."""
    published = (PUBLISHED / name).read_bytes()
    assert published.decode() == schema_files()[name]
    assert json.loads(published)
