"""What the checker found."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

MOST_FINDINGS = 1000
LONGEST_SHOWN = 400


@dataclass(slots=True)
class Report:
    """Counts of what was seen, and each broken promise as a sentence; no findings: all promises hold."""

    counts: Counter[str] = field(default_factory=Counter)
    duplicates: Counter[str] = field(default_factory=Counter)
    """Per input topic: how many records must be counted as duplicates."""
    books: dict[str, dict[str, int]] = field(default_factory=dict)
    """Per currency: deposits, withdrawals, house_net, available, held."""
    findings: list[str] = field(default_factory=list)

    def find(self, sentence: str) -> None:
        """Note a broken promise; beyond the first thousand they are only counted."""
        self.counts["findings"] += 1
        if len(self.findings) < MOST_FINDINGS:
            self.findings.append(sentence)

    def __str__(self) -> str:
        """For people: the counts, and the first findings."""
        counts = ", ".join(f"{name} {count:,}" for name, count in sorted(self.counts.items()))
        shown = [finding[:LONGEST_SHOWN] for finding in self.findings[:20]]
        rest = self.counts["findings"] - len(shown)
        return "\n".join([counts, *shown, *([f"... and {rest:,} more"] if rest else [])])
