"""Renders the chart with helm, where it is at hand."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import yaml

from pokdeng.cli import main

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parents[2]
CHART = ROOT / "helm" / "pokdeng-settlement"
VALUES = sorted((Path(__file__).parent / "values").glob("*.yaml"))
TOOLS = Path(os.environ.get("POKDENG_CACHE") or ROOT / ".cache") / "helm"
SCHEMAS = TOOLS / "schemas"
NEEDED = {"kafka.bootstrap": "kafka:9092", "redis.url": "redis://redis:6379/0"}
IS_REQUIRED = os.environ.get("POKDENG_REQUIRE_HELM") == "1"


def tool(name: str) -> str | None:
    """Where a tool is: as `scripts/helm/tools` put it, else on the path."""
    own = TOOLS / "bin" / name
    return str(own) if own.exists() else shutil.which(name)


def kubernetes_versions() -> list[str]:
    """The versions whose schemas are at hand."""
    return sorted(folder.name.removeprefix("v") for folder in SCHEMAS.glob("v*"))


@dataclass(frozen=True, slots=True)
class Rendered:
    """What helm made of the chart."""

    text: str

    def all(self) -> Iterator[dict[str, Any]]:
        """Every manifest."""
        return (one for one in yaml.safe_load_all(self.text) if one)

    def of(self, kind: str, *, ending: str = "") -> dict[str, Any]:
        """The one manifest of a kind whose name ends so."""
        (found,) = [one for one in self.all() if one["kind"] == kind and one["metadata"]["name"].endswith(ending)]
        return found

    def kinds(self) -> set[str]:
        """The kinds there are."""
        return {one["kind"] for one in self.all()}

    def pods(self) -> Iterator[dict[str, Any]]:
        """The spec of every pod, of workers, hooks and tests alike."""
        for one in self.all():
            if one["kind"] == "Pod":
                yield one["spec"]
            elif "template" in one.get("spec", {}):
                yield one["spec"]["template"]["spec"]
            elif one["kind"] == "CronJob":
                yield one["spec"]["jobTemplate"]["spec"]["template"]["spec"]

    def worker(self) -> dict[str, Any]:
        """The worker's container."""
        (container,) = self.of("StatefulSet")["spec"]["template"]["spec"]["containers"]
        found: dict[str, Any] = container
        return found

    def environment(self) -> dict[str, Any]:
        """The worker's environment: a text, or where it comes from."""
        return environment_of(self.worker())


def environment_of(container: dict[str, Any]) -> dict[str, Any]:
    """A container's environment: a text, or where it comes from."""
    return {one["name"]: one.get("value", one.get("valueFrom")) for one in container["env"]}


def run_helm(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run helm to its end, whatever that is."""
    helm = tool("helm")
    if helm is None:
        raise FileNotFoundError("no helm; tests ask for the fixture `helm` first")
    return subprocess.run([helm, *arguments], check=False, capture_output=True, text=True)  # noqa: S603 - our own words


def template(*files: Path, **values: Any) -> subprocess.CompletedProcess[str]:
    """`helm template`, with files of values and single ones; a double underscore in a name is a dot."""
    told = {} if files else dict(NEEDED)
    told |= {name.replace("__", "."): value for name, value in values.items()}
    arguments = [part for file in files for part in ("--values", str(file))]
    for name, value in told.items():
        arguments += ["--set-json", f"{name}={json.dumps(value)}"]
    return run_helm("template", "live", str(CHART), "--kube-version", newest(), *arguments)


def rendered(*files: Path, **values: Any) -> Rendered:
    """What the chart becomes with these values, which it must take."""
    return _rendered(files, json.dumps(values))


@cache
def _rendered(files: tuple[Path, ...], values: str) -> Rendered:
    done = template(*files, **json.loads(values))
    if done.returncode:
        raise AssertionError(done.stderr)
    return Rendered(done.stdout)


@cache
def newest() -> str:
    """The newest version of Kubernetes that is checked against."""
    return max(kubernetes_versions(), key=lambda one: tuple(map(int, one.split("."))), default="1.34.0")


def variables_of(*words: str) -> set[str]:
    """The environment variables that a command reads."""
    context = click.Context(main)
    command: click.Command | None = main
    for word in words:
        assert isinstance(command, click.Group)
        command = command.get_command(context, word)
    assert command is not None
    return {str(one.envvar) for one in command.params if isinstance(one, click.Option)}
