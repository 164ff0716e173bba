"""Lays out the JSON Schemas that kubeconform checks manifests against, see `scripts/helm/tools`.

Kubernetes' own come from the wheel of kubernetes-validate, strict ones; those of custom resources from the operators'
own definitions, made strict in the same way: a field that is not named is an error.
"""

from __future__ import annotations

import argparse
import json
import zipfile
from pathlib import Path
from typing import Any

import yaml

KINDS = frozenset({"ServiceMonitor", "PrometheusRule", "ScaledObject", "TriggerAuthentication"})
"""The custom resources that the chart makes."""


class Loader(yaml.SafeLoader):
    """A safe loader that takes a lone `=`, as the operators' definitions have it, for a text."""


Loader.add_constructor("tag:yaml.org,2002:value", lambda loader, node: loader.construct_scalar(node))


def main() -> None:
    """Write `<to>/v<kubernetes>/<kind>-<group>-<version>.json`, and the same under `<to>/crds/`."""
    parser = argparse.ArgumentParser(description="lay out schemas for kubeconform")
    parser.add_argument("--to", type=Path, required=True)
    parser.add_argument("--wheels", type=Path, required=True)
    parser.add_argument("--kubernetes", nargs="+", required=True)
    parser.add_argument("--crds", nargs="+", type=Path, required=True)
    options = parser.parse_args()
    for version in options.kubernetes:
        count = unpack(options.wheels, version, options.to / f"v{version}")
        if not count:
            raise SystemExit(f"the wheel has no schemas of Kubernetes {version}")
    found = [kind for folder in options.crds for kind in write_custom(folder, options.to / "crds")]
    if set(found) != KINDS:
        raise SystemExit(f"no definition of {', '.join(sorted(KINDS - set(found)))}")


def unpack(wheels: Path, version: str, to: Path) -> int:
    """Unpack the strict schemas of one version of Kubernetes; how many there were."""
    to.mkdir(parents=True)
    count = 0
    for wheel in wheels.glob("kubernetes_validate-*.whl"):
        with zipfile.ZipFile(wheel) as packed:
            for name in packed.namelist():
                folder, _, file = name.rpartition("/")
                if folder.endswith(f"/v{version}-local-strict") and file.endswith(".json"):
                    (to / file).write_text(json.dumps(beside(json.loads(packed.read(name)))))
                    count += 1
    return count


def beside(schema: Any) -> Any:
    """The schema with what it refers to in the file beside it, in place of an address that nobody serves."""
    if isinstance(schema, list):
        return [beside(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    made = {name: beside(value) for name, value in schema.items() if name != "$id" or not isinstance(value, str)}
    if isinstance(made.get("$ref"), str):
        made["$ref"] = made["$ref"].replace("/api/_definitions.json", "_definitions.json")
    return made


def write_custom(folder: Path, to: Path) -> list[str]:
    """Write the schemas of the custom resources that are defined in a folder and that we use; their kinds."""
    to.mkdir(parents=True, exist_ok=True)
    written: list[str] = []
    for file in sorted(folder.glob("*.yaml")):
        for definition in yaml.load_all(file.read_text(), Loader):
            kind = definition["spec"]["names"]["kind"] if definition else None
            if kind not in KINDS:
                continue
            group = definition["spec"]["group"].partition(".")[0]
            for version in definition["spec"]["versions"]:
                schema = strict(version["schema"]["openAPIV3Schema"], is_top=True)
                (to / f"{kind.lower()}-{group}-{version['name']}.json").write_text(json.dumps(schema))
            written.append(kind)
    return written


def strict(schema: Any, *, is_top: bool = False) -> Any:
    """The schema with nothing allowed that it does not name; what the API server knows of itself is left open."""
    if isinstance(schema, list):
        return [strict(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    made = {name: strict(value) for name, value in schema.items()}
    if made.pop("x-kubernetes-int-or-string", False):
        made.pop("type", None)
        made["anyOf"] = [{"type": "integer"}, {"type": "string"}]
    is_open = made.pop("x-kubernetes-preserve-unknown-fields", False)
    if "properties" in made and "additionalProperties" not in made and not is_open:
        made["additionalProperties"] = False
    if is_top:
        made["properties"]["metadata"] = {"type": "object"}
    return made


if __name__ == "__main__":
    main()
