"""Histograms that take a whole batch at once: prometheus_client's own costs more for each value than a bet may."""

from __future__ import annotations

from bisect import bisect_left
from itertools import accumulate
from typing import TYPE_CHECKING

from prometheus_client.core import HistogramMetricFamily
from prometheus_client.registry import Collector

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence


class BatchHistogram(Collector):
    """Counts values by bucket; `observe` takes values with how often each came."""

    def __init__(self, name: str, documentation: str, bounds: Sequence[float]) -> None:
        """`bounds` are the buckets' upper ends, rising; one without an end follows."""
        self._name = name
        self._documentation = documentation
        self._bounds = tuple(bounds)
        self._counts = [0] * (len(bounds) + 1)
        self._sum = 0.0

    def observe(self, counts: Mapping[float, int]) -> None:
        """Add values, each as often as it came."""
        for value, count in counts.items():
            self._counts[bisect_left(self._bounds, value)] += count
            self._sum += value * count

    def collect(self) -> Iterable[HistogramMetricFamily]:
        """As Prometheus reads it: each bucket counts the smaller ones, too."""
        ends = [*map(str, self._bounds), "+Inf"]
        rows = list(zip(ends, map(float, accumulate(self._counts)), strict=True))
        yield HistogramMetricFamily(self._name, self._documentation, buckets=rows, sum_value=self._sum)
