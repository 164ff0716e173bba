"""What the engine did, told to the metrics. A failure here is logged once and disturbs nothing."""

from __future__ import annotations

import time
from collections import Counter, defaultdict, deque
from typing import TYPE_CHECKING

from pokdeng.settlement.tally import keys_of_currency

if TYPE_CHECKING:
    from pokdeng.metrics import Metrics
    from pokdeng.settlement.batch import Batch

_RECENT = 4_096


class MetricsObserver:
    """An `Observer` that counts. Keeps the newest latencies besides, for the live view of the demo."""

    def __init__(self, metrics: Metrics) -> None:
        """Counts into `metrics`."""
        self._metrics = metrics
        self.decision_latencies: deque[float] = deque(maxlen=_RECENT)
        self.settlement_latencies: deque[float] = deque(maxlen=_RECENT)
        self.totals: defaultdict[str, float] = defaultdict(float)
        """What was counted so far, by a metric's short name, whatever its labels."""
        self._currencies: set[str] = set()

    def ledger_called(self, seconds: float) -> None:
        """A batch was applied to the ledger."""
        with self._metrics.guard():
            self._metrics.observe("ledger_call", {seconds: 1})

    def ledger_lost(self, cause: str) -> None:
        """The ledger was found cold, another incarnation or behind."""
        with self._metrics.guard():
            self._metrics.count({("recoveries", cause): 1})

    def decisions_said(self, batch: Batch) -> None:
        """The decisions of a batch are acknowledged."""
        with self._metrics.guard():
            now_ms = time.time() * 1000
            decided = {(now_ms - at_ms) / 1000: count for at_ms, count in Counter(batch.decided_at_ms).items()}
            self.decision_latencies.extend(decided)
            self._metrics.observe("decision_latency", decided)

    def settlements_said(self, batch: Batch) -> None:
        """The settlements of a batch are acknowledged."""
        with self._metrics.guard():
            now_ms = time.time() * 1000
            settled: dict[float, int] = {}
            for at_ms, bets in batch.caused_at_ms:
                seconds = (now_ms - at_ms) / 1000
                settled[seconds] = settled.get(seconds, 0) + bets
            self.settlement_latencies.extend(settled)
            self._metrics.observe("settlement_latency", settled)

    def batch_said(self, batch: Batch) -> None:
        """All of a batch is acknowledged."""
        with self._metrics.guard():
            for key, count in batch.tally.items():
                self.totals[key[0]] += count
                if key[0] == "taken" and key[-1] not in self._currencies:
                    self._currencies.add(key[-1])
                    self._metrics.count(dict.fromkeys(keys_of_currency(key[-1]), 0))
            self._metrics.count(batch.tally)
