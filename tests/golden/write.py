"""Writes down what this version leaves behind: `python -m tests.golden.write`, once, when it is released.

See README.md here: a file that is there already is not written again.
"""

from __future__ import annotations

import asyncio
import json
import sys

from pokdeng.ledger.embedded import embedded_server
from pokdeng.version import VERSION
from tests.golden.kept import FOLDER, keep, new_scene, play


async def _written() -> str:
    async with embedded_server() as server:
        scene = new_scene(server.url)
        await play(scene)
        return json.dumps(await keep(scene, server.url), indent=1, ensure_ascii=False) + "\n"


def main() -> int:
    """Exit 1 where the file exists."""
    file = FOLDER / f"{VERSION}.json"
    if file.exists():
        sys.stderr.write(f"{file.name} is there already: what a version wrote does not change\n")
        return 1
    file.write_text(asyncio.run(_written()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
