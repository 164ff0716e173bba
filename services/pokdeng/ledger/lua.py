"""The Lua scripts, read when first asked for."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from hashlib import sha1
from importlib.resources import files
from typing import Final

_RESTORING: Final = ("begin", "close", "quiet", "lead", "stamp", "put", "wipe", "open")
NAMES: Final = (
    "apply", "revise", "acquire", "enter", "lease", "finish", "remember", "create", "accept", *_RESTORING,
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Script:
    """A script as the server takes it: `guard.lua` put before its own file."""

    text: str
    sha: str


@cache
def script(name: str) -> Script:
    """One script by its name (of `NAMES`)."""
    folder = files("pokdeng.ledger") / "scripts"
    text = (folder / "guard.lua").read_text("utf-8") + (folder / f"{name}.lua").read_text("utf-8")
    return Script(text, sha1(text.encode(), usedforsecurity=False).hexdigest())
