"""The chart's README says what its values are."""

from __future__ import annotations

import subprocess
import sys
from importlib.util import module_from_spec, spec_from_file_location
from typing import TYPE_CHECKING

import pytest

from tests.helm.chart import CHART, ROOT

if TYPE_CHECKING:
    from types import ModuleType

SCRIPT = ROOT / "scripts" / "helm" / "readme.py"


@pytest.fixture(scope="module")
def readme() -> ModuleType:
    """The script, as a module."""
    spec = spec_from_file_location("chart_readme", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_table_of_values_is_that_of_the_values() -> None:
    """`make chart-readme` would change nothing."""
    done = subprocess.run([sys.executable, str(SCRIPT), "--check"], check=False, capture_output=True, text=True)  # noqa: S603 - our own
    assert done.returncode == 0, done.stderr


def test_every_value_is_described(readme: ModuleType) -> None:
    """No value without a sentence, which begins with a capital or a code and ends with a full stop."""
    found = readme.described((CHART / "values.yaml").read_text())
    assert len(found) > 60
    for name, meaning in found:
        assert meaning.endswith("."), name
        assert meaning[0].isupper() or meaning[0] == "`", name


def test_a_value_without_a_description_is_found(readme: ModuleType) -> None:
    """A value that nobody described stops the script."""
    with pytest.raises(ValueError, match=r"b\.c is not described"):
        readme.described("# -- A.\na: 1\nb:\n  c: 2\n")
