"""`python -m ops`: writes the generated files; `--check` writes nothing and names those that differ."""

from __future__ import annotations

import sys
from pathlib import Path

from ops.dashboard import dashboard_text
from ops.metrics_page import metrics_page


def generated_files() -> dict[Path, str]:
    """The text of each file by its path from the project's root."""
    return {
        Path("docs/metrics.md"): metrics_page(),
        Path("helm/pokdeng-settlement/files/dashboard.json"): dashboard_text(),
    }


def main(arguments: list[str]) -> int:
    """Write, or check; 1 where a file differs, 2 for wrong usage."""
    if arguments not in ([], ["--check"]):
        sys.stderr.write("usage: python -m ops [--check]\n")
        return 2
    files = generated_files()
    if not arguments:
        for path, text in files.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8", newline="\n")
        sys.stdout.write(f"{len(files)} files written\n")
        return 0
    differing = [path for path, text in files.items() if not path.is_file() or path.read_bytes() != text.encode()]
    for path in differing:
        sys.stdout.write(f"{path} differs; write it anew with: make ops\n")
    return 1 if differing else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
