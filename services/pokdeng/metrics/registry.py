"""The metrics as Prometheus reads them. Nothing here raises into the money path: see `Metrics.guard`."""

from __future__ import annotations

import math
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

import structlog
from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    ProcessCollector,
    disable_created_metrics,
    generate_latest,
)

from pokdeng.metrics.catalogue import CATALOGUE, SECONDS, Kind
from pokdeng.metrics.latency import BatchHistogram

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_log = structlog.get_logger(__name__)

CURRENCIES_MAX: Final = 16
OTHER: Final = "other"
"""Without limits every currency is taken. So many get series of their own, the rest share this label."""


class Metrics:
    """All metrics of one worker, in a registry of their own; and the process's own (`process_...`)."""

    def __init__(self) -> None:
        """Every metric of the catalogue; those without labels show 0 at once."""
        disable_created_metrics()  # type: ignore[no-untyped-call]  # prometheus-client is typed in places only
        self._registry = CollectorRegistry()
        ProcessCollector(registry=self._registry)
        self._counters: dict[str, Counter] = {}
        self._gauges: dict[str, Gauge] = {}
        self._histograms: dict[str, BatchHistogram] = {}
        for metric in CATALOGUE:
            if metric.kind is Kind.COUNTER:
                self._counters[metric.key] = Counter(metric.name, metric.help, metric.labels, registry=self._registry)
            elif metric.kind is Kind.GAUGE:
                self._gauges[metric.key] = Gauge(metric.name, metric.help, metric.labels, registry=self._registry)
            else:
                histogram = self._histograms[metric.key] = BatchHistogram(metric.name, metric.help, SECONDS)
                self._registry.register(histogram)
        self._children: dict[tuple[str, ...], Counter] = {}
        self._with_currency = {metric.key for metric in CATALOGUE if metric.labels[-1:] == ("currency",)}
        self._currencies: set[str] = set()
        self._has_complained = False

    def count(self, counts: Mapping[tuple[str, ...], float]) -> None:
        """Add to counters: a metric's key and its labels' values, in order. Amounts below 0 and NaN are not added."""
        for key, amount in counts.items():
            if math.isnan(amount) or amount < 0:
                self.complain(ValueError(f"{key} cannot grow by {amount}"))
                continue
            child = self._children.get(key)
            if child is None:
                child = self._child(key)
            child.inc(amount)

    def _child(self, key: tuple[str, ...]) -> Counter:
        counter = self._counters[key[0]]
        labels = key[1:]
        if key[0] in self._with_currency and labels[-1] not in self._currencies:
            if len(self._currencies) >= CURRENCIES_MAX:
                return counter.labels(*labels[:-1], OTHER)  # not remembered: strangers could name any number of them
            self._currencies.add(labels[-1])
        child = self._children[key] = counter.labels(*labels) if labels else counter
        return child

    def set(self, key: str, value: float, *labels: str) -> None:
        """Set a gauge."""
        gauge = self._gauges[key]
        (gauge.labels(*labels) if labels else gauge).set(value)

    def clear(self, key: str) -> None:
        """Forget the series of a gauge with labels."""
        self._gauges[key].clear()

    def observe(self, key: str, counts: Mapping[float, int]) -> None:
        """Add to a histogram: seconds, and how often each came."""
        self._histograms[key].observe(counts)

    @contextmanager
    def guard(self) -> Iterator[None]:
        """Whatever a metric does within, it is said once, and nothing is raised: money goes on."""
        try:
            yield
        except Exception as error:  # noqa: BLE001 - field failure O21: no metric may stop the money path
            self.complain(error)

    def complain(self, error: Exception) -> None:
        """Say once that a metric failed; the money path goes on."""
        if not self._has_complained:
            self._has_complained = True
            _log.error("metrics_failed", error=repr(error))

    def page(self) -> bytes:
        """The text that Prometheus scrapes."""
        return generate_latest(self._registry)
