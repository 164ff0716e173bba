"""Writes the table of values in the chart's README from values.yaml; `--check` only compares (exit 1).

What a value means stands above it in values.yaml after `# --`.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

import yaml

CHART = Path(__file__).resolve().parents[2] / "helm" / "pokdeng-settlement"
BEGIN, END = "<!-- values: written by make chart-readme -->", "<!-- end of values -->"


def described(text: str) -> list[tuple[str, str]]:
    """Each value that is described, by its dotted name, in the order of the file, with its description.

    Raises:
        ValueError: where a value is described by nothing, or a description describes nothing.
    """
    found: list[tuple[str, str]] = []
    path: list[tuple[int, str]] = []
    said: str | None = None
    covered: int | None = None
    for line in text.splitlines():
        words = line.strip()
        if words.startswith("# -- "):
            said = words.removeprefix("# -- ")
            continue
        if not words or words.startswith(("#", "- ")):
            continue
        indent = len(line) - len(line.lstrip())
        if covered is not None and indent > covered:
            continue  # part of a value that is described as a whole
        covered = None
        name, _, value = words.partition(":")
        path = [*(one for one in path if one[0] < indent), (indent, name)]
        dotted = ".".join(one for _, one in path)
        if said is not None:
            found.append((dotted, said))
            said, covered = None, indent
        elif value.strip():
            raise ValueError(f"{dotted} is not described")
    if said is not None:
        raise ValueError(f"nothing follows {said!r}")
    return found


def table(text: str) -> str:
    """The values as a Markdown table."""
    values = yaml.safe_load(text)
    rows = ["| value | default | |", "|---|---|---|"]
    for name, meaning in described(text):
        default: Any = values
        for part in name.split("."):
            default = default[part]
        rows.append(f"| `{name}` | `{json.dumps(default)}` | {meaning.replace('|', chr(92) + '|')} |")
    return "\n".join(rows)


def main() -> int:
    """Write, or compare; 0 where nothing differs."""
    parser = argparse.ArgumentParser(description="the chart's README from its values")
    parser.add_argument("--check", action="store_true", help="compare only")
    options = parser.parse_args()
    readme = CHART / "README.md"
    before = readme.read_text()
    head, _, rest = before.partition(BEGIN)
    _, _, tail = rest.partition(END)
    after = f"{head}{BEGIN}\n\n{table((CHART / 'values.yaml').read_text())}\n\n{END}{tail}"
    if after == before:
        return 0
    if options.check:
        sys.stderr.write(f"{readme} is not what values.yaml says: make chart-readme\n")
        return 1
    readme.write_text(after)
    return 0


if __name__ == "__main__":
    sys.exit(main())
