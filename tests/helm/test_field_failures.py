"""Field failures that a chart can bring about, by number."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from pokdeng.cli.worker import STOP_WITHIN_S
from tests.helm.chart import CHART, NEEDED, VALUES, Rendered, newest, rendered, run_helm

if TYPE_CHECKING:
    from pathlib import Path

INTEGERS = (1000000, 2592000, 604800000, 1048576)
EXPONENT = re.compile(r"[0-9]e\+")


@pytest.mark.usefixtures("helm")
def test_o17_the_grace_period_is_longer_than_any_stop() -> None:
    """The grace period is at least the longest stop and 15 s, and the worker is process 1."""
    made = rendered()
    assert made.of("StatefulSet")["spec"]["template"]["spec"]["terminationGracePeriodSeconds"] >= STOP_WITHIN_S + 15
    assert "command" not in made.worker()
    assert made.worker()["args"] == ["worker"]


@pytest.mark.usefixtures("helm")
@pytest.mark.parametrize("how", ["file", "--set", "--set-string", "--set-json"])
def test_o23_large_integers_keep_their_digits(how: str, tmp_path: Path) -> None:
    """1000000 reaches the environment as 1000000, however it is given."""
    names = [f"POKDENG_NUMBER_{number}" for number in INTEGERS]
    arguments = [part for name, value in NEEDED.items() for part in ("--set", f"{name}={value}")]
    if how == "file":
        file = tmp_path / "values.yaml"
        file.write_text(yaml.safe_dump({"worker": {"env": dict(zip(names, INTEGERS, strict=True))}}))
        arguments += ["--values", str(file)]
    else:
        for name, number in zip(names, INTEGERS, strict=True):
            arguments += [how, f"worker.env.{name}={number}"]
    done = run_helm("template", "live", str(CHART), "--kube-version", newest(), *arguments)
    assert done.returncode == 0, done.stderr
    environment = Rendered(done.stdout).environment()
    assert [environment[name] for name in names] == [str(number) for number in INTEGERS]
    assert not EXPONENT.search(done.stdout)


@pytest.mark.usefixtures("helm")
@pytest.mark.parametrize("values", VALUES, ids=lambda file: file.stem)
def test_o23_no_manifest_has_an_exponent(values: Path) -> None:
    r"""No rendered manifest matches `[0-9]e\+`: not in limits, quantities, user ids, nor tolerations."""
    assert not EXPONENT.search(rendered(values).text)


@pytest.mark.usefixtures("helm")
def test_o23_a_fraction_is_refused() -> None:
    """A number that is no whole one has to be written as text."""
    arguments = [part for name, value in NEEDED.items() for part in ("--set", f"{name}={value}")]
    done = run_helm("template", "live", str(CHART), *arguments, "--set-json", "worker.env.POKDENG_HALF=0.5")
    assert done.returncode != 0


@pytest.mark.parametrize(
    "variable", ["POKDENG_BUCKETS", "POKDENG_HTTP_PORT", "POKDENG_REMEMBER", "POKDENG_SESSION_TIMEOUT"]
)
def test_o23_the_worker_refuses_an_exponent(variable: str) -> None:
    """`1e+06` for a number or a time is wrong usage: exit 2, naming the variable."""
    environment: dict[str, Any] = {**os.environ, variable: "1e+06"}
    done = subprocess.run(
        [sys.executable, "-m", "pokdeng", "worker"],
        env=environment,
        check=False,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 2
    assert variable in done.stderr
    assert "1e+06" in done.stderr
