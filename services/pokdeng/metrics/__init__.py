"""Every metric, in one typed list; and the registry that serves them. Knows nothing of rounds, Kafka or Redis."""

from pokdeng.metrics.catalogue import CATALOGUE, Kind, Metric, Part
from pokdeng.metrics.registry import Metrics

__all__ = ["CATALOGUE", "Kind", "Metric", "Metrics", "Part"]
