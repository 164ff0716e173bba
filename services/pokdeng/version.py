"""This version of the service, as it is installed."""

from __future__ import annotations

from importlib.metadata import version

VERSION = version("pokdeng-settlement")
