"""The worker's HTTP pages: `/metrics`, `/health/live`, `/health/ready`; `/fuse`, the one that changes something."""

from __future__ import annotations

import os
from ipaddress import ip_address
from typing import TYPE_CHECKING, Final, Protocol

from aiohttp import web

if TYPE_CHECKING:
    from pokdeng.metrics import Metrics

RESET_HEADER: Final = "X-Pokdeng"
"""A request that changes something carries it: pages of other sites cannot make a browser send it."""


class CannotServeError(OSError):
    """The pages cannot be served at the address that was given: it is taken, or not one of this machine."""


class Health(Protocol):
    """What the pages ask of the worker."""

    def why_not_live(self) -> list[str]:
        """Reasons to start the process anew; empty while it is not stuck."""

    async def why_not_ready(self) -> list[str]:
        """Reasons why it does not do its work now; empty while it does."""

    def refresh_metrics(self) -> None:
        """Set the gauges to what is so now."""

    def open_fuses(self) -> list[str]:
        """Why partitions are not taken, where the dead-letter fuse is open."""

    def reset_fuses(self) -> list[str]:
        """Take them again; why they were not."""


class Pages:
    """Serves the pages until stopped."""

    def __init__(self, health: Health, metrics: Metrics, *, host: str, port: int) -> None:
        """Port 0 takes a free one."""
        self._health = health
        self._metrics = metrics
        self._host = host
        self._port = port
        self._runner: web.AppRunner | None = None

    async def start(self) -> int:
        """Serve; the port that is served. Raises CannotServeError where the address cannot be had."""
        app = web.Application()
        app.router.add_get("/metrics", self._show_metrics)
        app.router.add_get("/health/live", self._show_live)
        app.router.add_get("/health/ready", self._show_ready)
        app.router.add_get("/fuse", self._show_fuse)
        app.router.add_post("/fuse", self._reset_fuse)
        self._runner = web.AppRunner(app, access_log=None)
        await self._runner.setup()
        site = web.TCPSite(self._runner, self._host, self._port)
        try:
            await site.start()
        except OSError as error:
            await self.stop()
            why = error.strerror if error.errno is None or error.errno < 0 else os.strerror(error.errno)
            raise CannotServeError(error.errno, f"{why}".lower(), f"{self._host}:{self._port}") from error
        port: int = self._runner.addresses[0][1]
        return port

    async def stop(self) -> None:
        """Stop serving. Idempotent."""
        runner, self._runner = self._runner, None
        if runner is not None:
            await runner.cleanup()

    async def _show_metrics(self, _: web.Request) -> web.Response:
        self._health.refresh_metrics()
        return web.Response(
            body=self._metrics.page(), headers={"Content-Type": "text/plain; version=0.0.4; charset=utf-8"}
        )

    async def _show_live(self, _: web.Request) -> web.Response:
        return _answer("live", self._health.why_not_live())

    async def _show_ready(self, _: web.Request) -> web.Response:
        return _answer("ready", await self._health.why_not_ready())

    async def _show_fuse(self, _: web.Request) -> web.Response:
        return web.json_response({"open": self._health.open_fuses()})

    async def _reset_fuse(self, request: web.Request) -> web.Response:
        """From this machine (or container) alone, and never for a browser's page: such a header it cannot send here."""
        if not _is_local(request.remote) or request.headers.get(RESET_HEADER) != "fuse":
            return web.json_response({"error": "only from the worker's own machine, with the command"}, status=403)
        return web.json_response({"open": self._health.reset_fuses()})


def _is_local(address: str | None) -> bool:
    try:
        return address is not None and ip_address(address).is_loopback
    except ValueError:
        return False


def _answer(word: str, reasons: list[str]) -> web.Response:
    return web.json_response({word: not reasons, "reasons": reasons}, status=503 if reasons else 200)
