"""The worker's HTTP pages: `/metrics`, `/health/live`, `/health/ready`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from aiohttp import web

if TYPE_CHECKING:
    from pokdeng.metrics import Metrics


class Health(Protocol):
    """What the pages ask of the worker."""

    def why_not_live(self) -> list[str]:
        """Reasons to start the process anew; empty while it is not stuck."""

    async def why_not_ready(self) -> list[str]:
        """Reasons why it does not do its work now; empty while it does."""

    def refresh_metrics(self) -> None:
        """Set the gauges to what is so now."""


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
        """Serve; the port that is served."""
        app = web.Application()
        app.router.add_get("/metrics", self._show_metrics)
        app.router.add_get("/health/live", self._show_live)
        app.router.add_get("/health/ready", self._show_ready)
        self._runner = web.AppRunner(app, access_log=None)
        await self._runner.setup()
        site = web.TCPSite(self._runner, self._host, self._port)
        await site.start()
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


def _answer(word: str, reasons: list[str]) -> web.Response:
    return web.json_response({word: not reasons, "reasons": reasons}, status=503 if reasons else 200)
